"""A result comes back as the tool gave it; one that is too long can be read to its end."""

import json
from typing import cast

import pytest

from tests.dispatch.parts import TOOL, lab
from tests.requirements import requirement
from tooldrawer import (
    AssemblyPolicy,
    BridgeNames,
    Config,
    Drawer,
    Limits,
    Session,
    Tool,
    ToolCall,
    ToolResult,
)
from tooldrawer.tool import Json, JsonObject

pytestmark = pytest.mark.anyio

MOST = 1000
SHORT = Config(limits=Limits(result_max_chars=MOST))

TEXT: JsonObject = {"type": "text", "text": "hello", "annotations": {"audience": ["user"]}}
IMAGE: JsonObject = {"type": "image", "data": "aGk=", "mimeType": "image/png", "_meta": {"a": 1}}
AUDIO: JsonObject = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
RESOURCE: JsonObject = {
    "type": "resource",
    "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# A"},
}
LINK: JsonObject = {"type": "resource_link", "uri": "file:///b.md", "name": "b"}


def giving(result: ToolResult, config: Config | None = None) -> Session:
    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        return result

    return Drawer([lab({}, run)], config=config).session()


def text_of(length: int) -> str:
    return "".join(f"{number}\n" for number in range(length))[:length]


@requirement("DSP-3")
@pytest.mark.parametrize(
    "result",
    [
        ToolResult(),
        ToolResult(content=(TEXT,)),
        ToolResult(content=(IMAGE, TEXT, AUDIO, TEXT, RESOURCE, LINK)),
        ToolResult(structured={"rows": [1, {"a": None}], "text": "ü"}),
        ToolResult(structured=[1, 2]),
        ToolResult(content=(TEXT,), structured={}, is_error=True, meta={"trace": {"id": 7}}),
        ToolResult(content=({"type": "hologram", "new": ["field"]},), meta={"x/y": "z"}),
    ],
)
@pytest.mark.parametrize("config", [None, SHORT])
async def test_a_result_comes_back_as_the_tool_gave_it(
    result: ToolResult, config: Config | None
) -> None:
    session = giving(result, config)
    direct = await session.call(TOOL, call_id="c1")
    bridged = await session.call("tool_call", {"name": TOOL, "arguments": {}}, call_id="c1")
    assert direct == bridged
    for given in (direct, bridged):
        assert given.call_id == "c1"
        assert given.mcp() == result.mcp()


@requirement("DSP-3")
async def test_an_answer_of_an_mcp_server_comes_back_word_for_word() -> None:
    answer: JsonObject = {
        "content": [IMAGE, TEXT, RESOURCE],
        "structuredContent": {"a": [1]},
        "isError": True,
        "_meta": {"trace": "1"},
    }
    assert (await giving(ToolResult.from_mcp(answer)).call(TOOL)).mcp() == answer


@requirement("DSP-3")
async def test_a_note_about_repairs_comes_after_the_tools_own_words() -> None:
    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        return ToolResult(content=(TEXT, IMAGE), structured={"a": 1}, meta={"b": 2})

    toolset = lab({"type": "object", "properties": {"n": {"type": "integer"}}}, run)
    result = await Drawer([toolset]).session().call(TOOL, {"n": "1"})
    assert result.content[:2] == (TEXT, IMAGE)
    assert len(result.content) == 3
    assert (result.structured, result.meta) == ({"a": 1}, {"b": 2})


async def read_on(session: Session, result: ToolResult) -> list[str]:
    """The parts of a result, read as its notes say."""
    parts: list[str] = []
    while True:
        part, *notes = [cast("str", block["text"]) for block in result.content]
        parts.append(part)
        if not notes:
            return parts
        (note,) = notes
        call, _, envelope = note.partition("To read on: ")[2].rstrip("]").partition(" ")
        result = await session.call(call, json.loads(envelope))
        assert not result.is_error


