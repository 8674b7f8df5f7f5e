"""What happened is told as a closed set of values, each with what it promises."""

import time
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import get_args

import pytest

from tests.activity.parts import searched
from tests.fakes import ScriptedApprover
from tests.requirements import requirement
from tooldrawer import (
    ActivityLog,
    ActivityOptions,
    Answer,
    AssemblyPolicy,
    Config,
    Drawer,
    Event,
    Function,
    FunctionToolset,
    Grants,
    Rules,
    Scope,
)
from tooldrawer.activity import (
    ApprovalAnswered,
    ApprovalAsked,
    Assembled,
    CallFailed,
    CallFinished,
    CallRefused,
    CallStarted,
    ConfigReloaded,
    Described,
    Searched,
    UpstreamChanged,
    UpstreamDown,
    UpstreamUp,
)

pytestmark = pytest.mark.anyio

READER = Scope(deny=["delete_*"], name="reader")


@requirement("AF-1")
async def test_the_set_of_events_is_closed() -> None:
    assert set(get_args(Event)) == {
        Assembled,
        Searched,
        Described,
        CallStarted,
        CallFinished,
        CallRefused,
        CallFailed,
        ApprovalAsked,
        ApprovalAnswered,
        UpstreamUp,
        UpstreamDown,
        UpstreamChanged,
        ConfigReloaded,
    }


@requirement("AF-1")
@pytest.mark.parametrize("kind", get_args(Event))
async def test_every_event_has_its_time_session_and_scope(kind: type[Event]) -> None:
    names = {field.name for field in fields(kind)}
    assert {"at", "session", "scope"} <= names


@requirement("AF-1")
@pytest.mark.parametrize(
    ("kind", "promised"),
    [
        (Assembled, {"duration", "array_tokens", "saved_tokens"}),
        (Searched, {"duration", "reply_tokens", "hits"}),
        (Described, {"duration", "reply_tokens", "tool"}),
        (CallStarted, {"tool", "toolset", "argument_tokens"}),
        (CallFinished, {"tool", "duration", "result_tokens"}),
        (CallRefused, {"tool", "duration", "reason"}),
        (CallFailed, {"tool", "duration", "error"}),
        (ApprovalAsked, {"tool", "question"}),
        (ApprovalAnswered, {"tool", "duration", "answer"}),
        (UpstreamUp, {"upstream", "duration", "tools"}),
        (UpstreamDown, {"upstream", "error"}),
        (UpstreamChanged, {"upstream", "added", "removed", "changed"}),
        (ConfigReloaded, {"path", "error"}),
    ],
)
async def test_an_event_has_what_it_promises(kind: type[Event], promised: set[str]) -> None:
    assert promised <= {field.name for field in fields(kind)}


@requirement("AF-1")
async def test_an_event_cannot_be_changed() -> None:
    event = searched("milk")
    with pytest.raises(FrozenInstanceError):
        event.query = "tea"  # pyright: ignore[reportAttributeAccessIssue]


async def fail() -> str:
    """Fail."""
    raise RuntimeError("out of milk")


@pytest.fixture
def busy(desk: FunctionToolset, grants: Grants) -> Drawer:
    """A drawer whose bridge is on and which asks before a note is added."""
    desk.add(Function(fail, name="fail_note"))
    return Drawer(
        [desk],
        config=Config(assembly=AssemblyPolicy(enabled="on")),
        guardrails=[Rules(ask=("add_*",))],
        approver=ScriptedApprover(Answer.ONCE),
        grants=grants,
    )


@requirement("AF-1")
async def test_a_conversation_is_told_event_by_event(busy: Drawer) -> None:
    session = busy.session("support", scope=READER)
    before = time.time()
    await session.tools()
    await session.call("tool_search", {"query": "read a note"})
    await session.call("tool_describe", {"name": "desk.read_note"})
    await session.call("tool_call", {"name": "read_note", "arguments": {"title": "milk"}})
    await session.call("add_note", {"title": "tea"})
    await session.call("delete_note", {"title": "tea"})
    await session.call("read_note", {})
    await session.call("fail_note")
    told = list(busy.activity)
    assert [type(event) for event in told] == [
        Assembled,
        Searched,
        Described,
        *(CallStarted, CallFinished),
        *(CallStarted, ApprovalAsked, ApprovalAnswered, CallFinished),
        CallRefused,
        *(CallStarted, CallRefused),
        *(CallStarted, CallFailed),
    ]
    assert {(event.session, event.scope) for event in told} == {("support", "reader")}
    times = [event.at for event in told]
    assert times == sorted(times)
    assert before <= times[0] <= times[-1] <= time.time()


