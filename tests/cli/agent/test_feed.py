"""What a feed makes of events that no call in a terminal brings about at will."""

from io import StringIO

from tooldrawer.activity import (
    ApprovalAnswered,
    CallFinished,
    CallRefused,
    CallStarted,
    Event,
    UpstreamChanged,
    UpstreamDown,
    UpstreamUp,
)
from tooldrawer.cli.live_feed import LiveFeed
from tooldrawer.cli.screen import Screen

STARTED = CallStarted(
    at=0, session="chat", tool="burn", toolset="shop", arguments={"bin": 3}, argument_tokens=2
)


def told(*events: Event) -> list[str]:
    stream = StringIO()
    feed = LiveFeed(Screen(StringIO(), stream))
    for event in events:
        feed.take(event)
    return stream.getvalue().splitlines()


def answered(answer: str) -> ApprovalAnswered:
    return ApprovalAnswered(at=0, session="chat", tool="burn", answer=answer, duration=60.0)


def test_the_time_of_a_call_is_without_that_of_the_person_who_allowed_it() -> None:
    finished = CallFinished(at=0, session="chat", tool="burn", duration=60.5, result_tokens=3)
    assert told(STARTED, answered("once"), finished) == ["+ burn(bin: 3)  500 ms, 5 tokens"]


def test_a_refusal_says_what_the_person_did_and_not_what_the_model_is_told() -> None:
    refused = CallRefused(at=0, session="chat", tool="burn", reason="Find another.", duration=60.5)
    assert told(STARTED, answered("no"), refused) == ["! burn(bin: 3)  refused: a person said no"]
    late = told(STARTED, answered("no answer in time"), refused)
    assert late == ["! burn(bin: 3)  refused: no answer in time"]
    assert told(STARTED, refused) == ["! burn(bin: 3)  refused: Find another."]


def test_a_server_that_starts_is_no_news_unless_it_was_down() -> None:
    up = UpstreamUp(at=0, upstream="shop", tools=4, duration=1.0)
    down = UpstreamDown(at=0, upstream="shop", error="it broke.")
    assert told(up) == []
    assert told(down, up, up) == ["shop is down: it broke.", "shop is up with 4 tools"]


def test_tools_that_come_and_go_are_told() -> None:
    changed = UpstreamChanged(at=0, upstream="shop", added=1, removed=2, changed=0)
    assert told(changed) == ["shop changed its tools: 1 added, 2 removed, 0 changed"]
