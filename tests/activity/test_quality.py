"""How well searching works in the wild, counted from events, and bounded whatever comes."""

import json
from dataclasses import asdict
from threading import Thread

import pytest

from tests.activity.model import Model, of, some
from tests.requirements import requirement
from tooldrawer import ActivityLog, Config, Drawer, FunctionToolset
from tooldrawer.activity import (
    Assembled,
    CallFailed,
    ConfigReloaded,
    Searched,
    UpstreamChanged,
    UpstreamDown,
    UpstreamUp,
)
from tooldrawer.activity.quality import ANSWERS, Quality
from tooldrawer.assembly import AssemblyPolicy

IDLE = 600.0


@pytest.fixture
def model() -> Model:
    return Model()


def test_nothing_happened_is_no_rate_at_all(model: Model) -> None:
    rates = asdict(model.figures.rates)
    assert set(rates.values()) == {None}
    assert model.figures.searches == 0


@requirement("AF-4")
def test_a_search_after_a_search_without_a_call_between_is_one_again(model: Model) -> None:
    model.search("a")
    model.search("b")
    model.describe("b")
    model.search("c")
    model.call("c")
    model.search("d")
    assert (model.figures.searches, model.figures.searches_again) == (4, 2)
    assert model.figures.rates.searched_again == 0.5


@requirement("AF-4")
def test_a_refused_call_of_no_tool_is_no_call_between_two_searches(model: Model) -> None:
    model.search("a")
    model.refused(None)
    model.search("b")
    assert model.figures.searches_again == 1


@requirement("AF-4")
def test_several_queries_of_one_turn_are_not_searches_again(model: Model) -> None:
    model.search("a")
    model.search("b", after=0.004)
    model.search("c", after=0.02, duration=0.05)
    assert (model.figures.searches, model.figures.searches_again) == (3, 0)
    model.search("d")
    assert model.figures.searches_again == 1


@requirement("AF-4")
def test_a_slow_search_right_after_another_is_of_the_same_turn(model: Model) -> None:
    model.search("a")
    model.search("b", after=3.0, duration=2.99)
    assert model.figures.searches_again == 0


@requirement("AF-4")
def test_the_searches_of_another_session_are_its_own() -> None:
    first, second = of("one", "two", quality=Quality(clock=lambda: 0.0))
    first.search("a")
    second.search("a")
    second.call("a")
    assert first.figures.searches_again == 0
    assert some(first.figures.episodes) == {"called": 1}


@requirement("AF-4")
def test_an_episode_is_settled_when_a_tool_that_it_found_is_called(model: Model) -> None:
    model.search("a", "b")
    model.search("c")
    assert some(model.figures.episodes) == {}
    assert model.figures.rates.never_called is None
    model.call("b")
    assert some(model.figures.episodes) == {"called": 1}
    model.call("c")
    model.call("b")
    assert some(model.figures.episodes) == {"called": 1}
    assert model.figures.rates.never_called == 0.0


@requirement("AF-4")
def test_an_episode_without_such_a_call_ends_with_the_first_search_after_another_call(
    model: Model,
) -> None:
    model.search("a")
    model.call("direct")
    assert some(model.figures.episodes) == {}
    model.search("b")
    assert some(model.figures.episodes) == {"not called": 1}
    model.call("b")
    model.search("c")
    assert some(model.figures.episodes) == {"not called": 1, "called": 1}
    assert model.figures.rates.never_called == 0.5


def test_a_tool_that_was_found_counts_even_after_a_call_of_another(model: Model) -> None:
    model.search("a")
    model.call("direct")
    model.call("a")
    assert some(model.figures.episodes) == {"called": 1}


def test_a_search_that_found_nothing_is_an_episode_and_is_counted(model: Model) -> None:
    model.search()
    model.call("direct")
    model.search("a")
    assert model.figures.searches_empty == 1
    assert some(model.figures.episodes) == {"not called": 1}


def test_an_idle_session_is_settled_by_what_others_do_or_by_looking() -> None:
    now = 0.0
    quality = Quality(idle=IDLE, clock=lambda: now)
    first, second = of("one", "two", quality=quality)
    first.search("a")
    second.now = IDLE
    second.search("a")
    assert some(quality.snapshot().episodes) == {}
    second.search("b", after=IDLE / 2)
    assert some(quality.snapshot().episodes) == {"not called": 1}
    now = 10 * IDLE
    assert some(quality.snapshot().episodes) == {"not called": 2}


