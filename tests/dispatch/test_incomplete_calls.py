"""A call without its required arguments is refused once; repeated unchanged, the server decides."""

import pytest

from tests.dispatch.parts import events
from tests.fakes import Run, ScriptedToolset, echo
from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset, Tool, ToolCall, ToolResult, errors
from tooldrawer.activity import CallFailed, CallFinished, CallRefused
from tooldrawer.tool import Json, JsonObject

pytestmark = pytest.mark.anyio

NAME = "mcp_phone_list_messages"
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "account": {"type": "string"},
        "size": {"type": "integer"},
        "filter": {
            "type": "object",
            "properties": {"day": {"type": "string"}},
            "required": ["day"],
        },
    },
    "required": ["account"],
}


def phone(run: Run = echo) -> ScriptedToolset:
    return ScriptedToolset("mcp-phone", [Tool(name=NAME, parameters=SCHEMA)], run)


@requirement("DSP-4")
async def test_the_first_call_is_refused_and_the_repetition_reaches_the_server() -> None:
    toolset = phone()
    drawer = Drawer([toolset])
    session = drawer.session()
    refused = await session.call(NAME, {"size": 5})
    assert refused.is_error
    assert '"account" is a required property' in refused.text
    assert f"{NAME}(account: string, size?: integer" in refused.text
    assert "repeat the call unchanged" in refused.text
    assert toolset.received == []
    passed = await session.call("tool_call", {"name": NAME, "arguments": {"size": 5}})
    assert passed.text == '{"size":5}'
    (finished,) = events(drawer, CallFinished)
    assert finished.warning == (
        "Repeated without account, which the schema requires; the server decides."
    )
    assert len(events(drawer, CallRefused)) == 1


@requirement("DSP-4")
async def test_what_the_server_says_to_it_is_recorded_with_the_reason() -> None:
    async def refuse(tool: Tool, call: ToolCall) -> ToolResult:
        raise errors.ServerRefused("no account", code=-32602)

    drawer = Drawer([phone(refuse)])
    session = drawer.session()
    await session.call(NAME)
    assert (await session.call(NAME)).text == "no account"
    (failed,) = events(drawer, CallFailed)
    assert failed.warning.startswith("Repeated without account")


@requirement("DSP-4")
async def test_a_small_mistake_beside_it_is_still_repaired() -> None:
    toolset = phone()
    session = Drawer([toolset]).session()
    assert (await session.call(NAME, {"size": "5"})).is_error
    await session.call(NAME, {"size": "5"})
    assert [call.arguments for call in toolset.received] == [{"size": 5}]


@requirement("DSP-4")
async def test_a_changed_call_is_refused_again() -> None:
    toolset = phone()
    session = Drawer([toolset]).session()
    for size in range(5):
        assert (await session.call(NAME, {"size": size})).is_error
    assert toolset.received == []


@requirement("DSP-4")
async def test_another_session_starts_from_the_beginning() -> None:
    toolset = phone()
    drawer = Drawer([toolset])
    parent = drawer.session()
    for session in (parent, drawer.session(), parent.child()):
        assert (await session.call(NAME)).is_error
    assert toolset.received == []


@requirement("DSP-4")
@pytest.mark.parametrize("arguments", [{"account": 5}, {"size": []}, {"filter": {}}])
async def test_any_other_mistake_is_refused_every_time(arguments: Json) -> None:
    toolset = phone()
    session = Drawer([toolset]).session()
    for _ in range(3):
        assert (await session.call(NAME, arguments)).is_error
    assert toolset.received == []


@requirement("DSP-4")
async def test_a_function_is_never_called_without_its_required_arguments() -> None:
    ran: list[str] = []

    def send(message: str) -> None:
        ran.append(message)

    session = Drawer([FunctionToolset("post", [send])]).session()
    for _ in range(3):
        refused = await session.call("send", {})
        assert '"message" is a required property' in refused.text
        assert "repeat" not in refused.text
    assert ran == []


@requirement("DSP-4")
async def test_a_call_from_long_ago_is_forgotten() -> None:
    toolset = phone()
    session = Drawer([toolset]).session()
    await session.call(NAME)
    for size in range(300):
        await session.call(NAME, {"size": size})
    assert (await session.call(NAME)).is_error
    assert toolset.received == []
