"""The loop, on every wire, against a scripted model behind a real socket."""

import anyio
import pytest

from tests.agent.loop.rig import CLOSE, CLOSED, CREATE, POST, WAYS, Way, github, staged, use
from tests.agent.loop.waiting import Patient
from tests.fakes import ScriptedApprover
from tests.models.script import Call, Cut, Endless, Huge, InvalidUtf8, Repeat, Say, Search, Turn
from tests.models.server import scripted
from tests.requirements import requirement
from tooldrawer import Answer, AssemblyPolicy, Config, Rules
from tooldrawer.activity import CallFinished, CallRefused, CallStarted
from tooldrawer.errors import AnswerCut, NativeRefused
from tooldrawer.wire.message import Answered, Returned, Said

pytestmark = pytest.mark.anyio
every_way = pytest.mark.parametrize("way", WAYS, ids="-".join)
portable = pytest.mark.parametrize(
    "way", [way for way in WAYS if way[1] == "portable"], ids="-".join
)
native = pytest.mark.parametrize("way", [way for way in WAYS if way[1] == "native"], ids="-".join)


@every_way
@requirement("DSP-2")
async def test_a_model_searches_then_calls_what_it_found(way: Way) -> None:
    steps = (Search("create an issue"), use(way, CREATE, {"title": "Leak"}), Say("Created."))
    with scripted(*steps) as server:
        async with staged(server, way) as stage:
            outcome = await stage.agent.run("Open an issue about the leak.")
    assert (outcome.text, outcome.ending, outcome.turns) == ("Created.", "done", 3)
    assert stage.heard.text == "Created."
    assert stage.replies[1].result.text == '{"title":"Leak"}'
    (started,) = stage.events(CallStarted)
    assert isinstance(started, CallStarted)
    assert (started.tool, started.toolset) == (CREATE, "mcp-github")
    assert not server.refusals


@portable
async def test_a_model_searches_describes_and_calls(way: Way) -> None:
    steps = (
        Search("create an issue"),
        Call("tool_describe", {"name": CREATE}),
        use(way, CREATE, {"title": "Leak"}),
        Say("Created."),
    )
    with scripted(*steps) as server:
        async with staged(server, way) as stage:
            assert (await stage.agent.run("Open an issue.")).is_success
    assert '"parameters"' in stage.replies[1].result.text
    assert stage.session.ledger.hops == 2


@native
@requirement("CACHE-2")
async def test_a_provider_that_loads_tools_is_shown_the_search_alone(way: Way) -> None:
    with scripted(
        Search("create an issue"), use(way, CREATE, {"title": "x"}), Say("Done.")
    ) as server:
        async with staged(server, way) as stage:
            await stage.agent.run("Open an issue.")
    first = server.seen[0]
    assert "tool_call" not in first.names
    assert CREATE not in first.names
    assert CREATE in server.seen[1].names


@every_way
@requirement("BR-6")
async def test_a_deferred_tool_may_be_called_by_its_name_without_a_search(way: Way) -> None:
    steps = (Call(CREATE, {"title": "Leak"}, blind=True), Say("Created."))
    with scripted(*steps) as server:
        async with staged(server, way) as stage:
            assert (await stage.agent.run("Open an issue.")).is_success
    assert stage.replies[0].result.text == '{"title":"Leak"}'
    assert not server.refusals


@every_way
@requirement("DSP-4")
async def test_wrong_arguments_come_back_with_the_reason_and_are_put_right(way: Way) -> None:
    steps = (
        Search("close an issue"),
        use(way, CLOSE, {"nr": 7}),
        use(way, CLOSE, {"number": "7"}),
        Say("Closed."),
    )
    with scripted(*steps) as server:
        async with staged(server, way) as stage:
            assert (await stage.agent.run("Close issue 7.")).is_success
    wrong, right = (reply.result for reply in stage.replies[1:])
    assert wrong.is_error
    assert "number" in wrong.text
    assert not right.is_error
    assert right.text.startswith('{"number":7}')
    assert "repaired" in right.text


