"""The encoder in the package."""

from hashlib import sha256
from importlib.resources import files
from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tests.search.town import TOWN
from tooldrawer import SearchEngine
from tooldrawer.search.document import passage
from tooldrawer.search.embedder import Embedder, shipped

MODEL = files("tooldrawer.search") / "model"
TOOLS = [passage(one) for one in TOWN]
HUGE = "Sharpen a saw. " * 70_000


@pytest.fixture(scope="module")
def encoder() -> Embedder:
    return shipped()


def test_it_is_loaded_once(encoder: Embedder) -> None:
    assert shipped() is encoder


def test_the_checksum_is_that_of_the_weights_and_names_the_model(encoder: Embedder) -> None:
    stated = sha256((MODEL / "encoder.onnx").read_bytes()).hexdigest()
    assert f"{stated}  encoder.onnx\n" in (MODEL / "SHA256SUMS").read_text("ascii")
    assert encoder.identity
    assert stated.startswith(encoder.identity)


def test_vectors_have_length_one_and_one_width(encoder: Embedder) -> None:
    tools, queries = encoder.tools(TOOLS), encoder.queries(["send a letter", "snow", ""])
    assert tools.dtype == queries.dtype == np.float32
    assert tools.shape[1] == queries.shape[1]
    for rows in (tools, queries):
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)


def test_a_text_has_the_same_vector_alone_and_among_others(encoder: Embedder) -> None:
    together = encoder.tools(TOOLS)
    assert np.array_equal(encoder.tools(TOOLS[::-1])[::-1], together)
    assert np.array_equal(np.concatenate([encoder.tools([one]) for one in TOOLS[:8]]), together[:8])
    queries = ["snow", "how do I send a long letter to my aunt in another country by sea mail?"]
    apart = np.concatenate([encoder.queries([one]) for one in queries])
    assert np.array_equal(encoder.queries(queries), apart)


def test_threads_that_read_at_once_get_the_same_vectors(encoder: Embedder) -> None:
    expected, together = encoder.tools(TOOLS[:8]), Barrier(4)
    same: list[bool] = []

    def work() -> None:
        together.wait()
        same.append(np.array_equal(encoder.tools(TOOLS[:8]), expected))

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 4


@pytest.mark.parametrize(
    ("query", "related", "unrelated"),
    [
        ("how warm will it be tomorrow", "get_forecast", "transfer_money"),
        ("pay my friend back", "transfer_money", "get_tides"),
        ("make this picture smaller", "resize_image", "renew_loan"),
        ("what can I cook with eggs and flour", "find_recipe", "block_card"),
        ("schedule a call with the team", "create_event", "measure_snow"),
        ("somebody stole my credit card", "block_card", "search_books"),
    ],
)
def test_related_texts_are_nearer_than_unrelated_ones(
    encoder: Embedder, query: str, related: str, unrelated: str
) -> None:
    texts = {one.local_name: passage(one) for one in TOWN}
    near, far = encoder.tools([texts[related], texts[unrelated]])
    (asked,) = encoder.queries([query])
    assert asked @ near > asked @ far


def test_a_text_is_nearest_to_itself(encoder: Embedder) -> None:
    descriptions = [one.description for one in TOWN]
    near = encoder.tools(TOOLS) @ encoder.queries(descriptions).T
    assert (near.argmax(axis=0) == np.arange(len(TOWN))).mean() > 0.9


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "!?", "\ud800", "ß" * 5_000, "x" * 1_000_000, HUGE]
)
def test_no_text_and_a_megabyte_of_it_have_vectors_too(encoder: Embedder, text: str) -> None:
    for rows in (encoder.tools([text]), encoder.queries([text])):
        assert rows.shape[0] == 1
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)


def test_of_a_long_text_the_beginning_is_read(encoder: Embedder) -> None:
    assert np.array_equal(encoder.tools([HUGE]), encoder.tools([HUGE[:10_000]]))


@quick(40)
@given(text=any_text | st.text(max_size=300))
def test_any_text_has_a_vector(text: str) -> None:
    assert np.isfinite(shipped().queries([text])).all()


@requirement("SEARCH-1")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("how warm will it be tomorrow in Lisbon", "get_forecast"),
        ("somebody stole my credit card", "block_card"),
        ("make a picture smaller", "resize_image"),
        ("when does the sun come up", "get_sunrise"),
        ("arrange a meeting with Ann and Bob", "create_event"),
    ],
)
def test_with_it_a_need_in_other_words_is_among_the_first_three(query: str, found: str) -> None:
    hits = SearchEngine(patience=60).search(TOWN, query, 3)
    assert found in {hit.tool.local_name for hit in hits}
