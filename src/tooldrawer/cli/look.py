"""Looking at tools: `find`, `tools`, `describe`, `explain`."""

import logging
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Annotated

import anyio
import typer

from tooldrawer.assembly import Assembly
from tooldrawer.bridge import signature
from tooldrawer.bridge.replies import describe_reply
from tooldrawer.catalog import Catalog
from tooldrawer.cli.absent_servers import AbsentServer, absent_server_of, describe_absent
from tooldrawer.cli.opening import (
    CatalogOption,
    ConfigOption,
    JsonOption,
    Opened,
    ScopeOption,
    opened,
)
from tooldrawer.cli.output import notice, show, show_json, table
from tooldrawer.errors import ConfigError, UnknownTool
from tooldrawer.loading_servers import join_names
from tooldrawer.search import Hit
from tooldrawer.search.engine import Progress
from tooldrawer.tool import UPSTREAM_PREFIX, Json, Tool

_SHORT = 100
_TAKES_A_MOMENT = 100
"""So many new tools, that is: about a second."""


def find(
    query: Annotated[str, typer.Argument(help="What the tool should do.")],
    catalog: CatalogOption = None,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=50,
            help="How many to show: by default search_default_limit, at most max_search_limit.",
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show why each one ranks.")] = False,  # noqa: FBT002
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Find tools by what they do."""
    place = opened(catalog, config, scope=scope)
    engine, searched = place.drawer.search, _catalog(place)
    # What the log would say too is shown as a notice: nobody needs to read it twice.
    logging.getLogger("tooldrawer.search").addHandler(logging.NullHandler())
    engine.prepare(searched, _reading())
    hits = engine.search(searched, query, place.drawer.parts.search.limit(limit))
    if text := engine.notice(searched):
        notice(text)
    if json:
        show_json({"query": query, "matches": [_found(hit) for hit in hits]})
        return
    if not hits:
        show("No tool fits. Try a verb, an object and the service's name.")
        return
    if explain:
        _explain(hits)
        return
    rows = [(hit.tool.name, _first_line(hit.tool), f"{hit.score:.2f}") for hit in hits]
    table(("tool", "what it does", "score"), rows, numbers=1)


def _explain(hits: Sequence[Hit]) -> None:
    """A column for each part of the score; they sum up to it, unless several needs were asked."""
    parts = list(dict.fromkeys(part for hit in hits for part in hit.parts))
    rows = [
        (
            hit.tool.name,
            ", ".join(hit.matched) or "(none)",
            *(f"{hit.parts.get(part, 0.0):.2f}" for part in parts),
            f"{hit.score:.2f}",
        )
        for hit in hits
    ]
    table(("tool", "words in common", *parts, "score"), rows, numbers=len(parts) + 1)


def _reading() -> Progress:
    """Says once, and only if it takes a moment, that tools are read."""
    said: list[int] = []

    def tell(read: int, total: int) -> None:
        left = total - read
        if not said and left >= _TAKES_A_MOMENT:
            said.append(left)
            notice(f"Reading {left:,} tools for search by meaning; the next time they are known.")

    return tell


def _found(hit: Hit) -> dict[str, Json]:
    return {
        "name": hit.tool.name,
        "toolset": hit.tool.source,
        "score": round(hit.score, 4),
        "parts": dict(hit.parts),
        "matched": list(hit.matched),
        "description": hit.tool.description,
        "signature": signature(hit.tool),
    }


def tools(
    catalog: CatalogOption = None,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    toolset: Annotated[
        str | None, typer.Option("--toolset", help="Show the tools of this one.")
    ] = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Show all tools by toolset, with what their schemas cost."""
    place = opened(catalog, config, scope=scope, tells_absent=toolset is None)
    costs = place.drawer.parts.costs
    ordered = sorted(_catalog(place), key=lambda tool: (tool.source, tool.name))
    groups = {
        name: [(tool, costs.of(tool)) for tool in group]
        for name, group in groupby(ordered, key=lambda tool: tool.source)
    }
    if toolset is not None and toolset not in groups:
        for server in place.absent:
            if toolset in (server.name, f"{UPSTREAM_PREFIX}{server.name}"):
                raise ConfigError(describe_absent(server))
        known = ", ".join(groups) or "none here"
        raise ConfigError(f"There is no toolset named {toolset!r}; there are {known}.")
    chosen = groups if toolset is None else {toolset: groups[toolset]}
    if json:
        show_json({name: _group_json(group) for name, group in chosen.items()})
    elif toolset is not None:
        rows = [(tool.name, _first_line(tool), f"{cost:,}") for tool, cost in groups[toolset]]
        table(("tool", "what it does", "tokens"), rows, numbers=1)
    else:
        counted = [
            (name, f"{len(group):,}", f"{sum(cost for _, cost in group):,}")
            for name, group in groups.items()
        ]
        total = sum(cost for group in groups.values() for _, cost in group)
        counted.append(("total", f"{len(ordered):,}", f"{total:,}"))
        table(("toolset", "tools", "tokens"), counted, numbers=2)


def describe(
    name: Annotated[str, typer.Argument(help="A tool's name, in any notation.")],
    catalog: CatalogOption = None,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Show one tool: its signature, description and schema."""
    place = opened(catalog, config, scope=scope, tells_absent=False)
    tool = named(_catalog(place), name, place.absent)
    if json:
        show_json(describe_reply(tool))
        return
    show(f"{tool.name}{signature(tool)}\n")
    show(f"{tool.description.strip()}\n")
    show(f"toolset: {tool.source}")
    show_json(tool.parameters)


def explain(
    context_length: Annotated[
        int | None, typer.Option("--context-length", min=1, help="Of the model, in tokens.")
    ] = None,
    catalog: CatalogOption = None,
    config: ConfigOption = None,
    scope: ScopeOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Explain why tool search is active or inactive, and what the model would see."""
    place = opened(catalog, config, scope=scope)
    session = place.drawer.session(scope=place.scope, context_length=context_length)
    try:
        assembly = anyio.run(partial(session.tools))
    finally:
        place.drawer.close()
    costs = place.drawer.parts.costs
    starting = _find_starting(place, assembly)
    if json:
        found = _assembly_json(assembly, [costs.of(tool) for tool in assembly.tools])
        show_json({**found, "starting": starting})
        return
    show(assembly.explanation)
    if starting:
        show(
            f"The tools of {join_names(starting)} are not known yet: while that is so, an agent is "
            "shown the bridge."
        )
    kept = len(assembly.deferred)
    if assembly.active:
        show(
            f"{kept:,} tools are deferred; the array costs {assembly.array_tokens:,} tokens a turn "
            f"instead of {assembly.array_tokens + assembly.saved_tokens:,}.\n"
        )
    else:
        show(f"All {len(assembly.tools):,} tools are shown: {assembly.array_tokens:,} tokens.\n")
    why = {tool.name: why for tool, why in zip(assembly.direct, assembly.why_direct, strict=True)}
    rows = [
        (tool.name, why.get(tool.name, "bridge"), f"{costs.of(tool):,}") for tool in assembly.tools
    ]
    table(("in the array", "why", "tokens"), rows, numbers=1)


def _find_starting(place: Opened, assembly: Assembly) -> list[str]:
    """Name the servers for which a gateway would show the bridge until their tools are known."""
    if assembly.active or place.drawer.config.assembly.enabled == "off":
        return []
    return [each.name for each in place.absent if each.is_starting]


def named(catalog: Catalog, name: str, absent: Sequence[AbsentServer] = ()) -> Tool:
    """The tool of that name.

    Raises:
        ConfigError: There is none; for people, with the name they typed.
    """
    try:
        return catalog.get(name)
    except UnknownTool as error:
        if (server := absent_server_of(name, absent)) is not None:
            raise ConfigError(
                f"The tools of {server.name} are not known. {describe_absent(server)}"
            ) from error
        near = " or ".join(error.near)
        hint = (
            f"did you mean {near}?" if near else "search for what it does with `tooldrawer find`."
        )
        raise ConfigError(f"There is no tool named {name!r}; {hint}") from error


def _catalog(place: Opened) -> Catalog:
    return place.drawer.session(scope=place.scope).catalog


def _group_json(group: Sequence[tuple[Tool, int]]) -> dict[str, object]:
    return {
        "tokens": sum(cost for _, cost in group),
        "tools": [
            {"name": tool.name, "description": tool.description, "tokens": cost}
            for tool, cost in group
        ],
    }


def _assembly_json(assembly: Assembly, costs: Sequence[int]) -> dict[str, object]:
    why = (*assembly.why_direct, *("bridge",) * (len(assembly.tools) - len(assembly.direct)))
    return {
        "active": assembly.active,
        "reason": assembly.reason,
        "deferrable_tokens": assembly.deferrable_tokens,
        "threshold_tokens": assembly.threshold_tokens,
        "context_length": assembly.context_length,
        "array_tokens": assembly.array_tokens,
        "saved_tokens": assembly.saved_tokens,
        "deferred": len(assembly.deferred),
        "array": [
            {"name": tool.name, "why": reason, "tokens": cost}
            for tool, reason, cost in zip(assembly.tools, why, costs, strict=True)
        ],
    }


def _first_line(tool: Tool) -> str:
    line = " ".join(tool.description.split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"
