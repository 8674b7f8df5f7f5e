"""While the vectors of tools are made, after that, and when they cannot be had."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier, Event

import pytest

from tests.packaging.python import CHECKOUT, printed
from tests.requirements import requirement
from tests.search.embedders import Bag, Broken, Held
from tests.search.town import TOWN, tool
from tooldrawer import Catalog, Recipe, SearchEngine, Tool
from tooldrawer.search import LEXICAL
from tooldrawer.search.document import passage
from tooldrawer.search.embedder import Vectors
from tooldrawer.search.segment import Segment

QUERY = "renew the loan of a book"
MANY = Catalog([*TOWN, *(tool(f"polish_{at}", f"Polish shoe number {at}.") for at in range(100))])


def words_alone(catalog: Catalog, query: str = QUERY) -> list[str]:
    hits = SearchEngine(recipe=LEXICAL, cache=None).search(catalog, query)
    return [hit.tool.name for hit in hits]


def names(engine: SearchEngine, catalog: Catalog, query: str = QUERY) -> list[str]:
    return [hit.tool.name for hit in engine.search(catalog, query)]


def test_until_vectors_are_there_words_answer_and_the_notice_says_how_far_it_is() -> None:
    held = Held(after=64)
    engine = SearchEngine(embedder=lambda: held, cache=None, patience=0)
    assert names(engine, MANY)[0] == words_alone(MANY)[0]
    held.is_waiting.wait()
    assert engine.notice(MANY).startswith("64 of 140 tools have been read")
    assert not engine.index(MANY).has_meaning
    held.let_go.set()
    assert engine.prepare(MANY).has_meaning
    assert engine.notice(MANY) == ""
    assert any(hit.parts["meaning"] for hit in engine.search(MANY, QUERY))


class HeldAndTold(Held):
    """Takes one query for another, and reads only some tools."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        return super().queries(["water the tomatoes" if one == "zorble" else one for one in texts])


def test_a_tool_that_has_been_read_is_found_by_meaning_while_others_have_not() -> None:
    held = HeldAndTold(after=64)
    known = tool("sprinkle", "Water the tomatoes.")
    catalog = Catalog([known, *MANY.tools])
    engine = SearchEngine(embedder=lambda: held, cache=None, patience=0)
    engine.search(catalog, QUERY)
    held.is_waiting.wait()
    assert names(engine, catalog, "zorble")[0] == known.name
    assert names(engine, catalog, "polish shoe number 99")[0] == "polish_99"
    assert "of 141 tools have been read" in engine.notice(catalog)
    held.let_go.set()


def test_vectors_of_another_catalog_are_used_before_the_new_tools_have_been_read() -> None:
    held = HeldAndTold(after=41)
    known = tool("sprinkle", "Water the tomatoes.")
    engine = SearchEngine(embedder=lambda: held, cache=None, patience=0)
    engine.prepare(Catalog([known, *TOWN.tools]))
    grown = Catalog([known, *TOWN.tools, tool("polish", "Polish shoes.")])
    engine.search(grown, QUERY)
    held.is_waiting.wait()
    assert names(engine, grown, "zorble")[0] == known.name
    assert names(engine, grown, "polish shoes")[0] == "polish"
    held.let_go.set()


def test_the_searches_of_a_catalog_wait_for_its_vectors_once() -> None:
    """Would hang if every search waited: each look at the clock tells a later hour."""
    held, hours = Held(), count(step=3600.0)
    engine = SearchEngine(
        embedder=lambda: held, cache=None, patience=3599, clock=lambda: next(hours)
    )
    assert names(engine, TOWN) == names(engine, TOWN) == words_alone(TOWN)
    held.let_go.set()


@requirement("SEARCH-8")
def test_threads_that_need_the_same_new_index_build_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    over = Segment.over

    def counted(tools: Iterable[Tool]) -> Segment:
        some = list(tools)
        read.append(len(some))
        return over(some)

    monkeypatch.setattr(Segment, "over", counted)
    engine, together = SearchEngine(embedder=Bag, cache=None), Barrier(8)

    def search() -> list[str]:
        together.wait()
        return names(engine, TOWN)

    with ThreadPoolExecutor(8) as threads:
        found = [one.result() for one in [threads.submit(search) for _ in range(8)]]
    assert found == [names(engine, TOWN)] * 8
    assert read == [len(TOWN)]


