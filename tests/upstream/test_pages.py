"""The pages of a list, one request each."""

import pytest

from tooldrawer.tool import JsonObject
from tooldrawer.upstream.pages import read_pages

pytestmark = pytest.mark.anyio


class Endless:
    """A server with one more item on every page."""

    def __init__(self, item: JsonObject) -> None:
        self.requests: list[JsonObject] = []
        self._item = item

    async def answer(self, params: JsonObject) -> JsonObject:
        self.requests.append(params)
        at = len(self.requests)
        return {"tools": [{"name": f"t{at}", **self._item}], "nextCursor": str(at)}


async def test_no_page_is_asked_for_after_there_were_too_many_bytes() -> None:
    server = Endless({"description": "d" * 40_000_000})
    listed = await read_pages(server.answer, "tools", max_pages=1000, max_items=1000)
    assert server.requests == [{}]
    assert listed.items == []
    assert listed.beyond == ["t1", "all that follows"]


async def test_what_came_before_there_were_too_many_bytes_is_kept() -> None:
    server = Endless({"values": [{"a": "é" * 10}] * 20_000})
    listed = await read_pages(server.answer, "tools", max_pages=1000, max_items=1000)
    kept = len(listed.items)
    assert 2 < kept < 10
    assert len(server.requests) == kept + 1
    assert listed.beyond == [f"t{kept + 1}", "all that follows"]


async def test_pages_and_items_are_limited() -> None:
    server = Endless({})
    assert len((await read_pages(server.answer, "tools", max_pages=7, max_items=9)).items) == 7
    server = Endless({})
    assert len((await read_pages(server.answer, "tools", max_pages=99, max_items=9)).items) == 10
