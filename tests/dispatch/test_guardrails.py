"""Guardrails allow, deny or ask; the strictest wins, and a broken one denies."""

from collections.abc import Callable
from typing import Literal, cast

import anyio.lowlevel
import pytest

from tests.dispatch.parts import events
from tests.fakes import Clock, ScriptedApprover, ScriptedToolset
from tests.requirements import requirement
from tooldrawer import (
    Allow,
    Answer,
    Ask,
    Deny,
    Drawer,
    FunctionToolset,
    Grants,
    Guardrail,
    RateLimit,
    RepeatGuard,
    Rules,
    Tool,
    ToolCall,
    Verdict,
    read_only,
)
from tooldrawer.activity import CallRefused
from tooldrawer.errors import ConfigError
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

CALL = ToolCall(name="any")
Choice = Literal["allow", "ask", "deny"]


def tool(hints: JsonObject | None = None, *, trusted: bool = False) -> Tool:
    return Tool(name="mcp_shop_pay", source="mcp-shop", trusted=trusted, annotations=hints or {})


@requirement("DSP-5")
@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (Rules(), Allow),
        (Rules(deny=("mcp_shop_*",)), Deny),
        (Rules(ask=("*_pay",)), Ask),
        (Rules(ask=("*_pay",), deny=("*shop*",)), Deny),
        (Rules(allow=("*",), ask=("*_pay",)), Ask),
        (Rules(allow=("*",), deny=("mcp_shop_pay",)), Deny),
        (Rules(allow=("mcp_shop_*",), destructive="deny", writing="deny"), Allow),
        (Rules(deny=("MCP_SHOP_*",)), Deny),
        (Rules(deny=("shop", "pay")), Allow),
        (Rules(allow=("*shop*",), writing="deny"), Deny),
        (Rules(ask=("mcp_shop_p?y",)), Ask),
    ],
)
async def test_of_the_patterns_that_fit_the_strictest_wins(
    rules: Rules, expected: type[Verdict]
) -> None:
    assert type(rules(tool(), CALL)) is expected


@requirement("DSP-5")
async def test_a_pattern_also_fits_the_name_before_it_was_shortened() -> None:
    short = Tool(name="mcp_shop_x_1a2b3c4d", long_name="mcp_shop_x_delete_all")
    assert isinstance(Rules(deny=("*delete*",))(short, CALL), Deny)


@requirement("DSP-5")
@pytest.mark.parametrize(
    ("hints", "destructive", "writing", "expected"),
    [
        ({"readOnlyHint": True}, "deny", "deny", Allow),
        ({"readOnlyHint": False, "destructiveHint": False}, "deny", "allow", Allow),
        ({"readOnlyHint": False, "destructiveHint": False}, "deny", "ask", Ask),
        ({"destructiveHint": True}, "ask", "allow", Ask),
        ({"destructiveHint": True}, "deny", "ask", Deny),
        ({"destructiveHint": True}, "ask", "deny", Deny),
        ({"readOnlyHint": True, "destructiveHint": True}, "deny", "allow", Deny),
        ({}, "deny", "allow", Deny),
        ({}, "allow", "ask", Ask),
    ],
)
async def test_what_a_trusted_source_says_of_its_tool_is_believed(
    hints: JsonObject, destructive: Choice, writing: Choice, expected: type[Verdict]
) -> None:
    rules = Rules(destructive=destructive, writing=writing)
    assert type(rules(tool(hints, trusted=True), CALL)) is expected