def test_the_notice_counts_the_tools_of_its_own_catalog_only() -> None:
    held = Held(after=40)
    engine = SearchEngine(embedder=lambda: held, cache=None, patience=0)
    engine.prepare(TOWN)
    changed = Catalog([*TOWN.tools[4:], tool("polish", "Polish shoes.")])
    engine.search(changed, QUERY)
    held.is_waiting.wait()
    assert engine.notice(changed).startswith("36 of 37 tools have been read")
    assert engine.notice(TOWN) == ""
    held.let_go.set()
    engine.prepare(changed)
    assert engine.notice(changed) == ""


def test_nobody_has_to_know_about_a_catalog_that_was_never_searched() -> None:
    assert SearchEngine(embedder=Bag, cache=None).notice(TOWN) == ""
    assert not SearchEngine(embedder=Bag, cache=None).is_ready(TOWN)


def test_preparing_says_how_far_it_is_and_ends_with_meaning() -> None:
    held = Held(after=128)
    engine = SearchEngine(embedder=lambda: held, cache=None)
    told: list[tuple[int, int]] = []

    def progress(done: int, of: int) -> None:
        told.append((done, of))
        if done == 128:
            held.let_go.set()

    assert engine.prepare(MANY, progress).has_meaning
    assert told[-1] == (128, 140)
    assert told == sorted(told)


def test_before_the_embedder_is_loaded_words_answer_and_the_notice_has_no_numbers() -> None:
    asked, come = Event(), Event()

    def slow() -> Bag:
        asked.set()
        come.wait()
        return Bag()

    engine = SearchEngine(embedder=slow, cache=None, patience=0)
    assert names(engine, TOWN) == words_alone(TOWN)
    asked.wait()
    assert engine.notice(TOWN) == (
        "search by meaning is being loaded; words alone find tools for now"
    )
    come.set()
    assert engine.prepare(TOWN).has_meaning


def test_an_embedder_that_fails_leaves_words_and_a_notice() -> None:
    engine = SearchEngine(embedder=Broken, cache=None)
    assert names(engine, TOWN) == words_alone(TOWN)
    notice = engine.notice(TOWN)
    assert "search by meaning is off" in notice
    assert "no ink for 40 texts" in notice
    assert not engine.prepare(TOWN).has_meaning


def test_an_embedder_that_cannot_be_made_leaves_words_and_a_notice() -> None:
    def make() -> Bag:
        raise OSError("the model is in pieces")

    engine = SearchEngine(embedder=make, cache=None)
    assert names(engine, TOWN) == words_alone(TOWN)
    assert "the model is in pieces" in engine.notice(TOWN)


def test_an_embedder_whose_package_is_missing_is_told_to_be_so_and_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def make() -> Bag:
        raise ModuleNotFoundError("No module named 'quill'", name="quill")

    engine = SearchEngine(embedder=make, cache=None, patience=60)
    with caplog.at_level("WARNING", logger="tooldrawer.search"):
        assert names(engine, TOWN) == words_alone(TOWN)
        assert names(engine, MANY) == words_alone(MANY)
    assert caplog.messages == [engine.notice(TOWN)]
    assert "pip install quill" in engine.notice(TOWN)
    assert "onnxruntime" not in engine.notice(TOWN)


def test_an_embedder_that_gives_too_few_vectors_leaves_words_and_a_notice() -> None:
    class Short(Bag):
        def tools(self, texts: Sequence[str]) -> Vectors:
            return super().tools(texts)[1:]

    engine = SearchEngine(embedder=Short, cache=None)
    assert names(engine, TOWN) == words_alone(TOWN)
    assert engine.notice(TOWN)


def test_without_meaning_nothing_is_embedded_and_there_is_nothing_to_notice() -> None:
    def never() -> Bag:
        raise AssertionError("nobody asked for meaning")

    engine = SearchEngine(recipe=Recipe(meaning=False), embedder=never, cache=None)
    assert names(engine, TOWN)[0] == "mcp_library_renew_loan"
    assert engine.notice(TOWN) == ""
    assert not engine.prepare(TOWN).has_meaning


def test_other_catalogs_go_on_with_meaning_when_the_vectors_of_one_cannot_be_made() -> None:
    class Picky(Bag):
        def tools(self, texts: Sequence[str]) -> Vectors:
            if any("shoe" in text for text in texts):
                raise ValueError("no shoes in here")
            return super().tools(texts)

    engine = SearchEngine(embedder=Picky, cache=None)
    assert names(engine, MANY) == words_alone(MANY)
    assert names(engine, TOWN)[0] == "mcp_library_renew_loan"
    assert "no shoes in here" in engine.notice(MANY)
    assert engine.notice(TOWN) == ""
    assert engine.prepare(TOWN).has_meaning


