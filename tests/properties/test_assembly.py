"""The array a model sees: passed through, or closed without a byte that depends on the drawer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import (
    BRIDGE,
    SHAPES,
    array,
    arrays,
    backends,
    compact,
    echo,
    json_objects,
    quick,
    run,
    toolset,
    words,
)
from tests.requirements import requirement
from tooldrawer import (
    Assembly,
    AssemblyPolicy,
    BridgeNames,
    Config,
    Drawer,
    FunctionToolset,
    Session,
    StaticToolset,
    Tool,
)
from tooldrawer.assembly import CORE, Listing, assemble
from tooldrawer.bridge import bridge_tools
from tooldrawer.tokens import SchemaCosts
from tooldrawer.tool import Json, JsonObject

READ = {"openai": Tool.from_openai, "anthropic": Tool.from_anthropic, "mcp": Tool.from_mcp}
CORE_NAMES = tuple(name for name in CORE if "*" not in name)


class Characters:
    """A token for each character: what something costs can be said in advance."""

    def count(self, text: str) -> int:
        return len(text)


def assembled(tools: Sequence[Tool], policy: AssemblyPolicy, context: int = 2_000) -> Assembly:
    return assemble(tools, policy, context_length=context, costs=SchemaCosts(Characters()))


@st.composite
def tools(draw: DrawFn, name: str, junk: JsonObject) -> Tool:
    """A tool in one of the shapes, with fields nobody knows."""
    schema: JsonObject = {"type": "object", "properties": {name: junk}}
    text = draw(st.sampled_from(("", "Do it.", "Größer\n\u2028 als '🙂'", "Long words. " * 9)))
    source = draw(st.sampled_from(("", "desk", "mcp-hub", "mcp-lab")))
    flat: dict[str, JsonObject] = {
        "openai": {"name": name, "description": text, "parameters": schema, "strict": junk},
        "anthropic": {"cache_control": junk, "name": name, "input_schema": schema},
        "mcp": {"name": name, "description": text, "inputSchema": schema, "_meta": junk},
    }
    shape = draw(st.sampled_from(SHAPES))
    function: JsonObject = {"type": "function", "function": flat[shape]}
    return READ[shape](function if shape == "openai" else flat[shape], source=source)


@st.composite
def catalogs(draw: DrawFn) -> list[Tool]:
    """Tools of different names, some of them core."""
    names = draw(st.lists(words | st.sampled_from(CORE_NAMES), max_size=8, unique=True))
    junk = draw(json_objects(leaves=4))
    return [draw(tools(name, junk)) for name in names]


@st.composite
def policies(draw: DrawFn) -> AssemblyPolicy:
    return AssemblyPolicy(
        enabled=draw(st.sampled_from(("auto", "on", "off", "benefit"))),
        threshold_pct=draw(st.sampled_from((0, 10, 33.3, 100))),
        pinned=tuple(draw(st.lists(st.sampled_from(("g*", "*[h-k]?", "??j*")), max_size=2))),
        listing=draw(st.sampled_from(("off", "toolsets", "names", "full"))),
    )


@requirement("ACT-2")
@quick(100)
@given(given_tools=catalogs(), policy=policies())
def test_inactive_is_pass_through_the_same_objects_in_the_same_order(
    given_tools: list[Tool], policy: AssemblyPolicy
) -> None:
    assembly = assembled(given_tools, policy, context=100_000)
    assume(not assembly.active)
    assert len(assembly.tools) == len(given_tools)
    assert all(a is b for a, b in zip(assembly.tools, given_tools, strict=True))
    assert assembly.direct == assembly.tools
    assert assembly.deferred == ()
    for shape in SHAPES:
        own = [tool.raw for tool in given_tools if tool.shape == shape]
        rows = getattr(assembly, shape)()
        kept = [row for row, tool in zip(rows, given_tools, strict=True) if tool.shape == shape]
        assert compact(kept) == compact(own)


@requirement("ACT-2")
@quick(20)
@given(names=st.lists(words, max_size=6, unique=True), backend=backends)
def test_an_inactive_session_shows_the_very_objects_its_toolsets_list(
    names: list[str], backend: str
) -> None:
    halves = [toolset("one", names[:3]), toolset("two", names[3:])]
    listed = [tool for half in halves for tool in half.tools()]

    async def main() -> Assembly:
        return await Drawer(halves).session().tools()

    shown = run(main, backend).tools
    assert len(shown) == len(listed)
    assert all(a is b for a, b in zip(shown, listed, strict=True))


@requirement("ACT-5")
@quick(100)
@given(data=st.data(), given_tools=catalogs(), policy=policies())
def test_an_earlier_bridge_in_the_input_changes_nothing(
    data: st.DataObject, given_tools: list[Tool], policy: AssemblyPolicy
) -> None:
    assume(policy.enabled != "off")
    once = assembled(given_tools, policy)
    earlier = bridge_tools(policy.names, listing=data.draw(st.sampled_from(("", "Old."))))
    mixed = list(given_tools)
    for tool in earlier:
        shape = data.draw(st.sampled_from(("ours", *SHAPES)))
        if shape != "ours":
            row = getattr(replace(once, tools=(tool,)), shape)()[0]
            tool = READ[shape](row)
        mixed.insert(data.draw(st.integers(0, len(mixed))), tool)
    again = assembled(mixed, policy)
    assert arrays(again) == arrays(once)
    assert (again.active, again.direct, again.deferred) == (
        once.active, once.direct, once.deferred,
    )  # fmt: skip


@requirement("ACT-5")
@quick(100)
@given(given_tools=catalogs(), policy=policies(), shape=st.sampled_from(SHAPES))
def test_assembling_an_array_that_passed_through_gives_the_same_bytes(
    given_tools: list[Tool], policy: AssemblyPolicy, shape: str
) -> None:
    once = assembled(given_tools, policy, context=100_000)
    assume(not once.active)
    assert arrays(assembled(once.tools, policy, context=100_000)) == arrays(once)
    returned = [READ[shape](row) for row in getattr(once, shape)()]
    again = assembled(returned, policy, context=100_000)
    assert array(again, shape) == array(once, shape)


@requirement("ACT-5")
@quick(100)
@given(given_tools=catalogs(), policy=policies())
def test_direct_and_deferred_make_up_the_catalog_and_the_bridge_comes_last(
    given_tools: list[Tool], policy: AssemblyPolicy
) -> None:
    assembly = assembled(given_tools, policy, context=100)
    names = [tool.name for tool in given_tools]
    direct = [tool.name for tool in assembly.direct]
    deferred = [tool.name for tool in assembly.deferred]
    assert sorted((*direct, *deferred)) == sorted(names)
    assert direct == [name for name in names if name not in deferred]
    assert deferred == [name for name in names if name not in direct]
    assert not set(deferred) & set(CORE_NAMES)
    bridge = list(BRIDGE) if assembly.active else []
    assert [tool.name for tool in assembly.tools] == [*direct, *bridge]
    assert len(assembly.why_direct) == len(direct)


@requirement("BR-2")
@quick(60)
@given(first=catalogs(), second=catalogs(), policy=policies())
def test_the_bridges_bytes_do_not_depend_on_the_tools(
    first: list[Tool], second: list[Tool], policy: AssemblyPolicy
) -> None:
    settings = replace(policy, enabled="on", listing="off")
    one, other = assembled(first, settings), assembled(second, settings)
    assume(one.active and other.active)
    for shape in SHAPES:
        assert compact(getattr(one, shape)()[-3:]) == compact(getattr(other, shape)()[-3:])


# --- the prompt cache ----------------------------------------------------------------------


@dataclass
class Bench:
    """A drawer whose deferred tools come and go, and a session that must not notice."""

    drawer: Drawer
    session: Session
    mixed: FunctionToolset
    """Has direct tools that stay and deferred ones that may go."""
    extra: int = 0


Change = Callable[[Bench, str], None]


def _add(bench: Bench, name: str) -> None:
    bench.mixed.add(echo(name))


def _edit(bench: Bench, name: str) -> None:
    bench.mixed.add(echo(name, description=f"Other words {bench.extra}."))
    bench.extra += 1


def _remove(bench: Bench, name: str) -> None:
    bench.mixed.remove(name)


def _add_toolset(bench: Bench, name: str) -> None:
    if name not in {toolset.name for toolset in bench.drawer.registry}:
        bench.drawer.registry.add(toolset(name, [f"{name}_1", f"{name}_2"]))


def _replace_toolset(bench: Bench, name: str) -> None:
    bench.extra += 1
    bench.drawer.registry.replace(toolset(name, [f"{name}_{bench.extra}"]))


def _remove_toolset(bench: Bench, name: str) -> None:
    if name in {toolset.name for toolset in bench.drawer.registry}:
        bench.drawer.registry.remove(name)


def _reconnect(bench: Bench, name: str) -> None:
    """The same direct tools, listed anew, and other deferred ones."""
    direct = [tool.name for tool in bench.mixed.tools() if tool.name in ("todo", "pinned_1")]
    bench.mixed = toolset("mixed", [*direct, "left_over", name])
    bench.drawer.registry.replace(bench.mixed)


def _meet(bench: Bench, name: str) -> None:
    """A server whose tool would be called like the pinned one of another server."""
    bench.drawer.registry.replace(StaticToolset("big_meeting", [{"name": "point"}, {"name": name}]))


def _part(bench: Bench, name: str) -> None:
    """The same server lists something else."""
    bench.drawer.registry.replace(StaticToolset("big_meeting", [{"name": name}]))


CHANGES: tuple[Change, ...] = (
    _meet, _part,
    _add, _edit, _remove, _add_toolset, _replace_toolset, _remove_toolset, _reconnect,
)  # fmt: skip


@requirement("CACHE-2")
@quick(40)
@given(
    changes=st.lists(
        st.tuples(
            st.sampled_from(CHANGES), words | st.sampled_from(("gggggggg", "hhhhhhhh", "kkkkkkkk"))
        ),
        min_size=1,
        max_size=8,
    ),
    asked=st.lists(
        st.tuples(
            st.sampled_from((*BRIDGE, "todo", "left_over", "gggggggg")),
            st.sampled_from(("left_over", "todo", "gggggggg", "give back", "hhhhhhhh_1")),
        ),
        max_size=6,
    ),
    listing=st.sampled_from(("off", "toolsets", "names", "full")),
    threshold=st.sampled_from((None, 0)),
    backend=backends,
)
def test_while_active_nothing_that_comes_and_goes_changes_a_byte(
    changes: list[tuple[Change, str]],
    asked: list[tuple[str, str]],
    listing: Listing,
    threshold: int | None,
    backend: str,
) -> None:
    policy = AssemblyPolicy(
        enabled="on" if threshold is None else "auto",
        threshold_pct=threshold or 0,
        pinned=("pinned_*", "mcp_big_meeting_point"),
        listing=listing,
    )

    async def main() -> None:
        mixed = toolset("mixed", ["todo", "left_over", "pinned_1", "gggggggg"])
        anchor = toolset("anchor", ["pinned_0", "deferred_0"])
        other = StaticToolset("big", [{"name": "meeting_point"}])
        drawer = Drawer([mixed, anchor, other], config=Config(assembly=policy))
        bench = Bench(drawer, drawer.session(), mixed)
        before = arrays(await bench.session.tools())
        for number in range(max(len(changes), len(asked))):
            for change, name in changes[number : number + 1]:
                change(bench, name)
            assert arrays(await bench.session.tools()) == before
            for name, wanted in asked[number : number + 1]:
                arguments: Json = {"name": wanted, "query": wanted} if name in BRIDGE else None
                await bench.session.call(name, arguments)
            assert arrays(await bench.session.tools()) == before

    run(main, backend)


# --- the threshold -------------------------------------------------------------------------


def _padded(tokens: int) -> FunctionToolset | None:
    """A toolset with one deferrable tool that costs exactly so much, if one can be so small."""

    def made(description: str) -> FunctionToolset:
        return FunctionToolset("desk", [echo("gggggggg", description=description)])

    def cost(found: FunctionToolset) -> int:
        tool = found.tools()[0]
        parts = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        return len(compact(parts))

    missing = tokens - cost(made("x"))
    return made("x" * (missing + 1)) if missing >= 0 else None


@requirement("ACT-1")
@quick(100)
@given(
    thousandths=st.integers(0, 100_000) | st.sampled_from((0, 1, 10_000, 100_000)),
    context=st.integers(400, 300_000) | st.sampled_from((1_000, 128_000, 200_000)),
    beside=st.integers(-2, 2),
)
@example(thousandths=10_000, context=8_000, beside=0)
@example(thousandths=10_000, context=8_000, beside=-1)
@example(thousandths=100_000, context=1_000, beside=0)
@example(thousandths=100_000, context=1_000, beside=-1)
def test_auto_closes_the_drawer_exactly_at_the_threshold(
    thousandths: int, context: int, beside: int
) -> None:
    share = Fraction(thousandths, 1_000)
    threshold = share * context / 100
    tokens = max((floor(threshold) if beside < 0 else ceil(threshold)) + beside, 400)
    desk = _padded(tokens)
    assert desk is not None
    policy = AssemblyPolicy(threshold_pct=thousandths / 1_000, names=BridgeNames())
    drawer = Drawer([desk], config=Config(assembly=policy), counter=Characters())

    async def main() -> Assembly:
        return await drawer.session(context_length=context).tools()

    assembly = run(main)
    assert assembly.deferrable_tokens == tokens
    assert assembly.active == (tokens * 100 >= share * context)


@requirement("ACT-1")
@quick(20)
@given(context=st.integers(1, 10**9))
def test_zero_percent_closes_the_drawer_over_anything_deferrable(context: int) -> None:
    desk, core = toolset("desk", ["gggggggg"]), toolset("core", ["todo"])
    policy = AssemblyPolicy(threshold_pct=0)

    async def main(*toolsets: FunctionToolset) -> bool:
        drawer = Drawer(toolsets, config=Config(assembly=policy), counter=Characters())
        return (await drawer.session(context_length=context).tools()).active

    assert run(lambda: main(desk, core))
    assert not run(lambda: main(core))
