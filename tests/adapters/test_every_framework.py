"""What every adapter keeps: one array a request, one door, results in the framework's words."""

import json
from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest

from tests.adapters.rigs import Call, Rig
from tests.fakes import ScriptedApprover, ScriptedToolset
from tests.requirements import requirement
from tooldrawer import (
    Answer,
    AssemblyPolicy,
    Config,
    Drawer,
    FunctionToolset,
    Grants,
    Rules,
    Scope,
    SearchPolicy,
    Tool,
    ToolCall,
    ToolResult,
)
from tooldrawer.activity import CallFinished, CallRefused

pytestmark = pytest.mark.anyio

ON = Config(assembly=AssemblyPolicy(enabled="on"))
BRIDGE = ["tool_search", "tool_describe", "tool_call"]
PNG = b"\x89PNG\r\n\x1a\n"
Numbered = Callable[[str, int], FunctionToolset]


def fly() -> list[Call]:
    return [("fly_to_mars", {})]


def giving(result: ToolResult) -> ScriptedToolset:
    """A toolset with one tool, `give`, which gives `result`."""

    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        return result

    return ScriptedToolset("camera", [Tool(name="give", description="Give it.")], run)


@requirement("BR-6")
async def test_what_a_search_found_is_called_through_the_bridge(
    rig: Rig, desk: FunctionToolset, ran: list[str]
) -> None:
    session = Drawer([desk], config=ON).session()
    heard = await rig.run(
        session,
        [("tool_search", {"query": "put a new note on the desk"})],
        [("tool_call", {"name": "add_note", "arguments": {"title": "milk", "copies": "2"}})],
        "Done.",
    )
    assert heard.arrays == [BRIDGE] * 3
    found = json.loads(heard.answers[0].text)
    assert found["matches"][0]["name"] == "add_note"
    assert heard.answers[1].text.startswith("added milk")
    assert ran == ["add milk None 2"]
    assert heard.output == "Done."


@requirement("BR-6")
async def test_a_direct_call_of_a_deferred_name_runs_the_tool(
    rig: Rig, desk: FunctionToolset, ran: list[str]
) -> None:
    session = Drawer([desk], config=ON).session()
    heard = await rig.run(session, [("read_note", {"title": "milk"})], "Done.")
    assert heard.arrays == [BRIDGE] * 2
    assert [answer.text for answer in heard.answers] == ["note milk"]
    assert ran == ["read milk"]


@pytest.mark.parametrize("is_empty", [False, True], ids=["some tools", "no tools"])
async def test_a_name_that_nobody_has_is_answered_by_the_session_and_the_run_goes_on(
    rig: Rig, desk: FunctionToolset, *, is_empty: bool
) -> None:
    session = Drawer([] if is_empty else [desk], config=ON).session()
    heard = await rig.run(session, *[fly] * 3, "I cannot.")
    assert heard.arrays == [[] if is_empty else BRIDGE] * 4
    assert len(heard.answers) == 3
    assert all("There is no tool" in answer.text for answer in heard.answers)
    assert all(answer.is_error for answer in heard.answers)
    assert heard.output == "I cannot."


async def test_a_call_without_a_name_is_answered_and_the_run_goes_on(
    rig: Rig, desk: FunctionToolset
) -> None:
    heard = await rig.run(Drawer([desk], config=ON).session(), [("", {})], "I cannot.")
    assert [answer.is_error for answer in heard.answers] == [True]
    assert heard.output == "I cannot."


@requirement("ACT-3")
async def test_the_drawer_closes_and_opens_between_requests(
    rig: Rig, desk: FunctionToolset, numbered: Numbered
) -> None:
    config = Config(assembly=AssemblyPolicy(enabled="auto", threshold_pct=10))
    drawer = Drawer([desk], config=config)
    session = drawer.session(context_length=20_000)

    def add() -> list[tuple[str, str]]:
        drawer.registry.add(numbered("crane", 60))
        return [("read_note", '{"title": "a"}')]

    def remove() -> list[tuple[str, str]]:
        drawer.registry.remove("crane")
        return [("tool_call", '{"name": "read_note", "arguments": {"title": "b"}}')]

    heard = await rig.run(session, add, [("crane_7", {"text": "up"})], remove, "Done.")
    open_array = ["read_note", "add_note", "delete_note"]
    assert heard.arrays == [open_array, BRIDGE, BRIDGE, open_array]
    assert [answer.text for answer in heard.answers] == ["note a", "crane 7 up", "note b"]


@requirement("DSP-6")
async def test_a_person_who_says_no_is_obeyed_and_the_model_is_told(
    rig: Rig, desk: FunctionToolset, ran: list[str], grants: Grants
) -> None:
    approver = ScriptedApprover(Answer.NO, Answer.ONCE)
    drawer = Drawer(
        [desk], config=ON, guardrails=[Rules(ask=("delete_*",))], approver=approver, grants=grants
    )
    heard = await rig.run(
        drawer.session(),
        [("delete_note", {"title": "milk"})],
        [("tool_call", {"name": "delete_note", "arguments": {"title": "eggs"}})],
        "Done.",
    )
    assert [answer.is_error for answer in heard.answers] == [True, False]
    assert [request.tool.name for request in approver.requests] == ["delete_note"] * 2
    assert ran == ["delete eggs"]


async def test_an_error_of_a_tool_is_an_error_result_and_the_run_goes_on(rig: Rig) -> None:
    broken = giving(ToolResult.of_text("The lens is dirty.", is_error=True))
    session = Drawer([broken], config=ON).session()
    heard = await rig.run(session, [("tool_call", {"name": "give"})], "It is broken.")
    (answer,) = heard.answers
    assert answer.is_error
    assert answer.text.removeprefix("Error: ") == "The lens is dirty."
    assert heard.output == "It is broken."