WITHOUT_RUNTIME = """
import logging, sys
from tests.search.town import TOWN
from tooldrawer import Catalog, SearchEngine

logging.basicConfig(format="%(levelname)s %(name)s %(message)s", stream=sys.stdout)
sys.modules["onnxruntime"] = None
engine = SearchEngine(cache=None, patience=60)
half = Catalog(TOWN.tools[:20])
for catalog in (TOWN, half, TOWN):
    print([hit.tool.name for hit in engine.search(catalog, "send a letter")][0])
assert engine.notice(TOWN) == engine.notice(half)
while not engine.is_ready(TOWN):
    pass
print(engine.notice(TOWN))
"""


def test_without_its_runtime_words_answer_and_one_warning_says_what_to_do() -> None:
    program = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n{WITHOUT_RUNTIME}"
    warning, *found, ready = printed(program).splitlines()
    assert found == ["mcp_post_send_letter"] * 3
    assert ready == warning.removeprefix("WARNING tooldrawer.search ")
    assert "search by meaning is off" in ready
    assert "pip install onnxruntime" in ready


ENDING = """
from tooldrawer import Catalog, SearchEngine, Tool

many = Catalog([Tool(name=f"t{at}", description="Polish a shoe. " * 20) for at in range(2_000)])
engine = SearchEngine(cache=None, patience=0)
engine.search(many, "polish")
while engine.notice(many).startswith(("0 of", "search by meaning is being loaded")):
    pass
print("over")
"""


def test_a_process_may_end_while_tools_are_read() -> None:
    assert printed(ENDING) == "over"


CANCELLED = """
import anyio
from threading import Event
from tooldrawer import Catalog, SearchEngine, Tool
from tooldrawer.search.run import run_search

async def main():
    never = Event()
    engine = SearchEngine(embedder=never.wait, cache=None, patience=1e6)
    with anyio.move_on_after(0.1) as scope:
        await run_search(engine, Catalog([Tool(name="hone")]), "hone", 5)
    print("cancelled" if scope.cancelled_caught else "answered")

anyio.run(main)
"""


def test_a_cancelled_search_holds_up_neither_its_caller_nor_the_end_of_the_process() -> None:
    """Would hang: the search waits for its vectors longer than any test runs."""
    assert printed(CANCELLED) == "cancelled"


class Misleading(Bag):
    """Takes every query for the text of one tool that was read early, and holds up the others."""

    def __init__(self, text: str) -> None:
        super().__init__("misleading")
        self.batch = 1
        self.is_waiting, self.let_go = Event(), Event()
        self._text = text

    def tools(self, texts: Sequence[str]) -> Vectors:
        if any("late" in text for text in texts):
            self.is_waiting.set()
            self.let_go.wait()
        return super().tools(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return super().queries([self._text] * len(texts))


@requirement("SEARCH-1")
@pytest.mark.parametrize(
    "query", ["create github issue for a bug", "report a bug and then create a github issue"]
)
def test_tools_not_read_yet_rank_as_by_words_alone(query: str) -> None:
    early = tool("create_issue", "Create an issue: report a bug.", server="jira")
    late = [
        tool("create_issue", "Create an issue, late.", server="github"),
        tool("list_issues", "List issues, late.", server="github"),
    ]
    catalog = Catalog([early, *(tool(f"polish_{at}", "Polish shoes.") for at in range(5)), *late])
    misleading = Misleading(passage(early))
    engine = SearchEngine(embedder=lambda: misleading, cache=None, patience=0)
    engine.search(catalog, query)
    misleading.is_waiting.wait()
    found, expected = names(engine, catalog, query), words_alone(catalog, query)
    assert "mcp_github_create_issue" in expected[:2]
    assert found[: len(expected)] == expected
    misleading.let_go.set()
    # The order is another one as soon as all have been read: the embedder misleads.
    engine.prepare(catalog)
    assert names(engine, catalog, query)[0] == early.name


def test_a_list_that_words_do_not_fill_goes_on_with_the_nearest_tools_read_so_far() -> None:
    early, late = tool("sprinkle", "Water the tomatoes."), tool("polish", "Polish shoes late.")
    misleading = Misleading(passage(early))
    catalog = Catalog([early, late])
    engine = SearchEngine(embedder=lambda: misleading, cache=None, patience=0)
    engine.search(catalog, "polish")
    misleading.is_waiting.wait()
    hits = engine.search(catalog, "polish", 5)
    assert [hit.tool.name for hit in hits] == ["polish", "sprinkle"]
    assert hits[0].score > hits[1].score
    misleading.let_go.set()
