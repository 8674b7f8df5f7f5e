"""The environment fills the file, and what it held is never shown."""

import os
from itertools import count
from pathlib import Path

import anyio
import pytest

from tests.requirements import requirement
from tooldrawer import Config, Drawer, FunctionToolset
from tooldrawer.activity import ConfigReloaded
from tooldrawer.config import load, parse
from tooldrawer.errors import ConfigError

SECRET = "swordfish-5512"
later = count(1_900_000_000_000_000_000, 1_000_000_000)


def command(written: str, **environment: str) -> str:
    """What a server's command becomes."""
    text = f"mcp_servers: {{clock: {{command: '{written}'}}}}"
    return parse(text, name="x.yaml", environment=environment).servers[0].command


@requirement("CFG-4")
@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("${NAME}", "clock"),
        ("${NAME:-other}", "clock"),
        ("${GONE:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("a${GONE:-}b", "ab"),
        ("${GONE:-with spaces, $ and :- in it}", "with spaces, $ and :- in it"),
        ("/bin/${NAME}-${NAME}", "/bin/clock-clock"),
        ("$$", "$"),
        ("$${NAME}", "${NAME}"),
        ("$$$${NAME}", "$${NAME}"),
        ("$$${NAME}", "$clock"),
        ("$NAME", "$NAME"),
        ("5$", "5$"),
        ("{NAME}", "{NAME}"),
        ("${TRICKY}", "${NAME}$$"),
    ],
)
def test_a_place_is_filled_once_and_a_double_dollar_is_one(written: str, filled: str) -> None:
    assert command(written, NAME="clock", EMPTY="", TRICKY="${NAME}$$") == filled


@requirement("CFG-4")
def test_places_in_lists_and_nested_values_are_filled() -> None:
    text = """
    tools: {pinned: ["mcp_${WHO}_*"], core: ["${WHO}"]}
    scopes: {night: {deny: ["*_${WHO}"]}}
    """
    found = parse(text, name="x.yaml", environment={"WHO": "clock"})
    assert (found.assembly.pinned, found.assembly.core) == (("mcp_clock_*",), ("clock",))
    assert found.scopes["night"].deny == ("*_clock",)


@requirement("CFG-4")
def test_a_name_is_not_filled_and_a_filled_text_is_never_a_number() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(
            'scopes: {"${WHO}": {}}\nmodel: {context_length: "${SIZE}"}',
            name="x.yaml",
            environment={"SIZE": "8000"},
        )
    assert str(caught.value) == (
        "x.yaml:2: model.context_length is a text that is not shown, "
        "expected a whole number of tokens from 1."
    )


@requirement("CFG-4")
def test_without_another_environment_it_is_that_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tooldrawer.yaml"
    path.write_text("mcp_servers: {clock: {command: '${TD_TEST_CLOCK}'}}", encoding="utf-8")
    monkeypatch.delenv("TD_TEST_CLOCK", raising=False)
    (clock,) = load(path).disabled
    assert clock.problem is not None
    assert clock.problem.variables == ("TD_TEST_CLOCK",)
    monkeypatch.setenv("TD_TEST_CLOCK", "clock")
    assert load(path).servers[0].command == "clock"


EVERYWHERE = """
tools:
  tool_search:
    names: {search: "find-${SECRET}"}
    embeddings:
      url: "https://${SECRET}.example/${SECRET}"
      model: "${SECRET}"
      api_key: "${SECRET}"
      query_prefix: "${SECRET}"
  core: ["${SECRET}"]
  pinned: ["${SECRET}"]
  name_template: "${SECRET}_{tool}"
mcp_servers:
  clock:
    command: "${SECRET}"
    args: ["--key=${SECRET}"]
    env: {KEY: "${SECRET}"}
    cwd: "/${SECRET}"
    allow: ["${SECRET}"]
  weather:
    url: "https://${SECRET}@weather.example/mcp?key=${SECRET}"
    headers: {Authorization: "Bearer ${SECRET}"}
scopes:
  night: {toolsets: ["${SECRET}"], deny: ["${SECRET}"]}
approvals: {ask: ["${SECRET}"]}
activity: {jsonl: "/${SECRET}", mask: ["${SECRET}"]}
"""


@requirement("CFG-4")
def test_the_settings_show_nothing_that_was_filled() -> None:
    found = parse(EVERYWHERE, name="x.yaml", environment={"SECRET": SECRET})
    assert found.servers[0].env == {"KEY": SECRET}
    assert SECRET not in repr(found)
    assert SECRET not in str(found)
    assert SECRET not in repr(found.activity)
    assert found.embeddings is not None
    assert found.embeddings.api_key == SECRET


@requirement("CFG-4")
def test_the_settings_still_say_what_they_are_about() -> None:
    found = parse(EVERYWHERE, name="x.yaml", environment={"SECRET": SECRET})
    for name in ("auto", "clock", "weather", "night"):
        assert name in repr(found)
    assert repr(Config()).startswith("Config(")


@requirement("CFG-4")
@pytest.mark.anyio
async def test_events_about_a_broken_file_hold_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, desk: FunctionToolset
) -> None:
    monkeypatch.setenv("TD_TEST_SECRET", SECRET)
    path = tmp_path / "tooldrawer.yaml"
    path.write_text("mcp_servers: {clock: {command: '${TD_TEST_SECRET}'}}", encoding="utf-8")
    drawer = Drawer.from_config(path, toolsets=[desk])
    path.write_text(
        """
        tools: {tool_search: "${TD_TEST_SECRET}", name_template: "${TD_TEST_SECRET}"}
        mcp_servers: {clock: {url: "${TD_TEST_SECRET}", env: ["${TD_TEST_SECRET}"]}}
        hooks: ["${TD_TEST_SECRET}", "json:${TD_TEST_SECRET}"]
        """,
        encoding="utf-8",
    )
    stamp = next(later)
    os.utime(path, ns=(stamp, stamp))
    with anyio.fail_after(60):
        await drawer.session().tools()
    (event,) = [event for event in drawer.activity if isinstance(event, ConfigReloaded)]
    assert len(event.error.splitlines()) == 6
    assert not [event for event in drawer.activity if SECRET in repr(event)]
