"""A file that changes while it is in use."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import anyio
import pytest

from tests.requirements import requirement
from tooldrawer import Deny, Drawer, FunctionToolset, Grants, Session, ToolResult
from tooldrawer.activity import ConfigReloaded
from tooldrawer.errors import ConfigError

pytestmark = [pytest.mark.anyio, requirement("CFG-2")]

BRIDGE = ["tool_search", "tool_describe", "tool_call"]
DESK = ["read_note", "add_note", "delete_note"]
Write = Callable[[str], None]
later = count(1_900_000_000_000_000_000, 1_000_000_000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tooldrawer.yaml"


@pytest.fixture
def write(path: Path) -> Write:
    """Writes the file, each time with a later date."""

    def write(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        stamp = next(later)
        os.utime(path, ns=(stamp, stamp))

    return write


@pytest.fixture
def opened(
    path: Path, desk: FunctionToolset, grants: Grants, write: Write
) -> Callable[[str], Drawer]:
    """Makes a drawer of a file with that text."""

    def make(text: str) -> Drawer:
        write(text)
        return Drawer.from_config(path, toolsets=[desk], grants=grants)

    return make


Opened = Callable[[str], Drawer]


async def shown(session: Session) -> list[str]:
    with anyio.fail_after(60):
        return [tool.name for tool in (await session.tools()).tools]


async def called(session: Session, name: str, **arguments: str) -> ToolResult:
    with anyio.fail_after(60):
        return await session.call(name, arguments)


def reports(drawer: Drawer) -> list[ConfigReloaded]:
    return [event for event in drawer.activity if isinstance(event, ConfigReloaded)]


async def test_a_changed_file_is_applied_before_the_next_turn(
    opened: Opened, write: Write, path: Path
) -> None:
    drawer = opened("tools: {tool_search: false}")
    session = drawer.session()
    assert await shown(session) == DESK
    write("tools: {tool_search: {enabled: on}}")
    assert await shown(session) == BRIDGE
    assert [(event.path, event.error) for event in reports(drawer)] == [(str(path), "")]
    assert drawer.config.assembly.enabled == "on"


async def test_a_changed_file_is_applied_before_the_next_call(opened: Opened, write: Write) -> None:
    session = opened("approvals: {}").session()
    assert (await called(session, "add_note", title="a")).text == "added a"
    write("approvals: {deny: [add_note]}")
    refused = await called(session, "add_note", title="b")
    assert refused.is_error
    assert "'add_note' is not allowed here" in refused.text


async def test_a_file_that_stays_is_not_read_again(opened: Opened) -> None:
    drawer = opened("model: {}")
    session = drawer.session()
    for _ in range(3):
        await shown(session)
    assert reports(drawer) == []


async def test_a_broken_file_is_reported_and_the_last_good_one_stays(
    opened: Opened, write: Write, path: Path, ran: list[str]
) -> None:
    drawer = opened("approvals: {deny: [delete_note]}\ntools: {tool_search: {enabled: on}}")
    session = drawer.session()
    before = drawer.config
    write("approvals: {deny: delete_note}\ntools: {tool_serch: false}\n")
    assert await shown(session) == BRIDGE
    (event,) = reports(drawer)
    assert event.path == str(path)
    assert event.error == (
        "The settings from before stay in force: "
        f"{path}:1: approvals.deny is 'delete_note', "
        "expected a list of patterns such as 'mcp_github_*'.\n"
        f"{path}:2: tools.tool_serch is not a known key; did you mean 'tool_search'?"
    )
    assert drawer.config is before
    assert (await called(session, "delete_note", title="a")).is_error
    assert ran == []


async def test_a_rejected_change_is_not_blamed_on_a_server_that_was_disabled_before(
    opened: Opened, write: Write, path: Path
) -> None:
    server = "mcp_servers:\n  tide: {command: t, env: {KEY: '${TD_TEST_TIDE_KEY}'}}\n"
    drawer = opened(server)
    write(f"# a new line\n{server}aprovals: {{}}\n")
    await shown(drawer.session())
    (event,) = reports(drawer)
    assert event.error == (
        "The settings from before stay in force: "
        f"{path}:4: aprovals is not a known key; did you mean 'approvals'?"
    )


async def test_a_broken_file_is_reported_once_for_each_change(opened: Opened, write: Write) -> None:
    drawer = opened("model: {}")
    session = drawer.session()
    write("model: [")
    for _ in range(3):
        await shown(session)
    assert len(reports(drawer)) == 1
    write("model: {")
    await shown(session)
    assert len(reports(drawer)) == 2


async def test_a_mended_file_is_applied_again(opened: Opened, write: Write) -> None:
    drawer = opened("tools: {tool_search: false}")
    session = drawer.session()
    write("tools: {tool_search: maybe}")
    assert await shown(session) == DESK
    write("tools: {tool_search: {enabled: on}}")
    assert await shown(session) == BRIDGE
    assert [bool(event.error) for event in reports(drawer)] == [True, False]


async def test_a_file_that_is_gone_is_reported_and_the_last_good_one_stays(
    opened: Opened, write: Write, path: Path
) -> None:
    drawer = opened("tools: {tool_search: {enabled: on}}")
    session = drawer.session()
    await anyio.Path(path).unlink()
    assert await shown(session) == await shown(session) == BRIDGE
    assert [event.error for event in reports(drawer)] == [
        "The settings from before stay in force: "
        f"{path}: cannot be read: No such file or directory."
    ]
    write("tools: {tool_search: false}")
    assert await shown(session) == DESK


async def test_a_wrong_file_stops_the_start(opened: Opened) -> None:
    with pytest.raises(ConfigError, match=r"tooldrawer\.yaml:1: tools\.tool_search is 'maybe'"):
        opened("tools: {tool_search: maybe}")


async def test_a_tightened_scope_takes_effect_in_a_running_session(
    opened: Opened, write: Write, ran: list[str]
) -> None:
    session = opened("scopes: {desk: {toolsets: [desk]}}").session(scope="desk")
    assert await shown(session) == DESK
    write("scopes: {desk: {toolsets: [desk], deny: ['delete_*']}}")
    refused = await called(session, "delete_note", title="a")
    assert refused.is_error
    assert refused.text.startswith("There is no tool of that name.")
    assert await shown(session) == ["read_note", "add_note"]
    assert ran == []


async def test_a_widened_scope_takes_effect_in_a_running_session(
    opened: Opened, write: Write
) -> None:
    session = opened("scopes: {desk: {allow: [read_note]}}").session(scope="desk")
    assert await shown(session) == ["read_note"]
    write("scopes: {desk: {allow: ['*_note']}}")
    assert await shown(session) == DESK


async def test_a_removed_scope_admits_nothing_and_a_restored_one_what_it_says(
    opened: Opened, write: Write, ran: list[str]
) -> None:
    drawer = opened("scopes: {desk: {toolsets: [desk]}}")
    session = drawer.session(scope="desk")
    child = session.child()
    write("scopes: {other: {}}")
    assert await shown(session) == await shown(child) == []
    assert (await called(session, "read_note", title="a")).is_error
    assert (await called(child, "read_note", title="a")).is_error
    assert ran == []
    with pytest.raises(ConfigError, match="no scope named 'desk'; configured are: other"):
        drawer.session(scope="desk")
    write("scopes: {desk: {allow: [read_note]}}")
    assert await shown(session) == ["read_note"]


async def test_a_toolset_of_the_file_comes_and_goes_with_it(opened: Opened, write: Write) -> None:
    session = opened("toolsets: ['tests.config.parts:garden']").session()
    assert await shown(session) == [*DESK, "water"]
    assert (await called(session, "water", plant="fern")).text == "watered fern"
    write("toolsets: ['tests.config.parts:library']")
    gone = await called(session, "water", plant="fern")
    assert gone.is_error
    assert gone.text.startswith("There is no tool of that name.")
    assert await shown(session) == [*DESK, "lend"]
    write("model: {}")
    assert await shown(session) == DESK


async def test_a_toolset_that_stays_in_the_file_keeps_its_place(
    opened: Opened, write: Write
) -> None:
    session = opened("toolsets: ['tests.config.parts:garden']").session()
    write("toolsets: ['tests.config.parts:library', 'tests.config.parts:garden']")
    assert await shown(session) == [*DESK, "water", "lend"]


async def test_hooks_and_limits_of_the_file_are_exchanged(opened: Opened, write: Write) -> None:
    session = opened("hooks: ['tests.config.parts:louder']").session()
    assert (await called(session, "read_note", title="a")).text == "NOTE A"
    write("limits: {repeats: 1}")
    assert (await called(session, "read_note", title="a")).text == "note a"
    assert (await called(session, "read_note", title="a")).is_error


async def test_what_was_given_in_code_outlives_every_file(
    path: Path, desk: FunctionToolset, write: Write
) -> None:
    write("model: {}")
    drawer = Drawer.from_config(
        path, toolsets=[desk], guardrails=[lambda tool, call: Deny("not today")]
    )
    session = drawer.session()
    write("approvals: {allow: ['*']}")
    assert "not today" in (await called(session, "read_note", title="a")).text


async def test_the_names_of_the_bridge_stay_as_they_began(opened: Opened, write: Write) -> None:
    session = opened("tools: {tool_search: {enabled: on}}").session()
    write("tools: {tool_search: {enabled: on, names: {search: find}}}")
    assert await shown(session) == BRIDGE


async def test_all_sessions_of_a_drawer_see_the_change(opened: Opened, write: Write) -> None:
    drawer = opened("tools: {tool_search: false}")
    first, second = drawer.session(), drawer.session()
    write("tools: {tool_search: {enabled: on}}")
    assert await shown(first) == await shown(second) == BRIDGE
    assert len(reports(drawer)) == 1


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", "---\n", "null\n"])
async def test_a_file_without_settings_is_reported_and_the_last_good_one_stays(
    opened: Opened, write: Write, text: str
) -> None:
    drawer = opened("mcp_servers: {clock: {command: clockd}}\napprovals: {deny: [add_note]}\n")
    session = drawer.session()
    write(text)
    await shown(session)
    assert [server.name for server in drawer.config.servers] == ["clock"]
    assert (await called(session, "add_note", title="a")).is_error
    (event,) = reports(drawer)
    assert (
        "the file has no settings in it; add servers with `tooldrawer import --write "
        in event.error
    )


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
async def test_a_file_without_settings_stops_the_start(opened: Opened, text: str) -> None:
    with pytest.raises(ConfigError, match="has no settings in it"):
        opened(text)


WHOLE = """\
tools:
  tool_search:
    enabled: on