def test_a_session_that_goes_on_is_not_idle(model: Model) -> None:
    model.quality = Quality(idle=IDLE, clock=lambda: 0.0)
    model.search("a")
    for _ in range(5):
        model.start("direct")
        model.tell(CallFailed, after=IDLE, tool="direct", error="broke", duration=IDLE)
    model.call("a")
    assert some(model.figures.episodes) == {"called": 1}


def test_only_the_last_sessions_are_remembered_and_the_others_settled() -> None:
    quality = Quality(sessions=3, clock=lambda: 0.0)
    models = of("one", "two", "three", "four", quality=quality)
    for each in models:
        each.search("a")
    assert some(quality.snapshot().episodes) == {"not called": 1}
    for each in models[1:]:
        each.call("a")
    assert some(quality.snapshot().episodes) == {"not called": 1, "called": 3}
    models[0].call("a")
    assert quality.snapshot().ranks["not searched"] == 1


@pytest.mark.parametrize(
    ("rank", "label"),
    [(1, "1"), (2, "2"), (3, "3"), (4, "4-5"), (5, "4-5"), (6, "6-10"), (10, "6-10"), (11, "11+")],
)
def test_the_rank_of_the_called_tool_is_counted(model: Model, rank: int, label: str) -> None:
    model.search(*(f"t{number}" for number in range(1, 21)))
    model.call(f"t{rank}")
    assert some(model.figures.ranks) == {label: 1}


def test_the_rank_is_that_of_the_last_reply_that_had_the_tool(model: Model) -> None:
    model.search("a", "b")
    model.search("x", "y", "a")
    model.call("a")
    model.call("b")
    assert some(model.figures.ranks) == {"3": 1, "2": 1}


def test_of_several_replies_of_one_turn_the_best_rank_counts(model: Model) -> None:
    model.search("x", "a")
    model.search("y", "z", "b", "a", "x", after=0.01)
    model.call("a")
    model.call("b")
    model.call("x")
    assert some(model.figures.ranks) == {"2": 1, "3": 1, "1": 1}


def test_a_tool_called_again_or_never_found_is_told_apart(model: Model) -> None:
    model.call("direct")
    model.call("direct")
    model.search("a")
    model.call("a")
    model.call("a")
    model.search("x", "a")
    model.call("a")
    assert some(model.figures.ranks) == {"not searched": 1, "again": 2, "1": 1, "2": 1}
    assert sum(model.figures.ranks.values()) == sum(model.figures.calls.values())


def test_a_describe_counts_before_the_first_call_of_its_tool(model: Model) -> None:
    model.describe("a")
    model.describe("b")
    model.call("a")
    model.call("a")
    model.call("c")
    model.describe("c")
    model.call("c")
    figures = model.figures
    assert (figures.first_calls, figures.first_calls_described) == (2, 1)
    assert figures.rates.described_first == 0.5
    assert (figures.describes, figures.describe_reply_tokens) == (3, 120)


def test_calls_are_counted_by_how_they_ended(model: Model) -> None:
    model.call("a")
    model.call("a", "count: '1' became 1", is_error=True)
    for error in ("it broke", "cancelled"):
        model.start("a")
        model.tell(CallFailed, tool="a", error=error, duration=1.0)
    model.refused("a")
    figures = model.figures
    assert figures.calls == {"ok": 1, "error": 1, "failed": 1, "cancelled": 1, "refused": 1}
    assert figures.repaired == 1
    assert figures.rates.repaired == 0.5
    assert figures.rates.refused == 0.2


def test_refusals_are_told_apart_as_far_as_the_events_allow(model: Model) -> None:
    model.refused(None)
    model.start("a")
    model.refused("a")
    model.start("b")
    model.answered("b", "no answer in time")
    model.refused("b")
    model.start("b")
    model.refused("b")
    model.start("c")
    model.answered("c", "once")
    model.refused("c")
    assert model.figures.refusals == {"no tool": 1, "approval": 1, "check": 3}


def test_approvals_are_counted_by_answer_and_strange_answers_together(model: Model) -> None:
    for answer in (*ANSWERS, "maybe", "never ever"):
        model.answered("a", answer)
    figures = model.figures
    assert figures.approvals_asked == len(ANSWERS) + 2
    assert figures.approvals == {**dict.fromkeys(ANSWERS, 1), "other": 2}


def test_durations_and_tokens_are_added_up(model: Model) -> None:
    model.search("a", duration=0.0005, tokens=300)
    model.search("a", duration=0.003, tokens=200)
    model.search("a", duration=70.0, tokens=0)
    model.call("a", duration=0.2)
    model.call("a", duration=61.0)
    figures = model.figures
    assert figures.search_reply_tokens == 500
    seconds = figures.search_seconds
    assert len(seconds.counts) == len(seconds.bounds) + 1
    assert (seconds.counts[0], seconds.counts[3], seconds.counts[-1]) == (1, 1, 1)
    assert sum(seconds.counts) == 3
    assert seconds.total == pytest.approx(70.0035)
    calls = figures.call_seconds
    assert calls.counts[calls.bounds.index(0.25)] == 1
    assert calls.counts[-1] == 1


