"""A hostile model writes what programs obey: itself first of all."""

import json
import os
from pathlib import Path

import pytest

from tests.fakes import ScriptedApprover
from tests.requirements import requirement
from tooldrawer import Allow, Answer, Ask, Deny, Drawer, Session, Verdict
from tooldrawer.agent.core import CoreRules, CoreTools, Workplace
from tooldrawer.call import ToolCall
from tooldrawer.tool import Tool

pytestmark = pytest.mark.anyio


def _judged(rules: CoreRules, name: str, **arguments: str) -> Verdict:
    return rules(Tool(name=name, source="core"), ToolCall(name=name, arguments=arguments))


def _session(workplace: Workplace, memory: Path | None = None) -> Session:
    """Whatever is asked, the person says no."""
    return Drawer(
        [CoreTools(workplace, memory=memory)],
        guardrails=[CoreRules(workplace)],
        approver=ScriptedApprover(Answer.NO),
    ).session("chat")


@requirement("DSP-6")
async def test_who_works_at_home_does_not_have_a_grant_written_by_the_model(home: Path) -> None:
    session = _session(Workplace(root=home))
    fingerprint = session.catalog.get("terminal").fingerprint
    written = await session.call(
        "write_file",
        {
            "path": ".local/share/tooldrawer/grants.json",
            "content": json.dumps({fingerprint: "terminal"}),
        },
    )
    assert written.is_error
    ran = await session.call("terminal", {"command": "touch ran"})
    assert ran.is_error
    assert not (home / "ran").exists()


@pytest.mark.parametrize(
    "path",
    [
        ".config/tooldrawer/other.yaml",
        ".local/share/tooldrawer/memory.md",
        ".cache/tooldrawer/manifests/a.json",
        ".ssh/authorized_keys",
        ".bashrc",
        ".GIT/hooks/pre-commit",
        "project/.Git/config",
        "project/.vscode/tasks.json",
        "project/.devcontainer/devcontainer.json",
        ".config/autostart/evil.desktop",
        ".local/bin/ls",
        ".npmrc",
        ".aws/config",
        "project/../.vim/plugin/a.vim",
        "project/.claude/settings.json",
        "project/TOOLDRAWER.yaml",
        "project/.mcp.json ",
        "project/.hg/hgrc",
        "project/.jj/repo/config.toml",
        "project/.gitmodules",
        "project/AGENT.md",
        "project/skills/pdf/SKILL.md",
        "project/.replit",
        "project/mise.toml",
        "project/.mise.local.toml",
        "project/.envrc",
        "project/.pylintrc",
        "project/.gdbinit",
        "a/../.zshrc",
        "~/.profile",
    ],
)
def test_what_programs_obey_is_asked_about_by_any_spelling(home: Path, path: str) -> None:
    rules = CoreRules(Workplace(root=home))
    assert isinstance(_judged(rules, "write_file", path=path), Ask)
    assert isinstance(_judged(rules, "patch", path=path), Ask)