mcp_servers:
  clock:
    command: clockd
    args: [--loud]
  tide:
    command: tided
approvals:
  deny: [delete_note]
"""


async def test_a_file_that_is_cut_off_within_a_line_or_before_its_servers_changes_nothing(
    opened: Opened, write: Write
) -> None:
    drawer = opened(WHOLE)
    before, servers = drawer.config, WHOLE.index("  clock:")
    cuts = [at for at in range(len(WHOLE)) if at <= servers or not WHOLE[:at].endswith("\n")]
    for at in cuts:
        write(WHOLE[:at])
        await drawer.refresh()
        assert drawer.config is before
        assert drawer.mistake


async def test_a_file_that_ends_in_the_middle_of_a_line_is_not_applied(
    opened: Opened, write: Write
) -> None:
    drawer = opened(WHOLE)
    write(WHOLE[: WHOLE.index("delete_note")] + "d]")
    await drawer.refresh()
    assert "ends in the middle of a line, so it may be half-written" in drawer.mistake
    write(WHOLE.replace("delete_note", "d"))
    await drawer.refresh()
    assert drawer.mistake == ""


@pytest.mark.parametrize("text", ["model: {}\n", "model: {}\nmcp_servers:\n"])
async def test_a_file_that_lost_its_servers_is_not_applied(
    opened: Opened, write: Write, text: str
) -> None:
    drawer = opened(WHOLE)
    write(text)
    await drawer.refresh()
    assert len(drawer.config.servers) == 2
    assert "to stop all servers, write `mcp_servers: {}`." in drawer.mistake
    write("mcp_servers: {}\n")
    await drawer.refresh()
    assert (drawer.config.servers, drawer.mistake) == ((), "")


async def test_a_file_that_is_being_written_is_applied_when_it_is_complete(
    path: Path, opened: Opened
) -> None:
    drawer = opened(WHOLE)
    half = WHOLE.index("  tide:")
    file = path.open("w", encoding="utf-8")
    file.write(WHOLE[:half])
    file.flush()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drawer.refresh)
        await anyio.wait_all_tasks_blocked()
        file.write(WHOLE[half:])
        file.close()
    assert [server.name for server in drawer.config.servers] == ["clock", "tide"]
    assert all(len(event.error) == 0 for event in reports(drawer))
