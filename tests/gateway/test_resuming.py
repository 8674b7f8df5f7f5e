"""A stream that breaks off is taken up again where it broke, by its own client only."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCNotification

from tests.gateway.rig import HANDSHAKE, LONG, Document, document
from tests.gateway.web import Site, served
from tooldrawer import FunctionToolset
from tooldrawer.gateway.journal import Journal, Pages

pytestmark = pytest.mark.anyio
_PLAIN = {"accept": "application/json, text/event-stream"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Visit:
    """A client that shook hands, and says exactly what it is told."""

    def __init__(self, http: httpx2.AsyncClient, session: str) -> None:
        self._http = http
        self._headers = {**_PLAIN, "mcp-session-id": session, "mcp-protocol-version": HANDSHAKE}

    @asynccontextmanager
    async def calling(self, name: str) -> AsyncGenerator["Events"]:
        """The stream of a call's answer, which is request number 2 of every client."""
        params: Document = {"name": name, "arguments": {}}
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        async with self._http.stream("POST", "/mcp", json=message, headers=self._headers) as found:
            yield Events(found)

    @asynccontextmanager
    async def back(self, last: str) -> AsyncGenerator["Events"]:
        """The stream that goes on after an event."""
        headers = {**self._headers, "last-event-id": last}
        async with self._http.stream("GET", "/mcp", headers=headers) as found:
            yield Events(found)


class Events:
    """The events of a stream."""

    def __init__(self, response: httpx2.Response) -> None:
        assert response.status_code == 200
        self._lines = response.aiter_lines()

    async def next(self) -> Document | None:
        """The fields of the next one; nothing when the stream is over."""
        fields: Document = {}
        with anyio.fail_after(LONG):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if not line and fields:
                    return fields
                if name:
                    fields[name] = value
        return None


async def shake_hands(site: Site) -> Visit:
    params = {
        "protocolVersion": HANDSHAKE,
        "capabilities": {},
        "clientInfo": {"name": "visitor", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    response = await site.http.post("/mcp", json=message, headers=_PLAIN)
    session = response.headers["mcp-session-id"]
    headers = {**_PLAIN, "mcp-session-id": session}
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await site.http.post("/mcp", json=done, headers=headers)).status_code == 202
    return Visit(site.http, session)


def _answer(event: Document | None) -> Any:
    assert event is not None
    return json.loads(event["data"])["result"]["content"][0]["text"]


async def test_an_answer_is_given_to_who_lost_the_stream_and_to_nobody_else(
    tmp_path: Path,
) -> None:
    go_on = anyio.Event()

    async def secret() -> str:
        """Tell a secret, when it is time."""
        await go_on.wait()
        return "the secret"

    async def hello() -> str:
        """Say hello."""
        return "hello"

    local = FunctionToolset("local", [secret, hello])
    async with served(tmp_path, document({}), toolsets=(local,)) as site:
        ann, bob = await shake_hands(site), await shake_hands(site)
        async with ann.calling("secret") as events:
            first = await events.next()
        assert first is not None
        assert (first.get("data", ""), first["retry"]) == ("", "1000")
        async with bob.calling("hello") as events:
            begin = await events.next()
            assert _answer(await events.next()) == "hello"
        assert begin == first  # both count alike
        go_on.set()
        async with ann.back(first["id"]) as events:
            event = await events.next()
            while event is not None and not event.get("data"):
                event = await events.next()  # the mark that the stream is taken up
            assert _answer(event) == "the secret"
        async with bob.back(first["id"]) as events:
            assert _answer(await events.next()) == "hello"


async def test_a_stream_that_nobody_knows_is_over_at_once(tmp_path: Path) -> None:
    async with served(tmp_path, document({})) as site:
        visit = await shake_hands(site)
        for unknown in ("1000", "none", "-1", "9" * 5000):
            async with visit.back(unknown) as events:
                assert await events.next() is None


def _said(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="m", params={"text": [text]})


async def _after(pages: Pages, last: str) -> tuple[str | None, list[str]]:
    found: list[str] = []

    async def send(event: EventMessage) -> None:
        assert isinstance(event.message, JSONRPCNotification)
        found.append((event.message.params or {})["text"][0])

    return await pages.replay_events_after(last, send), found


async def test_only_what_came_later_in_the_same_stream_is_sent_again() -> None:
    pages = Pages(Journal())
    begin = await pages.store_event("1", None)
    await pages.store_event("2", _said("other"))
    one = await pages.store_event("1", _said("one"))
    await pages.store_event("1", None)
    await pages.store_event("1", _said("two"))
    assert await _after(pages, begin) == ("1", ["one", "two"])
    assert await _after(pages, one) == ("1", ["two"])


async def test_the_oldest_messages_of_all_are_forgotten_first() -> None:
    journal = Journal(most=10_000)
    old, new = Pages(journal), Pages(journal)
    begin = await old.store_event("1", None)
    first = await old.store_event("1", _said("x" * 1_000))
    assert await _after(old, begin) == ("1", ["x" * 1_000])
    last = await new.store_event("1", None)
    for _ in range(20):
        last = await new.store_event("1", _said("y" * 1_000))
    assert await _after(old, begin) == (None, [])
    assert await _after(old, first) == (None, [])
    assert await _after(new, "1") == (None, [])
    assert await _after(new, last) == ("1", [])


async def test_a_message_too_large_to_keep_ends_what_can_be_taken_up() -> None:
    pages = Pages(Journal(most_of_one=10_000))
    begin = await pages.store_event("1", None)
    await pages.store_event("1", _said("small"))
    large = await pages.store_event("1", _said("x" * 20_000))
    await pages.store_event("2", None)
    assert await _after(pages, begin) == (None, [])
    assert await _after(pages, large) == ("1", [])