@pytest.mark.parametrize(
    "path",
    [
        *("CLAUDE.md", "docs/AGENTS.md", "agents.override.md", "CLAUDE.local.md", "GEMINI.md"),
        *("QWEN.md", ".cursorrules", ".windsurfrules", ".clinerules/a.md", ".roomodes", ".roo/a"),
        *(".husky/pre-commit", ".githooks/post-checkout", ".pre-commit-config.yaml"),
        *("lefthook.yml", ".lefthook-local.yml", ".lintstagedrc.json", ".envrc", "sub/.ENVRC"),
        *(".qwen/settings.json", ".kiro/steering/a.md", ".amazonq/rules/a.md", ".gemini/a"),
        *(".codex/config.toml", ".opencode/agent/a.md", "opencode.jsonc", ".continue/a.yaml"),
        *(".continuerc.json", ".aider.conf.yml", ".aider.model.settings.yml", ".aiderignore"),
        *(".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".idea/workspace.xml"),
        *(".github/workflows/ci.yml", ".github/copilot-instructions.md", ".gitlab-ci.yml"),
        *(".circleci/config.yml", "a.code-workspace", ".junie/guidelines.md", ".trae/rules"),
    ],
)
def test_files_that_agents_hooks_and_ci_obey_are_asked_about(tmp_path: Path, path: str) -> None:
    rules = CoreRules(Workplace(root=tmp_path))
    assert isinstance(_judged(rules, "write_file", path=path), Ask)
    assert isinstance(_judged(rules, "patch", path=str(tmp_path / path)), Ask)


@pytest.mark.parametrize(
    "path",
    [
        *("README.md", "Makefile", "package.json", "pyproject.toml", ".npmrc", ".env"),
        *(".gitignore", ".gitattributes", "src/agents.py", "docs/claude.txt", "docs/my-agents.md"),
        *(".prettierrc", "tests/conftest.py", "github/a.yml", "lib/cursor.py", "CONTRIBUTING.md"),
    ],
)
def test_what_runs_only_with_the_project_is_written_without_a_question(
    tmp_path: Path, path: str
) -> None:
    assert isinstance(_judged(CoreRules(Workplace(root=tmp_path)), "write_file", path=path), Allow)


def test_a_link_with_such_a_name_is_asked_about_and_what_it_points_to_as_well(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").touch()
    (tmp_path / "AGENTS.md").symlink_to("notes.txt")
    (tmp_path / "plain.md").symlink_to(".cursorrules")
    rules = CoreRules(Workplace(root=tmp_path))
    for path in ("AGENTS.md", "sub/../AGENTS.md", "plain.md"):
        assert isinstance(_judged(rules, "write_file", path=path), Ask)


def test_who_works_below_such_a_folder_is_not_asked_about_every_file(tmp_path: Path) -> None:
    rules = CoreRules(Workplace(root=tmp_path / ".claude" / "worktrees" / "one"))
    assert isinstance(_judged(rules, "write_file", path="a.py"), Allow)
    assert isinstance(_judged(rules, "write_file", path=".claude/settings.json"), Ask)


def test_who_works_in_a_hidden_folder_at_home_is_asked_about_the_others_only(home: Path) -> None:
    (home / ".dotfiles" / "vim").mkdir(parents=True)
    rules = CoreRules(Workplace(root=home / ".dotfiles", allowed=(home / ".config" / "nvim", home)))
    for path in ("vim/a.vim", "~/.config/nvim/init.lua", "~/notes/.hidden", "~/a.txt"):
        assert isinstance(_judged(rules, "write_file", path=path), Allow)
    assert isinstance(_judged(rules, "write_file", path="~/.local/bin/ls"), Ask)


@pytest.mark.parametrize("path", ["agent.yaml", "link.yaml", "./sub/../agent.yaml"])
def test_the_configuration_in_use_is_asked_about_by_whatever_name(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "agent.yaml").touch()
    (tmp_path / "link.yaml").symlink_to("agent.yaml")
    rules = CoreRules(Workplace(root=tmp_path), steering=[tmp_path / "agent.yaml"])
    assert isinstance(_judged(rules, "write_file", path=path), Ask)
    assert isinstance(_judged(rules, "write_file", path="agent.yaml.txt"), Allow)


async def test_nobody_else_on_the_machine_reads_the_notes(tmp_path: Path) -> None:
    memory = tmp_path / "memory.md"
    before = os.umask(0)
    try:
        drawer = Drawer([CoreTools(Workplace(root=tmp_path), memory=memory)])
        await drawer.session().call("memory", {"action": "add", "text": "private"})
    finally:
        os.umask(before)
    assert memory.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "path",
    ["link/new.txt", "link", "sub/../../outside/x", "/proc/self/cwd/../outside/x", "hop/x"],
)
@requirement("DSP-5")
async def test_nothing_is_written_outside_by_any_way_round(tmp_path: Path, path: str) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "sub").mkdir(parents=True)
    outside.mkdir()
    (project / "link").symlink_to(outside)
    (project / "hop").symlink_to("link")
    rules = CoreRules(Workplace(root=project))
    place = path.replace("/proc/self/cwd", str(project))
    assert isinstance(_judged(rules, "write_file", path=place, content="x"), Deny)
    # And the tool itself, as when a link was turned after the rule had looked.
    result = (
        await Drawer([CoreTools(Workplace(root=project))])
        .session()
        .call("write_file", {"path": place, "content": "x"})
    )
    assert result.is_error
    assert list(outside.iterdir()) == []


async def test_a_file_with_a_second_name_outside_is_left_alone_there(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other.txt"
    project.mkdir()
    other.write_text("theirs", encoding="utf-8")
    (project / "same.txt").hardlink_to(other)
    session = Drawer([CoreTools(Workplace(root=project))]).session()
    await session.call("write_file", {"path": "same.txt", "content": "mine"})
    await session.call("patch", {"path": "same.txt", "old": "mine", "new": "ours"})
    assert other.read_text(encoding="utf-8") == "theirs"
