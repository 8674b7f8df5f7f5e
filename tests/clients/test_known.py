"""Which clients are known, and where their files are."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.requirements import requirement
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import client_named
from tooldrawer.errors import ConfigError

pytestmark = requirement("CFG-3")


def test_an_unknown_client_or_place_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        client_named("claud-code")
    assert str(caught.value) == (
        "No client is called 'claud-code'; known are claude-desktop, claude-code, cursor, vscode, "
        "codex, gemini, opencode. Did you mean claude-code?"
    )
    assert client_named("Claude Code").name == "claude-code"
    assert client_named("gemini-cli").name == "gemini"
    with pytest.raises(ConfigError, match=r"Cursor has no place 'local'; it has: user, project\."):
        client_named("cursor").place("local")


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", "xdg"),
        ("darwin", "home/Library/Application Support"),
        ("win32", "roaming"),
    ],
)
def test_each_platform_has_its_own_folder_for_desktop_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, folder: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "xdg"), "APPDATA": str(tmp_path / "roaming")}
    found = Folders.of_this_machine(environment, platform=platform)
    assert client_named("claude-desktop").places[0].file(found) == (
        tmp_path / folder / "Claude" / "claude_desktop_config.json"
    )
    assert client_named("vscode").places[0].file(found) == (
        tmp_path / folder / "Code" / "User" / "mcp.json"
    )


def test_programs_that_can_be_told_where_their_folder_is_are_followed(tmp_path: Path) -> None:
    environment = {"CODEX_HOME": str(tmp_path / "c"), "CLAUDE_CONFIG_DIR": str(tmp_path / "d")}
    found = Folders.of_this_machine(environment)
    assert client_named("codex").places[0].file(found) == tmp_path / "c" / "config.toml"
    assert client_named("claude-code").places[0].file(found) == tmp_path / "d" / ".claude.json"


def test_of_two_names_for_a_file_the_one_that_is_there_is_used(folders: Folders) -> None:
    client = client_named("opencode")
    commented = replace(folders, xdg=folders.home)
    (commented.xdg / "opencode").mkdir()
    path = commented.xdg / "opencode" / "opencode.jsonc"
    path.write_text("// mine\n{}", encoding="utf-8")
    assert client.places[0].file(commented) == path
