"""What Prometheus reads: whole, well-formed, and without the name of any tool or session."""

import re
from collections.abc import Mapping

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.requirements import requirement
from tooldrawer.activity import (
    ApprovalAnswered,
    ApprovalAsked,
    CallFinished,
    CallRefused,
    CallStarted,
    Described,
    Searched,
    UpstreamDown,
    UpstreamUp,
)
from tooldrawer.activity.quality import Quality
from tooldrawer.gateway.metrics import CONTENT_TYPE, render
from tooldrawer.tool import JsonObject

STRANGE = 'a "quoted" \\ name\nof two lines, {ü}\ud800'
STATUS: JsonObject = {
    "servers": [
        {
            "name": "github",
            "state": "up",
            "protocol": "2026-07-28",
            "tools": 26,
            "tokens": 3548,
            "error": None,
            "since": 1_700_000_000.5,
            "starts": 2,
        },
        {
            "name": "slack",
            "state": "down",
            "protocol": "",
            "tools": 0,
            "tokens": 0,
            "error": "mcp_slack_post went wrong",
            "since": None,
            "starts": 7,
        },
    ],
    "drawer": {
        "active": True,
        "tools": 26,
        "deferred": 25,
        "array_tokens": 290,
        "schema_tokens": 3548,
    },
    "sessions": 3,
    "calls": {"in_flight": 1},
    "waiting": 2,
    "started": 1_700_000_000.0,
}
Samples = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


def quality() -> Quality:
    """A little of everything, by a session with a name, of tools with names."""
    counted = Quality(clock=lambda: 0.0)
    tool, session = "mcp_github_create_issue", "sesame"
    for number, event in enumerate(
        (
            Searched(
                at=0,
                session=session,
                query="q",
                hits=("mcp_github_x", tool),
                reply_tokens=300,
                duration=0.002,
            ),
            Described(at=1, session=session, tool=tool, reply_tokens=40, duration=0.001),
            CallStarted(
                at=2, session=session, tool=tool, toolset="s", arguments={}, argument_tokens=1
            ),
            ApprovalAsked(at=3, session=session, tool=tool, question="May it?"),
            ApprovalAnswered(at=4, session=session, tool=tool, answer="once", duration=1.0),
            CallFinished(
                at=5, session=session, tool=tool, duration=0.3, result_tokens=1, repairs=("x",)
            ),
            CallRefused(at=6, session=session, tool=None, reason=f"no {tool}", duration=0.0),
            UpstreamUp(at=7, upstream="github", tools=2, duration=0.1),
            UpstreamDown(at=8, upstream=STRANGE, error="gone"),
        )
    ):
        assert event.at == number
        counted.write(event)
    return counted


@pytest.fixture
def text() -> str:
    return render(quality().snapshot(), STATUS)


def parsed(text: str) -> Samples:
    """Every sample, read by a parser that somebody else wrote."""
    found: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def value(text: str, name: str, **labels: str) -> float | None:
    return parsed(text).get((f"tooldrawer_{name}", frozenset(labels.items())))


def test_every_family_is_ours_has_help_and_a_type_and_ends_a_line(text: str) -> None:
    assert CONTENT_TYPE.startswith("text/plain; version=0.0.4")
    assert text.endswith("\n")
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        assert re.fullmatch(r"tooldrawer_[a-z_]+", family.name)
        assert family.documentation.endswith(".")
        assert family.type in ("counter", "gauge", "histogram")
    assert text.count("# HELP ") == text.count("# TYPE ") == len(families)


@requirement("AF-4")
def test_the_quality_of_search_is_exported(text: str) -> None:
    assert value(text, "searches_total") == 1
    assert value(text, "searches_again_total") == 0
    assert value(text, "searches_empty_total") == 0
    assert value(text, "search_reply_tokens_total") == 300
    assert value(text, "search_episodes_total", outcome="called") == 1
    assert value(text, "search_episodes_total", outcome="not_called") == 0
    assert value(text, "calls_by_rank_total", rank="2") == 1
    assert value(text, "calls_by_rank_total", rank="not_searched") == 0
    assert value(text, "first_calls_total") == 1
    assert value(text, "first_calls_described_total") == 1
    assert value(text, "calls_repaired_total") == 1
    assert value(text, "refusals_total", kind="no_tool") == 1
    assert value(text, "refused_ratio") == 0.5
    assert value(text, "described_first_ratio") == 1.0
    assert value(text, "never_called_ratio") == 0.0


