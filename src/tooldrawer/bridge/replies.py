"""What the model reads back from the bridge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tooldrawer.bridge.schemas import BridgeNames
from tooldrawer.bridge.signature import FULL, Detail, signature
from tooldrawer.call import thaw
from tooldrawer.catalog import Catalog
from tooldrawer.search import Hit
from tooldrawer.tokens import Estimate, TokenCounter, compact
from tooldrawer.tool import UPSTREAM_PREFIX, Json, Tool

# Names and signatures have fewer characters a token than schemas: over 708 replies from 89 real
# servers the exact count was 1.05 times the estimate in the median and 1.33 times at most.
_ESTIMATE_AIR = 1.35
_MOST_TOOLSETS_NAMED = 40


@dataclass(frozen=True, slots=True)
class _Level:
    """One step of saying less about a match."""

    description: int
    """Characters of it, at most."""
    detail: Detail


_LEVELS = (
    _Level(400, FULL),
    _Level(160, Detail(values=12)),
    _Level(80, Detail(values=6, nested=False)),
    _Level(60, Detail(optional=False, values=4, nested=False)),
    _Level(0, Detail(optional=False, values=2, nested=False)),
    _Level(0, Detail(optional=False, types=False)),
)


def search_reply(
    hits: Sequence[Hit], *, available: int, counter: TokenCounter, max_tokens: int
) -> dict[str, Json]:
    """The matches, best first, within `max_tokens`.

    Lower ranks lose text first; a required parameter is never left out. When even that is too much,
    the last matches are left out whole.
    """
    tools = [hit.tool for hit in hits]
    matches = [_match(tool, 0) for tool in tools]
    budget = _Budget(counter, max_tokens, frame={"matches": [], "total_available": available})
    for rank, level in _steps(len(tools)):
        if budget.fits(matches):
            break
        matches[rank] = _match(tools[rank], level)
    while len(matches) > 1 and not budget.fits(matches):
        matches.pop()
    return {"matches": matches, "total_available": available}


def nothing_fits(
    *,
    available: int,
    toolsets: Sequence[str],
    names: BridgeNames,
    counter: TokenCounter,
    max_tokens: int,
    is_partial: bool = False,
) -> dict[str, Json]:
    """The reply to a search without a match: where one can search, and how to ask better.

    With `is_partial` the tools of some servers were not there, and a note tells which.
    Within `max_tokens`: the last toolsets go first, then the advice.
    """
    empty: dict[str, Json] = {"matches": [], "total_available": available}
    words = "with other words: a verb, an object and the service, in English"
    hint = (
        f"No tool fits so far, but servers are missing (see the note). Call {names.search} again "
        f"later, or {words}. If that finds nothing, tell the user which servers are missing."
        if is_partial
        else f"No tool fits. Call {names.search} again {words}. If that finds nothing, tell the "
        "user that no tool does this."
    )
    budget = _Budget(counter, max_tokens, frame={})
    shown = min(len(toolsets), _MOST_TOOLSETS_NAMED)
    while True:
        more = ["..."] if len(toolsets) > shown else []
        reply: dict[str, Json] = {**empty, "toolsets": [*toolsets[:shown], *more], "hint": hint}
        if budget.fits([reply]):
            return reply
        if not shown:
            return empty
        shown //= 2


def search_note(searched: Catalog, *, missing: str, notice: str) -> str:
    """What to know about a search: what it covers while tools are missing, and what is off."""
    notes: list[str] = []
    if missing:
        servers = sum(source.startswith(UPSTREAM_PREFIX) for source in searched.sources)
        tools = _count(len(searched), "tool")
        notes = [f"Searched {tools} of {_count(servers, 'server')}.", missing]
    if notice:
        notes.append(notice if notice.endswith(".") else f"{notice}.")
    return " ".join(notes)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def search_limit_reply(*, available: int, in_a_row: int) -> dict[str, Json]:
    """The reply without matches to a model that has only searched for too many turns."""
    hint = (
        f"Not searched: {in_a_row - 1} searches in a row without a call. Call one of the tools "
        "found so far, or tell the user that no tool fits."
    )
    return {"matches": [], "total_available": available, "hint": hint}


def describe_reply(tool: Tool) -> dict[str, Json]:
    """The full schema, as the model would have seen it in its tools array."""
    reply: dict[str, Json] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": thaw(tool.parameters),
    }
    if tool.annotations:
        reply["annotations"] = thaw(tool.annotations)
    return reply


class _Budget:
    def __init__(self, counter: TokenCounter, most: int, *, frame: Json) -> None:
        self._counter = counter
        self._most = int(most / _ESTIMATE_AIR) if isinstance(counter, Estimate) else most
        self._frame = counter.count(compact(frame))
        self._known: dict[str, int] = {}

    def fits(self, matches: Iterable[dict[str, Json]]) -> bool:
        # Counting each match alone and adding one for its comma is never less than counting the
        # whole, up to the merges across the seams, which the comma's token covers.
        return self._frame + sum(self._cost(match) + 1 for match in matches) <= self._most

    def _cost(self, match: dict[str, Json]) -> int:
        text = compact(match)
        if text not in self._known:
            self._known[text] = self._counter.count(text)
        return self._known[text]


def _steps(count: int) -> list[tuple[int, int]]:
    """Which rank goes down to which level, in order: the last first, the first rank a step later.

    The best match keeps its words longest, but not so long that the others are names only.
    """
    steps: list[tuple[int, int]] = []
    for level in range(1, len(_LEVELS)):
        steps += [(rank, level) for rank in range(count - 1, 0, -1)]
        if level > 1:
            steps.append((0, level - 1))
    return [*steps, (0, len(_LEVELS) - 1)] if count else []


def _match(tool: Tool, level: int) -> dict[str, Json]:
    step = _LEVELS[level]
    return {
        "name": tool.name,
        "description": _shortened(tool.description, step.description),
        "signature": signature(tool, step.detail),
    }


def _shortened(text: str, most: int) -> str:
    """The beginning of a text: whole sentences where one ends near, else whole words."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[:most]
    end = max(cut.rfind(mark) for mark in (". ", "! ", "? "))
    if end >= most // 3:
        return cut[: end + 1]
    return f"{cut.rsplit(' ', 1)[0]}…" if most else ""
