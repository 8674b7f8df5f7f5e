"""Whatever JSON a model sends is answered, and what it clearly meant is done."""

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import (
    BRIDGE,
    backends,
    compact,
    echo,
    json_values,
    nested_in,
    quick,
    readable,
    reply,
    run,
    words,
)
from tests.requirements import requirement
from tooldrawer import (
    AssemblyPolicy,
    Config,
    Drawer,
    FunctionToolset,
    SearchPolicy,
    StaticToolset,
    ToolResult,
)
from tooldrawer.tool import Json, JsonObject

ARGUMENT_KEYS = ("arguments", "args", "input", "params")
NAME_KEYS = ("name", "tool_name")
LEVELS = 5_000
TARGETS = (*BRIDGE, "give_back", "take_all", "mcp_plan_draw", "read_rest", "nobody")

Wrap = Callable[[Json], Json]


def make_drawer(ran: list[str] | None = None, **search: int) -> Drawer:
    """Tools with and without parameters, in the drawer and out of it."""

    async def take_all(**anything: object) -> str:
        return compact(sorted(anything))

    async def wait() -> str:
        return "waited"

    schema: JsonObject = {"type": "object", "properties": {"input": {"type": ["array", "null"]}}}
    desk = FunctionToolset("desk", [echo("give_back", ran), take_all, wait, echo("todo", ran)])
    plan = StaticToolset("plan", [{"name": "draw", "inputSchema": schema}])
    config = Config(assembly=AssemblyPolicy(enabled="on"), search=SearchPolicy(**search))
    return Drawer([desk, plan], config=config)


def answer(name: str, arguments: Json, *, backend: str = "asyncio") -> ToolResult:
    """What a new session gives to one call."""

    async def main() -> ToolResult:
        return await make_drawer().session().call(name, arguments)

    return run(main, backend)


@requirement("BR-5")
@quick(150)
@given(
    calls=st.lists(
        st.tuples(st.sampled_from(TARGETS), json_values(*TARGETS)), min_size=1, max_size=5
    ),
    backend=backends,
)
def test_any_json_as_arguments_of_any_call_gets_an_answer(
    calls: Sequence[tuple[str, Json]], backend: str
) -> None:
    async def main() -> None:
        drawer = make_drawer()
        session = drawer.session()
        alone = [await session.call(name, arguments) for name, arguments in calls]
        together = await drawer.session().call_all(calls)
        for result in (*alone, *together):
            assert isinstance(result, ToolResult)
            assert json.dumps(result.mcp())

    run(main, backend)


@requirement("BR-5")
@pytest.mark.parametrize("name", [*TARGETS, "wait"])
@pytest.mark.parametrize("empty", [None, "", {}, [], "{}", "[]", '""', 0, False, [[]], [{}]])
def test_emptiness_of_every_kind_gets_an_answer(name: str, empty: Json) -> None:
    assert answer(name, empty).content


def _in_object(value: Json) -> Json:
    return {"a": value}


def _in_list(value: Json) -> Json:
    return [value]


def _in_both(value: Json) -> Json:
    return [{"arguments": value}]


@requirement("BR-5")
@pytest.mark.parametrize("wrap", [_in_object, _in_list, _in_both])
@pytest.mark.parametrize("name", TARGETS)
def test_five_thousand_levels_of_nesting_get_an_answer(name: str, wrap: Wrap) -> None:
    deep = nested_in(LEVELS, wrap=wrap)
    envelopes: list[Json] = [
        deep,
        {"name": deep},
        {"query": deep},
        {"name": "give_back", "x": deep},
    ]
    envelopes += [{"name": "take_all", key: deep} for key in ARGUMENT_KEYS]
    for arguments in envelopes:
        result = answer(name, arguments)
        assert result.is_error
        assert len(result.text) < 1_000


@requirement("BR-5")
@pytest.mark.parametrize("name", TARGETS)
def test_five_thousand_levels_of_nesting_in_a_text_get_an_answer(name: str) -> None:
    for opened, closed in (("[", "]"), ('{"arguments":', "}"), ('[{"name":', "}]")):
        text = opened * LEVELS + "1" + closed * LEVELS
        for arguments in (text, {"arguments": text}, {"name": "take_all", "arguments": text}):
            assert answer(name, arguments).content


@requirement("BR-5")
@pytest.mark.parametrize("levels", [100, 400, 900])
def test_a_text_may_not_be_nested_deeper_than_other_arguments(levels: int) -> None:
    text = '{"a":' * levels + "1" + "}" * levels
    envelopes: tuple[Json, ...] = (text, {"arguments": text}, {"input": text})
    for arguments in envelopes:
        assert answer("take_all", arguments).is_error
        assert answer("tool_call", {"name": "take_all", "arguments": arguments}).is_error


