"""The servers' resources, each under an address that one server answers to."""

import re
from collections.abc import Hashable, Iterable

from tooldrawer.admission import Admission
from tooldrawer.bounds.template import MAX_URI_CHARS, matches_template, rank_template
from tooldrawer.gateway.items import Item, address_spellings, denies_address, describe_item
from tooldrawer.gateway.lists import Lists, Raw, Upstreams
from tooldrawer.upstream.upstream import Upstream

_MAX_DECIDED_LISTS = 1_000
_UNFIT = re.compile(r"[^A-Za-z0-9.-]")
_Entry = tuple[str, Upstream, Raw]
"""A resource or template: its address for clients, its server, what the server listed."""


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
        self._decided: dict[tuple[Hashable, ...], tuple[tuple[Raw, ...], tuple[Raw, ...]]] = {}

    def forget(self, upstream: Upstream) -> None:
        """Ask this server anew."""
        self._lists.forget(upstream)
        self._templates.forget(upstream)

    async def listed(self, admission: Admission) -> list[Raw]:
        """In configured order."""
        found = await self._unique(self._lists, admission)
        return [{**raw, "uri": uri} for uri, _, raw in found]

    async def templates(self, admission: Admission) -> list[Raw]:
        """In configured order."""
        found = await self._unique(self._templates, admission)
        return [{**raw, "uriTemplate": uri} for uri, _, raw in found]

    async def find(self, admission: Admission, uri: str) -> Item | None:
        """The resource that answers to `uri`, under the address that its server uses."""
        for own, upstream, raw in await self._unique(self._lists, admission):
            if own == uri:
                return _item(admission, upstream, raw, _address(raw))
        found = _most_specific(await self._unique(self._templates, admission), uri)
        if found is not None:
            own, upstream, raw = found
            plain = uri.removeprefix(own.removesuffix(_address(raw)))
            is_hidden = await self._hides(admission, upstream, plain)
            return None if is_hidden else _item(admission, upstream, raw, plain)
        served = [each for each in self._upstreams() if self._lists.is_served_by(each, admission)]
        if len(served) != 1 or await self._hides(admission, served[0], uri):
            return None
        # Servers may answer to addresses that they never listed; with one server it is its own.
        item = _item(admission, served[0], {}, uri)
        return item if admission.admits(item.tool) else None

    async def _hides(self, admission: Admission, upstream: Upstream, uri: str) -> bool:
        """Whether the scope denies the address, or what the server lists there."""
        spellings = address_spellings(uri)
        if spellings is None or denies_address(admission, upstream, uri):
            return True
        asked = {each.casefold() for each in spellings}
        for raw in await self._hidden(self._lists, admission, upstream):
            listed = address_spellings(_address(raw)) or ()
            if any(each.casefold() in asked for each in listed):
                return True
        hidden = await self._hidden(self._templates, admission, upstream)
        is_odd = len(uri) > MAX_URI_CHARS or "\n" in uri  # which no template is compared with
        return any(
            is_odd or matches_template(_address(raw).casefold(), each)
            for raw in hidden
            for each in asked
        )

    async def _hidden(self, lists: Lists, admission: Admission, upstream: Upstream) -> list[Raw]:
        """What a server lists and the scope does not admit."""
        for each, raws in await lists.of(admission):
            if each is upstream:
                shown = set(map(id, self._admitted(admission, upstream, raws)))
                return [raw for raw in raws if id(raw) not in shown]
        return []

    async def _unique(self, lists: Lists, admission: Admission) -> list[_Entry]:
        taken: set[str] = set()
        found: list[_Entry] = []
        for upstream, raws in await lists.of(admission):
            for raw in self._admitted(admission, upstream, raws):
                plain = _address(raw)
                uri = plain if plain not in taken else f"{_scheme(upstream)}+{plain}"
                if plain and uri not in taken:
                    taken.add(uri)
                    found.append((uri, upstream, raw))
        return found

    def _admitted(
        self, admission: Admission, upstream: Upstream, raws: tuple[Raw, ...]
    ) -> tuple[Raw, ...]:
        """What the scope admits of a list; decided once for each, since a list may be long."""
        key = (admission.scope, admission.snapshot.naming(upstream.name), upstream.name)
        known = self._decided.get((*key, id(raws)))
        if known is not None and known[0] is raws:
            return known[1]
        found = tuple(raw for raw in raws if _is_admitted(admission, upstream, raw))
        if len(self._decided) >= _MAX_DECIDED_LISTS:
            self._decided.clear()
        self._decided[(*key, id(raws))] = (raws, found)
        return found


def _most_specific(templates: Iterable[_Entry], uri: str) -> _Entry | None:
    """The template that fits `uri` best; of equal ones the first in the configuration.

    Otherwise a server whose template is `{+anything}` would get the reads meant for all others.
    """
    fitting = [each for each in templates if each[0] == uri or matches_template(each[0], uri)]
    return max(fitting, key=lambda each: (each[0] == uri, *rank_template(each[0])), default=None)


def _address(raw: Raw) -> str:
    return str(raw.get("uri") or raw.get("uriTemplate") or "")


def _item(admission: Admission, upstream: Upstream, raw: Raw, address: str) -> Item:
    name = str(raw.get("name") or address)
    tool = describe_item(admission, upstream, name, kind="resource", raw=raw)
    return Item(upstream=upstream, tool=tool, address=address)


def _is_admitted(admission: Admission, upstream: Upstream, raw: Raw) -> bool:
    """By its name; a pattern of `deny` is about its address as well."""
    by_name = _item(admission, upstream, raw, _address(raw)).tool
    return admission.admits(by_name) and not denies_address(admission, upstream, _address(raw))


def _scheme(upstream: Upstream) -> str:
    return _UNFIT.sub("-", upstream.name)