@requirement("DSP-5")
@pytest.mark.parametrize("guardrail", [Rules(destructive="deny"), Rules(writing="deny"), read_only])
@pytest.mark.parametrize(
    "hints",
    [
        {},
        {"readOnlyHint": True},
        {"destructiveHint": False},
        {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
        {"destructiveHint": True},
    ],
)
async def test_what_an_untrusted_server_says_of_its_tool_never_loosens_a_rule(
    guardrail: Guardrail, hints: JsonObject
) -> None:
    assert isinstance(guardrail(tool(hints), CALL), Deny)


@requirement("DSP-5")
async def test_what_an_untrusted_server_admits_does_tighten_a_rule() -> None:
    for trusted in (False, True):
        admitted = tool({"readOnlyHint": True, "destructiveHint": True}, trusted=trusted)
        assert isinstance(Rules(destructive="deny")(admitted, CALL), Deny)


@requirement("DSP-5")
async def test_a_session_that_only_reads_runs_nothing_else(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    claims = Tool(name="claims_to_read", annotations={"readOnlyHint": True})
    server = ScriptedToolset("mcp-shop", [claims])
    session = Drawer([desk, server], guardrails=[read_only], grants=grants).session()
    assert not (await session.call("read_note", {"title": "a"})).is_error
    for name in ("add_note", "delete_note"):
        refused = await session.call(name, {"title": "a"})
        assert refused.is_error
        assert "this session only reads" in refused.text
        assert "tell the user" in refused.text
    assert (await session.call("claims_to_read")).is_error
    assert (ran, server.received) == (["read a"], [])


def verdict(given: Verdict) -> Guardrail:
    return lambda tool, call: given


async def later(tool: Tool, call: ToolCall) -> Verdict:
    await anyio.lowlevel.checkpoint()
    return Deny("no, on reflection")


@requirement("DSP-5")
@pytest.mark.parametrize(
    ("guardrails", "reason"),
    [
        ([verdict(Allow()), verdict(Deny("one")), verdict(Ask("?"))], "one"),
        ([verdict(Ask("?")), verdict(Deny("two"))], "two"),
        ([verdict(Deny("three")), verdict(Deny("four"))], "three"),
        ([verdict(Allow()), later], "no, on reflection"),
    ],
)
async def test_one_no_is_enough(
    guardrails: list[Guardrail], reason: str, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    approver = ScriptedApprover(Answer.ALWAYS)
    drawer = Drawer([desk], guardrails=guardrails, approver=approver, grants=grants)
    result = await drawer.session().call("read_note", {"title": "a"})
    assert (result.is_error, result.text) == (True, reason)
    assert (ran, approver.requests) == ([], [])
    (refused,) = events(drawer, CallRefused)
    assert (refused.tool, refused.reason) == ("read_note", reason)


@requirement("DSP-5")
async def test_one_question_is_asked_when_several_rules_want_one(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    approver = ScriptedApprover(Answer.ONCE)
    guardrails = [verdict(Allow()), verdict(Ask("first?")), verdict(Ask("second?"))]
    drawer = Drawer([desk], guardrails=guardrails, approver=approver, grants=grants)
    await drawer.session().call("read_note", {"title": "a"})
    assert [request.question for request in approver.requests] == ["first?"]
    assert ran == ["read a"]


def raises(tool: Tool, call: ToolCall) -> Verdict:
    raise ZeroDivisionError


async def raises_later(tool: Tool, call: ToolCall) -> Verdict:
    raise ZeroDivisionError


def answers(value: object) -> Callable[[Tool, ToolCall], Verdict]:
    return lambda tool, call: cast("Verdict", value)


@requirement("DSP-5")
@pytest.mark.parametrize(
    "broken",
    [raises, raises_later, answers(None), answers(True), answers("allow"), answers(Allow)],  # noqa: FBT003
)
async def test_a_guardrail_that_breaks_or_gives_no_verdict_denies(
    broken: Guardrail, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    drawer = Drawer([desk], guardrails=[verdict(Allow()), broken], grants=grants)
    result = await drawer.session().call("read_note", {"title": "a"})
    assert result.is_error
    assert result.text == "A safety rule could not be checked. Tell the user; do not try again."
    assert ran == []


@requirement("DSP-5")
async def test_a_rate_limit_counts_the_calls_of_each_session(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    clock = Clock()
    limit = RateLimit(calls=2, seconds=10, clock=clock)
    drawer = Drawer([desk], guardrails=[limit], grants=grants)
    one, other = drawer.session(), drawer.session()

    async def is_let_through(seconds: float) -> bool:
        clock.now = 1000 + seconds
        return not (await one.call("read_note", {"title": "a"})).is_error

    assert [await is_let_through(at) for at in (0, 4, 4, 9.9, 10, 10, 13.9, 14)] == [
        True, True, False, False, True, False, False, True,
    ]  # fmt: skip
    assert not (await other.call("read_note", {"title": "a"})).is_error
    clock.now = 1014
    refused = await one.call("read_note", {"title": "a"})
    assert refused.text == (
        "More than 2 calls in 10 s. Wait 6 s, or do something that needs no tool."
    )
    assert len(ran) == 5


@requirement("DSP-5")
async def test_the_same_call_again_and_again_is_stopped(
    desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    drawer = Drawer([desk], guardrails=[RepeatGuard(most=2)], grants=grants)
    one, other = drawer.session(), drawer.session()

    async def is_let_through(title: str) -> bool:
        return not (await one.call("read_note", {"title": title})).is_error

    assert [await is_let_through(title) for title in "aaabaa"] == [
        True, True, False, True, True, True,
    ]  # fmt: skip
    refused = await one.call("tool_call", {"name": "desk.read_note", "arguments": {"title": "a"}})
    assert refused.is_error
    assert "'read_note' was called 3 times in a row with the same arguments" in refused.text
    assert "use it, change the arguments, or tell the user" in refused.text
    assert not (await other.call("read_note", {"title": "a"})).is_error
    assert not (await one.call("add_note", {"title": "a"})).is_error


@requirement("DSP-5")
async def test_the_order_of_keys_does_not_make_another_call() -> None:
    guard = RepeatGuard(most=1)
    first: JsonObject = {"a": 1, "b": {"c": 2, "d": 3}}
    second: JsonObject = {"b": {"d": 3, "c": 2}, "a": 1}
    assert isinstance(guard(tool(), ToolCall(name="x", arguments=first)), Allow)
    assert isinstance(guard(tool(), ToolCall(name="x", arguments=second)), Deny)


def test_rules_take_lists_and_no_single_text() -> None:
    assert Rules(ask=["a_*"]) == Rules(ask=("a_*",))
    with pytest.raises(ConfigError, match="expected a list of patterns"):
        Rules(deny="a_*")