# --- sloppy envelopes mean the same as clean ones ------------------------------------------


@st.composite
def given_back(draw: DrawFn) -> dict[str, Json]:
    """Arguments that `give_back` takes."""
    text = st.text(max_size=12)
    found: dict[str, Json] = {}
    if draw(st.booleans()):
        found["title"] = draw(text)
    if draw(st.booleans()):
        found["count"] = draw(st.integers(-(2**31), 2**31))
    if draw(st.booleans()):
        found["tags"] = draw(st.lists(text, max_size=3))
    return found


def _as_it_is(value: Json) -> Json:
    return value


def _as_text(value: Json) -> Json:
    return json.dumps(value)


def _under(key: str) -> Wrap:
    return lambda value: {key: value}


def _text_under(key: str) -> Wrap:
    return lambda value: {key: json.dumps(value)}


_WHOLE: tuple[Wrap, ...] = (
    _as_it_is,
    _as_text,
    *map(_under, ARGUMENT_KEYS),
    *map(_text_under, ARGUMENT_KEYS),
)


@st.composite
def sloppy_calls(draw: DrawFn, name: str, arguments: JsonObject) -> Json:
    """`tool_call` of `name`, the way models write it."""
    written = draw(st.sampled_from((name, f" {name}\n")))
    inner: Wrap = draw(st.sampled_from((*_WHOLE, _beside)))
    envelope: dict[str, Json] = {draw(st.sampled_from(NAME_KEYS)): written}
    if inner is _beside:
        envelope |= arguments
    else:
        envelope[draw(st.sampled_from(ARGUMENT_KEYS))] = inner(arguments)
    return draw(st.sampled_from(_WHOLE))(envelope)


def _beside(value: Json) -> Json:
    """The arguments lie beside the name instead of under it."""
    return value


@requirement("BR-5")
@quick(120)
@given(data=st.data(), arguments=given_back(), backend=backends)
def test_a_sloppy_tool_call_means_the_same_as_the_clean_one(
    data: st.DataObject, arguments: dict[str, Json], backend: str
) -> None:
    clean = answer("tool_call", {"name": "give_back", "arguments": arguments}, backend=backend)
    assert not clean.is_error
    sloppy = data.draw(sloppy_calls("give_back", arguments))
    assert answer("tool_call", sloppy, backend=backend) == clean


@requirement("BR-5")
@quick(60)
@given(arguments=given_back(), wrap=st.sampled_from(_WHOLE), backend=backends)
def test_a_sloppy_direct_call_means_the_same_as_the_clean_one(
    arguments: dict[str, Json], wrap: Wrap, backend: str
) -> None:
    clean = answer("give_back", arguments, backend=backend)
    assert not clean.is_error
    assert answer("give_back", wrap(arguments), backend=backend) == clean


@requirement("BR-5")
@pytest.mark.parametrize("name", ["wait", "give_back", "take_all"])
def test_missing_null_and_empty_arguments_are_no_arguments(name: str) -> None:
    clean = answer("tool_call", {"name": name, "arguments": {}})
    assert not clean.is_error
    nothing: tuple[Json, ...] = (None, "", {}, [], "{}", "[]", '""', " ", "null", " null\n")
    for empty in nothing:
        assert answer(name, empty) == clean
        assert answer("tool_call", {"name": name, "arguments": empty}) == clean
        assert answer("tool_call", json.dumps({"name": name, "args": empty})) == clean
    assert answer("tool_call", {"name": name}) == clean


@requirement("BR-5")
@quick(60)
@given(
    query=readable.filter(str.strip) | st.sampled_from(("give back", "draw", "wait")),
    limit=st.integers(1, 5),
    wrap=st.sampled_from(_WHOLE),
    key=st.sampled_from(("query", "queries", "q")),
)
def test_a_sloppy_search_means_the_same_as_the_clean_one(
    query: str, limit: int, wrap: Wrap, key: str
) -> None:
    clean = answer("tool_search", {"query": query, "limit": limit})
    assert answer("tool_search", wrap({key: query, "limit": limit})) == clean
    assert answer("tool_search", wrap({key: query, "limit": str(limit)})) == clean
    assert answer("tool_search", wrap({key: query, "limit": float(limit)})) == clean


