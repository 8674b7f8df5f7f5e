"""Names that every provider takes, that never meet, and a registry that is never half changed."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import any_text, backends, echo, quick, reply, run, words
from tests.requirements import requirement
from tooldrawer import (
    BridgeNames,
    Catalog,
    Drawer,
    FunctionToolset,
    Registry,
    Scope,
    StaticToolset,
    Tool,
    Toolset,
)
from tooldrawer.catalogs import Catalogs
from tooldrawer.errors import ToolsetTaken, ToolsetUnknown
from tooldrawer.registry import Snapshot

FITTING = re.compile(r"[A-Za-z0-9_-]{1,64}")
RESERVED = tuple(BridgeNames())

# Many of these are one name once the characters that providers refuse are replaced.
_MEETING = (
    "a b", "a.b", "a_b", "a/b", "A b", "é b", "a-b", "mcp_a_b", "b", "_b", "tool search",
    "tool.call", "Ω", "", " ", "\n", "a" * 64, "a" * 65, "a" * 200, "a" * 200 + "b",
    "読む", "読む" * 40, "mcp_a b_b",
)  # fmt: skip
_lengths = st.integers(50, 70).map(lambda length: "n" * length)
wild_names = st.sampled_from(_MEETING) | any_text | any_text.map(lambda text: text * 8) | _lengths
servers = st.sampled_from(("a", "a_b", "a b", "a.b", "b", "読む", "s" * 70)) | words


def recorded(server: str, names: Sequence[str]) -> StaticToolset:
    return StaticToolset(server, [{"name": name} for name in names])


@st.composite
def recordings(draw: DrawFn, *, unique: bool = False) -> list[tuple[str, list[str]]]:
    """Servers, each with the names of its tools; `unique` ones can be told apart by them."""
    found = draw(st.lists(servers, min_size=1, max_size=4, unique=True))
    names = st.lists(wild_names.filter(bool) if unique else wild_names, max_size=6, unique=unique)
    return [(server, draw(names)) for server in found]


def catalog_of(toolsets: Sequence[Toolset]) -> Catalog:
    """What a session without a scope sees of them."""
    return Catalogs().derive(Registry(toolsets).snapshot(), Scope())


def _declared(names: Sequence[str]) -> list[str]:
    """A function is never called like the bridge, like nothing, or like another of its toolset."""
    return [name for name in dict.fromkeys(names) if name and name not in RESERVED]


@requirement("TOOL-2")
@quick(100)
@given(
    found=recordings(),
    declared=st.lists(st.lists(wild_names, max_size=4), max_size=2),
    reserved=st.sampled_from(((), RESERVED)),
)
def test_every_tool_has_a_fitting_name_of_its_own(
    found: list[tuple[str, list[str]]], declared: list[list[str]], reserved: tuple[str, ...]
) -> None:
    toolsets: list[Toolset] = [recorded(server, names) for server, names in found]
    toolsets += [
        FunctionToolset(f"functions-{number}", [echo(name) for name in _declared(names)])
        for number, names in enumerate(declared)
    ]
    snapshot = Registry(toolsets, reserved=reserved).snapshot()
    catalog = Catalogs(reserved=reserved).derive(snapshot, Scope())
    names = [tool.name for tool in catalog]
    assert len(names) == sum(len(toolset.tools()) for toolset in toolsets)
    assert len(set(names)) == len(names)
    assert [name for name in names if not FITTING.fullmatch(name)] == []
    assert not set(names) & set(reserved)
    for tool in catalog:
        assert snapshot.owner(tool).name == tool.source


def _by_identity(tools: Sequence[Tool]) -> dict[tuple[str, str], str]:
    return {(tool.source, tool.local_name): tool.name for tool in tools}


@requirement("TOOL-2")
@quick(100)
@given(data=st.data(), found=recordings(unique=True))
def test_names_of_servers_tools_do_not_depend_on_the_order_they_come_in(
    data: st.DataObject, found: list[tuple[str, list[str]]]
) -> None:
    shuffled = [
        (server, data.draw(st.permutations(names)))
        for server, names in data.draw(st.permutations(found))
    ]
    before, after = (
        catalog_of([recorded(server, names) for server, names in order])
        for order in (found, shuffled)
    )
    assert _by_identity(before.tools) == _by_identity(after.tools)


@requirement("TOOL-2")
@quick(60)
@given(found=recordings(), declared=st.lists(words, max_size=4, unique=True))
def test_names_are_the_same_in_every_registry_and_survive_a_catalog(
    found: list[tuple[str, list[str]]], declared: list[str]
) -> None:
    def taken() -> Catalog:
        toolsets: list[Toolset] = [recorded(server, names) for server, names in found]
        return catalog_of([*toolsets, FunctionToolset("functions", map(echo, declared))])

    first, second = taken(), taken()
    assert [tool.name for tool in first.tools] == [tool.name for tool in second.tools]
    catalog = Catalog(first.tools)
    assert all(a is b for a, b in zip(catalog.tools, first.tools, strict=True))
    assert all(catalog.get(tool.name) is tool for tool in first.tools)


@requirement("TOOL-2")
@quick(40)
@given(declared=st.lists(st.lists(wild_names, max_size=3), max_size=3), backend=backends)
def test_a_tool_runs_under_the_name_it_was_given_whatever_its_own_is(
    declared: list[list[str]], backend: str
) -> None:
    async def main() -> None:
        drawer = Drawer(
            FunctionToolset(f"functions-{number}", map(echo, _declared(names)))
            for number, names in enumerate(declared)
        )
        for tool in (await drawer.session().tools()).tools:
            result = await drawer.session().call(tool.name)
            assert json.loads(result.text)[0] == tool.local_name

    run(main, backend)


# --- notations -----------------------------------------------------------------------------


def _notations(server: str, name: str) -> list[str]:
    joined = (f"{server}{mark}{name}" for mark in ("__", ".", "/", "_", "-"))
    both = [f"mcp_{server}_{name}", f"mcp__{server}__{name}", *joined]
    return [*both, *map(str.upper, both)]


@requirement("TOOL-3")
@quick(30)
@given(
    found=st.dictionaries(
        words, st.lists(words, min_size=1, max_size=3, unique=True), min_size=1, max_size=3
    ),
    backend=backends,
)
def test_every_notation_means_the_one_tool_and_the_reply_uses_its_real_name(
    found: dict[str, list[str]], backend: str
) -> None:
    everywhere = [name for names in found.values() for name in names]

    async def main() -> None:
        drawer = Drawer([recorded(server, names) for server, names in found.items()])
        for server, name in [(at, name) for at, names in found.items() for name in names]:
            real = f"mcp_{server}_{name}"
            bare = [name, name.upper()] if everywhere.count(name) == 1 else []
            for notation in (*_notations(server, name), *bare):
                described = await drawer.session().call("tool_describe", {"name": notation})
                assert reply(described)["name"] == real
                called = await drawer.session().call("tool_call", {"name": notation})
                assert f"{real!r} comes from a recorded list" in called.text

    run(main, backend)


@requirement("TOOL-3")
@quick(30)
@given(name=words, found=st.lists(words, min_size=2, max_size=3, unique=True), backend=backends)
def test_a_bare_name_that_several_tools_have_is_refused_with_their_names(
    name: str, found: list[str], backend: str
) -> None:
    async def main() -> None:
        drawer = Drawer([recorded(server, [name]) for server in found])
        for bridge in ("tool_describe", "tool_call"):
            refused = await drawer.session().call(bridge, {"name": name})
            assert refused.is_error
            assert all(f"'mcp_{server}_{name}'" in refused.text for server in found)

    run(main, backend)


# --- the registry among threads ------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One change to one toolset; its tools say of which version they are."""

    kind: str
    server: str
    version: int

    def apply(self, registry: Registry) -> None:
        names = [f"{self.version}-{number}" for number in range(self.version % 3 + 1)]
        try:
            match self.kind:
                case "add":
                    registry.add(recorded(self.server, names))
                case "replace":
                    registry.replace(recorded(self.server, names))
                case _:
                    registry.remove(f"mcp-{self.server}")
        except (ToolsetTaken, ToolsetUnknown):
            return


