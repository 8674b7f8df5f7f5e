"""Endpoints that are dead, that are something else, or that do not keep to the rules."""

import json
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import get_args

import pytest

from tests.agent.models.asking import ask, failure, spec_of
from tests.agent.models.fakes import (
    chunked,
    request,
    response,
    sending,
    sending_on_one_line,
    unheard,
)
from tests.models.request import JsonObject
from tooldrawer.agent.connection import connected
from tooldrawer.agent.spec import WireName
from tooldrawer.errors import (
    AnswerCut,
    KeyRefused,
    ModelOverloaded,
    ModelUnknown,
    ModelUnreachable,
    RequestRefused,
)

pytestmark = pytest.mark.anyio

every_wire = pytest.mark.parametrize("wire", get_args(WireName))
WHOLE: dict[str, JsonObject] = {
    "chat": {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]},
    "responses": {
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "id": "m", "status": "completed",
             "content": [{"type": "output_text", "text": "hello", "annotations": []}]}
        ],
    },
    "anthropic": {"content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"},
}  # fmt: skip


@contextmanager
def dead_port() -> Generator[str]:
    """An address that is taken, and where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@every_wire
async def test_nobody_at_the_port(wire: WireName) -> None:
    with dead_port() as url:
        failed = await failure(wire, url)
    assert isinstance(failed, ModelUnreachable)
    assert url.removeprefix("http://") in str(failed)
    assert "connection refused" in str(failed)
    assert "Look whether the server runs" in str(failed)


@every_wire
async def test_a_host_that_does_not_exist(wire: WireName) -> None:
    failed = await failure(wire, "http://nobody.invalid")
    assert isinstance(failed, ModelUnreachable)
    assert "nobody.invalid" in str(failed)


@every_wire
async def test_a_connection_that_is_closed_without_a_word(wire: WireName) -> None:
    with sending(b"") as url:
        assert isinstance(await failure(wire, url), ModelUnreachable)


@every_wire
async def test_an_answer_that_is_not_http(wire: WireName) -> None:
    with sending(b"SSH-2.0-OpenSSH_9.6\r\n") as url:
        assert isinstance(await failure(wire, url), ModelUnreachable)


@every_wire
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html><body>Welcome</body></html>", "text/html; charset=utf-8"),
        (b"\x00\x01rubbish" * 100, "application/octet-stream"),
        (b"hello", "text/plain"),
        (b'{"hello": "world"}', "application/json"),
        (b"[1, 2]", "application/json"),
        (b"{", "application/json"),
        (b"[" * 100_000, "application/json"),
    ],
)
async def test_a_success_that_is_no_answer_is_a_refusal(
    wire: WireName, body: bytes, kind: str
) -> None:
    with sending(response(body, kind=kind)) as url:
        failed = await failure(wire, url)
    assert isinstance(failed, RequestRefused)
    assert "base URL" in str(failed)


@every_wire
async def test_a_server_that_does_not_stream_is_understood(wire: WireName) -> None:
    body = json.dumps(WHOLE[wire]).encode()
    with sending(response(body, kind="application/json")) as url:
        answered, heard = await ask(wire, url)
    assert answered.text == "hello"
    assert heard == ["hello"]


@every_wire
@pytest.mark.parametrize("data", [b"{oops", b"17", b"[" * 100_000, b'"text"'])
async def test_an_event_that_is_no_json_object_cuts_the_answer(wire: WireName, data: bytes) -> None:
    with sending(response(b"data: " + data + b"\n\n")) as url:
        failed = await failure(wire, url)
    assert isinstance(failed, AnswerCut)
    assert "not JSON" in str(failed)


@every_wire
async def test_an_event_without_an_end_is_stopped(
    wire: WireName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooldrawer.agent.streamed.MOST_BYTES", 100_000)
    with sending(response(b"data: " + b"x" * 300_000)) as url:
        failed = await failure(wire, url)
    assert isinstance(failed, AnswerCut)
    assert "does not come to an end" in str(failed)


@every_wire
async def test_a_stream_that_falls_silent_is_given_up(wire: WireName) -> None:
    begun = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: wait\n\n"
    with sending(begun, hold=True) as url:
        failed = await failure(wire, url, timeout=0.2)
    assert isinstance(failed, ModelUnreachable)
    assert "0.2 seconds" in str(failed)


@pytest.mark.parametrize("hold", [True, False])
async def test_a_stream_that_is_not_closed_after_its_end_is_not_waited_for(*, hold: bool) -> None:
    chunk = {"choices": [{"delta": {"content": "hello"}, "finish_reason": "stop"}]}
    told = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    begun = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    with sending(begun + told, hold=hold) as url:
        answered, _ = await ask("chat", url, timeout=60)
    assert answered.text == "hello"


async def test_what_comes_after_the_end_does_not_matter() -> None:
    chunk = {"choices": [{"delta": {"content": "hello"}, "finish_reason": "stop"}]}
    told = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\ndata: {{oops\n\n".encode()
    with sending(response(told + b"\xff\n" * 1000)) as url:
        answered, _ = await ask("chat", url)
    assert answered.text == "hello"


async def test_a_connection_is_used_again() -> None:
    chunk = {"choices": [{"delta": {"content": "hello"}, "finish_reason": "stop"}]}
    told = chunked(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())
    with sending_on_one_line(told, told, told) as url:
        async with connected(spec_of("chat", url)) as model:
            for _ in range(3):
                assert (await model.answer(request(), unheard)).text == "hello"


@every_wire
async def test_a_redirect_is_not_followed(wire: WireName) -> None:
    with dead_port() as elsewhere:
        moved = response(b"", status="307 Moved", headers=[f"Location: {elsewhere}/"])
        with sending(moved) as url:
            failed = await failure(wire, url)
    assert isinstance(failed, RequestRefused)
    assert "redirect" in str(failed)


@every_wire
async def test_a_page_for_people_is_not_shown_in_an_error(wire: WireName) -> None:
    page = b"<!DOCTYPE html><html><h1>502 Bad Gateway</h1></html>"
    with sending(response(page, status="502 Bad Gateway", kind="text/html")) as url:
        failed = await failure(wire, url)
    assert isinstance(failed, ModelOverloaded)
    assert "<" not in str(failed)


@every_wire
@pytest.mark.parametrize(
    "body",
    [
        b'[{"error": {"code": 401, "message": "no such key", "status": "UNAUTHENTICATED"}}]',
        b'{"detail": "no such key"}',
        b'{"error": "no such key"}',
        b'{"object": "error", "message": "no such key", "code": 401}',
        b"no such key",
        b"no such key\r\n\x1b[2J",
    ],
)
async def test_a_complaint_is_found_in_whatever_shape_it_has(wire: WireName, body: bytes) -> None:
    with sending(response(body, status="401 No", kind="application/json")) as url:
        failed = await failure(wire, url)
    assert isinstance(failed, KeyRefused)
    assert "no such key" in str(failed)
    assert "\x1b" not in str(failed)


@every_wire
async def test_a_long_complaint_is_cut(wire: WireName) -> None:
    with sending(response(b"no " * 100_000, status="400 Bad", kind="text/plain")) as url:
        failed = await failure(wire, url)
    assert isinstance(failed, RequestRefused)
    assert len(str(failed)) < 500


@pytest.mark.parametrize("wire", ["chat", "responses"])
async def test_an_address_without_v1_is_suspected(wire: WireName) -> None:
    missing = response(b"404 page not found", status="404 Not Found", kind="text/plain")
    with sending(missing, missing) as url:
        failed = await failure(wire, url, base_url=url)
    assert isinstance(failed, ModelUnknown)
    assert "/v1" in str(failed)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("Retry-After: 7", 7),
        ("Retry-After: 0.5", 0.5),
        ("retry-after-ms: 1500", 1.5),
        ("Retry-After: Mon, 01 Jan 2024 00:00:00 GMT", 0),
        ("Retry-After: soon", None),
        ("Retry-After: nan", None),
        ("Retry-After: -3", 0),
    ],
)
async def test_what_an_endpoint_asks_to_wait_is_read(header: str, seconds: float | None) -> None:
    with sending(response(b"{}", status="429 Slow", headers=[header])) as url:
        failed = await failure("chat", url)
    assert isinstance(failed, ModelOverloaded)
    assert failed.retry_after == seconds


async def test_an_imitator_that_does_not_count_is_asked_without_counting() -> None:
    no = response(
        b'{"error": {"message": "Unknown parameter: stream_options"}}',
        status="400 Bad",
        kind="application/json",
    )
    yes = response(json.dumps(WHOLE["chat"]).encode(), kind="application/json")
    with sending(no, yes) as url:
        answered, _ = await ask("chat", url)
    assert answered.text == "hello"


def test_an_sdk_that_is_not_installed_is_said_to_be_missing() -> None:
    code = """
import sys
sys.modules["openai"] = sys.modules["anthropic"] = None
import anyio
from tooldrawer.agent.connection import connected
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import ConfigError

async def main(wire):
    try:
        async with connected(ModelSpec(name="m", wire=wire, api_key="key")):
            pass
    except ConfigError as error:
        print(error)

anyio.run(main, "chat")
anyio.run(main, "anthropic")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install 'tooldrawer[agent]'") == 2


def test_no_sdk_is_imported_before_a_model_is_connected() -> None:
    code = """
import sys
import tooldrawer.agent.endpoint, tooldrawer.agent.connection, tooldrawer.agent.retrying
print(sorted({"openai", "anthropic", "httpx2", "httpx"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
