"""From a server's list to tools, and from one list to the next."""

from pathlib import Path

import anyio
import pytest

from tests.upstream.fakes import LONG, Running, eventually, plain, running
from tooldrawer.activity import UpstreamChanged, UpstreamUp
from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.listing import Listing
from tooldrawer.upstream.pace import Pace
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = pytest.mark.anyio
SCHEMA: JsonObject = {"type": "object", "properties": {}}


def _tool(name: str, **more: Json) -> JsonObject:
    return {"name": name, "inputSchema": SCHEMA, **more}


def _listing(**more: object) -> Listing:
    spec = UpstreamSpec(name="desk", **more)  # pyright: ignore[reportArgumentType]
    return Listing(spec, template="mcp_{server}_{tool}")


async def test_tools_are_named_after_their_server_and_keep_what_came() -> None:
    listing = _listing()
    listing.read(
        [_tool("read.note", description="Read.", annotations={"readOnlyHint": True}, odd=1)]
    )
    (tool,) = listing.tools
    assert (tool.name, tool.local_name, tool.source) == (
        "mcp_desk_read_note",
        "read.note",
        "mcp-desk",
    )
    assert tool.long_name == "mcp_desk_read.note"
    assert tool.raw["odd"] == 1
    assert not tool.read_only


async def test_annotations_of_a_trusted_server_count() -> None:
    listing = _listing(trusted=True)
    listing.read([_tool("read", annotations={"readOnlyHint": True})])
    assert listing.tools[0].read_only


async def test_an_unchanged_list_is_the_same_object_and_unchanged_tools_too() -> None:
    listing = _listing()
    listing.read([_tool("a"), _tool("b")])
    first = listing.tools
    assert not listing.read([_tool("a"), _tool("b")])
    assert listing.tools is first
    difference = listing.read([_tool("a"), _tool("b", description="new"), _tool("c")])
    assert (difference.added, difference.removed, difference.changed) == (1, 0, 1)
    assert listing.tools[0] is first[0]
    assert listing.tools[1] is not first[1]


async def test_another_order_is_another_list() -> None:
    listing = _listing()
    listing.read([_tool("a"), _tool("b")])
    listing.read([_tool("b"), _tool("a")])
    assert [tool.local_name for tool in listing.tools] == ["b", "a"]


async def test_a_configuration_chooses_tools_by_either_name() -> None:
    listing = _listing(allow=("read_*", "mcp_desk_list*"), deny=("*secret*",))
    listing.read([_tool(name) for name in ("read_note", "list_notes", "read_secret", "delete")])
    assert [tool.local_name for tool in listing.tools] == ["read_note", "list_notes"]
    assert listing.dropped == ()


async def test_malformed_tools_are_dropped_with_a_reason_and_their_siblings_stay() -> None:
    async with running(plain("--malformed")) as server:
        names = [tool.local_name for tool in server.upstream.tools()]
        assert names.count("echo") == 1
        assert names[-1] == "typeless"
        assert server.upstream.tools()[-1].raw["inputSchema"] == {"properties": {"a": {}}}
        (up,) = server.happened(UpstreamUp)
        reasons = [reason.split(": ", 1) for reason in up.dropped]
        assert [reason for _, reason in reasons] == [
            "is not an object",
            "has no name",
            "has no inputSchema",
            "has an inputSchema that is no object",
            "is there twice; the first one is used",
            "is nested more than 100 levels deep",
        ]
        assert [name for name, _ in reasons][2:] == ["schemaless", "listed", "echo", "deep"]


async def test_too_many_reasons_and_too_many_tools_are_cut_off() -> None:
    listing = _listing()
    listing.read([_tool(f"t{n}") for n in range(20_010)] + [5])
    assert len(listing.tools) == 20_000
    assert listing.dropped == ("11 tools: are beyond the 20,000 of a list",)
    listing.read(list(range(60)))
    assert len(listing.dropped) == 51
    assert listing.dropped[-1] == "10 more: for the like"


async def test_all_pages_are_read() -> None:
    async with running(plain("--tools", "95", "--page", "10")) as server:
        names = [tool.local_name for tool in server.upstream.tools()]
        assert names[-95:] == [f"t{n}" for n in range(95)]


async def test_pages_that_go_round_are_noticed() -> None:
    async with running(plain("--looping-pages")) as server:
        assert server.upstream.status.state == "up"
        assert (await server.call("listings")).text == "2"


@pytest.mark.parametrize("options", [[], ["--modern"]])
async def test_a_changed_list_is_read_again_and_told(options: list[str]) -> None:
    async with running(plain(*options)) as server:
        before = server.upstream.tools()
        await server.call("grow")
        await server.until(lambda: server.happened(UpstreamChanged))
        assert len(server.upstream.tools()) == len(before) + 1
        (changed,) = server.happened(UpstreamChanged)
        assert (changed.upstream, changed.added, changed.removed) == ("plain", 1, 0)
        assert server.changes >= 2


async def test_a_storm_of_changes_is_listed_once_a_pause() -> None:
    pauses: list[float] = []
    may_list = anyio.Event()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await may_list.wait()

    pace = Pace(sleep=pause, clock=lambda: 0.0)
    async with running(plain("--storm", "--tools", "300"), pace=pace) as server:
        await eventually(lambda: pauses)
        await anyio.sleep(0.3)  # time for six more changes, all of them one listing
        assert (await server.call("listings")).text == "1"
        may_list.set()
        await server.until(lambda: server.happened(UpstreamChanged))
        assert pauses[0] == 1.0
        assert server.happened(UpstreamChanged)[0].changed == 300


@pytest.mark.parametrize("options", [[], ["--modern"]])
async def test_other_changes_are_passed_on(options: list[str]) -> None:
    async with running(plain(*options)) as server:
        await server.upstream.request("resources/subscribe", {"uri": "file:///a"})
        with anyio.fail_after(LONG):
            while len({method for method, _ in server.notices}) < 2:
                await server.call("touch")
                await anyio.sleep(0.01)
        found = dict(server.notices)
        assert found["notifications/resources/updated"]["uri"] == "file:///a"
        assert "notifications/prompts/list_changed" in found


async def test_what_is_known_survives_the_process(tmp_path: Path) -> None:
    async with running(plain(), folder=tmp_path) as server:
        names = [tool.name for tool in server.upstream.tools()]
    again = Running(plain(), folder=tmp_path, pace=Pace()).upstream
    assert [tool.name for tool in again.tools()] == names
    assert again.is_known
    assert again.instructions == "Be plain."
    assert again.protocol == "2025-11-25"
    assert again.capabilities["odd"] == {"a": 1}
    assert again.status.state == "connecting"
    assert not Running(plain("--modern"), folder=tmp_path, pace=Pace()).upstream.is_known
