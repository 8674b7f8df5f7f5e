"""What the core tools may do without asking, and what they may not do at all."""

import logging
from pathlib import Path

import pytest

from tests.agent.core.people import Yes
from tests.fakes import MeddlingApprover, ScriptedApprover, ScriptedToolset
from tests.requirements import requirement
from tooldrawer import Allow, Answer, Ask, Deny, Drawer, Grants, Rules, Session, Tool, Verdict
from tooldrawer.agent.core import CoreRules, CoreTools, Workplace
from tooldrawer.call import ToolCall
from tooldrawer.tool import JsonObject

pytestmark = pytest.mark.anyio

ALLOWED = "ask the user, who can allow the folder."


def judged(workplace: Workplace, name: str, arguments: JsonObject, source: str = "core") -> Verdict:
    tool = Tool(name=name, source=source)
    return CoreRules(workplace)(tool, ToolCall(name=name, arguments=arguments))


@requirement("DSP-6")
async def test_a_command_is_shown_to_a_person_before_it_runs(session: Session, yes: Yes) -> None:
    result = await session.call("terminal", {"command": "echo hello"})
    (request,) = yes.requests
    assert request.question.startswith("Run this command in ")
    assert request.arguments == {"command": "echo hello"}
    assert result.text.startswith("hello")


@requirement("DSP-6")
async def test_a_command_that_a_person_refuses_does_not_run(
    workplace: Workplace, project: Path, grants: Grants
) -> None:
    drawer = Drawer(
        [CoreTools(workplace)],
        guardrails=[CoreRules(workplace)],
        approver=ScriptedApprover(Answer.NO),
        grants=grants,
    )
    result = await drawer.session().call("terminal", {"command": "touch ran"})
    assert result.is_error
    assert not (project / "ran").exists()


async def test_without_anybody_to_ask_no_command_runs(
    workplace: Workplace, project: Path, grants: Grants
) -> None:
    drawer = Drawer([CoreTools(workplace)], guardrails=[CoreRules(workplace)], grants=grants)
    result = await drawer.session().call("terminal", {"command": "touch ran"})
    assert result.is_error
    assert not (project / "ran").exists()


@requirement("DSP-9")
@pytest.mark.parametrize(
    ("name", "argument"), [("terminal", "cwd"), ("write_file", "path"), ("patch", "path")]
)
@pytest.mark.parametrize("path", ["..", "{out}", "link", "link/../outside", "in/../../outside"])
def test_commands_and_writing_outside_are_denied_with_the_next_step(
    workplace: Workplace, project: Path, outside: Path, name: str, argument: str, path: str
) -> None:
    (project / "link").symlink_to(outside)
    verdict = judged(workplace, name, {argument: path.format(out=outside)})
    assert isinstance(verdict, Deny)
    assert ALLOWED in verdict.reason


@pytest.mark.parametrize("name", ["read_file", "search_files"])
def test_reading_outside_is_asked_about_and_inside_is_not(
    workplace: Workplace, project: Path, outside: Path, name: str
) -> None:
    (project / "link").symlink_to(outside)
    for path in (str(outside), "..", "link/secret.txt", "/etc/passwd"):
        assert isinstance(judged(workplace, name, {"path": path}), Ask)
    for path in (".", "missing/file", str(project), "a/../b"):
        assert judged(workplace, name, {"path": path}) == Allow()


def test_a_search_without_a_path_is_inside(workplace: Workplace) -> None:
    assert judged(workplace, "search_files", {"pattern": "x"}) == Allow()


async def test_reading_outside_runs_once_a_person_allowed_it(
    session: Session, outside: Path, yes: Yes
) -> None:
    read = await session.call("read_file", {"path": str(outside / "secret.txt")})
    assert read.text == "1\tthe secret"
    found = await session.call("search_files", {"pattern": "secret", "path": "../outside"})
    assert found.text == f"{outside}/secret.txt\n1: the secret"
    assert [request.question.split()[0] for request in yes.requests] == ["Read", "Search"]


def test_a_folder_that_was_allowed_counts_as_inside(project: Path, outside: Path) -> None:
    workplace = Workplace(root=project, allowed=(outside,))
    assert judged(workplace, "write_file", {"path": str(outside / "a")}) == Allow()
    assert judged(workplace, "read_file", {"path": "../outside/secret.txt"}) == Allow()
    assert isinstance(judged(workplace, "terminal", {"cwd": str(outside)}), Ask)
    assert isinstance(judged(workplace, "write_file", {"path": "../other"}), Deny)


def test_a_folder_with_a_longer_name_is_not_inside(tmp_path: Path, project: Path) -> None:
    (tmp_path / "project-two").mkdir()
    verdict = judged(Workplace(root=project), "write_file", {"path": "../project-two/a"})
    assert isinstance(verdict, Deny)