@every_way
@requirement("DSP-6")
async def test_a_person_who_says_no_is_asked_about_the_real_tool(way: Way) -> None:
    approver = ScriptedApprover(Answer.NO)
    config = Config(assembly=CLOSED.assembly, guardrails=(Rules(ask=("*create*",)),))
    steps = (Search("create an issue"), use(way, CREATE, {"title": "Leak"}), Say("Not allowed."))
    with scripted(*steps) as server:
        async with staged(server, way, config=config, approver=approver) as stage:
            assert (await stage.agent.run("Open an issue.")).text == "Not allowed."
    (asked,) = approver.requests
    assert (asked.tool.name, dict(asked.arguments)) == (CREATE, {"title": "Leak"})
    assert stage.replies[1].result.is_error
    assert len(stage.events(CallRefused)) == 1


@every_way
@requirement("DSP-7")
async def test_calls_of_one_turn_are_answered_in_their_order(way: Way) -> None:
    calls = (
        use(way, CREATE, {"title": "one"}),
        use(way, "mcp_nobody_knows", {})
        if way[1] == "portable"
        else Call("nobody", {}, blind=True),
        use(way, CREATE, {"title": "two"}),
    )
    with scripted(Search("create an issue"), Turn(calls=calls), Say("Both.")) as server:
        async with staged(server, way) as stage:
            assert (await stage.agent.run("Open two.")).is_success
    one, unknown, two = (reply.result for reply in stage.replies[1:])
    assert (one.text, two.text) == ('{"title":"one"}', '{"title":"two"}')
    assert unknown.is_error
    assert not server.refusals


@portable
@requirement("BR-11")
async def test_a_model_that_only_searches_is_told_to_act_once_and_again_after_a_message(
    way: Way,
) -> None:
    with scripted(Repeat(Search("create an issue"))) as server:
        async with staged(server, way, max_turns=10) as stage:
            outcome = await stage.agent.run("Open an issue.")
            assert (outcome.ending, outcome.turns) == ("turns", 10)
            await stage.agent.run("Go on.")
    empty = ["Not searched" in reply.result.text for reply in stage.replies]
    assert [turn for turn, is_empty in enumerate(empty) if is_empty] == [8, 18]
    assert not any(reply.result.is_error for reply in stage.replies)


@native
async def test_an_endpoint_that_refuses_native_deferral_gets_the_bridge(way: Way) -> None:
    way = (way[0], "auto")
    steps = (
        Search("create an issue"),
        use((way[0], "portable"), CREATE, {"title": "Leak"}),
        Say("Created."),
    )
    with scripted(*steps, native=False) as server:
        async with staged(server, way) as stage:
            assert (await stage.agent.run("Open an issue.")).text == "Created."
    assert stage.replies[1].result.text == '{"title":"Leak"}'


async def test_an_endpoint_that_was_told_to_defer_and_does_not_is_an_error() -> None:
    with scripted(native=False) as server:
        async with staged(server, ("responses", "native")) as stage:
            with pytest.raises(NativeRefused, match="leave out --bridge native"):
                await stage.agent.run("Hello.")


@every_way
async def test_an_answer_that_breaks_off_is_asked_for_again(way: Way) -> None:
    with scripted(Cut(Say("This is going to be cut.")), Say("Whole.")) as server:
        async with staged(server, way) as stage:
            assert (await stage.agent.run("Hello.")).text == "Whole."
    assert len(stage.heard.notices) == 1
    assert [type(message) for message in stage.agent.conversation.messages] == [Said, Answered]


