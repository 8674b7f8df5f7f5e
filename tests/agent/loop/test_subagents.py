"""Work that is handed on: a narrower scope, a conversation and a feed of its own."""

from typing import Any

import pytest

from tests.agent.loop.rig import CLOSE, CLOSED, CREATE, POST, WIRES, Way, github, reached, slack
from tests.fakes import ScriptedToolset
from tests.models.script import Call, Fail, Repeat, Say, Script, Search, Turn
from tests.models.server import ModelServer, scripted
from tests.requirements import requirement
from tooldrawer import Drawer, Scope
from tooldrawer.activity import CallStarted, Event
from tooldrawer.agent.agent import Outcome
from tooldrawer.agent.conversation import Conversation
from tooldrawer.agent.core import CoreTools, Workplace
from tooldrawer.agent.crew import Crew
from tooldrawer.agent.listener import Nobody

pytestmark = pytest.mark.anyio
every_wire = pytest.mark.parametrize("wire", WIRES)


class Company:
    """What was seen of one task."""

    def __init__(self, outcome: Outcome, events: list[Event], slack: ScriptedToolset) -> None:
        self.outcome, self.events, self.slack = outcome, events, slack

    def of(self, session: str) -> str:
        """Everything that the activity says of a session."""
        return "\n".join(repr(event) for event in self.events if event.session == session)


async def _work(
    server: ModelServer, way: Way, tmp_path: Any, *, scope: Scope | None = None
) -> Company:
    async with reached(server, way) as model:
        crew = Crew(model, system="Be short.", subagent_turns=15)
        core = CoreTools(Workplace(root=tmp_path), delegate=crew)
        messages = slack()
        drawer = Drawer([core, github(), messages], config=CLOSED)
        async with drawer.session("lead", scope=scope) as session:
            outcome = await crew.lead(session, Conversation(), Nobody()).run("The whole task.")
        drawer.close()
        return Company(outcome, list(drawer.activity), messages)


def _delegate(**more: Any) -> Call:
    return Call("delegate_task", {"task": "The child's part.", **more})


def _child(*steps: Any) -> Script:
    return Script(list(steps), first="The child's part.")


def _lead(*steps: Any) -> Script:
    return Script(list(steps), first="The whole task.")


@every_wire
@requirement("SCOPE-4")
async def test_a_subagent_works_in_its_own_conversation_and_feed(wire: Any, tmp_path: Any) -> None:
    child = _child(
        Search("create an issue"),
        Call("tool_call", {"name": CREATE, "arguments": {"title": "a"}}),
        Say("Issue 1 is open."),
    )
    with scripted(child, _lead(_delegate(toolsets=["mcp-github"]), Say("All done."))) as server:
        company = await _work(server, (wire, "portable"), tmp_path)
    assert company.outcome.text == "All done."
    assert "Issue 1 is open." in server.seen[-1].results[0].text
    started = [event for event in company.events if isinstance(event, CallStarted)]
    assert [(event.session, event.tool) for event in started] == [
        ("lead", "delegate_task"),
        ("lead.1", CREATE),
    ]


@every_wire
@requirement("SCOPE-2")
@requirement("SCOPE-3")
@requirement("SCOPE-4")
async def test_a_subagent_reaches_nothing_outside_its_scope_by_any_route(
    wire: Any, tmp_path: Any
) -> None:
    post = {"channel": "a", "text": "b"}
    nested = {"name": "tool_call", "arguments": {"name": POST, "arguments": post}}
    routes = (
        Search("post a message to a slack channel"),
        Search(POST),
        Call("tool_describe", {"name": POST}),
        Call("tool_describe", {"name": "slack.post_message"}),
        Call("tool_call", {"name": POST, "arguments": post}),
        Call("tool_call", {"name": "slack__post_message", "arguments": post}),
        Call("tool_call", {"name": "slack/post_message", "arguments": post}),
        Call("tool_call", {"name": "post_message", "arguments": post}),
        Call(POST, post, blind=True),
        Call("post_message", post, blind=True),
        Call("tool_call", nested),
        Call("delegate_task", {"task": "Post it.", "toolsets": ["mcp-slack"]}, blind=True),
        Call("terminal", {"command": "true"}, blind=True),
    )
    child = _child(*routes, Say("I could not."))
    lead = _lead(_delegate(toolsets=["mcp-github"]), Say("It could not."))
    with scripted(child, lead) as server:
        company = await _work(server, (wire, "portable"), tmp_path)
    assert company.outcome.is_success
    assert not company.slack.received
    seen = [each for each in server.seen if each.first_user.startswith("The child's part.")]
    results = seen[-1].results
    assert len(results) == len(routes)
    refused = "There is no tool of that name."
    for result in results[2:]:
        assert refused in result.text, result.text
    for text in (*(result.text for result in results), company.of("lead.1")):
        # What the model wrote itself is in its own searches; nothing else may have the name.
        assert "slack_list" not in text
        assert "post_message" not in text.replace(POST, "") or "query" in text
    assert not any("slack" in name for each in seen for name in each.names)