@requirement("DSP-8")
@pytest.mark.parametrize("length", [MOST, MOST + 1, 2 * MOST, 3 * MOST + 7, 50 * MOST])
async def test_a_long_text_is_read_in_parts_to_its_end(length: int) -> None:
    text = text_of(length)
    session = giving(ToolResult.of_text(text), SHORT)
    parts = await read_on(session, await session.call(TOOL))
    assert "".join(parts) == text
    assert all(len(part) <= MOST for part in parts)
    assert len(parts) == -(-length // MOST)


@requirement("DSP-8")
async def test_several_long_texts_are_read_as_one() -> None:
    blocks: list[JsonObject] = [{"type": "text", "text": text_of(700)} for _ in range(5)]
    session = giving(ToolResult(content=tuple(blocks)), SHORT)
    parts = await read_on(session, await session.call(TOOL))
    assert "".join(parts) == "\n".join([text_of(700)] * 5)


@requirement("DSP-8")
async def test_a_cut_result_stays_an_error_with_its_meta_and_images() -> None:
    long: JsonObject = {"type": "text", "text": text_of(5 * MOST)}
    result = ToolResult(
        content=(IMAGE, long), structured={"n": 1}, is_error=True, meta={"trace": "1"}
    )
    cut = await giving(result, SHORT).call(TOOL, call_id="c1")
    assert (cut.is_error, cut.meta, cut.call_id) == (True, {"trace": "1"}, "c1")
    assert cut.structured == {"n": 1}
    assert cut.content[0]["text"] == text_of(5 * MOST)[:MOST]
    assert IMAGE in cut.content


@requirement("DSP-8")
@pytest.mark.parametrize("content", [(), (TEXT,)])
async def test_long_structured_content_is_read_in_parts_to_its_end(
    content: tuple[JsonObject, ...],
) -> None:
    rows: Json = {"rows": [{"number": number, "name": "ü"} for number in range(200)]}
    session = giving(ToolResult(content=content, structured=rows), SHORT)
    cut = await session.call(TOOL)
    assert cut.structured is None
    whole = "".join(await read_on(session, cut))
    assert whole.startswith("hello\n" if content else "{")
    assert json.loads(whole.removeprefix("hello\n")) == rows


@requirement("DSP-8")
async def test_structured_content_that_is_in_the_text_already_is_not_said_twice() -> None:
    rows: Json = {"rows": list(range(1000))}
    text = json.dumps(rows, indent=1)
    session = giving(ToolResult(content=({"type": "text", "text": text},), structured=rows), SHORT)
    assert "".join(await read_on(session, await session.call(TOOL))) == text


@requirement("DSP-8")
async def test_a_long_embedded_text_is_read_in_parts_to_its_end() -> None:
    inner: JsonObject = {"uri": "file:///long.md", "text": text_of(5 * MOST)}
    session = giving(ToolResult(content=({"type": "resource", "resource": inner},)), SHORT)
    parts = await read_on(session, await session.call(TOOL))
    assert "".join(parts) == f"[resource file:///long.md]\n{text_of(5 * MOST)}"


LARGE, HUGE = "A" * 5000, "A" * 5_000_000


@requirement("DSP-8")
@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"type": "image", "data": HUGE, "mimeType": "image/png"}, "image of image/png, 5,0"),
        ({"type": "audio", "data": HUGE}, "audio of unknown type, 5,0"),
        (
            {
                "type": "resource",
                "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": LARGE},
            },
            "resource file:///a.pdf of application/pdf, 5,",
        ),
    ],
)
async def test_a_block_that_is_too_large_is_named_and_left_out(
    block: JsonObject, said: str
) -> None:
    result = ToolResult(content=(TEXT, block, IMAGE), structured={"n": 1}, meta={"m": 1})
    cut = await giving(result, SHORT).call(TOOL)
    first, note, last = cut.content
    assert (first, last) == (TEXT, IMAGE)
    assert str(note["text"]).startswith(f"[{said}")
    assert "left out: too large. Ask the tool for less.]" in str(note["text"])
    assert (cut.structured, cut.meta, cut.is_error) == ({"n": 1}, {"m": 1}, False)


