"""Lists of servers that other programs wrote."""

import json
import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import quick
from tests.requirements import requirement
from tooldrawer import Config, Drawer, FunctionToolset
from tooldrawer.activity import ConfigReloaded
from tooldrawer.config import find, gather, load, parse, sources
from tooldrawer.config.jsonc import JsonText
from tooldrawer.config.server_names import is_server_name, server_names
from tooldrawer.errors import ConfigError
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = requirement("CFG-3")
SECRET = "swordfish-5512"
later = count(1_900_000_000_000_000_000, 1_000_000_000)


def read(text: str, name: str = "/home/me/boat/.mcp.json", **environment: str) -> Config:
    return parse(text, name=name, environment=environment)


def server(entry: dict[str, Any], **environment: str) -> UpstreamSpec:
    """What one entry becomes."""
    text = json.dumps({"mcpServers": {"clock": entry}})
    return read(text, **environment).servers[0]


@requirement("CFG-3")
def test_a_list_is_read_as_it_is() -> None:
    found = read(
        """
        {
          "theme": "dark",
          "mcpServers": {
            "clock": {
              "command": "npx",
              "args": ["-y", "clock-server", "--zone=${ZONE:-utc}"],
              "env": {"KEY": "${KEY}", "OTHER": "${env:KEY}", "PORT": 80, "LOUD": true, "NO": null},
              "cwd": "${workspaceFolder}/clocks",
              "alwaysAllow": ["now"],
              "gallery": true
            },
            "tide": {
              "type": "http",
              "url": "https://tide.example/mcp",
              "headers": {"Authorization": "Bearer ${KEY}"},
              "timeout": 30000
            }
          }
        }
        """,
        KEY=SECRET,
    )
    clock, tide = found.servers
    assert (clock.name, clock.command) == ("clock", "npx")
    assert clock.args == ("-y", "clock-server", "--zone=utc")
    assert clock.env == {"KEY": SECRET, "OTHER": SECRET, "PORT": "80", "LOUD": "true"}
    assert (clock.cwd, clock.url, clock.timeout) == ("/home/me/boat/clocks", "", 60)
    assert (tide.name, tide.url, tide.command) == ("tide", "https://tide.example/mcp", "")
    assert (tide.headers, tide.timeout) == ({"Authorization": f"Bearer {SECRET}"}, 30)
    assert found.notes == ()
    assert SECRET not in repr(found) + repr(found.servers)


def test_an_editors_list_may_have_comments_and_trailing_commas() -> None:
    found = read(
        """\ufeff// mine
        {
          "inputs": [], /* none */
          "servers": {
            "clock": {"command": "clockd", "args": ["// no comment", "/* nor this */",],},
          },
        }
        """,
        name="/home/me/boat/.vscode/mcp.json",
    )
    assert found.servers[0].args == ("// no comment", "/* nor this */")


@pytest.mark.parametrize("key", ["url", "serverUrl", "httpUrl"])
def test_an_address_has_several_names(key: str) -> None:
    assert server({key: "http://tide.example/mcp"}).url == "http://tide.example/mcp"


@pytest.mark.parametrize("kind", ["http", "streamable-http", "streamableHttp", "HTTP"])
def test_the_type_decides_between_a_command_and_an_address(kind: str) -> None:
    entry = {"command": "clockd", "args": ["x"], "url": "https://clock.example/mcp"}
    remote = server({**entry, "type": kind})
    assert (remote.command, remote.args, remote.url) == ("", (), "https://clock.example/mcp")
    local = server({**entry, "type": "stdio"})
    assert (local.command, local.args, local.url) == ("clockd", ("x",), "")


@pytest.mark.parametrize(("given", "seconds"), [(5, 5), (2.5, 2.5), (999, 999), (1000, 1)])
def test_a_large_timeout_is_in_milliseconds(given: float, seconds: float) -> None:
    assert server({"command": "clockd", "timeout": given}).timeout == seconds


@pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}])
def test_a_server_that_is_switched_off_may_lack_anything(off: dict[str, bool]) -> None:
    found = server({"command": "clockd", "env": {"KEY": "${GONE}"}, **off})
    assert (found.name, found.enabled) == ("clock", False)
    assert not server(off).enabled
    assert server({"command": "clockd", "disabled": False}).enabled


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("${NAME}", "boat"),
        ("${env:NAME}", "boat"),
        ("${NAME:-ship}", "boat"),
        ("${GONE:-ship}", "ship"),
        ("${EMPTY:-ship}", "ship"),
        ("a${GONE:-}b", "ab"),
        ("${TRICKY}", "${NAME}"),
        ("$NAME $$ 5$ {NAME}", "$NAME $$ 5$ {NAME}"),
        ("for x in ${LIST[@]}; do ${x%.py}", "for x in ${LIST[@]}; do ${x%.py}"),
        ("${workspaceFolder}", "/home/me/boat"),
        ("${workspaceFolderBasename}", "boat"),
        ("a${pathSeparator}b${/}c", f"a{os.sep}b{os.sep}c"),
        ("${userHome}", str(Path.home())),
    ],
)
def test_places_are_filled_and_other_dollar_signs_stay(written: str, filled: str) -> None:
    environment = {"NAME": "boat", "EMPTY": "", "TRICKY": "${NAME}"}
    assert server({"command": "clockd", "args": [written]}, **environment).args == (filled,)