def test_calls_approvals_servers_and_reloads_are_exported(text: str) -> None:
    assert value(text, "calls_total", outcome="ok") == 1
    assert value(text, "calls_total", outcome="refused") == 1
    assert value(text, "approvals_asked_total") == 1
    assert value(text, "approvals_total", answer="once") == 1
    assert value(text, "approvals_total", answer="nobody_to_ask") == 0
    assert value(text, "server_events_total", server="github", event="up") == 1
    assert value(text, "config_reloads_total", outcome="applied") == 0


def test_histograms_are_cumulative_and_add_up(text: str) -> None:
    for name in ("search_duration_seconds", "call_duration_seconds"):
        rows = [
            (float(dict(labels)["le"]), count)
            for (sample, labels), count in parsed(text).items()
            if sample == f"tooldrawer_{name}_bucket"
        ]
        assert rows == sorted(rows)
        counts = [count for _, count in rows]
        assert counts == sorted(counts)
        assert rows[-1] == (float("inf"), 1)
        assert value(text, f"{name}_count") == 1
    assert value(text, "call_duration_seconds_sum") == 0.3
    assert value(text, "call_duration_seconds_bucket", le="0.25") == 0
    assert value(text, "call_duration_seconds_bucket", le="0.5") == 1


def test_the_status_is_exported(text: str) -> None:
    assert value(text, "server_state", server="github", state="up") == 1
    assert value(text, "server_state", server="github", state="down") == 0
    assert value(text, "server_state", server="slack", state="down") == 1
    assert value(text, "server_info", server="github", protocol="2026-07-28") == 1
    assert value(text, "server_tools", server="github") == 26
    assert value(text, "server_schema_tokens", server="github") == 3548
    assert value(text, "server_starts_total", server="slack") == 7
    assert value(text, "server_state_since_seconds", server="github") == 1_700_000_000.5
    assert value(text, "drawer_active") == 1
    assert value(text, "drawer_tools") == 26
    assert value(text, "drawer_deferred") == 25
    assert value(text, "drawer_array_tokens") == 290
    assert value(text, "drawer_schema_tokens") == 3548
    assert value(text, "sessions") == 3
    assert value(text, "calls_in_flight") == 1
    assert value(text, "approvals_waiting") == 2
    assert value(text, "start_time_seconds") == 1_700_000_000


def test_no_tool_no_session_and_no_error_text_is_in_it(text: str) -> None:
    for name in ("mcp_", "create_issue", "sesame", "May it", "went wrong", "gone"):
        assert name not in text


def test_a_strange_server_name_is_escaped_and_comes_back(text: str) -> None:
    shown = STRANGE.replace("\ud800", "?")
    assert value(text, "server_events_total", server=shown, event="down") == 1
    assert len([line for line in text.splitlines() if "two lines" in line]) == 3


NOTHING_KNOWN: list[JsonObject] = [
    {},
    {"servers": None, "drawer": None, "sessions": None, "calls": None},
    {"servers": [None, {}, {"name": ""}], "drawer": {}, "calls": 3, "waiting": "many"},
]


@pytest.mark.parametrize("status", NOTHING_KNOWN)
def test_what_is_not_known_is_left_out(status: JsonObject) -> None:
    text = render(Quality(clock=lambda: 0.0).snapshot(), status)
    assert value(text, "searches_total") == 0
    for name in ("sessions", "drawer_active", "calls_in_flight", "approvals_waiting"):
        assert value(text, name) is None
    assert "_ratio" not in text
    assert "server=" not in text


def test_nothing_of_the_process_or_of_an_earlier_time_is_in_it(text: str) -> None:
    assert "python_info" not in text
    assert "process_" not in text
    assert render(quality().snapshot(), STATUS) == text
