"""A server that cannot start is the only thing that does not work."""

import logging
import os
from itertools import count
from pathlib import Path

import anyio
import pytest

from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset
from tooldrawer.activity import ConfigReloaded, UpstreamDown
from tooldrawer.config import Config, gather, load, parse
from tooldrawer.errors import ConfigError
from tooldrawer.tool import JsonObject

pytestmark = requirement("CFG-4")
later = count(1_900_000_000_000_000_000, 1_000_000_000)
TWO = """\
mcp_servers:
  clock: {command: clockd}
  tide: {command: tided, env: {KEY: "${TD_TEST_KEY}"}}
"""


def read(text: str, **environment: str) -> Config:
    return parse(text, name="x.yaml", environment=environment)


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    stamp = next(later)
    os.utime(path, ns=(stamp, stamp))


def test_a_missing_variable_disables_only_the_server_that_needs_it() -> None:
    found = read(TWO)
    assert [(one.name, bool(one.problem)) for one in found.servers] == [
        ("clock", False),
        ("tide", True),
    ]
    (tide,) = found.disabled
    assert tide.problem is not None
    assert tide.problem.variables == ("TD_TEST_KEY",)
    assert tide.problem.reason == "missing environment variable: TD_TEST_KEY"
    assert tide.problem.details == (
        "x.yaml:3: mcp_servers.tide.env.KEY needs the environment variable TD_TEST_KEY, "
        "which is not set.",
    )
    assert read(TWO, TD_TEST_KEY="k").disabled == ()


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{comand: tided}", "mcp_servers.tide.comand is not a known key; did you mean 'command'?"),
        ("{url: 'ftp://tide'}", "is a text that does not begin with http:// or https://."),
        ("{command: tided, timeout: soon}", "timeout is 'soon', expected a number of seconds"),
        ("{}", "mcp_servers.tide has neither a command nor a url, expected one of the two."),
        ("tided", "is a text that is not shown, expected settings with a command or a url."),
        ("null", "mcp_servers.tide is empty, expected settings with a command or a url."),
    ],
)
def test_a_wrong_entry_disables_only_its_server(entry: str, said: str) -> None:
    found = read(f"mcp_servers:\n  tide: {entry}\n  clock: {{command: clockd}}\n")
    assert [one.name for one in found.servers] == ["tide", "clock"]
    assert [one.name for one in found.disabled] == ["tide"]
    assert found.server_mistakes[0].startswith("x.yaml:2: ")
    assert said in "\n".join(found.server_mistakes)
    assert (found.disabled[0].command, found.disabled[0].url) == ("", "")


def test_a_server_with_an_unusable_name_is_disabled_under_a_usable_one() -> None:
    found = read('mcp_servers: {"my tide": {command: tided}, my-tide: {command: other}}')
    assert [(one.name, bool(one.problem)) for one in found.servers] == [
        ("my-tide-2", True),
        ("my-tide", False),
    ]


def test_a_server_that_is_there_twice_is_disabled() -> None:
    found = read("mcp_servers:\n  tide: {command: a}\n  tide: {command: b}\n  moon: {command: c}")
    assert [one.name for one in found.disabled] == ["tide"]
    assert "is there twice; the first is on line 2" in found.server_mistakes[0]


def test_a_server_that_is_switched_off_needs_no_variables() -> None:
    found = read("mcp_servers: {tide: {command: '${TD_TEST_KEY}', enabled: false}}")
    assert (found.disabled, found.server_mistakes) == ((), ())
    assert not found.servers[0].enabled


@requirement("CFG-2")
def test_a_mistake_elsewhere_stops_the_start_and_all_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        read(f"model: 5\n{TWO}")
    assert [line.split(" ")[1] for line in caught.value.mistakes] == [
        "model",
        "mcp_servers.tide.env.KEY",
    ]


def test_lists_of_other_programs_lose_only_the_server_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text(
        '{"mcpServers": {"moon": {"command": "moond", "args": ["${TD_TEST_KEY}"]},'
        ' "sun": {"command": "sund"}}}',
        encoding="utf-8",
    )
    found = load(tmp_path / ".mcp.json", environment={})
    assert [(one.name, bool(one.problem)) for one in found.servers] == [
        ("moon", True),
        ("sun", False),
    ]
    (tmp_path / "tooldrawer.yaml").write_text(TWO, encoding="utf-8")
    found = gather(tmp_path / "tooldrawer.yaml", environment={}, trust="all")
    assert [one.name for one in found.disabled] == ["tide", "moon"]


