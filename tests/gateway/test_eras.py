"""Both eras in front, both behind: what passes through is the same."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from pydantic import FileUrl

from tests.gateway.everything import PNG
from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    LONG,
    STATELESS,
    Person,
    Rig,
    called,
    document,
    everything,
    found,
    reply,
    rigged,
    text,
)
from tests.requirements import requirement
from tooldrawer.activity import CallFinished, CallStarted

pytestmark = pytest.mark.anyio
CALL = (CallStarted, CallFinished)
OSLO = types.ElicitResult(action="accept", content={"city": "Oslo"})


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def rig(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Rig]:
    servers = {"new": everything(), "old": everything("legacy")}
    async with rigged(tmp_path_factory.mktemp("eras"), document(servers)) as rig:
        await rig.settled()
        yield rig


@pytest.fixture(params=["new", "old"])
def server(request: pytest.FixtureRequest) -> str:
    """A server of either era."""
    return str(request.param)


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["memory", "pipes"])
def pipes(request: pytest.FixtureRequest) -> bool:
    """Whether the client is there as over stdio, where calls take a way of their own."""
    return bool(request.param)


@pytest.fixture
async def client(era: str, rig: Rig, *, pipes: bool) -> AsyncGenerator[Client]:
    """A client of either era, with nobody to ask."""
    async with rig.client(era, pipes=pipes) as client:
        yield client


async def test_the_servers_speak_what_they_can(rig: Rig) -> None:
    spoken = [upstream.protocol for upstream in rig.gateway.upstreams()]
    assert spoken == [STATELESS, HANDSHAKE]


async def test_a_tool_is_found(client: Client, server: str) -> None:
    assert f"mcp_{server}_add" in await found(client, "add two numbers")


@requirement("BR-8")
async def test_a_tool_is_described(client: Client, server: str) -> None:
    described = reply(await client.call_tool("tool_describe", {"name": f"mcp_{server}_add"}))
    assert described["name"] == f"mcp_{server}_add"
    parameters: Any = described["parameters"]
    assert parameters["required"] == ["a", "b"]


@requirement("DSP-3")
async def test_a_call_gives_text_and_structure(client: Client, server: str) -> None:
    result = await called(client, f"mcp_{server}_add", a=1, b=2)
    assert (text(result), result.structured_content) == ("3", {"sum": 3})
    assert result.is_error is False


@requirement("BR-6")
async def test_a_tool_in_the_drawer_can_be_called_by_its_own_name(
    client: Client, server: str
) -> None:
    assert text(await client.call_tool(f"mcp_{server}_add", {"a": 1, "b": 2})) == "3"


@requirement("DSP-3")
async def test_pictures_sounds_links_and_resources_come_unchanged(
    client: Client, server: str
) -> None:
    picture = await called(client, f"mcp_{server}_image")
    assert picture.content == [types.ImageContent(type="image", data=PNG, mime_type="image/png")]
    mixed = await called(client, f"mcp_{server}_mixed")
    audio, link, embedded = mixed.content
    assert audio == types.AudioContent(type="audio", data=PNG, mime_type="audio/wav")
    assert link == types.ResourceLink(type="resource_link", uri="note://1", name="a note")
    note = types.TextResourceContents(uri="note://1", mime_type="text/plain", text="a note")
    assert embedded == types.EmbeddedResource(type="resource", resource=note)
    assert mixed.structured_content == {"kinds": 3}
    meta = dict(mixed.meta or {})
    server_info: Any = meta.pop("io.modelcontextprotocol/serverInfo", {"name": "tooldrawer"})
    assert meta == {"example/kept": True}
    assert server_info["name"] == "tooldrawer"


@requirement("DSP-3")
async def test_an_error_of_a_tool_stays_an_error_of_a_tool(client: Client, server: str) -> None:
    result = await called(client, f"mcp_{server}_fail")
    assert (text(result), result.is_error) == ("the tool said no", True)


async def test_an_error_of_the_protocol_keeps_its_code_and_data(
    client: Client, server: str
) -> None:
    with pytest.raises(MCPError) as caught:
        await called(client, f"mcp_{server}_boom")
    assert caught.value.error == types.ErrorData(
        code=-32042, message="a protocol error", data={"why": "test"}
    )


async def test_progress_is_shown(client: Client, server: str) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def show(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    arguments = {"name": f"mcp_{server}_slow", "arguments": {"n": 2}}
    result = await client.call_tool("tool_call", arguments, progress_callback=show)
    assert text(result) == "done"
    assert steps == [(1, 2, "step 1"), (2, 2, "step 2")]


@requirement("DSP-8")
@pytest.mark.parametrize("person", [None, Person()], ids=["alone", "with a person"])
async def test_a_call_that_is_given_up_is_given_up_by_the_server(
    rig: Rig, era: str, server: str, person: Person | None, *, pipes: bool
) -> None:
    label = f"{era} {server} {person is not None} {pipes}"
    async with rig.client(era, person, pipes=pipes) as client:
        with anyio.fail_after(LONG), anyio.CancelScope() as scope:

            async def give_up(progress: float, total: float | None, message: str | None) -> None:
                del progress, total, message
                scope.cancel()

            arguments = {"name": f"mcp_{server}_slow", "arguments": {"n": 500, "label": label}}
            await client.call_tool("tool_call", arguments, progress_callback=give_up)
        with anyio.fail_after(LONG):
            while label not in text(await called(client, f"mcp_{server}_cancelled")).split(","):
                pass
    assert len(rig.gateway.handlers.in_flight) == 0


async def test_the_person_is_asked_what_the_server_asks(
    rig: Rig, era: str, server: str, *, pipes: bool
) -> None:
    person = Person(OSLO)
    async with rig.client(era, person, pipes=pipes) as client:
        assert text(await called(client, f"mcp_{server}_ask")) == "accept:Oslo"
    assert [question.message for question in person.questions] == [f"[{server}] Which city?"]


async def test_without_a_person_a_question_is_declined(client: Client, server: str) -> None:
    assert text(await called(client, f"mcp_{server}_ask")) == "decline:None"


async def test_the_model_of_the_client_thinks_for_the_server(
    rig: Rig, era: str, server: str, *, pipes: bool
) -> None:
    async with rig.client(era, Person(), pipes=pipes) as client:
        assert text(await called(client, f"mcp_{server}_think")) == "thought about Think."


async def test_the_folders_of_the_client_are_named(
    rig: Rig, era: str, server: str, *, pipes: bool
) -> None:
    async def roots(_: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl("file:///home/ann"))])

    async with rig.client(era, Person(), pipes=pipes, list_roots_callback=roots) as client:
        assert text(await called(client, f"mcp_{server}_root")) == "file:///home/ann"


async def test_what_a_client_sends_along_reaches_the_server(client: Client, server: str) -> None:
    arguments = {"name": f"mcp_{server}_meta"}
    meta: types.RequestParamsMeta = {"example/turn": 7}  # pyright: ignore[reportAssignmentType]
    result = await client.call_tool("tool_call", arguments, meta=meta)
    received: Any = result.structured_content
    assert received["example/turn"] == 7
    assert "tester" not in str(received)


@requirement("AF-2")
async def test_the_feed_names_the_tool_and_never_the_bridge(rig: Rig, client: Client) -> None:
    await called(client, "mcp_new_add", a=1, b=1)
    events = [event for event in rig.gateway.drawer.activity if isinstance(event, CALL)]
    assert [type(event) for event in events[-2:]] == list(CALL)
    assert {event.tool for event in events[-2:]} == {"mcp_new_add"}
    assert events[-1].session.startswith("tester-")
    assert "tool_call" not in str(list(rig.gateway.drawer.activity))


async def test_a_tool_that_grew_is_found_though_the_array_stays(
    rig: Rig, client: Client, server: str
) -> None:
    before = await client.list_tools()
    await called(client, f"mcp_{server}_grow")
    with anyio.fail_after(LONG):
        while not [name for name in await found(client, "grown") if f"_{server}_grown" in name]:
            await called(client, f"mcp_{server}_add", a=0, b=0)  # so that searching goes on
    assert await client.list_tools(cache_mode="bypass") == before


async def test_calls_run_side_by_side(client: Client, server: str) -> None:
    sums: dict[int, str] = {}

    async def add(number: int) -> None:
        sums[number] = text(await called(client, f"mcp_{server}_add", a=number, b=1))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(add, number)
    assert sums == {number: str(number + 1) for number in range(20)}