@requirement("DSP-3")
async def test_an_image_arrives_as_an_image_and_text_beside_it(rig: Rig) -> None:
    content = (
        {"type": "text", "text": "The garden:"},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    )
    session = Drawer([giving(ToolResult(content=content))], config=ON).session()
    heard = await rig.run(session, [("tool_call", {"name": "give"})], "A garden.")
    assert [(answer.text, answer.images) for answer in heard.answers] == [("The garden:", (PNG,))]


@requirement("DSP-3")
async def test_structured_content_is_text_for_the_model_and_whole_for_the_application(
    rig: Rig,
) -> None:
    result = replace(ToolResult(structured={"degrees": 21}), meta={"station": "roof"})
    session = Drawer([giving(result)], config=ON).session()
    heard = await rig.run(session, [("give", {})], "Warm.")
    assert json.loads(heard.answers[0].text) == {"degrees": 21}
    assert heard.answers[0].beside == {
        "structuredContent": {"degrees": 21},
        "_meta": {"station": "roof"},
    }


async def test_an_image_that_is_none_does_not_end_the_run(rig: Rig) -> None:
    content = ({"type": "image", "data": "not base64!", "mimeType": "image/png"},)
    session = Drawer([giving(ToolResult(content=content))], config=ON).session()
    heard = await rig.run(session, [("give", {})], "Nothing to see.")
    assert heard.answers[0].text == "[image, image/png, not readable]"


@requirement("DSP-7")
async def test_calls_of_one_turn_run_at_the_same_time_and_keep_their_answers(rig: Rig) -> None:
    together, arrived = anyio.Event(), list[str]()

    async def meet(tool: Tool, call: ToolCall) -> ToolResult:
        arrived.append(tool.name)
        if len(arrived) == 3:
            together.set()
        with anyio.fail_after(60):
            await together.wait()
        return ToolResult.of_text(tool.name)

    names = ["ada", "bob", "cy"]
    meeting = ScriptedToolset("meeting", [Tool(name=name) for name in names], meet)
    session = Drawer([meeting], config=ON).session()
    calls: list[Call] = [("ada", {}), ("tool_call", {"name": "bob"}), ("cy", {})]
    heard = await rig.run(session, calls, "Done.")
    assert [answer.text for answer in heard.answers] == names


@requirement("SCOPE-3")
async def test_a_tool_outside_the_scope_is_reached_by_no_route(
    rig: Rig, numbered: Numbered
) -> None:
    drawer = Drawer([numbered("open", 3), numbered("secret", 3)], config=ON)
    session = drawer.session(scope=Scope(toolsets=["open"]))
    inner = {"name": "tool_call", "arguments": {"name": "secret_1"}}
    heard = await rig.run(
        session,
        [("tool_search", {"query": "secret task 1"}), ("tool_search", {"query": "secret_1"})],
        [("tool_describe", {"name": "secret_1"}), ("tool_describe", {"name": "secret.secret_1"})],
        [("tool_call", {"name": "secret_1"}), ("tool_call", inner), ("secret_1", {})],
        [("secret__secret_1", {}), ("nobodys_9", {})],
        "Nothing.",
    )
    assert all("secret" not in answer.text for answer in heard.answers)
    assert len({answer.text for answer in heard.answers[2:]}) == 1
    assert not [event for event in drawer.activity if isinstance(event, CallFinished)]
    assert all(
        "secret" not in repr(event.tool)
        for event in drawer.activity
        if isinstance(event, CallRefused)
    )


@requirement("DSP-2")
async def test_activity_shows_the_real_tool(rig: Rig, desk: FunctionToolset) -> None:
    drawer = Drawer([desk], config=ON)
    await rig.run(
        drawer.session(),
        [("tool_call", {"name": "read_note", "arguments": {"title": "a"}})],
        [("add_note", {"title": "b"})],
        "Done.",
    )
    finished = [event.tool for event in drawer.activity if isinstance(event, CallFinished)]
    assert finished == ["read_note", "add_note"]


@pytest.mark.parametrize("name", ["tool_call", "read_note", "tool_search"])
async def test_arguments_that_are_no_json_are_answered_with_how_to_do_better(
    rig: Rig, desk: FunctionToolset, ran: list[str], name: str
) -> None:
    session = Drawer([desk], config=ON).session()
    heard = await rig.run(session, [(name, '{"title": "mi')], "Sorry.")
    assert len(heard.answers) == 1
    assert ran == []
    assert heard.output == "Sorry."


async def test_arguments_that_are_no_json_do_not_stop_the_calls_beside_them(
    rig: Rig, desk: FunctionToolset, ran: list[str]
) -> None:
    session = Drawer([desk], config=ON).session()
    calls = [("read_note", '{"title'), ("read_note", {"title": "a"})]
    heard = await rig.run(session, calls, "Done.")
    assert [answer.is_error for answer in heard.answers] == [True, False]
    assert ran == ["read a"]


@requirement("BR-11")
async def test_a_new_message_of_the_user_allows_searching_again(
    rig: Rig, numbered: Numbered
) -> None:
    config = Config(assembly=ON.assembly, search=SearchPolicy(most_in_a_row=2))
    session = Drawer([numbered("task", 3)], config=config).session()
    search: list[Call] = [("tool_search", {"query": "do task"})]
    for _ in range(2):  # two runs, each with a message of its own
        heard = await rig.run(session, search, search, "Nothing fits.")
        assert all(json.loads(answer.text)["matches"] for answer in heard.answers)
    heard = await rig.run(session, search, search, search, "Nothing fits.")
    found = [bool(json.loads(answer.text)["matches"]) for answer in heard.answers]
    assert found == [True, True, False]
