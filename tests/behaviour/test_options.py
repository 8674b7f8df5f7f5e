"""Options with a wrong value are refused where they are made, not where they are used."""

import re
from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from tooldrawer import (
    ActivityOptions,
    BenefitModel,
    BridgeNames,
    Catalog,
    Drawer,
    FunctionToolset,
    Limits,
    RateLimit,
    RepeatGuard,
    Rules,
    Scope,
    SearchEngine,
)
from tooldrawer.errors import ConfigError

_SECONDS = "expected a number of seconds above 0."
_COUNT = "expected a whole number from 1."
_PATTERNS = "expected a list of patterns such as 'mcp_github_*'."
_DECISION = "expected allow, ask or deny."
_NAME = "expected at most 64 letters, digits, dashes and underscores."


@pytest.mark.parametrize(
    ("options", "field", "value", "expected"),
    [
        (Rules, "destructive", "Deny", _DECISION),
        (Rules, "destructive", True, _DECISION),
        (Rules, "writing", "no", _DECISION),
        (Rules, "ask", "pay_*", _PATTERNS),
        (Rules, "deny", None, _PATTERNS),
        (Scope, "allow", (5,), _PATTERNS),
        (Scope, "toolsets", None, _PATTERNS),
        (Scope, "deny", "*delete*", _PATTERNS),
        (Limits, "call_timeout", nan, _SECONDS),
        (Limits, "call_timeout", "5", _SECONDS),
        (Limits, "call_timeout", 0, _SECONDS),
        (Limits, "approval_timeout", -1, _SECONDS),
        (Limits, "arguments_max_bytes", None, _COUNT),
        (Limits, "result_max_chars", -1, _COUNT),
        (Limits, "concurrency", True, _COUNT),
        (BridgeNames, "search", "", _NAME),
        (BridgeNames, "describe", "show tool", _NAME),
        (BridgeNames, "call", 5, _NAME),
        (BenefitModel, "turns", 0, _COUNT),
        (ActivityOptions, "keep", -1, "expected a whole number from 0."),
        (ActivityOptions, "mask", "T-.*", "expected a list of regular expressions."),
    ],
)
def test_a_wrong_value_is_refused_with_its_field_and_what_is_expected(
    options: Callable[..., object], field: str, value: Any, expected: str
) -> None:
    said = f"{options.__name__}.{field} is {value!r}, {expected}"
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}$"):
        options(**{field: value})


def test_guardrails_refuse_limits_that_let_no_call_through() -> None:
    with pytest.raises(ConfigError, match=r"RateLimit\.calls is 0, expected a whole number") as one:
        RateLimit(calls=0, seconds=nan)
    assert len(one.value.mistakes) == 2
    with pytest.raises(ConfigError, match=r"RepeatGuard\.most is 0, expected a whole number"):
        RepeatGuard(most=0)


def test_two_bridge_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="expected three different names"):
        BridgeNames(search="find", describe="find")


def test_a_mask_that_is_not_a_regular_expression_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigError, match=r"mask\[1\] is not a regular expression") as caught:
        ActivityOptions(mask=("T-1", "hunter2("))
    assert "hunter2" not in str(caught.value)


def test_a_long_value_is_not_repeated_as_a_whole() -> None:
    with pytest.raises(ConfigError) as caught:
        Scope(allow="a" * 100_000)
    assert len(str(caught.value)) < 300


def test_usual_values_are_taken() -> None:
    assert Scope(allow=["a_*"], deny=["b"]) == Scope(allow=("a_*",), deny=("b",))
    assert Limits(call_timeout=inf, result_max_chars=1).call_timeout == inf
    assert ActivityOptions(mask=("T-.*",), keep=0).mask == ("T-.*",)


def _put(title: str) -> str:
    return title


_DRAWER: Any = Drawer
_LIST = "expected a list of functions or callable objects."
_TOOLSETS = "expected a list of toolsets such as FunctionToolset('notes', [put])."


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: _DRAWER([_put]), _TOOLSETS),
        (lambda: _DRAWER([FunctionToolset]), _TOOLSETS),
        (lambda: _DRAWER(FunctionToolset("notes", [_put])), _TOOLSETS),
        (lambda: _DRAWER(config={"limits": {}}), "expected a Config."),
        (lambda: _DRAWER(hooks=["audit"]), _LIST),
        (lambda: _DRAWER(hooks=_put), _LIST),
        (lambda: _DRAWER(guardrails=[5]), _LIST),
        (lambda: _DRAWER().session(scope=["triage"]), "expected a Scope or the name of"),
    ],
)
def test_what_a_drawer_cannot_be_made_of_is_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        make()


def test_a_search_for_less_than_no_tools_is_refused() -> None:
    with pytest.raises(ValueError, match="limit is -3"):
        SearchEngine(cache=None).search(Catalog(()), "letters", -3)
