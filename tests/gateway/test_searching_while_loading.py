"""While servers are starting, a search reply states what was searched and names who is missing."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.gateway.rig import (
    LONG,
    STATELESS,
    Document,
    document,
    goods,
    let_in,
    over_stdio,
    placed,
    rigged,
    searched,
    shelf,
    talking,
    tool,
    write,
)
from tests.requirements import requirement
from tests.search.embedders import Bag
from tooldrawer import Drawer, Scope, Session
from tooldrawer.search import embedder
from tooldrawer.search.embedder import Vectors
from tooldrawer.upstream.upstream import Upstream

pytestmark = pytest.mark.anyio

MISSING = "Searched 1 tool of 1 server. Still starting: late; search again in a few seconds."


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The server `late` answers when this is there."""
    return tmp_path / "gate"


@pytest.fixture
def servers(tmp_path: Path, gate: Path) -> dict[str, Document]:
    """One that is there at once, and one that is not."""
    early = goods(tmp_path / "early.json", tool("plant", "Plant a tree"))
    late = goods(tmp_path / "late.json", tool("cut", "Cut a tree"))
    return {"early": shelf(early), "late": shelf(late, "--hold", str(gate))}


async def search(session: Session) -> Document:
    result = await session.call("tool_search", {"query": "tree"})
    assert not result.is_error
    return json.loads(result.text)


class LetsIn(Bag):
    """While it reads about the tools of a search, the server that was missing arrives."""

    def __init__(self, gate: Path, arrived: Event) -> None:
        super().__init__()
        self._gate, self._arrived = gate, arrived

    def tools(self, texts: Sequence[str]) -> Vectors:
        let_in(self._gate)
        assert self._arrived.wait(LONG)
        return super().tools(texts)


@requirement("SEARCH-9")
async def test_the_note_is_about_the_tools_that_were_searched_whoever_arrives_meanwhile(
    tmp_path: Path,
    gate: Path,
    servers: dict[str, Document],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    early_is_there, late_is_there = anyio.Event(), Event()

    def changed(upstream: Upstream) -> None:
        if upstream.is_known:
            early_is_there.set() if upstream.spec.name == "early" else late_is_there.set()

    monkeypatch.setattr(embedder, "shipped", lambda: LetsIn(gate, late_is_there))
    settings = document(servers, search={"search": "hybrid"}, gateway={"first_search_wait": 0})
    with placed(tmp_path), anyio.fail_after(LONG):
        drawer = Drawer.from_config(write(tmp_path / "tooldrawer.yaml", settings))
        async with drawer.connected(changed=changed), drawer.session() as session:
            await early_is_there.wait()
            first, second = await search(session), await search(session)
    assert first["total_available"] == 1
    assert first["note"] == MISSING
    assert second["total_available"] == 2
    assert "Still starting" not in str(second)


@requirement("SEARCH-9")
async def test_a_session_of_the_library_names_who_is_missing_in_its_scope_only(
    tmp_path: Path, servers: dict[str, Document]
) -> None:
    early_is_there = anyio.Event()

    def changed(upstream: Upstream) -> None:
        if upstream.is_known:
            early_is_there.set()

    with placed(tmp_path), anyio.fail_after(LONG):
        settings = document(servers, gateway={"first_search_wait": 0})
        drawer = Drawer.from_config(write(tmp_path / "tooldrawer.yaml", settings))
        async with drawer.connected(changed=changed):
            await early_is_there.wait()
            everything = await search(drawer.session())
            narrow = await search(drawer.session(scope=Scope(toolsets=["mcp-early"])))
    assert everything["note"] == MISSING
    assert "note" not in narrow


@requirement("SEARCH-9")
async def test_the_first_search_of_a_cold_process_accounts_for_every_server(
    tmp_path: Path, gate: Path
) -> None:
    names = [f"garden{number}" for number in range(8)]
    held = {"garden2", "garden5"}
    entries: dict[str, Document] = {}
    for name in names:
        file = goods(tmp_path / f"{name}.json", tool("dig"), tool("plant"))
        entries[name] = shelf(file, *(("--hold", str(gate)) if name in held else ()))
    settings = document(entries, gateway={"first_search_wait": 1})
    with anyio.fail_after(LONG):
        async with talking(over_stdio(tmp_path, settings), STATELESS) as client:
            reply = await searched(client, "dig")
    # How many came in time depends on the machine; that the reply is about these does not.
    said = re.fullmatch(
        r"Searched (\d+) tools? of (\d+) servers?\. Still starting: (.+); search again .*",
        str(reply["note"]),
    )
    assert said is not None
    tools, count, missing = int(said[1]), int(said[2]), set(said[3].split(", "))
    assert tools == reply["total_available"] == 2 * count
    assert held <= missing <= set(names)
    assert count + len(missing) == len(names)


@requirement("SEARCH-9")
async def test_nobody_waits_for_a_server_that_was_taken_out_of_the_configuration(
    tmp_path: Path, servers: dict[str, Document]
) -> None:
    replies: list[Any] = []
    settings = document(servers, gateway={"first_search_wait": 600})
    async with rigged(tmp_path, settings) as rig, rig.client(STATELESS) as client:
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:

                async def first_search() -> None:
                    replies.append(await searched(client, "tree"))

                tasks.start_soon(first_search)
                while not len(rig.gateway.handlers.in_flight):
                    await anyio.lowlevel.checkpoint()
                del servers["late"]
                rig.rewrite(document(servers, gateway={"first_search_wait": 600}))
    (reply,) = replies
    assert [match["name"] for match in reply["matches"]] == ["mcp_early_plant"]
    assert "note" not in reply
