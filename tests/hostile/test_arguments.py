"""Large arguments are refused before any work is done on them, and allowed ones take little."""

from time import thread_time
from typing import Any

import pytest

from tests.hostile.test_bounds import BOUND_IN_REFERENCES, reference, spent
from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset, Session
from tooldrawer.tool import Json, JsonObject

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def store(rows: list[Any]) -> str:
    """Store rows."""
    return f"{len(rows)} rows"


async def call_in_references(session: Session, rows: Json) -> tuple[str, float]:
    """What a call answers, and the least of three measurements of it as a multiple."""
    arguments: JsonObject = {"name": "store", "arguments": {"rows": rows}}
    text, least = "", float("inf")
    for _ in range(3):
        started = thread_time()
        text = (await session.call("tool_call", arguments)).text
        least = min(least, thread_time() - started)
    return text, least / min(spent(reference) for _ in range(5))


@requirement("DSP-10")
async def test_arguments_with_a_million_values_are_refused_at_once() -> None:
    async with Drawer([FunctionToolset("rows", [store])]).session() as session:
        await session.tools()
        empty: JsonObject = {}
        text, references = await call_in_references(session, [empty] * 1_000_000)
        assert "have more than 20,000 values" in text
        assert references < 1


@requirement("DSP-10")
@pytest.mark.parametrize(
    "row", [{}, {"a": 1, "b": "text"}, [[1, 2.5]], "text"], ids=["empty", "row", "arrays", "text"]
)
async def test_as_many_values_as_are_allowed_take_little_time(row: Json) -> None:
    size = 1 if isinstance(row, str) or not row else 4 if isinstance(row, list) else 3
    async with Drawer([FunctionToolset("rows", [store])]).session() as session:
        await session.tools()
        text, references = await call_in_references(session, [row] * (19_900 // size))
        assert text.endswith(" rows")
        assert references < 2 * BOUND_IN_REFERENCES  # in two parts
