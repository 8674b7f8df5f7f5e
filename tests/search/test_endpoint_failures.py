"""What a server for vectors may do wrong; each is told, and never with the key."""

import json
import socket
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread

import pytest

from tests.search.embedding_server import (
    KEY,
    WIDTH,
    EmbeddingServer,
    Reply,
    answer,
    counted,
    failing,
    model,
)
from tooldrawer.errors import EndpointFailed
from tooldrawer.search.endpoint import Endpoint
from tooldrawer.search.spec import EndpointSpec


def complaint(asking: Endpoint) -> str:
    """What it says when it cannot give a vector; never the key."""
    with pytest.raises(EndpointFailed) as caught:
        asking.queries(["ring the bell"])
    text = str(caught.value)
    assert KEY not in text
    return text


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "Check model and dimensions"),
        (401, "Check api_key"),
        (403, "Check api_key"),
        (404, "/embeddings below it"),
        (413, "not take even one text"),
        (429, "asked too often"),
        (500, "server's log"),
        (503, "server's log"),
    ],
)
def test_a_refusal_is_told_with_its_status_and_what_to_do(
    server: EmbeddingServer, endpoint: Endpoint, status: int, advice: str
) -> None:
    server.reply = failing(status)
    text = complaint(endpoint)
    who = f"The embeddings endpoint {server.origin} with model 'tiny' answered with HTTP {status}. "
    assert text.startswith(who)
    assert advice in text


@pytest.mark.parametrize(
    ("body", "came"),
    [
        (b"", "not JSON"),
        (b"<html>", "not JSON"),
        (b"\xff", "not JSON"),
        (b'{"data": ', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "without a list named data"),
        (b"null", "without a list named data"),
        (b'{"data": {}}', "without a list named data"),
        (b'{"error": "no such model"}', "without a list named data"),
        (b'{"data": []}', "1 texts with 0 vectors"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {}]}', "1 texts with 2 vectors"),
        (b'{"data": [[1]]}', "an item that is no vector"),
        (b'{"data": [{"embedding": [1]}]}', "an item that is no vector"),
        (b'{"data": [{"index": 0}]}', "an item that is no vector"),
        (b'{"data": [{"index": 0, "embedding": []}]}', "an item that is no vector"),
        (b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}', "an item that is no vector"),
        (b'{"data": [{"index": 0, "embedding": ["1"]}]}', "an item that is no vector"),
        (b'{"data": [{"index": 0, "embedding": [true]}]}', "an item that is no vector"),
        (b'{"data": [{"index": 0, "embedding": [[1]]}]}', "an item that is no vector"),
        (b'{"data": [{"index": "0", "embedding": [1]}]}', "an item that is no vector"),
        (b'{"data": [{"index": 1, "embedding": [1]}]}', "each text exactly once"),
        (b'{"data": [{"index": -1, "embedding": [1]}]}', "each text exactly once"),
        (b'{"data": [{"index": 0, "embedding": [1, NaN]}]}', "a number that is none"),
        (b'{"data": [{"index": 0, "embedding": [1, 1e999]}]}', "a number that is none"),
        (b'{"data": [{"index": 0, "embedding": [1%s]}]}' % (b"0" * 400), "a number that is none"),
        (b'{"data": [{"index": 0, "embedding": [0, 0.0, -0.0]}]}', "a vector of zeros"),
    ],
)
def test_what_is_no_answer_is_not_taken_for_one(
    server: EmbeddingServer, endpoint: Endpoint, body: bytes, came: str
) -> None:
    server.reply = lambda _: Reply(body)
    assert came in complaint(endpoint)


def test_an_index_that_is_there_twice_is_not_taken(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    item = {"index": 0, "embedding": [1.0]}
    server.reply = lambda asked: Reply(json.dumps({"data": [item for _ in asked.texts]}).encode())
    with pytest.raises(EndpointFailed, match="did not answer each text exactly once"):
        endpoint.tools(["ring", "lend"])


def test_vectors_of_one_answer_are_equally_wide(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    server.reply = lambda _: answer([[1.0], [1.0, 2.0]])
    with pytest.raises(EndpointFailed, match="a vector of 2 numbers, 1 were expected"):
        endpoint.tools(["ring", "lend"])
    server.reply = model
    assert endpoint.tools(["ring"]).shape == (1, WIDTH)


def test_vectors_of_all_answers_are_equally_wide(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    endpoint.tools(["ring"])
    server.reply = lambda asked: answer([counted(text, 8) for text in asked.texts])
    text = complaint(endpoint)
    assert f"gave a vector of 8 numbers, {WIDTH} were expected" in text
    assert "Another model seems to have that name now" in text


def test_a_model_that_cannot_give_fewer_dimensions_is_told(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    server.reply = lambda asked: answer([counted(text) for text in asked.texts])
    text = complaint(Endpoint(replace(spec, dimensions=8)))
    assert "gave a vector of 64 numbers, 8 were expected. Leave dimensions out" in text


def test_an_answer_without_end_is_not_read_to_its_end(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    def endless(write: Callable[[bytes], object]) -> None:
        while True:  # until the other side hangs up
            write(b" " * 65_536)

    server.reply = lambda _: Reply(endless)
    assert "answered with more than any vectors need" in complaint(endpoint)


def test_a_server_that_never_answers_is_waited_for_no_longer_than_said(spec: EndpointSpec) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        text = complaint(Endpoint(replace(spec, url=url, timeout=0.2)))
    assert f"{url} with model 'tiny' did not answer within 0.2 seconds. Start it, or set" in text


def test_a_server_that_answers_a_byte_at_a_time_is_not_waited_for_either(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    never = Event()

    def slowly(write: Callable[[bytes], object]) -> None:
        while not never.wait(0.01):  # until the other side hangs up
            write(b" ")

    server.reply = lambda _: Reply(slowly)
    text = complaint(Endpoint(replace(spec, timeout=0.2)))
    assert "did not answer within 0.2 seconds" in text


def test_nobody_at_the_address_is_told(server: EmbeddingServer, endpoint: Endpoint) -> None:
    server.stop()
    assert "cannot be reached (Connection refused). Start it, or set" in complaint(endpoint)


def test_what_is_not_http_is_told(spec: EndpointSpec) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        asking = Endpoint(replace(spec, url=url))

        def parrot() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(connection.recv(65_536))

        thread = Thread(target=parrot)
        thread.start()
        assert "gave no HTTP answer" in complaint(asking)
        thread.join()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_so_that_the_key_stays_here(
    server: EmbeddingServer, endpoint: Endpoint, status: int
) -> None:
    with EmbeddingServer() as other:
        headers = {"Location": f"{other.url}/embeddings"}
        server.reply = lambda _: Reply(status=status, headers=headers)
        assert f"answered with a redirect (HTTP {status}). It is not" in complaint(endpoint)
        assert other.received == []
