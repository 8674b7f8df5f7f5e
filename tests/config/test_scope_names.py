"""Names in scopes and rules that fit nothing are reported, so that no rule fails silently."""

from pathlib import Path

import pytest

from tests.requirements import requirement
from tooldrawer.config import gather

SERVERS = "mcp_servers: {github: {command: githubd}, gitlab: {command: gitlabd}}\n"


def notes(folder: Path, text: str) -> list[str]:
    file = folder / "settings.yaml"
    file.write_text(SERVERS + text, encoding="utf-8")
    return [note.removeprefix(f"{file}: ") for note in gather(file).notes]


@requirement("SCOPE-1")
@pytest.mark.parametrize("key", ["toolsets", "disabled_toolsets"])
def test_a_toolset_that_is_not_configured_is_named_with_the_nearest(
    tmp_path: Path, key: str
) -> None:
    assert notes(tmp_path, f"scopes: {{triage: {{{key}: [githb]}}}}") == [
        f"scopes.triage.{key}: 'githb' is not a configured server or toolset; did you mean "
        "'mcp-github'?"
    ]


@requirement("SCOPE-7")
@pytest.mark.parametrize(
    ("text", "key", "pattern"),
    [
        (
            "scopes: {triage: {deny: [githb__create_issue]}}",
            "scopes.triage.deny",
            "githb__create_issue",
        ),
        ("approvals: {deny: [githb.delete_repo]}", "approvals.deny", "githb.delete_repo"),
        ("approvals: {ask: [mcp_githb_delete_repo]}", "approvals.ask", "mcp_githb_delete_repo"),
    ],
)
def test_a_pattern_about_a_server_that_is_not_configured_is_named(
    tmp_path: Path, text: str, key: str, pattern: str
) -> None:
    (note,) = notes(tmp_path, text)
    assert note.startswith(f"{key}: the pattern {pattern!r} names no configured server")


@requirement("SCOPE-7")
def test_names_that_fit_a_server_are_not_mentioned(tmp_path: Path) -> None:
    text = """
scopes:
  triage:
    toolsets: [github, mcp-gitlab, core, "x*"]
    disabled_toolsets: [GitLab]
    allow: ["*", mcp_github_get, "git*.get", create_issue]
    deny: ["*delete*", github__create_issue, "*/drop", github.delete_repo]
approvals: {deny: [gitlab/delete_repo], ask: ["mcp_*_drop"]}
"""
    assert notes(tmp_path, text) == []
