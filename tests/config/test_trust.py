"""What is found in a folder starts nothing that the user has not trusted."""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import is_dataclass
from itertools import count
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import anyio
import pytest

from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset
from tooldrawer.activity import ConfigReloaded, UpstreamDown
from tooldrawer.config import gather
from tooldrawer.config.shape import FileShape
from tooldrawer.config.trust_decisions import FREE, NEEDS_TRUST
from tooldrawer.config.trust_items import read_items
from tooldrawer.errors import ConfigError
from tooldrawer.trust import TrustItem, TrustStore

later = count(1_900_000_000_000_000_000, 1_000_000_000)
CLOCK = "mcp_servers:\n  clock: {command: clockd, args: [--loud], env: {KEY: '${TD_KEY:-k}'}}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, and folders of the user's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "config" / "tooldrawer").mkdir(parents=True)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(text: str, name: str = "tooldrawer.yaml") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    stamp = next(later)
    os.utime(path, ns=(stamp, stamp))
    return path


def trust(path: Path) -> None:
    TrustStore().add(read_items(path))


def started(drawer: Drawer) -> list[str]:
    """The commands of the servers that would start."""
    return [" ".join((one.command, *one.args)) for one in drawer.config.servers if not one.problem]


@requirement("CFG-5")
def test_a_server_of_the_folder_waits_until_it_is_trusted() -> None:
    path = write(CLOCK)
    drawer = Drawer.from_config()
    assert started(drawer) == []
    (clock,) = drawer.config.disabled
    assert clock.problem is not None
    assert clock.problem.reason == "a person has to trust it first"
    assert clock.problem.command == f"tooldrawer trust {path.absolute()}"
    (event,) = [event for event in drawer.activity if isinstance(event, UpstreamDown)]
    assert "tooldrawer.yaml:2: mcp_servers.clock is not trusted yet; " in event.error
    trust(path)
    assert started(Drawer.from_config()) == ["clockd --loud"]


def test_the_warning_is_short_and_has_the_command(caplog: pytest.LogCaptureFixture) -> None:
    path = write("mcp_servers: {a: {command: x}, b: {url: 'https://b.example'}}\n")
    Drawer.from_config()
    assert caplog.messages == [
        "Not trusted yet, so not started: a, b. To see and trust it, run "
        f"`tooldrawer trust {path.absolute()}`."
    ]


@pytest.mark.parametrize(
    "change",
    [
        "{command: other, args: [--loud], env: {KEY: '${TD_KEY:-k}'}}",
        "{command: clockd, args: [--quiet], env: {KEY: '${TD_KEY:-k}'}}",
        "{command: clockd, args: [--loud], env: {KEY: '${AWS_SECRET:-k}'}}",
        "{command: clockd, args: [--loud], env: {LD_PRELOAD: '${TD_KEY:-k}'}}",
        "{command: clockd, args: [--loud], env: {KEY: '${TD_KEY:-k}'}, cwd: /elsewhere}",
        "{command: clockd, args: [--loud], env: {KEY: '${TD_KEY:-k}'}, trusted: true}",
        "{url: 'https://clock.example'}",
    ],
)
def test_what_changed_waits_again(change: str) -> None:
    trust(write(CLOCK))
    write(f"mcp_servers:\n  clock: {change}\n")
    assert started(Drawer.from_config()) == []


def test_what_starts_nothing_may_change_freely() -> None:
    trust(write(CLOCK))
    write(f"tools: {{pinned: ['*']}}\n{CLOCK.replace('--loud]', '--loud], timeout: 5')}")
    assert started(Drawer.from_config()) == ["clockd --loud"]


