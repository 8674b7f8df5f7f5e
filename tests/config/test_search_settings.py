"""How tools are searched: by meaning or by words alone, and with whose vectors."""

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from tests.requirements import requirement
from tests.search.embedding_server import KEY, EmbeddingServer, failing
from tooldrawer import Config, Drawer, FunctionToolset, Grants, Session, ToolResult
from tooldrawer.config import parse
from tooldrawer.errors import ConfigError
from tooldrawer.search import EVERYTHING, LEXICAL
from tooldrawer.search.spec import EndpointSpec

Write = Callable[[str], None]
later = count(1_900_000_000_000_000_000, 1_000_000_000)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No proxy, and vectors kept away from the user's own."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TD_TEST_KEY", KEY)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tooldrawer.yaml"


@pytest.fixture
def write(path: Path) -> Write:
    """Writes the file, each time with a later date."""

    def write(text: str) -> None:
        path.write_text(f"tools: {{tool_search: {{enabled: on, {text}}}}}", encoding="utf-8")
        stamp = next(later)
        os.utime(path, ns=(stamp, stamp))

    return write


@pytest.fixture
def opened(
    path: Path, desk: FunctionToolset, grants: Grants, write: Write
) -> Callable[[str], Drawer]:
    """Makes a drawer of a file with those settings of the search."""

    def make(text: str) -> Drawer:
        write(text)
        return Drawer.from_config(path, toolsets=[desk], grants=grants)

    return make


Opened = Callable[[str], Drawer]


def read(text: str, **environment: str) -> Config:
    return parse(dedent(text), name="x.yaml", environment=environment)


async def searched(session: Session, query: str = "delete a note") -> ToolResult:
    with anyio.fail_after(60):
        return await session.call("tool_search", {"query": query})


@requirement("CFG-2")
@pytest.mark.parametrize(
    ("written", "meant"),
    [("{}", EVERYTHING), ("{search: hybrid}", EVERYTHING), ("{search: lexical}", LEXICAL)],
)
def test_search_is_by_meaning_too_unless_words_alone_are_wanted(
    written: str, meant: object
) -> None:
    assert read(f"tools: {{tool_search: {written}}}").recipe == meant


@requirement("CFG-2")
def test_vectors_are_the_packages_own_unless_an_endpoint_is_named() -> None:
    assert read("tools: {tool_search: {embeddings: ~}}").embeddings is None
    small = "tools: {tool_search: {embeddings: {url: 'http://localhost:11434/v1', model: small}}}"
    assert read(small).embeddings == EndpointSpec(url="http://localhost:11434/v1", model="small")


@requirement("CFG-4")
def test_every_setting_of_an_endpoint_is_read_and_its_key_filled() -> None:
    found = read(
        """
        tools:
          tool_search:
            embeddings:
              url: https://${HOST}/v1
              model: large
              api_key: ${KEY}
              query_prefix: "query: "
              tool_prefix: "passage: "
              dimensions: 256
              timeout: 2.5
        """,
        HOST="embed.example",
        KEY=KEY,
    )
    assert found.embeddings == EndpointSpec(
        url="https://embed.example/v1",
        model="large",
        api_key=KEY,
        query_prefix="query: ",
        tool_prefix="passage: ",
        dimensions=256,
        timeout=2.5,
    )


@requirement("CFG-4")
def test_a_key_may_be_optional_but_not_missing() -> None:
    text = "tools: {tool_search: {embeddings: {url: 'http://here', model: m, api_key: '%s'}}}"
    found = read(text % "${GONE:-}").embeddings
    assert found is not None
    assert found.api_key == ""
    with pytest.raises(ConfigError) as caught:
        read(text % "${GONE}")
    assert str(caught.value) == (
        "x.yaml:1: tools.tool_search.embeddings.api_key needs the environment variable GONE, "
        "which is not set."
    )


@pytest.mark.anyio
@requirement("CFG-2")
async def test_a_drawer_asks_the_endpoint_of_its_file(
    opened: Opened, server: EmbeddingServer
) -> None:
    drawer = opened(
        f"embeddings: {{url: '{server.url}', model: tiny, api_key: '${{TD_TEST_KEY}}', "
        "query_prefix: 'query: ', tool_prefix: 'tool: '}"
    )
    found = await searched(drawer.session())
    assert "delete_note" in found.text
    assert {asked.key for asked in server.received} == {f"Bearer {KEY}"}
    assert {text.partition(":")[0] for text in server.texts} == {"query", "tool"}


@pytest.mark.anyio
@requirement("CFG-4")
async def test_a_model_is_told_that_the_endpoint_failed_but_not_the_key(
    opened: Opened, server: EmbeddingServer
) -> None:
    server.reply = failing(401)
    settings = f"url: '{server.url}', model: tiny, api_key: '${{TD_TEST_KEY}}'"
    drawer = opened(f"embeddings: {{{settings}}}")
    found = await searched(drawer.session())
    assert "delete_note" in found.text
    assert "answered with HTTP 401" in found.text
    assert KEY not in found.text
    assert not [event for event in drawer.activity if KEY in repr(event)]


@pytest.mark.anyio
@requirement("CFG-2")
async def test_search_by_words_alone_asks_nobody(opened: Opened, server: EmbeddingServer) -> None:
    drawer = opened(f"search: lexical, embeddings: {{url: '{server.url}', model: tiny}}")
    found = await searched(drawer.session())
    assert "delete_note" in found.text
    assert "meaning" not in found.text
    assert server.received == []


@pytest.mark.anyio
@requirement("CFG-2")
async def test_a_changed_endpoint_is_asked_from_the_next_search_on(
    opened: Opened, write: Write, server: EmbeddingServer
) -> None:
    drawer = opened("search: lexical")
    session = drawer.session()
    before = drawer.search
    await searched(session)
    write(f"embeddings: {{url: '{server.url}', model: tiny}}")
    await searched(session)
    assert {asked.body["model"] for asked in server.received} == {"tiny"}
    write(f"embeddings: {{url: '{server.url}', model: small}}")
    await searched(session)
    assert server.received[-1].body["model"] == "small"
    asked = len(server.received)
    write("search: lexical")
    await searched(session)
    assert len(server.received) == asked
    assert drawer.search is not before


@requirement("BR-10")
@pytest.mark.parametrize(("most", "default"), [(3, 3), (5, 5), (8, 5)])
def test_the_default_limit_follows_a_smaller_maximum(most: int, default: int) -> None:
    text = f"tools: {{tool_search: {{max_search_limit: {most}}}}}"
    search = parse(text, name="t.yaml").search
    assert (search.default_limit, search.max_limit) == (default, most)


@pytest.mark.anyio
@requirement("CFG-2")
async def test_other_changes_of_the_file_keep_what_was_indexed(
    opened: Opened, write: Write
) -> None:
    drawer = opened("search: lexical")
    before = drawer.search
    write("search: lexical, search_default_limit: 3")
    await searched(drawer.session())
    assert drawer.config.search.default_limit == 3
    assert drawer.search is before