def test_a_drawer_opens_without_the_server_and_reports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("TD_TEST_KEY", raising=False)
    path = tmp_path / "tooldrawer.yaml"
    path.write_text(TWO, encoding="utf-8")
    with caplog.at_level(logging.WARNING, logger="tooldrawer"):
        drawer = Drawer.from_config(path)
    (event,) = [event for event in drawer.activity if isinstance(event, UpstreamDown)]
    assert (event.upstream, "TD_TEST_KEY, which is not set" in event.error) == ("tide", True)
    assert "The server 'tide' is not started: " in caplog.text


@pytest.mark.anyio
async def test_a_search_names_the_server_and_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, desk: FunctionToolset
) -> None:
    monkeypatch.delenv("TD_TEST_KEY", raising=False)
    path = tmp_path / "tooldrawer.yaml"
    path.write_text(
        TWO + "scopes: {desk: {toolsets: [desk]}}\ntools: {tool_search: {enabled: on, "
        "search: lexical}}\n",
        encoding="utf-8",
    )
    drawer = Drawer.from_config(path, toolsets=[desk])
    with anyio.fail_after(60):
        found = await drawer.session().call("tool_search", {"query": "read a note"})
        inside = await drawer.session(scope="desk").call("tool_search", {"query": "read a note"})
    assert "tide (missing environment variable: TD_TEST_KEY)" in found.text
    assert "tide" not in inside.text
    calls: tuple[tuple[str, JsonObject], ...] = (
        ("mcp_tide_add", {}),
        ("tool_call", {"name": "tide.add", "arguments": {}}),
        ("tool_describe", {"name": "mcp_tide_add"}),
    )
    for asked in calls:
        with anyio.fail_after(60):
            refused = await drawer.session().call(*asked)
            inside = await drawer.session(scope="desk").call(*asked)
            other = await drawer.session(scope="desk").call("tool_call", {"name": "mcp_other_add"})
        assert refused.text == (
            "The server 'tide' is not available, so its tools are not known: missing environment "
            "variable: TD_TEST_KEY. Use another tool meanwhile, or tell the user."
        )
        assert refused.is_error
        assert inside.text == other.text
        assert inside.text.startswith("There is no tool of that name.")


@pytest.mark.anyio
async def test_a_server_whose_entry_is_fixed_is_enabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, desk: FunctionToolset
) -> None:
    monkeypatch.delenv("TD_TEST_KEY", raising=False)
    path = tmp_path / "tooldrawer.yaml"
    write(path, TWO)
    drawer = Drawer.from_config(path, toolsets=[desk])
    write(path, TWO.replace("}\n", ", timeout: 5}\n", 1))
    with anyio.fail_after(60):
        await drawer.refresh()
    assert [one.name for one in drawer.config.disabled] == ["tide"]
    monkeypatch.setenv("TD_TEST_KEY", "k")
    write(path, TWO)
    with anyio.fail_after(60):
        await drawer.refresh()
    assert drawer.config.disabled == ()
    assert drawer.config.servers[1].env == {"KEY": "k"}


@requirement("CFG-2")
@pytest.mark.anyio
async def test_a_server_whose_entry_breaks_goes_on_as_before_and_others_change(
    tmp_path: Path, desk: FunctionToolset
) -> None:
    path = tmp_path / "tooldrawer.yaml"
    write(path, "mcp_servers:\n  clock: {command: clockd}\n  tide: {command: tided}\n")
    drawer = Drawer.from_config(path, toolsets=[desk])
    write(path, "mcp_servers:\n  clock: {comand: other}\n  moon: {command: moond}\n")
    with anyio.fail_after(60):
        await drawer.refresh()
    assert [(one.name, one.command) for one in drawer.config.servers] == [
        ("clock", "clockd"),
        ("moon", "moond"),
    ]
    (event,) = [event for event in drawer.activity if isinstance(event, ConfigReloaded)]
    assert event.error == drawer.mistake
    assert (event.added, event.removed, event.changed) == (("moon",), ("tide",), ())
    said, reason, *_ = drawer.mistake.split("\n")
    assert said == (
        "The change is applied, except for the server 'clock', which keeps its entry from before:"
    )
    assert "mcp_servers.clock.comand is not a known key" in reason
