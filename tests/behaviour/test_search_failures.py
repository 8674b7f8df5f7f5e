"""A search that fails inside is answered with a text, like any other call."""

import pytest

from tests.requirements import requirement
from tooldrawer import Catalog, Drawer, Hit, SearchEngine

pytestmark = pytest.mark.anyio


@pytest.fixture
def broken_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: SearchEngine, catalog: Catalog, query: str, limit: int = 5) -> list[Hit]:
        raise IndexError(f"string index out of range in {query}")

    monkeypatch.setattr(SearchEngine, "search", fail)


@requirement("SEARCH-8")
async def test_a_failure_inside_search_is_a_text_and_the_other_calls_are_answered(
    drawer: Drawer, broken_search: None, caplog: pytest.LogCaptureFixture
) -> None:
    failed, called = await drawer.session().call_all(
        [
            ("tool_search", {"query": "secret"}),
            ("tool_call", {"name": "read_note", "arguments": {"title": "a"}}),
        ]
    )
    assert failed.is_error
    assert failed.text.startswith("The search failed (IndexError). Search again")
    assert "secret" not in failed.text
    assert called.text == "note a"
    assert "string index out of range" in caplog.text