def test_the_project_is_around_an_editors_folder() -> None:
    text = '{"servers": {"clock": {"command": "${workspaceFolder}/clockd"}}}'
    found = read(text, name="/home/me/boat/.vscode/mcp.json")
    assert found.servers[0].command == "/home/me/boat/clockd"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "tooldrawer", "args": ["serve"]},
        {"command": "/home/me/.local/bin/tooldrawer", "args": ["serve", "--config", "x.yaml"]},
        {"command": "C:\\Tools\\tooldrawer.exe", "args": ["serve"]},
        {"command": "/usr/bin/python3", "args": ["-m", "tooldrawer", "serve"]},
        {"command": "uvx", "args": ["tooldrawer", "serve"]},
        {"command": "uvx", "args": ["--from", "tooldrawer[tokens]", "tooldrawer", "serve"]},
        {"command": "uvx", "args": ["tooldrawer@latest", "serve"]},
        {"command": "pipx", "args": ["run", "tooldrawer==0.2", "serve"]},
        {"command": "cmd", "args": ["/c", "tooldrawer", "serve"]},
        {"command": "bash", "args": ["-c", "exec /opt/bin/tooldrawer serve"]},
        {"command": "tooldrawer", "args": ["serve"], "env": {"KEY": "${GONE}"}},
        {"url": "http://127.0.0.1:8765/mcp"},
        {"url": "http://localhost:8765/mcp/scopes/triage", "headers": {"A": "${GONE}"}},
    ],
)
def test_the_gateway_itself_is_left_out(entry: dict[str, Any]) -> None:
    text = json.dumps({"mcpServers": {"clock": {"command": "clockd"}, "drawer": entry}})
    found = read(text, name="x.json")
    assert [server.name for server in found.servers] == ["clock"]
    assert found.notes == (
        "x.json:1: mcpServers.drawer is this gateway itself, so it is left out.",
    )


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "tooldrawer", "args": ["call", "now"]},
        {"command": "clockd", "args": ["serve"]},
        {"command": "clockd", "args": ["--repository", "tooldrawer"]},
        {"url": "http://127.0.0.1:9000/mcp"},
        {"url": "https://tools.example:8765/mcp"},
    ],
)
def test_other_servers_are_not_the_gateway(entry: dict[str, Any]) -> None:
    assert server(entry).name == "clock"


def test_a_name_that_cannot_be_used_is_made_one() -> None:
    names = ["My Tides (work)", "My-Tides-work", "Bücher", "天気", "潮", "-x", "y" * 60, "ok.1"]
    text = json.dumps({"mcpServers": {name: {"command": "c"} for name in names}})
    found = read(text, name="x.json")
    assert [server.name for server in found.servers] == [
        "My-Tides-work-2",
        "My-Tides-work",
        "Bucher",
        "server",
        "server-2",
        "x",
        "y" * 48,
        "ok.1",
    ]
    assert found.notes[0] == (
        "x.json:1: mcpServers.'My Tides (work)' is called 'My-Tides-work-2' here."
    )
    assert len(found.notes) == 6


@quick(100)
@given(st.lists(st.text(max_size=60), max_size=8), st.lists(st.text(max_size=3), max_size=3))
def test_names_are_usable_unique_and_the_same_every_time(
    given: list[str], taken: list[str]
) -> None:
    names = server_names(given, taken=taken)
    assert list(names) == list(dict.fromkeys(given))
    assert all(is_server_name(name) for name in names.values())
    assert len({*names.values(), *taken}) == len(names) + len(set(taken))
    assert names == server_names(given, taken=taken)
    kept = {name for name in given if is_server_name(name) and name not in taken}
    assert all(names[name] == name for name in kept)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


@quick(100)
@given(values, st.sampled_from([None, 2]))
def test_what_json_can_say_is_read_as_python_reads_it(value: Any, indent: int | None) -> None:
    for is_ascii in (True, False):
        text = json.dumps(value, indent=indent, ensure_ascii=is_ascii, allow_nan=False)
        assert JsonText(text).value == json.loads(text)


