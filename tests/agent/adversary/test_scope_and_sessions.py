"""A hostile model in a subagent: wider scopes, other sessions' things, other sessions' grants."""

import re
from pathlib import Path

import pytest

from tests.agent.loop.rig import CLOSE, CREATE, POST, github, slack
from tests.fakes import ScriptedApprover
from tests.requirements import requirement
from tooldrawer import Answer, Config, Drawer, FunctionToolset, Limits, Scope, ToolResult
from tooldrawer.agent.core import CoreRules, CoreTools, Delegation, Workplace
from tooldrawer.agent.crew import Crew
from tooldrawer.dispatch import Grants

pytestmark = pytest.mark.anyio
UNKNOWN = "There is no tool of that name."


@pytest.mark.parametrize(
    "globs",
    [["*"], ["[!x]*"], ["mcp-slac[k]"], ["mcp-slack", "*", "**"], ["?cp-slack"], ["(?s:.*)"], [""]],
)
@requirement("SCOPE-4")
async def test_no_pattern_widens_the_scope_of_a_subagent(globs: list[str]) -> None:
    messages = slack()
    drawer = Drawer([github(), messages])
    parent = drawer.session("lead", scope=Scope(toolsets=("mcp-github",), deny=(CLOSE,)))
    child = parent.child(Scope(toolsets=globs)).child(Scope(toolsets=("*",)))
    assert not {POST, CLOSE} & {tool.name for tool in child.catalog}
    for name in (POST, CLOSE):
        assert UNKNOWN in (await child.call(name, {})).text
        assert UNKNOWN in (await child.call("tool_call", {"name": name, "arguments": {}})).text
        assert UNKNOWN in (await child.call("tool_describe", {"name": name})).text
    assert not messages.received


@pytest.mark.parametrize("toolsets", [["a*"] * 101, ["a" * 201]])
async def test_patterns_without_end_are_refused_before_any_tool_is_held_against_them(
    toolsets: list[str], tmp_path: Path
) -> None:
    handed: list[Delegation] = []

    async def delegate(session: str, task: Delegation) -> ToolResult:
        del session
        handed.append(task)
        return ToolResult()

    drawer = Drawer([CoreTools(Workplace(root=tmp_path), delegate=delegate)])
    result = await drawer.session().call("delegate_task", {"task": "a", "toolsets": toolsets})
    assert result.is_error
    assert not handed


@requirement("SCOPE-4")
async def test_what_another_session_was_shown_or_wrote_down_cannot_be_read(tmp_path: Path) -> None:
    def long() -> str:
        """Say a lot."""
        return "secret " * 1000

    config = Config(limits=Limits(result_max_chars=500))
    drawer = Drawer(
        [CoreTools(Workplace(root=tmp_path)), FunctionToolset("mine", [long])], config=config
    )
    parent = drawer.session("lead")
    shown = await parent.call("long")
    handle = re.search(r"rest-\d+", shown.text)
    assert handle is not None
    await parent.call("todo", {"items": [{"text": "the plan", "status": "doing"}]})
    for other in (parent.child(), drawer.session("lead.1"), drawer.session()):
        read = await other.call("read_rest", {"id": handle[0], "offset": 0})
        assert read.is_error
        assert "secret" not in read.text
        assert (await other.call("todo", {})).text == "[empty]"


@requirement("DSP-6")
async def test_what_a_person_granted_to_one_session_is_asked_again_in_another(
    tmp_path: Path, grants: Grants
) -> None:
    workplace = Workplace(root=tmp_path)
    approver = ScriptedApprover(Answer.SESSION, Answer.NO, Answer.NO)
    drawer = Drawer(
        [CoreTools(workplace)],
        guardrails=[CoreRules(workplace)],
        approver=approver,
        grants=grants,
    )
    child = (parent := drawer.session("lead")).child()
    assert not (await child.call("terminal", {"command": "true"})).is_error
    assert not (await child.call("terminal", {"command": "true"})).is_error
    for other in (parent, parent.child()):
        assert (await other.call("terminal", {"command": "touch ran"})).is_error
    assert not (tmp_path / "ran").exists()


async def test_a_session_that_nobody_leads_hands_no_work_on(tmp_path: Path) -> None:
    crew = Crew(model=None)  # type: ignore[arg-type]  # never asked
    drawer = Drawer([CoreTools(Workplace(root=tmp_path), delegate=crew)])
    result = await drawer.session("chat").call("delegate_task", {"task": f"call {CREATE}"})
    assert result.is_error