@requirement("AF-1")
async def test_an_assembly_says_what_it_showed_and_what_it_saved(busy: Drawer) -> None:
    assembly = await busy.session().tools()
    (event,) = busy.activity
    assert isinstance(event, Assembled)
    assert event.active
    assert (event.direct, event.deferred) == (0, 4)
    assert event.array_tokens == assembly.array_tokens > 0
    assert event.saved_tokens == assembly.saved_tokens
    assert event.duration > 0


@requirement("AF-1")
async def test_a_search_says_what_was_asked_and_what_was_found(busy: Drawer) -> None:
    await busy.session().call("tool_search", {"query": "delete a note"})
    (event,) = busy.activity
    assert isinstance(event, Searched)
    assert event.query == "delete a note"
    assert event.hits[0] == "delete_note"
    assert event.reply_tokens > 0
    assert event.duration > 0


@requirement("AF-1")
async def test_a_list_of_searches_is_one_event_for_each(busy: Drawer) -> None:
    await busy.session().call("tool_search", {"query": ["read", "delete"]})
    assert [event.query for event in busy.activity if isinstance(event, Searched)] == [
        "read",
        "delete",
    ]


@requirement("AF-1")
async def test_a_call_says_how_long_it_took_and_what_it_cost(busy: Drawer) -> None:
    await busy.session().call("read_note", {"title": "milk " * 100})
    started, finished = busy.activity
    assert isinstance(started, CallStarted)
    assert isinstance(finished, CallFinished)
    assert (started.tool, started.toolset) == ("read_note", "desk")
    assert started.arguments == {"title": "milk " * 100}
    assert started.argument_tokens > 100
    assert finished.result_tokens > 100
    assert finished.duration > 0
    assert (finished.is_error, finished.repairs, finished.warning) == (False, (), "")


@requirement("AF-1")
async def test_a_changed_configuration_is_told(tmp_path: Path) -> None:
    file = tmp_path / "tooldrawer.yaml"
    file.write_text("tools: {pinned: [a]}", encoding="utf-8")
    drawer = Drawer.from_config(file)
    file.write_text("tools: {pinned: [a, b]}", encoding="utf-8")
    await drawer.session().tools()
    file.write_text("tools: {pinned: [a, b], what: 1}", encoding="utf-8")
    await drawer.session().tools()
    good, bad = [event for event in drawer.activity if isinstance(event, ConfigReloaded)]
    assert (good.path, good.error) == (str(file), "")
    assert "what" in bad.error


@requirement("AF-1")
async def test_a_refusal_of_what_does_not_exist_names_nothing(drawer: Drawer) -> None:
    session = drawer.session(scope=READER)
    await session.call("delete_note", {"title": "a"})
    await session.call("tool_call", "nonsense")
    assert [event.tool for event in drawer.activity if isinstance(event, CallRefused)] == [
        None,
        None,
    ]
    assert "delete_note" not in repr(list(drawer.activity))


@requirement("AF-1")
async def test_a_call_whose_arguments_are_no_json_is_told_under_its_tools_name(
    drawer: Drawer,
) -> None:
    async with drawer.session(scope=READER) as session:
        await session.call("read_note", '{"title": "mi')
        await session.call("delete_note", '{"title": "mi')  # not in the scope
    told = [event.tool for event in drawer.activity if isinstance(event, CallRefused)]
    assert told == ["read_note", None]


@requirement("AF-1")
async def test_the_ring_keeps_the_newest_events() -> None:
    log = ActivityLog(keep=3)
    for number in range(10):
        log(searched(str(number)))
    assert [event.query for event in log if isinstance(event, Searched)] == ["7", "8", "9"]


@requirement("AF-1")
async def test_the_settings_say_how_many_events_are_kept(desk: FunctionToolset) -> None:
    drawer = Drawer([desk], config=Config(activity=ActivityOptions(keep=2)))
    for _ in range(5):
        await drawer.session().call("read_note", {"title": "a"})
    assert [type(event) for event in drawer.activity] == [CallStarted, CallFinished]