changes = st.builds(
    Change,
    kind=st.sampled_from(("add", "replace", "remove")),
    server=st.sampled_from("xyz"),
    version=st.integers(0, 999),
)


def _is_whole(snapshot: Snapshot) -> bool:
    """Every toolset with all tools of one version, and no tool of any other."""
    for toolset in snapshot.toolsets.values():
        listed = [tool for tool in snapshot.tools if tool.source == toolset.name]
        if [tool.local_name for tool in listed] != [tool.local_name for tool in toolset.tools()]:
            return False
    return {tool.source for tool in snapshot.tools} == set(snapshot.toolsets)


@pytest.fixture(scope="module")
def hasty_threads() -> Iterator[None]:
    """Threads that are interrupted all the time."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@requirement("TOOL-4")
@pytest.mark.usefixtures("hasty_threads")
@quick(15)
@given(plans=st.lists(st.lists(changes, min_size=5, max_size=30), min_size=2, max_size=3))
def test_threads_see_the_registry_before_a_change_or_after_it_never_between(
    plans: list[list[Change]],
) -> None:
    registry, done = Registry(), Event()

    def write(plan: list[Change]) -> None:
        for change in plan:
            change.apply(registry)

    def read() -> list[Snapshot]:
        seen = [registry.snapshot()]
        while not done.is_set():
            seen.append(registry.snapshot())
        return seen

    with ThreadPoolExecutor(max_workers=len(plans) + 2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for writer in [pool.submit(write, plan) for plan in plans]:
            writer.result()
        done.set()
        seen = [reader.result() for reader in readers]
    toolsets: dict[int, dict[str, Toolset]] = {}
    for snapshots in seen:
        generations = [snapshot.generation for snapshot in snapshots]
        assert generations == sorted(generations)
        for snapshot in {id(snapshot): snapshot for snapshot in snapshots}.values():
            assert _is_whole(snapshot)
            assert toolsets.setdefault(snapshot.generation, snapshot.toolsets) == snapshot.toolsets


@requirement("TOOL-4")
@quick(60)
@given(plan=st.lists(changes, max_size=12))
def test_every_change_and_only_a_change_bumps_the_generation(plan: list[Change]) -> None:
    registry = Registry()
    for change in plan:
        before = registry.snapshot()
        assert registry.snapshot() is before
        change.apply(registry)
        has_changed = dict(registry.snapshot().toolsets) != dict(before.toolsets)
        assert registry.generation == before.generation + has_changed
        assert (registry.snapshot() is before) != has_changed
