"""Over pipes calls take a short way; nobody can tell it from the SDK's own by the answers."""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.rig import document, rigged
from tests.gateway.ways import (
    alike,
    conversed,
    on_the_long_way,
    on_the_short_way,
)
from tests.gateway.wire import Message, stateless
from tooldrawer.gateway.gateway import Gateway

VERSION, INFO, ABLE, LEVEL = (
    f"io.modelcontextprotocol/{name}"
    for name in ("protocolVersion", "clientInfo", "clientCapabilities", "logLevel")
)
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
PLAIN = Path(__file__).parents[1] / "upstream" / "servers" / "plain.py"
TESTER = {"name": "tester", "version": "1"}
ENVELOPE = {VERSION: "2026-07-28", INFO: TESTER, ABLE: {}}
JOINED: Message = {"method": "notifications/initialized"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A gateway in another thread, and conversations with it."""

    portal: BlockingPortal
    gateway: Gateway

    def short(self, *said: Message) -> list[Message]:
        """What is heard on the short way."""
        return self.portal.call(conversed, self.gateway, on_the_short_way, said)

    def long(self, *said: Message) -> list[Message]:
        """What is heard on the SDK's way."""
        return self.portal.call(conversed, self.gateway, on_the_long_way, said)


@contextmanager
def lined(folder: Path, backend: str) -> Generator[Line]:
    def server(*options: str) -> Message:
        return {"command": sys.executable, "args": ["-S", "-E", str(PLAIN), *options]}

    servers = {"old": server(), "new": server("--modern")}
    running = rigged(folder, document(servers), passthrough=True)
    with (
        start_blocking_portal(backend) as portal,
        portal.wrap_async_context_manager(running) as rig,
    ):
        portal.call(rig.settled)
        yield Line(portal=portal, gateway=rig.gateway)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Generator[Line]:
    logging.getLogger("mcp").setLevel("CRITICAL")  # it tells of every refusal
    with lined(tmp_path_factory.mktemp("line"), "asyncio") as line:
        yield line


def hello(number: int | str = "hello", version: Any = "2025-11-25", **more: Any) -> Message:
    """The request that begins a handshake."""
    params = {"protocolVersion": version, "clientInfo": TESTER, "capabilities": {}, **more}
    return {"id": number, "method": "initialize", "params": params}


def call(number: int | str, tool: str, arguments: Any = None, **params: Any) -> Message:
    """A call of the handshake era."""
    given = {"name": f"mcp_{tool}", "arguments": arguments or {}, **params}
    return {"id": number, "method": "tools/call", "params": given}


def enveloped(message: Message, **changed: Any) -> Message:
    """The same in the stateless era."""
    params = message.get("params", {})
    return {**message, "params": stateless(**{**params, "_meta": _of(params, **changed)})}


def _of(params: Message, **changed: Any) -> Message:
    meta = params.get("_meta")
    keys = {"version": VERSION, "info": INFO, "able": ABLE}
    stamped = {**ENVELOPE, **{keys[name]: value for name, value in changed.items()}}
    return {**stamped, **meta} if isinstance(meta, dict) else stamped


# ---------------------------------------------------------------- any conversation

_ids = st.one_of(st.integers(0, 99), st.integers(0, 99).map(str), st.sampled_from(["a", ""]))
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abä", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
_names = st.sampled_from(
    [
        *(f"mcp_{era}_{tool}" for era in ("old", "new") for tool in ("echo", "meta", "progress")),
        *("mcp_old_log", "mcp_new_log", "mcp_new_refuse", "mcp_old_ask", "mcp_new_ask"),
        *("no such tool", ""),
    ]
)
_tokens: st.SearchStrategy[Any] = st.sampled_from([0, 1, "", "t", "1", True, None, 1.5, [], {}])
_levels: st.SearchStrategy[Any] = st.sampled_from(["debug", "info", "error", "loud", None, 5, {}])
_metas = st.fixed_dictionaries(
    {},
    optional={
        "progressToken": _tokens,
        LEVEL: _levels,
        "own": _json,
        "traceparent": st.just("00-" + "1" * 32 + "-" + "1" * 16 + "-01"),
    },
)
_usual = st.fixed_dictionaries(
    {"name": _names},
    optional={"arguments": st.dictionaries(st.text(max_size=3), _json, max_size=3)},
)
_unusual = st.fixed_dictionaries(
    {},
    optional={
        "name": _names | _json,
        "arguments": _json,
        "_meta": _metas | _json,
        "requestState": st.sampled_from(["made up", "", None, 5]),
        "inputResponses": st.sampled_from([{}, {"k": {"action": "accept"}}, {"k": 5}, [], None]),
        "task": st.sampled_from([{}, {"ttl": 5}, None, 5]),
        "unheard of": _json,
    },
)
_calls = st.builds(
    lambda number, params, meta: {
        "id": number,
        "method": "tools/call",
        "params": {**params, "_meta": meta} if meta else params,
    },
    _ids,
    _usual,
    _metas,
)
_odd_calls = st.builds(
    lambda number, usual, odd: {"id": number, "method": "tools/call", "params": {**usual, **odd}},
    _ids,
    _usual | st.just({}),
    _unusual,
)
_others = st.builds(
    lambda number, method, params: {"id": number, "method": method, "params": params},
    _ids,
    st.sampled_from(
        [
            *("ping", "server/discover", "tools/list", "prompts/list", "logging/setLevel"),
            *("resources/read", "tasks/get", "completion/complete", "nonsense", "initialize"),
        ]
    ),
    st.fixed_dictionaries({}, optional={"level": _levels, "cursor": _json, "_meta": _metas}),
)
_told = st.builds(
    lambda method, params: {"method": method, "params": params},
    st.sampled_from(["notifications/initialized", "notifications/progress", "notifications/x"]),
    st.fixed_dictionaries({}, optional={"progressToken": _tokens, "progress": st.just(1)}),
)
_hellos = st.builds(
    hello,
    _ids,
    st.sampled_from(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x", 5]),
    capabilities=st.sampled_from([{}, {"elicitation": {}}, 5]),
)
_changes = st.fixed_dictionaries(
    {},
    optional={
        "version": st.sampled_from(["2026-07-28", "2025-11-25", "1999-01-01", 5, None]),
        "info": st.sampled_from([TESTER, {"name": "other", "version": "2"}, None, 5, {}]),
        "able": st.sampled_from([{}, {"elicitation": {}}, {"roots": 5}, [], None]),
    },
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Mostly of one era; of several requests with one id the later ones are left out."""
    is_modern = draw(st.booleans())
    said: list[Message] = draw(st.lists(_told, max_size=2)) if draw(st.booleans()) else []
    if not is_modern:
        said += draw(st.just([hello(), JOINED]) | st.lists(_hellos, max_size=1))
    envelope: Message = {}
    for message in draw(st.lists(_calls | _calls | _odd_calls | _others | _told, max_size=6)):
        if draw(st.integers(0, 4)) == 0:
            envelope = draw(_changes)
        wraps = is_modern != (draw(st.integers(0, 9)) == 0)
        said.append(enveloped(message, **envelope) if wraps and "id" in message else message)
    seen: set[str] = set()
    return [
        message
        for message in said
        if "id" not in message or not (str(message["id"]) in seen or seen.add(str(message["id"])))
    ]


@settings(max_examples=2500, deadline=None)
@given(said=conversations())
def test_both_ways_any_conversation_is_answered_alike(line: Line, said: list[Message]) -> None:
    assert alike(line.short(*said)) == alike(line.long(*said))