@requirement("BR-5")
@quick(40)
@given(query=readable.filter(str.strip), key=st.sampled_from(ARGUMENT_KEYS))
@example(query="give back", key="input")
def test_a_query_without_its_envelope_is_a_query(query: str, key: str) -> None:
    clean = answer("tool_search", {"query": query})
    assert answer("tool_search", query) == clean
    assert answer("tool_search", json.dumps(query)) == clean
    assert answer("tool_search", {key: query}) == clean


@requirement("BR-5")
@quick(40)
@given(
    name=st.sampled_from(("give_back", "desk.give_back", "plan/draw", "giveback", "nobody")),
    wrap=st.sampled_from(_WHOLE),
    key=st.sampled_from(NAME_KEYS),
)
def test_a_sloppy_describe_means_the_same_as_the_clean_one(name: str, wrap: Wrap, key: str) -> None:
    clean = answer("tool_describe", {"name": name})
    assert answer("tool_describe", wrap({key: name})) == clean
    assert answer("tool_describe", name) == clean


@requirement("BR-5")
@quick(30)
@given(
    queries=st.lists(readable.filter(str.strip) | st.just("give back"), min_size=1, max_size=12),
    wrap=st.sampled_from((_as_it_is, _as_text)),
    backend=backends,
)
def test_a_list_of_queries_is_answered_in_order_up_to_ten(
    queries: list[str], wrap: Wrap, backend: str
) -> None:
    async def main() -> None:
        drawer = make_drawer(reply_max_tokens=1_000_000)
        result = await drawer.session().call("tool_search", {"query": wrap(queries)})
        if len(queries) > 10:
            assert result.is_error
            return
        alone = [await drawer.session().call("tool_search", {"query": each}) for each in queries]
        assert reply(result) == {"results": [reply(each) for each in alone]}

    run(main, backend)


@requirement("BR-5")
@quick(30)
@given(
    names=st.lists(
        st.sampled_from(("give_back", "todo", "mcp_plan_draw", "plan.draw")) | words,
        min_size=1,
        max_size=12,
    ),
    key=st.sampled_from(("name", "names", "tool_name")),
    wrap=st.sampled_from((_as_it_is, _as_text)),
    backend=backends,
)
def test_a_list_of_names_is_described_in_order_up_to_ten(
    names: list[str], key: str, wrap: Wrap, backend: str
) -> None:
    async def main() -> None:
        drawer = make_drawer()
        result = await drawer.session().call("tool_describe", {key: wrap(names)})
        if len(names) > 10:
            assert result.is_error
            return
        alone = [await drawer.session().call("tool_describe", {"name": each}) for each in names]
        expected = [{"error": each.text} if each.is_error else reply(each) for each in alone]
        assert reply(result) == {"results": expected}

    run(main, backend)


# --- one door ------------------------------------------------------------------------------


@requirement("BR-6")
@quick(40)
@given(arguments=given_back(), name=st.sampled_from(("give_back", "todo")), backend=backends)
def test_direct_or_through_the_bridge_deferred_or_core_it_is_one_door(
    arguments: dict[str, Json], name: str, backend: str
) -> None:
    bridged = answer("tool_call", {"name": name, "arguments": arguments}, backend=backend)
    assert not bridged.is_error
    assert answer(name, arguments, backend=backend) == bridged


@requirement("BR-6")
@quick(60)
@given(data=st.data(), arguments=given_back(), levels=st.integers(1, 5))
def test_tool_call_inside_tool_call_is_unwrapped_once_and_refused_beyond(
    data: st.DataObject, arguments: dict[str, Json], levels: int
) -> None:
    ran: list[str] = []
    call: Json = {"name": "give_back", "arguments": arguments}
    for _ in range(levels):
        wrap = data.draw(st.sampled_from((_as_it_is, _as_text)))
        keys = data.draw(st.sampled_from(NAME_KEYS)), data.draw(st.sampled_from(ARGUMENT_KEYS))
        call = {keys[0]: "tool_call", keys[1]: wrap(call)}

    async def main() -> ToolResult:
        return await make_drawer(ran).session().call("tool_call", call)

    result = run(main)
    assert ran == (["give_back"] if levels == 1 else [])
    assert result.is_error == (levels > 1)


@requirement("BR-6")
@quick(60)
@given(
    name=st.sampled_from(("tool_search", "tool_describe")),
    arguments=json_values("give_back", "query", "name"),
    nested=st.booleans(),
    backend=backends,
)
def test_bridge_tools_cannot_be_called_through_tool_call(
    name: str, arguments: Json, nested: bool, backend: str
) -> None:
    call: Json = {"name": name, "arguments": arguments}
    result = answer(
        "tool_call", {"name": "tool_call", "arguments": call} if nested else call, backend=backend
    )
    assert result.is_error
    assert "tool_call" in result.text
