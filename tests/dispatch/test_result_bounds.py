"""No part of a result passes by its limit: not many small blocks, not what is beside the text."""

import json
from typing import cast

import pytest

from tests.dispatch.parts import TOOL, lab
from tests.requirements import requirement
from tooldrawer import Config, Drawer, Limits, Session, Tool, ToolCall, ToolResult
from tooldrawer.tool import Json, JsonObject

pytestmark = pytest.mark.anyio

MOST = 1_000
CONFIG = Config(limits=Limits(result_max_chars=MOST))
LINK: JsonObject = {"type": "resource_link", "uri": "file:///b.md", "name": "b"}
TEXT: JsonObject = {"type": "text", "text": "hello"}


def giving(result: ToolResult) -> Session:
    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        return result

    return Drawer([lab({}, run)], config=CONFIG).session()


async def cut(result: ToolResult) -> ToolResult:
    return await giving(result).call(TOOL)


def many(count: int) -> Json:
    return [{"k": at} for at in range(count)]


@requirement("DSP-8")
@pytest.mark.parametrize(
    "result",
    [
        ToolResult(content=(LINK,) * 5_000),
        ToolResult(content=(LINK, TEXT) * 5_000),
        ToolResult(content=({"type": "hologram"},) * 5_000),
        ToolResult(content=({"type": "text", "text": ""},) * 50_000),
        ToolResult(content=({"type": "text", "text": "a", "_meta": {"x": many(5_000)}},)),
        ToolResult(content=({"type": "text", "text": "a", "_meta": {"x": "y" * 90}},) * 5_000),
        ToolResult(content=({**LINK, "text": "a", "description": "x" * 90_000},)),
        ToolResult(
            content=({"type": "resource", "resource": {"uri": "x:", "blob": "A" * 99}},) * 99
        ),
        ToolResult(content=({"type": "text", "text": 5, "more": "x" * 90_000},)),
        ToolResult(content=(LINK,) * 10 + ({"type": "text", "text": "x" * 90_000},)),
        ToolResult(content=(TEXT,), meta={"x": many(5_000)}),
        ToolResult(content=(LINK,) * 500, structured=many(5_000), meta={"x": "y" * 90_000}),
    ],
)
async def test_a_result_is_bounded_as_a_whole(result: ToolResult) -> None:
    answer = await cut(result)
    # Half as much for blocks beside a text, and the note on how to read on.
    assert len(json.dumps(answer.mcp())) <= 2.5 * MOST
    assert len(answer.content) <= MOST + 1


@requirement("DSP-8")
async def test_pictures_are_bounded_together() -> None:
    picture: JsonObject = {"type": "image", "data": "A" * 4_900_000, "mimeType": "image/png"}
    answer = await cut(ToolResult(content=(picture,) * 6))
    assert [block["type"] for block in answer.content].count("image") == 4
    assert "left out: too large" in answer.text


@requirement("DSP-8")
async def test_links_that_do_not_fit_are_read_as_text() -> None:
    links: list[JsonObject] = [{**LINK, "uri": f"file:///{at}.md"} for at in range(200)]
    session = giving(ToolResult(content=tuple(links)))
    answer = await session.call(TOOL)
    kept = [block for block in answer.content if block["type"] == "resource_link"]
    texts = [str(block["text"]) for block in answer.content if block["type"] == "text"]
    parts = [texts[0]]
    while len(texts) > 1:
        envelope = texts[1].partition("To read on: ")[2].rstrip("]").partition(" ")
        answer = await session.call(envelope[0], json.loads(envelope[2]))
        texts = [cast("str", block["text"]) for block in answer.content]
        parts.append(texts[0])
    assert kept + [json.loads(line) for line in "".join(parts).splitlines()] == links


@requirement("DSP-8")
async def test_blocks_that_are_too_many_are_counted() -> None:
    session = giving(ToolResult(content=(LINK,) * 3_000))
    answer = await session.call(TOOL)
    kept = [block for block in answer.content if block["type"] == "resource_link"]
    left = 3_000 - len(kept) - 1_000
    text, offset = "", 0
    while not text.endswith(f"[{left:,} more blocks left out: too many. Ask the tool for less.]"):
        part = await session.call("read_rest", {"id": "rest-1", "offset": offset})
        assert not part.is_error
        text += str(part.content[0]["text"])
        offset = len(text)


@requirement("DSP-8")
async def test_meta_that_is_left_out_is_named() -> None:
    answer = await cut(ToolResult(content=(TEXT,), meta={"x": many(5_000)}))
    assert answer.meta == {}
    assert answer.text == "hello\n[The _meta of this result was left out: too large.]"


@requirement("DSP-3")
async def test_a_result_that_fits_is_not_changed() -> None:
    result = ToolResult(
        content=(LINK, {"type": "text", "text": "x" * 900}),
        structured={"text": "x" * 900},
        meta={"x": "y" * 900},
    )
    assert (await cut(result)).mcp() == result.mcp()


@requirement("DSP-8")
async def test_the_error_of_a_function_is_cut() -> None:
    async def run(tool: Tool, call: ToolCall) -> ToolResult:
        raise RuntimeError("out of milk " * 10_000)

    result = await Drawer([lab({}, run)], config=CONFIG).session().call(TOOL)
    assert result.is_error
    assert result.text.startswith(f"'{TOOL}' failed: out of milk ")
    assert len(result.text) <= MOST + 100
