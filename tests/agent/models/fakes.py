"""Requests, waits without time, and a server that sends any bytes."""

import socket
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import ModelFailed
from tooldrawer.tool import Tool
from tooldrawer.wire.message import Request, Said

KEY = "sk-test-0123456789-secret"
SPEC = ModelSpec(name="scripted", wire="chat", api_key=KEY)
READ_NOTE = Tool(
    name="read_note",
    description="Read a note.",
    parameters={"type": "object", "properties": {"title": {"type": "string"}}},
)


def request(
    text: str = "hello", *, model: str = "scripted", tools: Sequence[Tool] = (READ_NOTE,)
) -> Request:
    return Request(
        model=model,
        system="Be brief.",
        tools=tools,
        messages=[Said(text=text)],
        max_output=1000,
    )


def unheard(text: str) -> None:
    """For those who only want the whole answer."""
    del text


@dataclass(slots=True)
class Waits:
    """Sleeps in no time, and remembers."""

    slept: list[float] = field(default_factory=list[float])
    seen: list[tuple[float, ModelFailed]] = field(default_factory=list[tuple[float, ModelFailed]])

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def told(self, seconds: float, failure: ModelFailed) -> None:
        self.seen.append((seconds, failure))


def response(
    body: bytes,
    *,
    status: str = "200 OK",
    kind: str = "text/event-stream",
    headers: Sequence[str] = (),
) -> bytes:
    """A whole HTTP response; the connection is closed after it."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join((*lines, *headers, "Connection: close", "", "")).encode() + body


def chunked(body: bytes) -> bytes:
    """A whole HTTP response after which the connection stays open."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked"
    return head + b"\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


@contextmanager
def sending(*answers: bytes, hold: bool = False) -> Generator[str]:
    """A server that sends these bytes, one answer a connection, and then closes or keeps still."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(
            target=_serve, args=(listener, answers, done if hold else None), name="bytes"
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            done.set()
            with socket.socket() as last:  # the one that is still waited for
                last.connect_ex(listener.getsockname())
            thread.join()


def _serve(listener: socket.socket, answers: Sequence[bytes], hold: threading.Event | None) -> None:
    for answer in answers:
        connection, _ = listener.accept()
        with connection:
            if not _read_request(connection):
                return
            connection.sendall(answer)
            if hold is not None:
                hold.wait(30)


@contextmanager
def sending_on_one_line(*answers: bytes) -> Generator[str]:
    """A server that takes one connection only, and answers all requests there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                for answer in answers:
                    if _read_request(connection):
                        connection.sendall(answer)

        thread = threading.Thread(target=serve, name="one line")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            thread.join()


def _read_request(connection: socket.socket) -> bool:
    """Take in a request to its end: a socket closed with bytes unread is reset."""
    read = b""
    while b"\r\n\r\n" not in read:
        piece = connection.recv(65536)
        if not piece:
            return False
        read += piece
    head, _, body = read.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    left = int(lengths[0].partition(b":")[2]) - len(body) if lengths else 0
    while left > 0:
        left -= len(connection.recv(65536))
    return True
