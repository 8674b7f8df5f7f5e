"""The gateway goes into a client's list, and out again."""

import json
import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.texts import json_files, toml_files
from tests.properties.strategies import quick
from tests.requirements import requirement
from tooldrawer.clients import change
from tooldrawer.clients.connection import Plan, connecting, served_entries, undoing
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import CLIENTS, Client, client_named
from tooldrawer.clients.launch import Launch
from tooldrawer.config.jsonc import JsonText
from tooldrawer.errors import ConfigError
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = requirement("CFG-3")
LAUNCH = Launch(command="/opt/tooldrawer", args=("serve", "--config", "/srv/tooldrawer.yaml"))
OVER_HTTP = Launch(url="http://127.0.0.1:8765/mcp")
NAMES = [client.name for client in CLIENTS]
KEYS = {"vscode": "servers", "opencode": "mcp"}


def connected(client: Client, folders: Folders, launch: Launch = LAUNCH, **options: Any) -> Plan:
    place = client.place(options.pop("where", None))
    if served := options.pop("served", None):
        options["removed"] = [one.name for one in served_entries(client, place, folders, served)]
    plan = connecting(client, place, folders, launch, **options)
    if plan.is_needed:
        plan.carry_out()
    return plan


def undone(client: Client, folders: Folders, where: str | None = None) -> Plan:
    plan = undoing(client, client.place(where), folders)
    plan.carry_out()
    return plan


def at(folder: Path) -> Folders:
    return Folders(
        here=folder / "here",
        home=folder,
        settings=folder / ".config",
        xdg=folder / ".config",
        claude=folder,
        codex=folder / ".codex",
    )


def written(client: Client, folders: Folders, data: bytes) -> Path:
    path = client.places[0].file(folders)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "local", "remote"),
    [
        (
            "claude-desktop",
            {"command": "/opt/tooldrawer", "args": list(LAUNCH.args)},
            None,
        ),
        (
            "claude-code",
            {
                "type": "stdio",
                "command": "/opt/tooldrawer",
                "args": list(LAUNCH.args),
                "alwaysLoad": True,
            },
            {"type": "http", "url": OVER_HTTP.url, "alwaysLoad": True},
        ),
        (
            "cursor",
            {"command": "/opt/tooldrawer", "args": list(LAUNCH.args)},
            {"url": OVER_HTTP.url},
        ),
        (
            "vscode",
            {"type": "stdio", "command": "/opt/tooldrawer", "args": list(LAUNCH.args)},
            {"type": "http", "url": OVER_HTTP.url},
        ),
        (
            "codex",
            {
                "command": "/opt/tooldrawer",
                "args": list(LAUNCH.args),
                "required": True,
                "startup_timeout_sec": 60,
                "tool_timeout_sec": 600,
            },
            {
                "url": OVER_HTTP.url,
                "required": True,
                "startup_timeout_sec": 60,
                "tool_timeout_sec": 600,
            },
        ),
        (
            "gemini",
            {"command": "/opt/tooldrawer", "args": list(LAUNCH.args)},
            {"httpUrl": OVER_HTTP.url},
        ),
        (
            "opencode",
            {"type": "local", "command": ["/opt/tooldrawer", *LAUNCH.args]},
            {"type": "remote", "url": OVER_HTTP.url},
        ),
    ],
)
def test_each_client_gets_the_entry_that_it_understands(
    folders: Folders, name: str, local: dict[str, Any], remote: dict[str, Any] | None
) -> None:
    client = client_named(name)
    for launch, expected in ((LAUNCH, local), (OVER_HTTP, remote)):
        plan = connected(client, folders, launch)
        text = plan.path.read_text(encoding="utf-8")
        if name == "codex":
            found: Any = tomllib.loads(text)["mcp_servers"]
        else:
            found = json.loads(text)[KEYS.get(name, "mcpServers")]
        if expected is not None:
            assert found == {"tooldrawer": expected}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_not_there_is_gone_again(folders: Folders, name: str) -> None:
    client = client_named(name)
    plan = connected(client, folders)
    assert plan.before is None
    assert plan.path.is_file()
    assert undone(client, folders).after is None
    assert not list(plan.path.parent.glob("*.tooldrawer-backup"))
    assert not plan.path.exists()
    with pytest.raises(ConfigError, match="there is nothing to undo"):
        undoing(client, client.places[0], folders)


