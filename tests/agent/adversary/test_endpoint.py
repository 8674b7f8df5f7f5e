"""A hostile endpoint: what it says is never too long, and the key goes nowhere else."""

import re
import socket
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from typing import get_args

import anyio
import pytest

from tests.agent.models.asking import failure
from tests.agent.models.fakes import KEY, response, sending
from tooldrawer.agent.failures import Complaint, refused
from tooldrawer.agent.spec import ModelSpec, WireName
from tooldrawer.errors import KeyRefused, ModelUnknown, RequestRefused

pytestmark = pytest.mark.anyio
every_wire = pytest.mark.parametrize("wire", get_args(WireName))

NO_MODEL = response(
    b'{"error": {"message": "no"}}', status="404 Not Found", kind="application/json"
)
SPEC = ModelSpec(name="m", wire="chat", base_url="http://h/v1", api_key="a/bcdefg+hi=/jk12")


@contextmanager
def pouring(*answers: Iterable[bytes]) -> Generator[str]:
    """A server that pours each answer into a connection of its own, until nobody takes more."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(65536)
                    for piece in answer:
                        connection.sendall(piece)

        thread = threading.Thread(target=serve, name="pouring")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with socket.socket() as last:  # the one that is still waited for
                last.connect_ex(listener.getsockname())
            thread.join()


def _endless(status: str) -> Iterable[bytes]:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    return chain([head.encode()], repeat(b" " * 100_000))


@every_wire
async def test_a_refusal_without_an_end_is_left(wire: WireName) -> None:
    with pouring(_endless("400 Bad Request")) as url, anyio.fail_after(60):
        assert isinstance(await failure(wire, url), RequestRefused)


@every_wire
async def test_a_list_of_models_without_an_end_is_left(wire: WireName) -> None:
    with pouring([NO_MODEL], _endless("200 OK")) as url, anyio.fail_after(60):
        assert isinstance(await failure(wire, url), ModelUnknown)


@every_wire
async def test_a_refusal_that_is_packed_wrongly_is_still_a_refusal(wire: WireName) -> None:
    body = response(b"rubbish", status="401 Unauthorized", headers=["Content-Encoding: gzip"])
    with sending(body) as url:
        assert isinstance(await failure(wire, url), KeyRefused)


@every_wire
async def test_a_list_of_models_is_not_looked_for_elsewhere(wire: WireName) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(0)
        target = f"Location: http://127.0.0.1:{elsewhere.getsockname()[1]}/models"
        moved = response(b"", status="302 Found", headers=[target])
        with sending(NO_MODEL, moved) as url:
            assert isinstance(await failure(wire, url), ModelUnknown)
        with pytest.raises(BlockingIOError):  # nobody has come
            elsewhere.accept()


def test_the_kind_of_an_error_is_cut_before_it_is_looked_through() -> None:
    # Uncut, it kept the event loop for minutes: the square of a million.
    complaint = Complaint.in_event({"error": {"type": "exceed " * 150_000, "message": "x"}})
    assert complaint is not None
    assert len(complaint.kind) < 1_000
    assert isinstance(refused(SPEC, complaint), RequestRefused)


def test_a_key_is_masked_whatever_characters_it_has() -> None:
    said = str(refused(SPEC, Complaint(status=401, text=f"bad key {SPEC.api_key}")))
    assert not re.search("a/b|hi=|jk12", said)
    assert KEY not in said


def test_names_of_models_are_named_only_when_they_are_names() -> None:
    said = str(refused(SPEC, Complaint(status=404), names=["m" * 10_000, "mm"]))
    assert said.endswith("The nearest that it has: mm.")
