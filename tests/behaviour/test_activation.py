"""When the drawer closes, and what the model sees then."""

import re
from collections.abc import Callable
from math import nan
from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer import (
    AssemblyPolicy,
    BenefitModel,
    BridgeNames,
    Config,
    Drawer,
    FunctionToolset,
    SearchPolicy,
    Tool,
    errors,
)
from tooldrawer.assembly import assemble
from tooldrawer.tokens import Estimate, O200k, SchemaCosts

pytestmark = pytest.mark.anyio

BRIDGE = ["tool_search", "tool_describe", "tool_call"]
Numbered = Callable[[str, int], FunctionToolset]


class OneEach:
    """Counts every text as a hundred tokens."""

    def count(self, text: str) -> int:
        return 100 if text else 0


def drawer(toolset: FunctionToolset, **policy: object) -> Drawer:
    config = Config(assembly=AssemblyPolicy(**policy))  # pyright: ignore[reportArgumentType]
    return Drawer([toolset], config=config, counter=OneEach())


async def names(drawer: Drawer, context_length: int | None = None) -> list[str]:
    assembly = await drawer.session(context_length=context_length).tools()
    return [tool.name for tool in assembly.tools]


@requirement("ACT-1")
async def test_off_passes_everything_through(numbered: Numbered) -> None:
    assert await names(drawer(numbered("a", 3), enabled="off"), 1) == ["a_0", "a_1", "a_2"]


@requirement("ACT-1")
async def test_on_closes_the_drawer_over_a_single_tool(numbered: Numbered) -> None:
    assert await names(drawer(numbered("a", 1), enabled="on")) == BRIDGE


@requirement("ACT-1")
async def test_on_without_anything_deferrable_shows_no_bridge(numbered: Numbered) -> None:
    assert await names(drawer(numbered("a", 1), enabled="on", pinned=("a_*",))) == ["a_0"]


@requirement("ACT-1")
@pytest.mark.parametrize(
    ("context_length", "is_closed"), [(2_999, True), (3_000, True), (3_001, False)]
)
async def test_auto_closes_at_the_threshold_and_above(
    numbered: Numbered, context_length: int, is_closed: bool
) -> None:
    found = await names(drawer(numbered("a", 3)), context_length)
    assert (found == BRIDGE) is is_closed


@requirement("ACT-1")
async def test_nought_percent_closes_always_and_a_hundred_only_at_the_whole_context(
    numbered: Numbered,
) -> None:
    assert await names(drawer(numbered("a", 1), threshold_pct=0), 10**9) == BRIDGE
    assert await names(drawer(numbered("a", 3), threshold_pct=100), 300) == BRIDGE
    assert await names(drawer(numbered("a", 3), threshold_pct=100), 301) != BRIDGE


@requirement("ACT-2")
async def test_an_open_drawer_gives_the_same_objects_in_the_same_order(numbered: Numbered) -> None:
    toolset = numbered("a", 5)
    assembly = await Drawer([toolset]).session().tools()
    given = toolset.tools()
    assert len(assembly.tools) == len(given)
    assert all(one is other for one, other in zip(assembly.tools, given, strict=True))


@requirement("ACT-3")
async def test_removing_toolsets_opens_the_drawer_again_and_adding_them_closes_it(
    numbered: Numbered,
) -> None:
    made = Drawer([numbered("a", 2), numbered("b", 8)], counter=OneEach())
    session = made.session(context_length=10_000)
    assert (await session.tools()).active
    made.registry.remove("b")
    assert not (await session.tools()).active
    made.registry.add(numbered("c", 8))
    assert (await session.tools()).active


@requirement("ACT-3")
async def test_another_context_length_is_another_decision(numbered: Numbered) -> None:
    session = drawer(numbered("a", 3)).session(context_length=3_000)
    assert (await session.tools()).active
    session.context_length = 200_000
    assert not (await session.tools()).active


@requirement("ACT-4")
async def test_core_and_pinned_tools_stay_direct_in_their_order() -> None:
    def browser_open() -> None: ...
    def other() -> None: ...
    def terminal() -> None: ...
    def favourite() -> None: ...

    toolset = FunctionToolset("own", [browser_open, other, terminal, favourite])
    assembly = await drawer(toolset, enabled="on", pinned=("fav*",)).session().tools()
    assert [tool.name for tool in assembly.tools] == [
        "browser_open",
        "terminal",
        "favourite",
        *BRIDGE,
    ]
    assert assembly.why_direct == ("core", "core", "pinned")
    assert [tool.name for tool in assembly.deferred] == ["other"]


@requirement("ACT-5")
async def test_bridge_tools_in_the_input_are_dropped_first(numbered: Numbered) -> None:
    policy = AssemblyPolicy(enabled="on", pinned=("a_0",))
    costs = SchemaCosts(Estimate())
    tools = numbered("a", 3).tools()
    once = assemble(tools, policy, costs=costs)
    twice = assemble((*once.tools, *once.deferred), policy, costs=costs)
    returned = map(Tool.from_openai, once.openai())
    thrice = assemble((*returned, *once.deferred), policy, costs=costs)
    assert once.openai() == twice.openai() == thrice.openai()
    assert [tool.name for tool in once.tools] == ["a_0", *BRIDGE]


