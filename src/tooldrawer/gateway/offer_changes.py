"""Which scopes get or lose a server that has prompts or resources."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from tooldrawer.admission import Admission
from tooldrawer.gateway.lists import Upstreams

KINDS = ("prompts", "resources")
Offers: TypeAlias = frozenset[tuple[str, str, int]]
"""A kind of list, the server that has one, and how often it was started."""


class OfferChanges:
    """Remembers what the scopes in use were offered, so that only real changes are announced."""

    def __init__(self, upstreams: Upstreams, admission: Callable[[str], Admission]) -> None:
        self._upstreams, self._admission = upstreams, admission
        self._seen: dict[str, Offers] = {}

    def watch(self, scope: str) -> None:
        """Compare a scope from now on."""
        if scope not in self._seen:
            self._seen[scope] = self._offers(scope)

    def find(self) -> Iterable[tuple[str, str]]:
        """The scopes that changed since the last time, each with the kind of list."""
        for scope, before in tuple(self._seen.items()):
            self._seen[scope] = now = self._offers(scope)
            for kind in sorted({kind for kind, _, _ in before ^ now}):
                yield scope, kind

    def _offers(self, scope: str) -> Offers:
        admission = self._admission(scope)
        return frozenset(
            (kind, upstream.name, upstream.status.starts)
            for upstream in self._upstreams()
            if upstream.status.state == "up" and admission.admits_toolset(upstream.name)
            for kind in KINDS
            if upstream.capabilities.get(kind) is not None
        )
