"""Vectors from a server: what it is sent, what is taken from it, what they are kept under."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.search.embedding_server import (
    KEY,
    WIDTH,
    Asked,
    EmbeddingServer,
    Reply,
    answer,
    counted,
    model,
)
from tooldrawer.errors import ConfigError
from tooldrawer.search.endpoint import Endpoint
from tooldrawer.search.spec import EndpointSpec


def test_vectors_have_length_one_and_point_where_the_servers_do(endpoint: Endpoint) -> None:
    texts = ["water the plants", "plants plants plants", "ring"]
    for vectors in (endpoint.tools(texts), endpoint.queries(texts)):
        assert (vectors.dtype, vectors.shape) == (np.float32, (3, WIDTH))
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
        for text, vector in zip(texts, vectors, strict=True):
            given = np.array(counted(text))
            assert np.allclose(vector, given / np.linalg.norm(given))


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e307])
def test_very_large_and_very_small_numbers_keep_their_direction(
    server: EmbeddingServer, endpoint: Endpoint, scale: float
) -> None:
    server.reply = lambda asked: answer([[3 * scale, -4 * scale] for _ in asked.texts])
    assert np.allclose(endpoint.tools(["a"]), [[0.6, -0.8]])


def test_whole_numbers_are_numbers_too(server: EmbeddingServer, endpoint: Endpoint) -> None:
    server.reply = lambda asked: answer([[3, 4] for _ in asked.texts])
    assert np.allclose(endpoint.tools(["a"]), [[0.6, 0.8]])


def test_the_model_and_the_texts_are_sent_with_their_prefixes(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    asking = Endpoint(replace(spec, query_prefix="query: ", tool_prefix="tool: "))
    asking.queries(["ring the bell"])
    asking.tools(["door: ring_bell"])
    assert [asked.body for asked in server.received] == [
        {"model": "tiny", "input": ["query: ring the bell"]},
        {"model": "tiny", "input": ["tool: door: ring_bell"]},
    ]
    assert {asked.path for asked in server.received} == {"/v1/embeddings"}


def test_a_slash_at_the_end_of_the_address_does_not_matter(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    asking = Endpoint(replace(spec, url=f"{server.url}/"))
    asking.queries(["ring"])
    assert server.received[0].path == "/v1/embeddings"
    assert asking.identity == Endpoint(spec).identity


def test_the_key_is_sent_as_a_bearer_and_only_when_there_is_one(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    Endpoint(spec).queries(["ring"])
    Endpoint(replace(spec, api_key="")).queries(["ring"])
    assert [asked.key for asked in server.received] == [f"Bearer {KEY}", None]


def test_dimensions_are_asked_for_only_when_they_are_set(
    server: EmbeddingServer, spec: EndpointSpec
) -> None:
    assert Endpoint(replace(spec, dimensions=8)).queries(["ring"]).shape == (1, 8)
    assert Endpoint(spec).queries(["ring"]).shape == (1, WIDTH)
    assert [asked.body.get("dimensions") for asked in server.received] == [8, None]


def test_many_texts_go_in_batches_and_come_back_in_order(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    texts = ["ring " * at for at in range(1, 131)]
    vectors = endpoint.tools(texts)
    assert [len(asked.texts) for asked in server.received] == [64, 64, 2]
    given = np.array([counted(text) for text in texts])
    assert np.allclose(vectors, given / np.linalg.norm(given, axis=1, keepdims=True))


def test_a_server_that_takes_fewer_at_once_is_sent_fewer(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    expected = endpoint.tools(["ring " * at for at in range(1, 131)])
    server.received.clear()
    server.reply = lambda asked: model(asked) if len(asked.texts) <= 20 else Reply(status=413)
    assert np.array_equal(endpoint.tools(["ring " * at for at in range(1, 131)]), expected)
    assert [len(asked.texts) for asked in server.received[:6]] == [64, 32, 16, 16, 16, 16]


def test_half_a_character_does_not_stop_the_others(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    endpoint.tools(["ring\ud800", "größer"])
    assert server.texts == ["ring?", "größer"]


def test_a_query_is_asked_once_as_long_as_it_is_remembered(
    server: EmbeddingServer, endpoint: Endpoint
) -> None:
    first = endpoint.queries(["ring", "lend", "ring"])
    again = endpoint.queries(["lend", "ring"])
    assert server.texts == ["ring", "lend"]
    assert np.array_equal(first, again[[1, 0, 1]])
    endpoint.queries([f"number {at}" for at in range(255)])
    endpoint.queries(["ring"])
    assert server.texts.count("ring") == 1
    endpoint.queries(["lend"])
    assert server.texts.count("lend") == 2


def test_vectors_are_ordered_by_their_index(server: EmbeddingServer, endpoint: Endpoint) -> None:
    expected = endpoint.tools(["ring", "lend", "water"])

    def turned(asked: Asked) -> Reply:
        body = model(asked).body
        assert isinstance(body, bytes)
        return Reply(json.dumps({"data": json.loads(body)["data"][::-1]}).encode())

    server.reply = turned
    assert np.array_equal(endpoint.tools(["ring", "lend", "water"]), expected)


def test_the_identity_changes_with_all_that_vectors_depend_on(spec: EndpointSpec) -> None:
    others = [
        replace(spec, model="small"),
        replace(spec, url="http://elsewhere/v1"),
        replace(spec, query_prefix="q: "),
        replace(spec, tool_prefix="q: "),
        replace(spec, dimensions=8),
    ]
    assert len({Endpoint(one).identity for one in (spec, *others)}) == 6


def test_the_identity_stays_with_another_key_or_timeout(spec: EndpointSpec) -> None:
    other = replace(spec, api_key="sk-other", timeout=1, batch=3)
    assert Endpoint(other).identity == Endpoint(spec).identity


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434",
        "ftp://localhost/v1",
        "file:///etc/passwd",
        "http://",
        "http:///v1",
        "http://[::1/v1",
        "http://here:port/v1",
        "http://here:99999/v1",
        "http://here/v1?key=swordfish",
        "http://here/v1#swordfish",
        "http://me:swordfish@here/v1",
        "http://he re/v1",
        "http://here/v1\r\nX: swordfish",
        "http://größe/v1",
    ],
)
def test_an_address_that_cannot_be_asked_is_a_mistake_in_the_settings(url: str) -> None:
    with pytest.raises(ConfigError, match=r"tools\.tool_search\.embeddings\.url ") as caught:
        Endpoint(EndpointSpec(url=url, model="tiny"))
    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize("key", [f"{KEY}\n", f"Bearer {KEY}", f"{KEY}\0", f"{KEY}é"])
def test_a_key_that_cannot_be_sent_is_a_mistake_that_does_not_repeat_it(key: str) -> None:
    with pytest.raises(ConfigError, match=r"embeddings\.api_key has spaces or other") as caught:
        Endpoint(EndpointSpec(url="http://here/v1", model="tiny", api_key=key))
    assert KEY not in str(caught.value)


def test_the_settings_do_not_show_the_key(spec: EndpointSpec) -> None:
    assert KEY not in repr(spec)
    assert "tiny" in repr(spec)
