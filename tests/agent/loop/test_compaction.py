"""When the context fills: older messages are summed up, and what was learned stays callable."""

from pathlib import Path

import pytest

from tests.agent.loop.rig import CREATE, POST, WAYS, Way, staged, use
from tests.models.script import Call, Fail, Say, Search
from tests.models.server import scripted
from tooldrawer.agent.conversation import Conversation
from tooldrawer.agent.conversations import Conversations
from tooldrawer.wire.message import Answered, Said, Summary

pytestmark = pytest.mark.anyio
every_way = pytest.mark.parametrize("way", WAYS, ids="-".join)
LONG = "All work and no play makes a dull answer. " * 400
SHORT_CONTEXT = 4_000


@every_way
async def test_a_tool_that_was_found_is_called_without_another_search(way: Way) -> None:
    steps = (
        Search("create an issue"),
        use(way, CREATE, {"title": "first"}),
        Say(LONG),
        Say("The person wants issues."),
        use(way, CREATE, {"title": "second"}),
        Say("Opened again."),
    )
    with scripted(*steps) as server:
        async with staged(server, way, context_length=SHORT_CONTEXT) as stage:
            await stage.agent.run("Open the first.")
            assert (await stage.agent.run("Open the second.")).text == "Opened again."
    assert [type(item) for item in stage.agent.conversation.messages[:2]] == [Summary, Said]
    summary = stage.agent.conversation.messages[0]
    assert isinstance(summary, Summary)
    assert summary.text.startswith("The person wants issues.")
    assert CREATE in {tool.name for tool in summary.tools}
    assert stage.replies[-1].result.text == '{"title":"second"}'
    assert "summed up" in stage.heard.notices[0]
    assert not server.refusals


@every_way
async def test_what_a_second_summary_sums_up_keeps_its_tools(way: Way) -> None:
    steps = (
        Search("create an issue"),
        Say(LONG),
        Say("First notes."),
        Say(LONG),
        Say("Second notes."),
        use(way, CREATE, {"title": "x"}),
        Say("Done."),
    )
    with scripted(*steps) as server:
        async with staged(server, way, context_length=SHORT_CONTEXT) as stage:
            await stage.agent.run("One.")
            await stage.agent.run("Two.")
            assert (await stage.agent.run("Three.")).text == "Done."
    assert stage.replies[-1].result.text == '{"title":"x"}'
    assert not server.refusals


async def test_an_endpoint_that_says_the_context_is_full_gets_a_shorter_one() -> None:
    full = Fail(400, "too long", code="context_length_exceeded", type="invalid_request_error")
    with scripted(Say("One."), full, Say("Notes."), Say("Two.")) as server:
        async with staged(server, ("chat", "auto")) as stage:
            await stage.agent.run("First.")
            assert (await stage.agent.run("Second.")).text == "Two."
    assert isinstance(stage.agent.conversation.messages[0], Summary)


async def test_a_model_that_cannot_sum_up_does_not_end_the_conversation() -> None:
    steps = (
        Call("tool_call", {"name": POST, "arguments": {"channel": "a", "text": "b"}}),
        Say(LONG),
        Fail(400, "no summaries here"),
        Say("Going on."),
    )
    with scripted(*steps) as server:
        async with staged(server, ("chat", "auto"), context_length=SHORT_CONTEXT) as stage:
            await stage.agent.run("Post it.")
            assert (await stage.agent.run("And now?")).text == "Going on."
    summary = stage.agent.conversation.messages[0]
    assert isinstance(summary, Summary)
    assert POST in summary.text


@every_way
async def test_a_conversation_is_resumed_with_what_it_learned(way: Way, tmp_path: Path) -> None:
    store = Conversations(tmp_path / "conversations.db")
    name = store.start(model="scripted", cwd=str(tmp_path), scope="")
    with scripted(Search("create an issue"), Say("Found it.")) as server:
        async with staged(server, way, conversation=Conversation(name, keeper=store)) as stage:
            await stage.agent.run("Look for it.")
    again = Conversation(name, messages=store.load(name), keeper=store)
    with scripted(use(way, CREATE, {"title": "x"}), Say("Done.")) as server:
        async with staged(server, way, conversation=again) as stage:
            assert (await stage.agent.run("Now use it.")).text == "Done."
    assert stage.replies[-1].result.text == '{"title":"x"}'
    assert len(store.load(name)) == 8
    assert not server.refusals


@every_way
async def test_a_conversation_goes_on_with_another_provider(way: Way, tmp_path: Path) -> None:
    store = Conversations(tmp_path / "conversations.db")
    name = store.start(model="scripted", cwd=str(tmp_path), scope="")
    steps = (Search("create an issue"), use(way, CREATE, {"title": "x"}), Say("Done."))
    with scripted(*steps) as server:
        async with staged(server, way, conversation=Conversation(name, keeper=store)) as stage:
            await stage.agent.run("Open it.")
    for other in WAYS:
        again = Conversation(name, messages=store.load(name))
        with scripted(Say("I know all of it.")) as server:
            async with staged(server, other, conversation=again) as stage:
                assert (await stage.agent.run("Well?")).is_success
        assert not server.refusals, other


async def test_a_store_that_breaks_does_not_end_the_conversation(tmp_path: Path) -> None:
    class Full:
        def append(self, conversation: str, message: object) -> None:
            raise OSError(28, "No space left on device")

        def compacted(self, conversation: str, summary: Summary, *, replaces: int) -> None:
            raise OSError(28, "No space left on device")

    notices: list[str] = []
    conversation = Conversation("x", keeper=Full(), noticed=notices.append)
    with scripted(Say("One."), Say("Two.")) as server:
        async with staged(server, ("chat", "auto"), conversation=conversation) as stage:
            await stage.agent.run("First.")
            assert (await stage.agent.run("Second.")).text == "Two."
    assert len(notices) == 1
    assert "No space left" in notices[0]
    assert [type(item) for item in conversation.messages] == [Said, Answered, Said, Answered]