@requirement("ACT-6")
@pytest.mark.parametrize("unknown", [None, 0, -5])
async def test_an_unknown_context_length_counts_as_two_hundred_thousand(
    numbered: Numbered, unknown: int | None
) -> None:
    assembly = await Drawer([numbered("a", 1)]).session(context_length=unknown).tools()
    assert assembly.context_length == 200_000
    assert assembly.threshold_tokens == 20_000


@requirement("ACT-7")
async def test_the_decision_comes_with_its_reasons(numbered: Numbered) -> None:
    assembly = await drawer(numbered("a", 3)).session(context_length=3_000).tools()
    assert assembly.deferrable_tokens == 300
    assert assembly.reason == ("300 tokens of deferrable schemas ≥ threshold 300 (10 % of 3,000)")


@requirement("ACT-7")
async def test_a_threshold_between_two_numbers_is_not_rounded_into_a_contradiction(
    numbered: Numbered,
) -> None:
    assembly = await drawer(numbered("a", 3)).session(context_length=3_004).tools()
    assert not assembly.active
    assert assembly.explanation == (
        "Tool search is inactive: 300 tokens of deferrable schemas < threshold 301 (10 % of 3,004)."
    )


@requirement("ACT-1")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"enabled": "maybe"}, "enabled is 'maybe', expected auto, on, off or benefit"),
        ({"enabled": True}, "enabled is True, expected auto, on, off or benefit"),
        ({"threshold_pct": 150}, "threshold_pct is 150, expected a number from 0 to 100"),
        ({"threshold_pct": -1}, "threshold_pct is -1, expected a number from 0 to 100"),
        ({"threshold_pct": nan}, "threshold_pct is nan, expected a number from 0 to 100"),
        ({"threshold_pct": "10"}, "threshold_pct is '10', expected a number from 0 to 100"),
        ({"listing": "some"}, "listing is 'some', expected off, toolsets, names or full"),
        ({"listing_max_tokens": -5}, "listing_max_tokens is -5, expected a whole number from 0"),
        ({"pinned": "get_me"}, "pinned is 'get_me', expected a list of patterns"),
        ({"pinned": [1]}, "pinned is (1,), expected a list of patterns"),
        ({"core": None}, "core is None, expected a list of patterns"),
        ({"names": {}}, "names is {}, expected a BridgeNames"),
        ({"benefit": None}, "benefit is None, expected a BenefitModel"),
    ],
)
def test_a_policy_with_a_wrong_value_is_refused_where_it_is_made(
    wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(errors.ConfigError, match=re.escape(f"AssemblyPolicy.{said}")):
        AssemblyPolicy(**wrong)


@requirement("BR-10")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_limit": 999}, "max_limit is 999, expected a whole number from 1 to 50"),
        ({"default_limit": 0}, "default_limit is 0, expected a whole number from 1 to 50"),
        ({"default_limit": 2.5}, "default_limit is 2.5, expected a whole number from 1 to 50"),
        ({"most_in_a_row": 0}, "most_in_a_row is 0, expected a whole number from 1"),
    ],
)
def test_search_settings_with_a_wrong_value_are_refused_where_they_are_made(
    wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(errors.ConfigError, match=re.escape(f"SearchPolicy.{said}")):
        SearchPolicy(**wrong)


@requirement("ACT-8")
def test_the_exact_counter_counts_o200k_tokens() -> None:
    assert O200k().count("hello world") == 2
    assert O200k().count('{"type":"object"}') == 5
    assert O200k().count("\ud800") > 0


@requirement("ACT-9")
def test_benefit_is_decided_at_the_break_even_point() -> None:
    model = BenefitModel(turns=10, tools_used=2, cache_write=1, cache_read=0.5, output=4)
    cost = model.with_bridge(300)
    even = round(cost / (model.without_bridge(1)))
    assert model.pays(schema_tokens=even + 1, bridge_tokens=300)
    assert not model.pays(schema_tokens=even - 1, bridge_tokens=300)
    exact = BenefitModel(turns=1, tools_used=0, cache_write=1)
    assert not exact.pays(schema_tokens=300, bridge_tokens=300)
    assert exact.pays(schema_tokens=301, bridge_tokens=300)


@requirement("ACT-9")
async def test_benefit_closes_the_drawer_when_a_session_costs_less_with_the_bridge(
    numbered: Numbered,
) -> None:
    assert await names(drawer(numbered("a", 100), enabled="benefit")) == BRIDGE
    assert await names(drawer(numbered("a", 2), enabled="benefit")) == ["a_0", "a_1"]


@requirement("BR-4")
async def test_the_wire_names_can_be_changed(numbered: Numbered) -> None:
    other = BridgeNames(search="find_tools", describe="show_tool", call="use_tool")
    made = drawer(numbered("a", 1), enabled="on", names=other)
    assert await names(made) == ["find_tools", "show_tool", "use_tool"]
    session = made.session()
    result = await session.call("use_tool", {"name": "a_0", "arguments": {"text": "x"}})
    assert result.text == "a 0 x"
    assert "use_tool" in (await session.tools()).tools[0].description


@requirement("BR-4")
def test_a_real_tool_called_like_a_bridge_tool_is_a_clear_error() -> None:
    def tool_search() -> None: ...

    with pytest.raises(errors.BridgeNameTaken) as caught:
        Drawer([FunctionToolset("own", [tool_search])])
    assert str(caught.value) == (
        "The toolset 'own' has a tool named 'tool_search', which is the name of a bridge tool. "
        "Rename the tool, or rename the bridge with tools.tool_search.names."
    )