def test_the_same_entry_in_another_folder_waits(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(write(CLOCK))
    other = here.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    write(CLOCK)
    assert started(Drawer.from_config()) == []


def test_a_server_that_was_switched_off_when_trusted_waits() -> None:
    trust(write(CLOCK.replace("command:", "enabled: false, command:")))
    write(CLOCK)
    assert started(Drawer.from_config()) == []


@requirement("CFG-5")
def test_a_file_that_is_named_is_trusted_and_the_list_beside_it_is_not() -> None:
    path = write(CLOCK)
    write('{"mcpServers": {"tide": {"command": "tided"}}}', ".mcp.json")
    assert started(Drawer.from_config(path)) == ["clockd --loud"]
    assert started(Drawer.from_config(trust="all")) == ["clockd --loud", "tided"]
    assert started(Drawer.from_config(path, trust="recorded")) == []
    trust(Path(".mcp.json"))
    assert started(Drawer.from_config(path)) == ["clockd --loud", "tided"]


def test_the_users_own_configuration_is_trusted(tmp_path: Path) -> None:
    own = tmp_path / "config" / "tooldrawer"
    (own / "tooldrawer.yaml").write_text(CLOCK, encoding="utf-8")
    (own / ".mcp.json").write_text('{"mcpServers": {"tide": {"command": "t"}}}', encoding="utf-8")
    assert started(Drawer.from_config()) == ["clockd --loud", "t"]


@requirement("CFG-5")
@pytest.mark.parametrize("key", ["toolsets", "hooks", "guardrails", "approvals: {approver"])
def test_python_code_of_the_folder_is_not_imported(
    here: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(here), *sys.path])
    (here / "evil.py").write_text("open('ran', 'w').close()\ndef it(*_): ...\n", encoding="utf-8")
    end = "}" if "{" in key else ""
    value = "'evil:it'" if end else "['evil:it']"
    write(f"{key}: {value}{end}\n")
    with pytest.raises(ConfigError, match="is not trusted yet; to see and trust it, run `tooldr"):
        Drawer.from_config()
    assert "evil" not in sys.modules
    assert not (here / "ran").exists()


@pytest.mark.parametrize(
    "text",
    [
        "model: {base_url: 'https://evil.example'}",
        "model: {api_key: '${PATH}'}",
        "tools: {tool_search: {embeddings: {url: 'https://evil.example', model: m}}}",
        "activity: {jsonl: /somewhere/else}",
        "agent: {allow_dirs: [/]}",
        "gateway: {allowed_origins: ['https://evil.example']}",
        "gateway: {host: 0.0.0.0}",
        "gateway: {authorization_servers: ['https://evil.example']}",
        "approvals: {unattended: true}",
        "approvals: {allow: ['*']}",
        "activity: {mask: [a]}",
        "limits: {call_timeout: 9999999}",
        "scopes: {ci: {toolsets: ['*']}}",
        "model: {name: openrouter/x}",
        "tools: {name_template: '{server}-{tool}'}",
        "tools: {tool_search: {names: {search: look_up}}}",
    ],
)
def test_settings_that_reach_or_loosen_something_wait(text: str) -> None:
    path = write(text)
    with pytest.raises(ConfigError, match="is not trusted yet"):
        Drawer.from_config()
    trust(path)
    Drawer.from_config().close()


@requirement("CFG-5")
def test_every_key_is_decided_about() -> None:
    keys = set(list_keys(FileShape))
    decided = {
        key: [path for path in NEEDS_TRUST if key[: len(path)] == path] + [key] * (key in FREE)
        for key in keys
    }
    assert [key for key, decisions in decided.items() if len(decisions) != 1] == []
    assert [key for key in FREE if key not in keys] == []
    begun = {key[:length] for key in keys for length in range(1, len(key) + 1)}
    assert [path for path in NEEDS_TRUST if path not in begun] == []