def test_a_working_directory_behind_a_link_is_one(tmp_path: Path, project: Path) -> None:
    (tmp_path / "shortcut").symlink_to(project)
    workplace = Workplace(root=tmp_path / "shortcut")
    assert judged(workplace, "write_file", {"path": "a"}) == Allow()
    assert judged(workplace, "write_file", {"path": str(project / "a")}) == Allow()


@pytest.mark.parametrize(
    "path", ["tooldrawer.yaml", ".mcp.json", ".git/hooks/pre-commit", "sub/.git/config", "link"]
)
def test_files_that_steer_programs_are_asked_about(
    workplace: Workplace, project: Path, path: str
) -> None:
    (project / "link").symlink_to("tooldrawer.yaml")
    for name in ("write_file", "patch"):
        assert isinstance(judged(workplace, name, {"path": path}), Ask)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", 5, ["a"], "x" * 10_000, "~nobody-there/x"])
@pytest.mark.parametrize("name", ["read_file", "write_file", "patch", "search_files"])
def test_what_is_no_path_is_denied_without_an_alarm(
    workplace: Workplace, name: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        assert isinstance(judged(workplace, name, {"path": path}), Deny)
    assert not caplog.records


@pytest.mark.parametrize("name", ["todo", "memory", "clarify", "delegate_task", "session_search"])
def test_the_other_core_tools_are_allowed(workplace: Workplace, name: str) -> None:
    assert judged(workplace, name, {"path": "/etc/passwd"}) == Allow()


def test_tools_of_others_are_not_judged_whatever_their_name(workplace: Workplace) -> None:
    assert judged(workplace, "terminal", {"command": "x", "cwd": "/"}, source="mcp-x") == Allow()


async def test_a_foreign_terminal_is_run_by_its_own_toolset(
    workplace: Workplace, grants: Grants
) -> None:
    other = ScriptedToolset("mcp-other", [Tool(name="mcp_other_terminal")])
    drawer = Drawer([other], guardrails=[CoreRules(workplace)], grants=grants)
    result = await drawer.session().call("mcp_other_terminal", {"cwd": "/"})
    assert not result.is_error


async def test_a_link_that_is_turned_while_a_person_is_asked_does_not_lead_out(
    workplace: Workplace, project: Path, outside: Path, grants: Grants
) -> None:
    (project / "folder").mkdir()
    (project / "link").symlink_to("folder")

    def turn() -> None:
        (project / "link").unlink()
        (project / "link").symlink_to(outside)

    def ask(tool: Tool, call: ToolCall) -> Verdict:
        return Ask("Really?")

    drawer = Drawer(
        [CoreTools(workplace)],
        guardrails=[CoreRules(workplace), ask],
        approver=MeddlingApprover(turn),
        grants=grants,
    )
    written = await drawer.session().call("write_file", {"path": "link/a", "content": "x"})
    assert ALLOWED in written.text
    assert not (outside / "a").exists()
    (project / "link").unlink()
    (project / "link").symlink_to("folder")
    ran = await drawer.session().call("terminal", {"command": "touch a", "cwd": "link"})
    assert ALLOWED in ran.text
    assert not (outside / "a").exists()


@requirement("DSP-6")
@pytest.mark.parametrize(
    ("tool", "usual", "unusual"),
    [
        ("write_file", "a.txt", ".git/hooks/pre-commit"),
        ("patch", "a.txt", "tooldrawer.yaml"),
        ("read_file", "a.txt", "../outside/secret.txt"),
        ("search_files", ".", "../outside"),
    ],
)
async def test_who_lets_it_work_on_files_is_asked_again_where_it_matters(
    workplace: Workplace, project: Path, outside: Path, grants: Grants, tool: str, usual: str,
    unusual: str,
) -> None:  # fmt: skip
    for name in ("a.txt", "tooldrawer.yaml"):
        (project / name).write_text("old", encoding="utf-8")
    approver = ScriptedApprover(Answer.SESSION, Answer.NO)
    drawer = Drawer(
        [CoreTools(workplace)],
        guardrails=[CoreRules(workplace), Rules(ask=("*",))],
        approver=approver,
        grants=grants,
    )
    session = drawer.session()
    more = {
        "write_file": {"content": "x"},
        "patch": {"old": "old", "new": "x"},
        "search_files": {"pattern": "old"},
    }.get(tool, {})
    assert not (await session.call(tool, {"path": usual, **more})).is_error
    assert (await session.call(tool, {"path": unusual, **more})).is_error
    assert len(approver.requests) == 2
    assert not (project / ".git").exists()
