"""What goes to a server and what comes back, in both eras."""

import base64
import json
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.requirements import requirement
from tests.upstream.fakes import LONG, Client, Running, plain, running, structured
from tooldrawer.errors import ServerRefused, ToolFailed, ToolTimedOut
from tooldrawer.tool import JsonObject
from tooldrawer.upstream.behind import BEHIND

pytestmark = pytest.mark.anyio
INFO = "io.modelcontextprotocol/clientInfo"
ABLE = "io.modelcontextprotocol/clientCapabilities"
LEVEL = "io.modelcontextprotocol/logLevel"


@pytest.fixture(params=["handshake", "modern"])
async def server(request: pytest.FixtureRequest) -> AsyncGenerator[Running]:
    options = ["--modern"] if request.param == "modern" else []
    async with running(plain(*options, timeout=LONG)) as found:
        yield found


async def test_arguments_arrive_as_they_were_given(server: Running) -> None:
    given: JsonObject = {"a": [1, 2.5, None, {"ü": "😀\n"}], "big": 2**70, "_meta": {"x": 1}}
    assert structured(await server.call("echo", given)) == given


async def test_results_come_back_byte_for_byte(server: Running) -> None:
    noise = base64.b64encode(bytes(range(256))).decode()
    content: list[JsonObject] = [
        {"type": "text", "text": "a\u2028b", "annotations": {"audience": ["user"], "odd": 1}},
        {"type": "image", "data": noise, "mimeType": "image/png", "_meta": {"a": None}},
        {"type": "audio", "data": noise, "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "x://a", "blob": noise, "odd": [1]}},
        {"type": "resource_link", "uri": "x://b", "name": "b", "size": 3},
        {"type": "hologram", "depth": 3},
    ]
    given = {"content": content, "structuredContent": [1, {"a": None}], "isError": True}
    result = await server.call("result", {"result": {**given, "_meta": {"vendor/x": {"y": 1}}}})
    assert json.dumps(result.mcp()) == json.dumps({**given, "_meta": {"vendor/x": {"y": 1}}})


async def test_a_protocol_error_keeps_its_code_and_data(server: Running) -> None:
    with pytest.raises(ServerRefused, match=r"No, thanks\.") as caught:
        await server.call("refuse")
    assert (caught.value.code, caught.value.data) == (-32042, {"why": [1, None]})


async def test_five_megabytes_come_back(server: Running) -> None:
    assert len((await server.call("big", {"bytes": 5_000_000})).text) == 5_000_000


@pytest.mark.parametrize("result", [None, [], "text", 5])
async def test_an_answer_that_is_no_object_is_an_error(server: Running, result: Any) -> None:
    with pytest.raises(ServerRefused, match="not an object"):
        await server.call("result", {"result": result})


@pytest.mark.parametrize("content", ["text", 5, [5], {"a": 1}])
async def test_content_that_is_no_list_of_blocks_is_an_error(server: Running, content: Any) -> None:
    with pytest.raises(ToolFailed, match="'plain' answered with something that is no result"):
        await server.call("result", {"result": {"content": content}})


async def test_cancelling_a_call_reaches_the_server(server: Running) -> None:
    client = Client()
    async with anyio.create_task_group() as group:
        group.start_soon(server.call_for, client, "hang")
        with anyio.fail_after(LONG):
            await client.heard.wait()
        group.cancel_scope.cancel()
    assert (await server.call("cancelled")).text == "[true]"


async def test_a_call_that_takes_too_long_is_cancelled_and_says_so(server: Running) -> None:
    with pytest.raises(ToolTimedOut, match=r"'plain' did not answer within 0\.1 s"):
        await server.upstream.request("tools/call", {"name": "hang"}, timeout=0.1)
    assert (await server.call("cancelled")).text == "[true]"


async def test_progress_reaches_the_client_behind_the_call(server: Running) -> None:
    client = Client()
    assert (await server.call_for(client, "progress")).text == "done"
    with anyio.fail_after(LONG):
        while len(client.steps) < 3:  # trio runs what was started in any order
            await anyio.lowlevel.checkpoint()
    assert sorted(client.steps) == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_nobody_behind_a_call_asks_for_no_progress(server: Running) -> None:
    assert (await server.call("progress")).text == "no token"


async def test_a_line_that_the_server_logs_reaches_the_client_under_the_servers_name(
    server: Running,
) -> None:
    client = Client()
    async with anyio.create_task_group() as group:
        group.start_soon(server.call_for, client, "hang")
        with anyio.fail_after(LONG):
            await client.heard.wait()
            await server.call_for(client, "log", {"logger": "db"})
            while len(client.lines) < 2:
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert [line["logger"] for line in client.lines] == ["plain", "plain/db"]
    assert client.lines[1]["data"] == "a line"


async def test_a_logged_line_of_one_of_several_clients_calls_is_shown_to_none(
    server: Running,
) -> None:
    ann, bob = Client("ann"), Client("bob")
    async with anyio.create_task_group() as group:
        group.start_soon(server.call_for, ann, "hang")
        with anyio.fail_after(LONG):
            await ann.heard.wait()
        await server.call_for(bob, "log")
        group.cancel_scope.cancel()
    assert bob.lines == []
    assert len(ann.lines) == 1


@requirement("GW-2")
async def test_a_line_after_its_call_is_shown_to_no_other_principal() -> None:
    ann, bob = Client("ann", owner="ann"), Client("bob", owner="bob")
    async with running(plain()) as server:
        await server.call_for(ann, "echo")
        # The server may write the line in the name of the call that is over: who could tell?
        await server.call_for(bob, "log")
        await server.call_for(bob, "echo")
    assert bob.lines == ann.lines == []


async def test_meta_passes_without_what_belongs_to_the_clients_own_connection(
    server: Running,
) -> None:
    meta: JsonObject = {
        "traceparent": "00-a-b-01",
        "vendor/x": [1],
        "progressToken": "theirs",
        "io.modelcontextprotocol/protocolVersion": "1999-01-01",
        INFO: {"name": "evil"},
        LEVEL: "debug",
    }
    found = structured(await server.call_for(Client(meta=meta), "meta"))
    assert (found["traceparent"], found["vendor/x"]) == ("00-a-b-01", [1])
    assert found["progressToken"] != "theirs"
    if server.upstream.protocol == "2026-07-28":
        assert found["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert found[INFO]["name"] == "tooldrawer"
        assert found[LEVEL] == "debug"
    else:
        assert not [key for key in found if key.startswith("io.modelcontextprotocol/")]


async def test_any_other_request_is_passed_on_as_it_is(server: Running) -> None:
    params: JsonObject = {"uri": "x://a", "odd": [1]}
    answer = await server.upstream.request("resources/read", params)
    sent = {key: value for key, value in answer["asked"].items() if key != "_meta"}
    assert (sent, answer["odd"]) == (params, 1)
    assert "io.modelcontextprotocol/serverInfo" not in answer.get("_meta", {})
    with pytest.raises(ServerRefused) as caught:
        await server.upstream.request("prompts/list", {})
    assert caught.value.code == -32601


async def test_a_server_that_dies_in_a_call_is_restarted_and_the_call_is_not_repeated(
    server: Running,
) -> None:
    with pytest.raises(ToolFailed, match="stopped during the call, which may or may not"):
        await server.call("die")
    assert (await server.call("echo", {"a": 1})).structured == {"a": 1}
    assert server.upstream.status.starts == 2
    assert server.upstream.status.state == "up"


async def test_many_calls_at_once_get_their_own_answers(server: Running) -> None:
    found: dict[int, Any] = {}

    async def call(number: int) -> None:
        found[number] = structured(await server.call("echo", {"n": number}))["n"]

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(call, number)
    assert found == {number: number for number in range(50)}


@pytest.mark.parametrize("able", [{}, {"elicitation": {"form": {}}, "extensions": {"tasks": {}}}])
async def test_a_modern_server_is_told_what_the_client_behind_the_call_can_do(
    able: JsonObject,
) -> None:
    async with running(plain("--modern")) as server:
        found = structured(await server.call_for(Client(capabilities=able), "meta"))
        assert found[ABLE] == {key: able[key] for key in able if key != "extensions"}
        assert structured(await server.call("meta"))[ABLE] == {}


async def test_a_supervisor_is_nobodys_client() -> None:
    BEHIND.set(Client("whoever started it"))
    async with running(plain()) as server:
        assert structured(await server.call_for(None, "ask"))["result"] == {"action": "decline"}