def test_servers_and_reloads_are_counted(model: Model) -> None:
    model.tell(UpstreamUp, upstream="github", tools=3, duration=0.1)
    model.tell(UpstreamDown, upstream="github", error="gone")
    model.tell(UpstreamUp, upstream="github", tools=3, duration=0.1)
    model.tell(UpstreamChanged, upstream="slack", added=1, removed=0, changed=0)
    model.tell(ConfigReloaded, path="tooldrawer.yaml")
    model.tell(ConfigReloaded, path="tooldrawer.yaml", error="wrong")
    model.tell(
        Assembled,
        active=True,
        direct=0,
        deferred=1,
        array_tokens=1,
        saved_tokens=1,
        duration=0.1,
    )
    assert model.figures.upstreams == {
        "github": {"up": 2, "down": 1, "changed": 0},
        "slack": {"up": 0, "down": 0, "changed": 1},
    }
    assert model.figures.reloads == {"applied": 1, "wrong": 1}


def test_the_figures_name_no_tool_and_no_session_and_are_plain_json(model: Model) -> None:
    model.session = "sesame"
    model.search("mcp_bank_rob", "other_tool")
    model.describe("mcp_bank_rob")
    model.call("mcp_bank_rob")
    model.answered("other_tool", "no")
    model.refused("other_tool")
    written = json.dumps(asdict(model.figures))
    for name in ("sesame", "mcp_bank_rob", "other_tool"):
        assert name not in written


def test_figures_taken_before_do_not_change(model: Model) -> None:
    model.search("a")
    before = model.figures
    seen = asdict(before)
    model.call("a")
    model.search("b", after=0.5)
    assert asdict(before) == seen
    assert asdict(model.figures) != seen


def test_a_session_with_thousands_of_tools_is_still_counted_right_at_its_end(model: Model) -> None:
    for number in range(3000):
        model.search(*(f"t{number}_{rank}" for rank in range(5)))
        model.call(f"t{number}_0")
    assert some(model.figures.ranks) == {"1": 3000}
    assert some(model.figures.episodes) == {"called": 3000}
    model.call("t0_1")
    assert model.figures.ranks["not searched"] == 1


def test_several_threads_lose_no_count() -> None:
    quality = Quality(clock=lambda: 0.0)
    models = of(*map(str, range(4)), quality=quality)

    def work(each: Model) -> None:
        for _ in range(500):
            each.search("a")
            each.call("a")
            quality.snapshot()

    threads = [Thread(target=work, args=(each,)) for each in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = quality.snapshot()
    assert (figures.searches, figures.calls["ok"]) == (2000, 2000)
    assert some(figures.ranks) == {"1": 2000}


@pytest.mark.anyio
async def test_the_events_of_a_real_session_are_counted(desk: FunctionToolset) -> None:
    quality = Quality()
    drawer = Drawer([desk], config=Config(assembly=AssemblyPolicy(enabled="on")))
    drawer.activity.attach(quality)
    session = drawer.session("support")
    await session.tools()
    await session.call("tool_search", {"query": "put a new note on the desk"})
    await session.call("tool_describe", {"name": "add_note"})
    await session.call(
        "tool_call", {"name": "add_note", "arguments": {"title": "x", "copies": "2"}}
    )
    await session.call("tool_call", {"name": "no_such_tool"})
    await session.call("tool_search", {"query": ["read a note", "delete a note"]})
    drawer.close()
    figures = quality.snapshot()
    assert (figures.searches, figures.searches_again, figures.describes) == (3, 0, 1)
    assert some(figures.calls) == {"ok": 1, "refused": 1}
    assert some(figures.ranks) == {"1": 1}
    assert some(figures.episodes) == {"called": 1}
    assert (figures.rates.described_first, figures.rates.repaired) == (1.0, 1.0)
    assert some(figures.refusals) == {"no tool": 1}
    assert figures.search_reply_tokens > 0


def test_a_sink_of_the_log_counts_in_its_own_thread(model: Model) -> None:
    log = ActivityLog(sinks=[model.quality])
    log(Searched(at=1.0, session="one", query="q", hits=("a",), reply_tokens=1, duration=0.1))
    log.close()
    assert model.figures.searches == 1
