"""A real server for embeddings: over HTTP, with a model so small that it fits into a function."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self

KEY = "sk-swordfish-5512"
WIDTH = 64
MEANS = {"zorble": "water"}
"""What the model knows, and no dictionary of ours does."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in."""

    path: str
    key: str | None
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return self.body["input"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes out; a body in pieces has no length that is known before."""

    body: bytes | Callable[[Callable[[bytes], object]], object] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])


def counted(text: str, width: int = WIDTH) -> list[float]:
    """How often each word is there, by a number that stands for it."""
    row = [0.0] * width
    row[0] = 0.1
    words: list[str] = re.findall(r"[a-z]+", text.lower())
    for word in words:
        digest = blake2b(MEANS.get(word, word).encode(), digest_size=4).digest()
        row[int.from_bytes(digest, "big") % width] += 1.0
    return row


def answer(rows: Sequence[object]) -> Reply:
    """The vectors in the shape of OpenAI's API."""
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return Reply(json.dumps({"object": "list", "data": data}).encode())


def failing(status: int) -> Callable[[Asked], Reply]:
    """Refuses, and repeats the key that it was given."""
    return lambda asked: Reply(f"no, {asked.key}".encode(), status)


def model(asked: Asked) -> Reply:
    """Vectors for every text, as wide as was asked for."""
    width = asked.body.get("dimensions", WIDTH)
    return answer([counted(text, width) for text in asked.texts])


class EmbeddingServer:
    """Runs in a thread until it is left or stopped; `reply` may be exchanged at any time."""

    def __init__(self, reply: Callable[[Asked], Reply] = model) -> None:
        self.reply: Callable[[Asked], Reply] = reply
        self.received: list[Asked] = []
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.origin}/v1"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def texts(self) -> list[str]:
        """All texts that it was asked for."""
        return [text for asked in self.received for text in asked.texts]

    def stop(self) -> None:
        """From now on nobody listens."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                asked = Asked(self.path, self.headers["Authorization"], json.loads(body))
                server.received.append(asked)
                reply = server.reply(asked)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if callable(reply.body):
                    reply.body(self.wfile.write)
                else:
                    self.wfile.write(reply.body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Says nothing."""

        return Handler


class _Quiet(ThreadingHTTPServer):
    """Does not print that a client went away."""

    def handle_error(self, request: object, client_address: object) -> None:
        del request, client_address
