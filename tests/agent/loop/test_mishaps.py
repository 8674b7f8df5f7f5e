"""What goes wrong between the model and its tools does not end a conversation."""

from dataclasses import replace

import pytest

from tests.agent.loop.rig import CLOSED, CREATE, WAYS, Heard, Way, github, staged, tool, use
from tests.fakes import ScriptedToolset
from tests.models.script import Call, Fail, Say, Search, Turn
from tests.models.server import scripted
from tests.requirements import requirement
from tooldrawer import AssemblyPolicy, Config, Tool, ToolCall, ToolResult
from tooldrawer.activity import CallStarted
from tooldrawer.agent.conversation import Conversation
from tooldrawer.wire.message import Answered, Summary

pytestmark = pytest.mark.anyio
every_way = pytest.mark.parametrize("way", WAYS, ids="-".join)
native = pytest.mark.parametrize("way", [way for way in WAYS if way[1] == "native"], ids="-".join)
OPEN = Config(assembly=AssemblyPolicy(enabled="off"))


@every_way
@requirement("ACT-3")
async def test_the_drawer_closes_and_opens_in_a_conversation(way: Way) -> None:
    conversation = Conversation()
    direct = Call(CREATE, {"title": "x"})
    with scripted(
        *(direct, Say("Once.")),
        *(Search("create an issue"), use(way, CREATE, {"title": "y"}), Say("Twice.")),
        *(direct, Say("Three times.")),
        *(use(way, CREATE, {"title": "z"}), Search("create an issue"), Say("Enough.")),
    ) as server:
        for config in (OPEN, CLOSED, OPEN, CLOSED):
            async with staged(server, way, config=config, conversation=conversation) as stage:
                assert (await stage.agent.run("Open an issue.")).is_success
    assert not server.refusals
    assert not any(reply.result.is_error for reply in stage.replies)


@every_way
async def test_a_call_that_was_cut_before_its_arguments_is_not_run(way: Way) -> None:
    tools = ScriptedToolset("mcp-danger", [tool("mcp_danger_wipe", "Wipe everything.")])
    cut = Turn(calls=(Call("mcp_danger_wipe", {}, blind=True),), truncated=True)
    with scripted(cut, Say("Sorry.")) as server:
        async with staged(server, way, toolsets=(github(), tools)) as stage:
            assert (await stage.agent.run("Clean up.")).text == "Sorry."
    assert not stage.events(CallStarted)
    assert "broke off" in stage.replies[0].result.text
    assert not server.refusals


@every_way
async def test_a_listener_that_breaks_leaves_no_call_without_an_answer(way: Way) -> None:
    class Broken(Heard):
        def answered(self, answer: Answered) -> None:
            if answer.calls:
                raise BrokenPipeError

    with scripted(Search("create an issue"), Say("Fine.")) as server:
        async with staged(server, way) as stage:
            agent = stage.crew.lead(stage.session, stage.agent.conversation, Broken())
            with pytest.raises(BrokenPipeError):
                await agent.run("Look for it.")
            assert (await agent.run("Again.")).text == "Fine."
    assert "Interrupted" in stage.replies[0].result.text
    assert not server.refusals


async def test_a_result_that_is_longer_than_the_context_is_summed_up_after_a_summary() -> None:
    full = Fail(400, "too long", code="context_length_exceeded", type="invalid_request_error")
    call = use(("chat", "portable"), CREATE, {"title": "x" * 1000})
    conversation = Conversation(messages=[Summary(text="The person wants issues.")])
    with scripted(call, full, Say("Notes."), Say("Done.")) as server:
        async with staged(server, ("chat", "auto"), conversation=conversation) as stage:
            stage.agent.conversation.messages.append(Summary(text="And more of them."))
            assert (await stage.agent.run("Go on.")).text == "Done."
    assert isinstance(conversation.messages[0], Summary)


@native
async def test_a_tool_that_has_the_name_of_reading_on_is_in_the_array_once(way: Way) -> None:
    theirs = ScriptedToolset("mcp-x", [tool("read_rest", "Read the rest of a book.")])
    policy = replace(CLOSED.assembly, pinned=("read_rest",))
    with scripted(Say("Hello.")) as server:
        async with staged(
            server, way, toolsets=(github(), theirs), config=Config(assembly=policy)
        ) as stage:
            await stage.agent.run("Hello.")
    names = [each.get("name") for each in server.requests[0].json["tools"]]
    assert names.count("read_rest") == 1


@native
async def test_a_search_is_counted_whatever_it_found(way: Way) -> None:
    steps = (Search("something that nobody offers, quite certainly"), Say("Nothing."))
    with scripted(*steps) as server:
        async with staged(server, way) as stage:
            await stage.agent.run("Look for it.")
    ledger = stage.session.ledger
    assert (ledger.searches, ledger.hops) == (1, 1)
    assert ledger.replies > 0


@every_way
@requirement("DSP-3")
async def test_half_of_a_character_in_a_result_is_replaced_in_the_conversation(way: Way) -> None:
    async def run(called: Tool, call: ToolCall) -> ToolResult:
        del called, call
        return ToolResult(
            content=({"type": "text", "text": "a\ud83db"},), structured={"a": "\ud83d"}
        )

    odd = ScriptedToolset("mcp-odd", [tool("mcp_odd_read", "Read something odd.")], run)
    with scripted(Call("mcp_odd_read", {}), Say("Read.")) as server:
        async with staged(server, way, toolsets=[odd], config=OPEN) as stage:
            assert (await stage.agent.run("Read it.")).is_success
    assert not server.refusals
    assert [reply.result.text for reply in stage.replies] == ["a\ufffdb"]