def list_keys(kind: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All keys of the file that have no keys below them; a name that anyone may give is `*`."""
    while get_origin(kind) in (Annotated, Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    if is_dataclass(kind):
        for name, hint in get_type_hints(kind, include_extras=True).items():
            if not name.startswith("__"):
                yield from list_keys(hint, (*path, name))
    elif get_origin(kind) is dict and path[-1] not in ("env", "headers"):
        yield from list_keys(get_args(kind)[1], (*path, "*"))
    else:
        yield path


APPROVALS = "approvals: {ask: ['*delete*']}\n"
LONG_AFTER = 4e9
"""A file that lost its end is not applied before it has stayed so for some seconds."""


@requirement("CFG-5")
@pytest.mark.anyio
@pytest.mark.parametrize(
    "change",
    [
        "",
        "approvals: {}\n",
        "approvals: {ask: []}\n",
        APPROVALS.replace("}", ", unattended: true}"),
    ],
)
async def test_rules_of_a_trusted_folder_are_not_loosened_at_run_time(
    desk: FunctionToolset, change: str
) -> None:
    path = write(CLOCK + APPROVALS)
    trust(path)
    drawer = Drawer.from_config(toolsets=[desk], clock=lambda: LONG_AFTER)
    before = drawer.config.guardrails
    write(CLOCK + change)
    with anyio.fail_after(60):
        await drawer.refresh()
    assert drawer.config.guardrails == before
    assert not drawer.config.gateway.unattended_approvals
    assert "tooldrawer.yaml" in drawer.mistake
    assert "trust" in drawer.mistake
    trust(path)
    with anyio.fail_after(60):
        await drawer.refresh()
    assert drawer.mistake == ""


def test_a_damaged_store_trusts_nothing(tmp_path: Path) -> None:
    path = write(CLOCK)
    trust(path)
    file = tmp_path / "data" / "tooldrawer" / "trust.json"
    file.write_text("{", encoding="utf-8")
    assert started(Drawer.from_config()) == []
    with pytest.raises(ConfigError, match="no configuration of a folder is trusted"):
        trust(path)
    assert file.read_text(encoding="utf-8") == "{"


def test_the_store_is_private_and_loses_nothing_to_parallel_writers(tmp_path: Path) -> None:
    def add(number: int) -> None:
        item = TrustItem(file="/x", path=("mcp_servers", str(number)), content=number)
        TrustStore().add([item])

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(TrustStore().items()) == 20
    file = tmp_path / "data" / "tooldrawer" / "trust.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@requirement("CFG-5")
@pytest.mark.anyio
async def test_changes_at_run_time_wait_and_the_trusted_command_goes_on(
    desk: FunctionToolset,
) -> None:
    path = write(CLOCK)
    trust(path)
    drawer = Drawer.from_config(toolsets=[desk])
    write(CLOCK.replace("--loud", "--evil") + "  tide: {command: tided}\n")
    with anyio.fail_after(60):
        await drawer.refresh()
    assert started(drawer) == ["clockd --loud"]
    assert [one.name for one in drawer.config.disabled] == ["tide"]
    assert "mcp_servers.clock is not trusted yet" in drawer.mistake
    trust(path)
    with anyio.fail_after(60):
        await drawer.refresh()
    assert started(drawer) == ["clockd --evil", "tided"]
    assert drawer.mistake == ""


@pytest.mark.anyio
async def test_what_is_no_longer_trusted_stops(desk: FunctionToolset) -> None:
    path = write(CLOCK)
    trust(path)
    drawer = Drawer.from_config(toolsets=[desk])
    assert TrustStore().remove(str(path.resolve())) == 1
    with anyio.fail_after(60):
        await drawer.refresh()
    assert started(drawer) == []


@pytest.mark.anyio
async def test_a_list_that_appears_beside_the_settings_waits(desk: FunctionToolset) -> None:
    drawer = Drawer.from_config(write(CLOCK), toolsets=[desk])
    write('{"mcpServers": {"tide": {"command": "tided"}}}', ".mcp.json")
    with anyio.fail_after(60):
        await drawer.refresh()
    assert started(drawer) == ["clockd --loud"]
    write(
        '{"mcpServers": {"tide": {"command": "tided"}, "clock": {"command": "evil"}}}', ".mcp.json"
    )
    with anyio.fail_after(60):
        await drawer.refresh()
    assert started(drawer) == ["clockd --loud"]


@pytest.mark.anyio
async def test_a_named_file_may_change_its_commands(desk: FunctionToolset) -> None:
    drawer = Drawer.from_config(write(CLOCK), toolsets=[desk])
    write(CLOCK.replace("--loud", "--quiet"))
    with anyio.fail_after(60):
        await drawer.refresh()
    assert started(drawer) == ["clockd --quiet"]


@pytest.mark.anyio
async def test_trust_in_another_folder_reloads_nothing(desk: FunctionToolset) -> None:
    drawer = Drawer.from_config(write(CLOCK), toolsets=[desk])
    TrustStore().add([TrustItem(file="/elsewhere", path=("hooks",), content=["a:b"])])
    with anyio.fail_after(60):
        await drawer.refresh()
    assert not [event for event in drawer.activity if isinstance(event, ConfigReloaded)]


def test_nothing_filled_from_the_environment_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TD_KEY", "swordfish-5512")
    trust(write(CLOCK))
    assert "swordfish" not in TrustStore().path.read_text(encoding="utf-8")
    assert gather("tooldrawer.yaml", trust="recorded").servers[0].env == {"KEY": "swordfish-5512"}