@every_way
async def test_an_answer_that_always_breaks_off_is_kept_as_far_as_it_came(way: Way) -> None:
    with scripted(
        Repeat(Cut(Say("This is going to be cut. " * 9), after=8), times=3), Say("Hm.")
    ) as server:
        async with staged(server, way) as stage:
            with pytest.raises(AnswerCut):
                await stage.agent.run("Hello.")
            assert (await stage.agent.run("Go on.")).text == "Hm."
    assert not server.refusals


@every_way
@pytest.mark.parametrize(
    "odd",
    [
        Call("tool_call", raw='{"name": "mcp_github_cre', blind=True),
        Call("tool_call", raw="[1, 2]", blind=True),
        Call("", {"a": 1}, blind=True),
        Call(None, {"a": 1}, blind=True),
        Huge(1_000_000, name=CREATE, field="title", blind=True),
        Call("no such tool!", {}, blind=True),
    ],
    ids=["half-json", "array", "empty-name", "no-name", "one-megabyte", "bad-name"],
)
async def test_whatever_a_model_calls_the_conversation_goes_on(way: Way, odd: Call | Huge) -> None:
    with scripted(odd, Say("I was wrong."), Say("Still here.")) as server:
        async with staged(server, way, context_length=2_000_000) as stage:
            first = await stage.agent.run("Hello.")
            second = await stage.agent.run("And now?")
    if "MALFORMED_FUNCTION_CALL" in first.text:  # Gemini keeps such a call to itself
        assert (first.ending, second.text) == ("length", "I was wrong.")
    else:
        assert (first.text, second.text) == ("I was wrong.", "Still here.")
        assert stage.replies
    assert not server.refusals


@every_way
async def test_bytes_that_are_no_text_do_not_end_a_conversation(way: Way) -> None:
    with scripted(InvalidUtf8(), Say("Fine."), Say("Really.")) as server:
        async with staged(server, way) as stage:
            assert (await stage.agent.run("Hello.")).text == "Fine."
            assert (await stage.agent.run("Again.")).text == "Really."
    assert "UTF-8" in stage.heard.notices[0]


async def test_an_open_drawer_shows_the_tools_themselves() -> None:
    config = Config(assembly=AssemblyPolicy(enabled="off"))
    with scripted(Call(POST, {"channel": "a", "text": "b"}), Say("Posted.")) as server:
        async with staged(server, ("chat", "auto"), config=config) as stage:
            assert (await stage.agent.run("Post it.")).is_success
    assert "tool_search" not in server.seen[0].names
    assert len(stage.events(CallFinished)) == 1


@every_way
async def test_every_call_is_answered_when_the_work_is_interrupted(way: Way) -> None:
    waits = Patient("mcp-slow")
    calls = (use(way, CREATE, {"title": "quick"}), Call("mcp_slow_wait", {}, blind=True))
    with scripted(Search("create an issue"), Turn(calls=calls), Say("Fine.")) as server:
        async with staged(server, way, toolsets=(github(), waits)) as stage:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stage.agent.run, "Wait.")
                await waits.started.wait()
                tasks.cancel_scope.cancel()
            assert waits.was_cancelled
            quick, slow = stage.replies[1:]
            assert quick.result.text == '{"title":"quick"}'
            assert slow.result.is_error
            assert "Interrupted" in slow.result.text
            assert isinstance(stage.agent.conversation.messages[-1], Returned)
            assert (await stage.agent.run("Go on.")).text == "Fine."
    assert not server.refusals


@every_way
async def test_what_was_said_before_an_interruption_stays_in_the_conversation(way: Way) -> None:
    with scripted(Endless("and on "), Say("I was saying.")) as server:
        async with staged(server, way) as stage:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stage.agent.run, "Tell me.")
                with anyio.fail_after(60):
                    while "and on" not in stage.heard.text:
                        await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
            (_, part) = stage.agent.conversation.messages
            assert isinstance(part, Answered)
            assert part.text == stage.heard.text
            assert (await stage.agent.run("Go on.")).text == "I was saying."
    assert not server.refusals