@quick(100)
@given(st.text(max_size=60) | st.text('{}[]:,"\\/* \n0-1e.truefalsn', max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(ConfigError):
        assert read(text, name="x.json").servers == ()


@quick(100)
@given(st.dictionaries(st.text(max_size=6), values, max_size=3), st.data())
def test_no_entry_breaks_the_reader(entry: dict[str, Any], data: st.DataObject) -> None:
    known = ["command", "args", "env", "cwd", "url", "headers", "type", "disabled", "timeout"]
    entry |= data.draw(st.dictionaries(st.sampled_from(known), values, max_size=4))
    with suppress(ConfigError):
        found = server(entry)
        assert found.command or found.url or found.problem or not found.enabled


def test_a_json_file_with_our_own_settings_is_read_as_before() -> None:
    found = read('{"model": {"context_length": 5}, "mcp_servers": {"a": {"command": "b"}}}')
    assert (found.context_length, found.servers[0].command) == (5, "b")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and no configuration of the user's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "users"))
    (tmp_path / "users" / "tooldrawer").mkdir(parents=True)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    stamp = next(later)
    os.utime(path, ns=(stamp, stamp))


def listed(**commands: str) -> str:
    return json.dumps({"mcpServers": {key: {"command": value} for key, value in commands.items()}})


def test_the_list_of_this_folder_comes_after_its_settings_and_before_the_users(
    here: Path, tmp_path: Path
) -> None:
    users = tmp_path / "users" / "tooldrawer" / "tooldrawer.yaml"
    write(users, "model: {}")
    assert find() == users
    write(here / ".mcp.json", listed(clock="clockd"))
    assert find() == users
    assert find(lists=True) == Path(".mcp.json")
    assert load(find(lists=True)).servers[0].command == "clockd"
    write(here / "tooldrawer.yaml", "model: {}")
    assert find() == Path("tooldrawer.yaml")


def test_settings_are_joined_by_the_servers_that_only_the_list_beside_them_has(here: Path) -> None:
    write(here / ".mcp.json", listed(clock="other", tide="tided"))
    write(
        here / "tooldrawer.yaml", "mcp_servers: {clock: {command: clockd}, moon: {command: moond}}"
    )
    found = gather("tooldrawer.yaml", trust="all")
    assert [(one.name, one.command) for one in found.servers] == [
        ("clock", "clockd"),
        ("moon", "moond"),
        ("tide", "tided"),
    ]
    assert [one.name for one in load("tooldrawer.yaml").servers] == ["clock", "moon"]
    assert sources("x/tooldrawer.yaml") == (Path("x/tooldrawer.yaml"), Path("x/.mcp.json"))
    assert sources("x/other.yaml") == (Path("x/other.yaml"),)


def test_the_gateway_is_known_by_the_address_that_it_is_given(here: Path) -> None:
    text = '{"mcpServers": {"drawer": {"url": "http://localhost:9000/mcp"}}}'
    write(here / ".mcp.json", text)
    write(here / "tooldrawer.yaml", "gateway: {port: 9000}")
    assert gather("tooldrawer.yaml", trust="all").servers == ()
    assert len(load(".mcp.json").servers) == 1


def test_the_mistakes_of_both_files_are_told_at_once(here: Path) -> None:
    write(here / ".mcp.json", '{"mcpServers": {"clock": {}}}')
    write(here / "tooldrawer.yaml", "model: 5")
    with pytest.raises(ConfigError) as caught:
        gather("tooldrawer.yaml", trust="all")
    assert [sentence.split(" ")[0] for sentence in caught.value.mistakes] == [
        "tooldrawer.yaml:1:",
        ".mcp.json:1:",
    ]


@pytest.mark.anyio
async def test_a_list_that_changes_or_appears_is_applied(here: Path, desk: FunctionToolset) -> None:
    write(here / "tooldrawer.yaml", "mcp_servers: {clock: {command: clockd}}")
    drawer = Drawer.from_config(toolsets=[desk], trust="all")
    session = drawer.session()

    async def names() -> list[str]:
        with anyio.fail_after(60):
            await session.tools()
        return [one.name for one in drawer.config.servers]

    assert await names() == ["clock"]
    write(here / ".mcp.json", listed(tide="tided"))
    assert await names() == ["clock", "tide"]
    write(here / ".mcp.json", "{")
    assert await names() == ["clock", "tide"]
    await anyio.Path(here / ".mcp.json").unlink()
    assert await names() == ["clock"]
    reloads = [event.error for event in drawer.activity if isinstance(event, ConfigReloaded)]
    assert [bool(error) for error in reloads] == [False, True, False]
    assert ".mcp.json:1: the file is not JSON: a { is not closed." in reloads[1]
