"""The servers' resources, each under an address that one server answers to."""

import re

from tooldrawer.admission import Admission
from tooldrawer.bounds.template import matches_template
from tooldrawer.gateway.lists import Lists, Raw, Upstreams
from tooldrawer.upstream.upstream import Upstream

_UNFIT = re.compile(r"[^A-Za-z0-9.-]")


class Resources:
    """All resources and templates of a scope.

    An address stays as the server gave it: clients and models have seen it elsewhere. Only where
    two servers have the same one, the later in the configuration puts its name in front.
    """

    def __init__(self, upstreams: Upstreams) -> None:
        self._lists = Lists(
            upstreams, method="resources/list", key="resources", capability="resources"
        )
        self._templates = Lists(
            upstreams,
            method="resources/templates/list",
            key="resourceTemplates",
            capability="resources",
        )
        self._upstreams = upstreams

    def forget(self, upstream: Upstream) -> None:
        """Ask this server anew."""
        self._lists.forget(upstream)
        self._templates.forget(upstream)

    async def listed(self, admission: Admission) -> list[Raw]:
        """In configured order."""
        return [{**item, "uri": uri} for uri, _, item in await self._unique(self._lists, admission)]

    async def templates(self, admission: Admission) -> list[Raw]:
        """In configured order."""
        found = await self._unique(self._templates, admission)
        return [{**item, "uriTemplate": uri} for uri, _, item in found]

    async def find(self, admission: Admission, uri: str) -> tuple[Upstream, str] | None:
        """Who answers to `uri`, and how they spell it."""
        for own, upstream, item in await self._unique(self._lists, admission):
            if own == uri:
                return upstream, str(item["uri"])
        for own, upstream, item in await self._unique(self._templates, admission):
            plain = str(item["uriTemplate"])
            if uri == own or matches_template(own, uri):
                return upstream, uri.removeprefix(own.removesuffix(plain)) if own != plain else uri
        served = [each for each in self._upstreams() if self._lists.is_served_by(each, admission)]
        # Servers may answer to addresses that they never listed; with one server it is its own.
        return (served[0], uri) if len(served) == 1 else None

    async def _unique(self, lists: Lists, admission: Admission) -> list[tuple[str, Upstream, Raw]]:
        taken: set[str] = set()
        found: list[tuple[str, Upstream, Raw]] = []
        for upstream, items in await lists.of(admission):
            for item in items:
                plain = str(item.get("uri") or item.get("uriTemplate") or "")
                uri = plain if plain not in taken else f"{_scheme(upstream)}+{plain}"
                if plain and uri not in taken:
                    taken.add(uri)
                    found.append((uri, upstream, item))
        return found


def _scheme(upstream: Upstream) -> str:
    return _UNFIT.sub("-", upstream.name)