def _round(client: Client, text: str) -> None:
    with TemporaryDirectory() as folder:
        folders, data = at(Path(folder)), text.encode()
        path = written(client, folders, data)
        plan = connected(client, folders)
        assert path.read_bytes() == plan.after
        assert plan.is_needed
        assert not connecting(client, client.places[0], folders, LAUNCH).is_needed
        undone(client, folders)
        assert path.read_bytes() == data
        assert sorted(path.parent.glob("*tooldrawer-backup*")) == []


@quick(60)
@given(json_files(), st.sampled_from(["cursor", "claude-code", "claude-desktop", "gemini"]))
def test_undoing_gives_the_very_bytes_back_from_any_json(text: str, name: str) -> None:
    _round(client_named(name), text)


@quick(60)
@given(json_files("servers"))
def test_undoing_gives_the_very_bytes_back_from_any_json_of_vs_code(text: str) -> None:
    _round(client_named("vscode"), text)


@quick(60)
@given(toml_files())
def test_undoing_gives_the_very_bytes_back_from_any_toml(text: str) -> None:
    _round(client_named("codex"), text)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf{}", b"\xef\xbb\xbf"])
def test_empty_files_and_byte_order_marks_come_back_too(data: bytes) -> None:
    _round(client_named("cursor"), data.decode())


def test_every_project_of_claude_code_has_a_list_of_its_own(folders: Folders) -> None:
    client = client_named("claude-code")
    before = b'{"mcpServers": {}, "projects": {"/else": {"mcpServers": {"a": {"command": "b"}}}}}'
    path = written(client, folders, before)
    connected(client, folders, where="local")
    value = json.loads(path.read_text(encoding="utf-8"))
    assert value["mcpServers"] == {}
    assert list(value["projects"][folders.here.as_posix()]["mcpServers"]) == ["tooldrawer"]
    assert value["projects"]["/else"] == {"mcpServers": {"a": {"command": "b"}}}
    plan = connected(client, folders, where="project")
    assert plan.path == folders.here / ".mcp.json"


def test_a_list_of_opencode_version_2_is_kept_in_its_form(folders: Folders) -> None:
    client = client_named("opencode")
    path = written(client, folders, b'{"mcp": {"servers": {"a": {"type": "local"}}}}')
    connected(client, folders)
    value = json.loads(path.read_text(encoding="utf-8"))
    assert list(value["mcp"]) == ["servers"]
    assert list(value["mcp"]["servers"]) == ["a", "tooldrawer"]


def test_what_a_user_added_to_our_entry_stays(folders: Folders) -> None:
    client = client_named("gemini")
    entry = {"url": "http://old", "trust": True, "env": {"A": "1"}}
    text = json.dumps({"mcpServers": {"tooldrawer": entry}})
    path = written(client, folders, text.encode())
    connected(client, folders)
    found = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["tooldrawer"]
    assert found == {
        "trust": True,
        "env": {"A": "1"},
        "command": LAUNCH.command,
        "args": list(LAUNCH.args),
    }


def test_another_server_is_never_written_over(folders: Folders) -> None:
    client = client_named("cursor")
    path = written(client, folders, b'{"mcpServers": {"mine": {"command": "clockd"}}}')
    with pytest.raises(ConfigError, match=r"another server that is called 'mine'.*--name"):
        connected(client, folders, name="mine")
    assert path.read_bytes() == b'{"mcpServers": {"mine": {"command": "clockd"}}}'
    connected(client, folders, name="drawer")
    connected(client, folders, OVER_HTTP, name="drawer")
    found = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]
    assert found["drawer"] == {"url": OVER_HTTP.url}


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_is_refused_and_not_touched(folders: Folders, name: str) -> None:
    client = client_named(name)
    path = written(client, folders, b'[x]\n{ "a" = ')
    with pytest.raises(ConfigError) as caught:
        connected(client, folders)
    assert str(caught.value).startswith(f"{path}:")
    assert path.read_bytes() == b'[x]\n{ "a" = '
    assert [item.name for item in path.parent.iterdir() if item.is_file()] == [path.name]


SERVERS = """{
  "mcpServers": {
    // the clock
    "clock": {"command": "clockd", "args": ["--token=abc"], "env": {"KEY": "hush-hush"}},
    "tide": {"url": "https://tide.example/mcp"},
    "moon": {"command": "moond"}
  }
}
"""