@every_wire
@requirement("SCOPE-4")
async def test_a_subagent_cannot_ask_for_more_than_its_parent_has(wire: Any, tmp_path: Any) -> None:
    child = _child(
        Call("tool_call", {"name": POST, "arguments": {"channel": "a", "text": "b"}}, blind=True),
        Call("tool_call", {"name": CLOSE, "arguments": {"number": 1}}, blind=True),
        Say("Neither."),
    )
    scope = Scope(toolsets=("core", "mcp-github"), deny=("*close*",))
    with scripted(child, _lead(_delegate(toolsets=["*"]), Say("Fine."))) as server:
        company = await _work(server, (wire, "portable"), tmp_path, scope=scope)
    assert company.outcome.is_success
    assert not company.slack.received
    child_sees = [each for each in server.seen if "child" in each.first_user][-1]
    assert all("There is no tool of that name." in result.text for result in child_sees.results)


async def test_a_subagent_of_a_subagent_has_none(tmp_path: Any) -> None:
    second = Script(
        [Call("delegate_task", {"task": "Deeper."}, blind=True), Say("Alone then.")],
        first="Grandchild's part.",
    )
    first = _child(Call("delegate_task", {"task": "Grandchild's part."}), Say("Passed on."))
    with scripted(second, first, _lead(_delegate(), Say("Done."))) as server:
        company = await _work(server, ("chat", "portable"), tmp_path)
    assert company.outcome.is_success
    deepest = [each for each in server.seen if "Grandchild" in each.first_user]
    assert "delegate_task" not in deepest[0].names
    assert "There is no tool of that name." in deepest[-1].results[0].text


async def test_subagents_may_work_at_the_same_time(tmp_path: Any) -> None:
    one = Script([Say("First half.")], first="Part one.")
    two = Script([Say("Second half.")], first="Part two.")
    calls = (
        Call("delegate_task", {"task": "Part one."}),
        Call("delegate_task", {"task": "Part two.", "context": "Be quick."}),
    )
    with scripted(one, two, _lead(Turn(calls=calls), Say("Both."))) as server:
        company = await _work(server, ("anthropic", "portable"), tmp_path)
    assert company.outcome.text == "Both."
    assert [result.text for result in server.seen[-1].results] == ["First half.", "Second half."]


async def test_a_subagent_that_does_not_finish_says_so(tmp_path: Any) -> None:
    child = _child(Repeat(Call("todo", {})))
    with scripted(child, _lead(_delegate(max_turns=3), Say("It got stuck."))) as server:
        company = await _work(server, ("chat", "portable"), tmp_path)
    assert company.outcome.is_success
    assert "no turns left after 3" in server.seen[-1].results[0].text


async def test_a_model_that_fails_a_subagent_does_not_fail_its_parent(tmp_path: Any) -> None:
    child = _child(Fail(400, "something about the request"))
    with scripted(child, _lead(_delegate(), Say("I go on alone."))) as server:
        company = await _work(server, ("responses", "portable"), tmp_path)
    assert company.outcome.text == "I go on alone."
    assert "could not go on" in server.seen[-1].results[0].text


@pytest.mark.parametrize("wire", ["responses", "anthropic"])
async def test_a_subagent_does_not_try_what_its_parent_was_refused(
    wire: Any, tmp_path: Any
) -> None:
    scripts = (_lead(_delegate(), Say("Done.")), _child(Say("My part is done.")))
    with scripted(*scripts, native=False) as server:
        work = await _work(server, (wire, "auto"), tmp_path)
    assert work.outcome.text == "Done."
    # Anthropic's array is an ordinary one until a search has found something.
    assert len(server.refusals) == (1 if wire == "responses" else 0)


async def test_work_is_not_handed_on_without_end(tmp_path: Any) -> None:
    many = Turn(
        calls=tuple(Call("delegate_task", {"task": "Grandchild's part."}) for _ in range(100))
    )
    scripts = (
        Script([Repeat(Say("Done."))], first="Grandchild's part."),
        _child(many, Say("Passed on.")),
        _lead(_delegate(), _delegate(), Say("Enough.")),
    )
    with scripted(*scripts) as server:
        company = await _work(server, ("chat", "portable"), tmp_path)
    assert company.outcome.text == "Enough."
    begun = {event.session for event in company.events} - {"lead"}
    assert len(begun) == 30
    refused = "30 subagents have worked on this task. Do the rest yourself"
    assert refused in server.seen[-1].results[-1].text
