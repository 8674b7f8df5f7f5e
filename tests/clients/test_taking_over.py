"""The servers of other programs are found, and become ours without their secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.launch import Launch, launch_of_this_program
from tooldrawer.clients.taken import Search, find_servers, servers_of
from tooldrawer.clients.takeover import Takeover, take_over
from tooldrawer.config import parse
from tooldrawer.config.appending import with_servers
from tooldrawer.errors import ConfigError
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = requirement("CFG-3")


def put(path: Path, text: str | dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def listed(**entries: dict[str, Any]) -> dict[str, Any]:
    return {"mcpServers": entries}


def by_name(search: Search) -> dict[str, UpstreamSpec]:
    return {found.spec.name: found.spec for found in search.found}


def test_every_clients_list_is_found(folders: Folders) -> None:
    home, here = folders.home, folders.here
    command = {"command": "clockd"}
    places = {
        "desktop": put(
            folders.settings / "Claude" / "claude_desktop_config.json", listed(desktop=command)
        ),
        "user": put(
            home / ".claude.json",
            {**listed(user=command), "projects": {"/a": listed(one=command), "/b": {}}},
        ),
        "project": put(here / ".mcp.json", listed(project=command)),
        "cursor": put(home / ".cursor" / "mcp.json", listed(cursor=command)),
        "cursor-here": put(here / ".cursor" / "mcp.json", listed(**{"cursor-here": command})),
        "code": put(
            folders.settings / "Code" / "User" / "mcp.json", {"servers": {"code": command}}
        ),
        "code-here": put(
            here / ".vscode" / "mcp.json", '{"servers": {"code-here": {"command": "x"},},} // c'
        ),
        "codex": put(home / ".codex" / "config.toml", '[mcp_servers.codex]\ncommand = "x"\n'),
        "gemini": put(home / ".gemini" / "settings.json", listed(gemini=command)),
        "gemini-here": put(here / ".gemini" / "settings.json", listed(**{"gemini-here": command})),
        "open": put(
            folders.xdg / "opencode" / "opencode.json",
            {"mcp": {"open": {"type": "local", "command": ["x"]}}},
        ),
        "open-here": put(
            here / "opencode.jsonc",
            '{"mcp": {"servers": {"open-here": {"type": "remote", "url": "https://x.example"}}}}',
        ),
    }
    found = find_servers(folders)
    assert found.broken == ()
    paths = {one.spec.name: one.path for one in found.found}
    assert paths == {**places, "one": places["user"]}
    assert not any(one.left_out for one in found.found)


def test_codex_says_in_its_own_words_where_keys_come_from(folders: Folders) -> None:
    put(
        folders.codex / "config.toml",
        """
        [mcp_servers.clock]
        command = "clockd"
        args = ["${literal}", "$$"]
        env = { ZONE = "utc" }
        env_vars = ["CLOCK_KEY", { name = "OTHER", source = "local" }]
        cwd = "/srv"
        tool_timeout_sec = 7.5
        enabled_tools = ["now"]
        disabled_tools = ["stop"]

        [mcp_servers.tide]
        url = "https://tide.example/mcp"
        bearer_token_env_var = "TIDE_TOKEN"
        http_headers = { "X-Region" = "north" }
        env_http_headers = { "X-Key" = "TIDE_KEY" }
        enabled = false
        """,
    )
    found = by_name(find_servers(folders))
    clock, tide = found["clock"], found["tide"]
    assert clock.args == ("$${literal}", "$$$")
    assert clock.env == {"CLOCK_KEY": "${CLOCK_KEY}", "OTHER": "${OTHER}", "ZONE": "utc"}
    assert (clock.cwd, clock.timeout) == ("/srv", 7.5)
    assert (clock.allow, clock.deny) == (("now",), ("stop",))
    assert tide.headers == {
        "X-Region": "north",
        "X-Key": "${TIDE_KEY}",
        "Authorization": "Bearer ${TIDE_TOKEN}",
    }
    assert not tide.enabled


def test_opencode_and_gemini_have_places_of_their_own(folders: Folders) -> None:
    put(
        folders.xdg / "opencode" / "opencode.json",
        {
            "mcp": {
                "clock": {
                    "type": "local",
                    "command": ["clockd", "--key={env:CLOCK}", "${no}"],
                    "environment": {"A": "{env:AA}"},
                    "timeout": {"request": 5000},
                },
                "tide": {"type": "remote", "url": "https://{env:HOST}.example", "enabled": False},
                "timeout": {"request": 5},
                "switched": {"enabled": False},
            }
        },
    )
    gemini = {"command": "moond", "args": ["$MOON", "${SUN}"], "excludeTools": ["eclipse"]}
    put(folders.home / ".gemini" / "settings.json", listed(moon=gemini))
    found = by_name(find_servers(folders))
    assert list(found) == ["moon", "clock", "tide"]
    assert found["clock"].args == ("--key=${CLOCK}", "$${no}")
    assert (found["clock"].env, found["clock"].timeout) == ({"A": "${AA}"}, 5)
    assert (found["tide"].url, found["tide"].enabled) == ("https://${HOST}.example", False)
    assert (found["moon"].args, found["moon"].deny) == (("${MOON}", "${SUN}"), ("eclipse",))


def test_places_of_editors_become_ours(folders: Folders) -> None:
    entry = {
        "command": "${workspaceFolder}/clockd",
        "args": ["${env:ZONE}", "${A:-b}", "${input:api-key}", "$x ${y%z}", "${userHome}"],
    }
    put(folders.here / ".vscode" / "mcp.json", {"servers": {"clock": entry}})
    clock = by_name(find_servers(folders))["clock"]
    assert clock.command == f"{folders.here}/clockd"
    assert clock.args[:4] == ("${ZONE}", "${A:-b}", "${API_KEY}", "$x $${y%z}")
    assert clock.args[4] == str(Path.home())


def test_a_broken_list_hides_only_its_own_servers(folders: Folders) -> None:
    broken = put(folders.home / ".cursor" / "mcp.json", '{"mcpServers": {')
    put(folders.home / ".gemini" / "settings.json", listed(moon={"command": "moond"}))
    found = find_servers(folders)
    assert list(by_name(found)) == ["moon"]
    assert found.broken == (f"{broken}:1: the file is not JSON: a {{ is not closed.",)


def test_what_cannot_be_used_is_left_out_with_the_reason(folders: Folders) -> None:
    put(
        folders.here / ".mcp.json",
        listed(
            drawer={"command": "tooldrawer", "args": ["serve"]},
            old={"type": "sse", "url": "https://old.example"},
            empty={},
            off={"disabled": True},
            odd={"command": "x", "args": "y"},
            right={"command": "clockd"},
        ),
    )
    takeover = take_over(find_servers(folders).found)
    assert [one.spec.name for one in takeover.taken] == ["right"]
    reasons = {one.spec.name: one.left_out for one in takeover.left_out}
    assert reasons["drawer"] == "it is this gateway itself"
    assert reasons["old"].startswith("type is 'sse', the transport that streamable HTTP replaced")
    assert reasons["empty"] == "it has neither a command nor a url, expected one of the two"
    assert reasons["off"] == "it has neither a command nor a url"
    assert reasons["odd"] == "args is a text that is not shown, expected a list of texts"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("any.json", '{"mcpServers": {"clock": {"command": "clockd"}}}'),
        ("any.jsonc", '{"servers": {"clock": {"command": "clockd"},}}'),
        ("opencode.json", '{"mcp": {"clock": {"type": "local", "command": ["clockd"]}}}'),
        ("codex.toml", '[mcp_servers.clock]\ncommand = "clockd"'),
    ],
)
def test_any_file_with_a_list_can_be_named(
    folders: Folders, tmp_path: Path, name: str, text: str
) -> None:
    found = servers_of(put(tmp_path / name, text), folders)
    assert by_name(found)["clock"].command == "clockd"


def test_a_named_file_without_a_list_is_told(folders: Folders, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"x\.json: has no list of servers"):
        servers_of(put(tmp_path / "x.json", "{}"), folders)
    with pytest.raises(ConfigError, match=r"y\.json: cannot be read: No such file"):
        servers_of(tmp_path / "y.json", folders)
    gemini = put(folders.home / ".gemini" / "settings.json", listed(m={"command": "$MOON"}))
    assert by_name(servers_of(gemini, folders))["m"].command == "${MOON}"


def taken(
    folders: Folders, entries: dict[str, dict[str, Any]], *, with_secrets: bool = False
) -> Takeover:
    put(folders.here / ".mcp.json", listed(**entries))
    return take_over(find_servers(folders).found, with_secrets=with_secrets)


SECRETS: dict[str, dict[str, Any]] = {
    "clock": {
        "command": "clockd",
        "args": ["--zone", "utc", "--api-key", "aa-secret", "--token=bb-secret", "-v"],
        "env": {
            "CLOCK_TOKEN": "cc-secret",
            "LOG_LEVEL": "debug",
            "DB": "postgres://me:dd-secret@db.example/x",
            "GIVEN": "${GIVEN_TOKEN}",
            "EMPTY_TOKEN": "",
        },
    },
    "tide": {
        "url": "https://tide.example/mcp?api_key=ee-secret",
        "headers": {
            "Authorization": "Bearer ff-secret",
            "X-Region": "gg-secret",
            "Accept": "text/plain",
        },
    },
    "moon": {"command": "moond", "env": {"CLOCK_TOKEN": "hh-secret", "GIVEN_TOKEN": "ii-secret"}},
    "moon2": {"command": "moond2", "env": {"CLOCK_TOKEN": "cc-secret"}},
}


def test_secrets_become_variables_that_a_person_is_told_to_set(folders: Folders) -> None:
    takeover = taken(folders, SECRETS)
    text = with_servers("", [one.spec for one in takeover.taken], name="x.yaml")
    assert "secret" not in text
    clock, tide, moon, moon2 = (one.spec for one in takeover.taken)
    assert clock.args == (
        "--zone",
        "utc",
        "--api-key",
        "${CLOCK_API_KEY}",
        "--token=${CLOCK_CLOCK_TOKEN}",
        "-v",
    )
    assert clock.env == {
        "CLOCK_TOKEN": "${CLOCK_TOKEN}",
        "LOG_LEVEL": "debug",
        "DB": "${DB}",
        "GIVEN": "${GIVEN_TOKEN}",
        "EMPTY_TOKEN": "",
    }
    assert tide.url == "${TIDE_URL}"
    assert tide.headers == {
        "Authorization": "Bearer ${TIDE_TOKEN}",
        "X-Region": "${TIDE_X_REGION}",
        "Accept": "text/plain",
    }
    assert moon2.env["CLOCK_TOKEN"] == clock.env["CLOCK_TOKEN"]
    assert moon.env["CLOCK_TOKEN"] not in clock.env.values()
    assert moon.env["GIVEN_TOKEN"] == "${MOON_GIVEN_TOKEN}"
    values = {
        name: f"value of {name}" if "URL" not in name else "https://x.example"
        for name in takeover.variables
    }
    parse(text, name="x.yaml", environment=values)
    assert takeover.variables["TIDE_TOKEN"] == "tide: headers.Authorization"


def test_secrets_are_copied_when_a_person_asks_for_it(folders: Folders) -> None:
    takeover = taken(folders, SECRETS, with_secrets=True)
    text = with_servers("", [one.spec for one in takeover.taken], name="x.yaml")
    found = parse(text, name="x.yaml", environment={"GIVEN_TOKEN": "x"})
    assert found.servers[0].args[3:5] == ("aa-secret", "--token=bb-secret")
    assert found.servers[1].headers["Authorization"] == "Bearer ff-secret"
    assert list(takeover.variables) == ["GIVEN_TOKEN"]


def test_one_server_in_several_lists_is_taken_once(folders: Folders) -> None:
    clock = {"command": "clockd", "args": ["-v"]}
    put(folders.here / ".mcp.json", listed(clock={**clock, "env": {"CLOCK_TOKEN": "a-b"}}))
    put(
        folders.home / ".cursor" / "mcp.json",
        listed(
            clock={**clock, "env": {"CLOCK_TOKEN": "${env:CT}"}},
            tide={"url": "https://tide.example/mcp"},
        ),
    )
    put(
        folders.home / ".gemini" / "settings.json",
        listed(waves={"httpUrl": "https://tide.example/mcp"}, clock={"command": "otherd"}),
    )
    takeover = take_over(find_servers(folders).found)
    assert [(one.spec.name, len(one.sources)) for one in takeover.taken] == [
        ("clock", 2),
        ("tide", 2),
        ("clock-2", 1),
    ]


def test_two_accounts_of_one_program_stay_two_servers(folders: Folders) -> None:
    takeover = taken(
        folders,
        {
            "work": {"command": "clockd", "env": {"CLOCK_TOKEN": "a-1"}},
            "home": {"command": "clockd", "env": {"CLOCK_TOKEN": "b-2"}},
        },
    )
    assert [one.spec.env["CLOCK_TOKEN"] for one in takeover.taken] == [
        "${CLOCK_TOKEN}",
        "${HOME_CLOCK_TOKEN}",
    ]


def test_what_is_served_already_is_not_taken_again(folders: Folders) -> None:
    put(folders.here / ".mcp.json", listed(**SECRETS))
    found = find_servers(folders).found
    served = [one.spec for one in take_over(found).taken]
    again = take_over(found, served=served)
    assert again.taken == ()
    assert [one.spec.name for one in again.there] == list(SECRETS)


@pytest.mark.parametrize(
    ("program", "launch"),
    [
        ("bin/tooldrawer", Launch(command="{bin/tooldrawer}", args=("serve",))),
        ("lib/__main__.py", Launch(command="/python", args=("-m", "tooldrawer", "serve"))),
        ("gone/tooldrawer", Launch(command="/python", args=("-m", "tooldrawer", "serve"))),
    ],
)
def test_the_gateway_is_started_as_this_program_was(
    tmp_path: Path, program: str, launch: Launch
) -> None:
    path = tmp_path / program
    if "gone" not in program:
        put(path, "")
    found = launch_of_this_program(["serve"], started_as=str(path), python="/python")
    command = str(path) if launch.command.startswith("{") else launch.command
    assert (found.command, found.args) == (command, launch.args)


def test_a_program_that_was_fetched_for_one_run_is_fetched_again(tmp_path: Path) -> None:
    path = put(tmp_path / "uv" / "archive-v0" / "x1" / "bin" / "tooldrawer", "")
    found = launch_of_this_program(["serve"], started_as=str(path))
    assert Path(found.command).name == "uvx"
    assert found.args == ("tooldrawer", "serve")