def test_servers_that_the_gateway_serves_leave_the_list(folders: Folders) -> None:
    client = client_named("cursor")
    path = written(client, folders, SERVERS.encode())
    served = [
        UpstreamSpec(name="clock", command="clockd", args=("--token=${CLOCK_TOKEN}",)),
        UpstreamSpec(name="elsewhere", url="https://tide.example/mcp"),
        UpstreamSpec(name="moon", command="moond", enabled=False),
    ]
    plan = connected(client, folders, served=served)
    assert plan.removed == ("clock", "tide")
    text = path.read_text(encoding="utf-8")
    assert list(json_value(text)["mcpServers"]) == ["moon", "tooldrawer"]
    assert "// the clock" in text
    assert "hush-hush" not in plan.shown
    undone(client, folders)
    assert path.read_text(encoding="utf-8") == SERVERS


def json_value(text: str) -> Any:
    return JsonText(text).value


def test_what_others_changed_meanwhile_stays_when_it_is_undone(folders: Folders) -> None:
    client = client_named("cursor")
    path = written(client, folders, SERVERS.encode())
    served = [UpstreamSpec(name="tide", url="https://tide.example/mcp")]
    connected(client, folders, served=served)
    text = path.read_text(encoding="utf-8").replace("{\n", '{\n  "theme": "dark",\n', 1)
    path.write_text(text, encoding="utf-8")
    undone(client, folders)
    value = json_value(path.read_text(encoding="utf-8"))
    assert value["theme"] == "dark"
    assert value["mcpServers"] == json_value(SERVERS)["mcpServers"]
    (kept,) = path.parent.glob("*.undone")
    assert kept.read_text(encoding="utf-8") == SERVERS


def test_changes_are_undone_one_after_the_other(folders: Folders) -> None:
    client = client_named("cursor")
    path = written(client, folders, SERVERS.encode())
    first = connected(client, folders)
    connected(client, folders, name="second")
    undone(client, folders)
    assert path.read_bytes() == first.after
    undone(client, folders)
    assert path.read_bytes() == SERVERS.encode()


def test_a_file_that_is_gone_is_not_made_again(folders: Folders) -> None:
    client = client_named("cursor")
    path = written(client, folders, SERVERS.encode())
    connected(client, folders)
    path.unlink()
    with pytest.raises(ConfigError, match="is gone; as it was before, it is in "):
        undoing(client, client.places[0], folders)


@pytest.fixture
def linked(folders: Folders) -> Callable[[Client], tuple[Path, Path]]:
    """Makes a client's file a link to another folder."""

    def make(client: Client) -> tuple[Path, Path]:
        target = folders.home / "dotfiles" / "mcp.json"
        target.parent.mkdir()
        target.write_text(SERVERS, encoding="utf-8")
        link = client.places[0].file(folders)
        link.parent.mkdir(parents=True)
        link.symlink_to(target)
        return link, target

    return make


def test_a_link_stays_a_link(
    folders: Folders, linked: Callable[[Client], tuple[Path, Path]]
) -> None:
    client = client_named("cursor")
    link, target = linked(client)
    connected(client, folders)
    assert link.is_symlink()
    assert "tooldrawer" in target.read_text(encoding="utf-8")
    assert not target.is_symlink()
    undone(client, folders)
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == SERVERS


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_the_rights_of_a_file_are_those_of_its_backup_and_stay(folders: Folders) -> None:
    client = client_named("cursor")
    path = written(client, folders, SERVERS.encode())
    path.chmod(0o640)
    connected(client, folders)
    (backup,) = path.parent.glob("*.tooldrawer-backup")
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, backup)] == [0o640, 0o640]
    assert backup.read_text(encoding="utf-8") == SERVERS
    undone(client, folders)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_changes_while_a_person_reads_the_plan_is_not_written_over(
    folders: Folders,
) -> None:
    client = client_named("cursor")
    path = written(client, folders, SERVERS.encode())
    plan = connecting(client, client.places[0], folders, LAUNCH)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="was changed meanwhile"):
        plan.carry_out()
    assert path.read_text(encoding="utf-8") == "{}"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(folders: Folders) -> None:
    client = client_named("cursor")
    path = written(client, folders, SERVERS.encode())
    path.parent.chmod(0o500)
    try:
        with pytest.raises(ConfigError, match="cannot be written: Permission denied"):
            connected(client, folders)
    finally:
        path.parent.chmod(0o700)
    assert path.read_text(encoding="utf-8") == SERVERS


def test_a_difference_is_shown_line_by_line(folders: Folders) -> None:
    plan = connecting(client_named("cursor"), client_named("cursor").places[0], folders, LAUNCH)
    assert plan.shown.splitlines()[:4] == [
        f"--- {plan.path}",
        f"+++ {plan.path} (new)",
        "@@ -0,0 +1,12 @@",
        "+{",
    ]
    assert change.difference(plan.path, "a", "a") == ""