@requirement("DSP-8")
async def test_a_picture_is_not_measured_in_characters() -> None:
    picture: JsonObject = {"type": "image", "data": LARGE, "mimeType": "image/png"}
    result = ToolResult(content=(TEXT, picture))
    assert (await giving(result, SHORT).call(TOOL)).content == (TEXT, picture)


@requirement("DSP-8")
async def test_what_is_not_json_in_a_result_harms_nobody() -> None:
    odd = cast("JsonObject", {"type": "image", "data": b"\x00" * 10, "at": {1, 2}})
    assert (await giving(ToolResult(content=(odd,))).call(TOOL)).content == (odd,)
    cut = await giving(ToolResult(content=(odd, TEXT) * 500), SHORT).call(TOOL)
    assert not cut.is_error


def read_rest(handle: Json, offset: Json) -> JsonObject:
    return {"name": "read_rest", "arguments": {"id": handle, "offset": offset}}


@requirement("DSP-8")
@pytest.mark.parametrize(
    ("handle", "offset"),
    [
        ("rest-9", 0),
        ("", 0),
        (None, 0),
        pytest.param(10**5_000, 0, id="endless handle"),
        ("rest-1", 5 * MOST),
        ("rest-1", -1),
        pytest.param("rest-1", 10**5_000, id="endless offset"),
        ("rest-1", "9" * 5_000),
        ("rest-1", "soon"),
    ],
)
async def test_a_part_that_there_is_not_answers_with_the_next_step(
    handle: Json, offset: Json
) -> None:
    session = giving(ToolResult.of_text(text_of(5 * MOST)), SHORT)
    await session.call(TOOL)
    answer = await session.call("tool_call", read_rest(handle, offset))
    assert answer.is_error
    assert answer.text == (
        "There is no such part of a result any more. Call the tool again, "
        "with arguments that ask for less."
    )


@requirement("DSP-8")
async def test_a_number_in_a_text_says_where_to_read_on_too() -> None:
    whole = text_of(2 * MOST)
    session = giving(ToolResult.of_text(whole), SHORT)
    await session.call(TOOL)
    answer = await session.call("tool_call", read_rest("rest-1", str(MOST)))
    assert answer.text == whole[MOST:]


@requirement("DSP-8")
async def test_the_rest_of_an_old_result_expires_when_there_are_many_newer_ones() -> None:
    session = giving(ToolResult.of_text(text_of(5 * MOST)), SHORT)
    for _ in range(17):
        await session.call(TOOL)
    assert (await session.call("tool_call", read_rest("rest-1", MOST))).is_error
    assert not (await session.call("tool_call", read_rest("rest-2", MOST))).is_error


@requirement("DSP-8")
async def test_a_rest_belongs_to_its_session() -> None:
    session = giving(ToolResult.of_text(text_of(5 * MOST)), SHORT)
    await session.call(TOOL)
    assert (await session.child().call("tool_call", read_rest("rest-1", MOST))).is_error


@requirement("DSP-8")
async def test_the_way_to_read_on_uses_the_bridge_as_it_is_called() -> None:
    names = BridgeNames(search="find_tool", describe="show_tool", call="run_tool")
    config = Config(limits=Limits(result_max_chars=MOST), assembly=AssemblyPolicy(names=names))
    session = giving(ToolResult.of_text(text_of(3 * MOST)), config)
    cut = await session.call(TOOL)
    assert "To read on: run_tool {" in cut.text
    assert "".join(await read_on(session, cut)) == text_of(3 * MOST)


@pytest.mark.parametrize("levels", [300, 970, 5_000])
@pytest.mark.parametrize("where", ["content", "structured", "meta"])
async def test_a_result_too_deep_to_be_written_again_is_an_error_that_says_so(
    levels: int, where: str
) -> None:
    deep: Json = 1
    for _ in range(levels):
        deep = [deep]
    result = {
        "content": ToolResult(content=({"type": "odd", "data": deep},)),
        "structured": ToolResult(content=(TEXT,), structured=deep),
        "meta": ToolResult(content=(TEXT,), meta={"deep": deep}),
    }[where]
    came = await giving(result).call(TOOL)
    assert came.is_error
    assert "nested more than 200 levels deep" in came.text
