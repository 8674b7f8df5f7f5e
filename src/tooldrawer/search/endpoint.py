"""Vectors from a server that has OpenAI's `POST /embeddings`: Ollama, TEI, vLLM, OpenAI."""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from threading import Lock
from time import monotonic
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

import numpy as np

from tooldrawer.errors import ConfigError, EndpointFailed
from tooldrawer.search.daemon_threads import release_exit
from tooldrawer.search.embedder import Vectors
from tooldrawer.search.spec import EndpointSpec

_REMEMBERED = 256
"""Queries whose vectors are kept: models repeat themselves, and every one is a round trip."""
_MOST_BYTES = 512 * 1024
"""Of an answer, for each text: 4,096 numbers of 20 digits on indented lines are a third of it."""
_PIECE = 64 * 1024
_SETTINGS = "tools.tool_search.embeddings"
_ADVICE = {
    400: f"Check model and dimensions in {_SETTINGS}.",
    401: f"Check api_key in {_SETTINGS}.",
    403: f"Check api_key in {_SETTINGS}.",
    404: f"Check that url in {_SETTINGS} has /embeddings below it, and that the model is there.",
    413: "It does not take even one text; allow it longer requests.",
    422: f"Check model and dimensions in {_SETTINGS}.",
    429: "It is asked too often, or the account is used up.",
}
_REDIRECT = f"It is not followed, so that the key goes nowhere else; set url in {_SETTINGS} anew."
_BROKEN = "Look into the server's log."
_NO_ANSWER = f"Check that url in {_SETTINGS} leads to an API like OpenAI's."
_RENAMED = f"Another model seems to have that name now; set model in {_SETTINGS} with its tag."
_OTHER_MODEL = "Check that the model is one for embeddings."


class Endpoint:
    """An `Embedder` that asks a server. It waits for the network: call it from a thread.

    Whatever keeps it from giving vectors is an `EndpointFailed`. The key is in no message, and
    neither is anything that the server wrote: it may repeat the key.
    """

    def __init__(self, spec: EndpointSpec) -> None:
        """Set up an endpoint; nobody is asked yet.

        Raises:
            ConfigError: The settings cannot be used.
        """
        if wrong := [f"{_SETTINGS}.{key} {text}." for key, text in spec.mistakes()]:
            raise ConfigError(*wrong)
        self._spec = spec
        self._address = f"{spec.url.rstrip('/')}/embeddings"
        self._opener = _opener()
        self._width = spec.dimensions
        self.batch = self._most = max(spec.batch, 1)
        self._lock = Lock()
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self.identity = _identity(spec)
        """Changes whenever the vectors of a text would: stored ones are kept under it."""

    def tools(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text about a tool."""
        return self._made([self._spec.tool_prefix + text for text in texts])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text that asks for one."""
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        rows = self._made([self._spec.query_prefix + text for text in new])
        found.update(zip(new, rows, strict=True))
        with self._lock:
            for text, row in found.items():
                self._known[text] = row
                self._known.move_to_end(text)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return np.array([found[text] for text in texts], dtype=np.float32)

    def _made(self, texts: Sequence[str]) -> Vectors:
        made: list[Vectors] = []
        while texts:
            size = self._most
            made.append(self._batch(texts[:size]))
            texts = texts[size:]
        return np.concatenate(made) if made else np.zeros((0, 0), dtype=np.float32)

    def _batch(self, texts: Sequence[str]) -> Vectors:
        try:
            body = self._post(texts)
        except _TooMuch:
            if len(texts) == 1:
                raise
            # TEI takes 32 texts unless it is told otherwise.
            self._most = min(self._most, len(texts) // 2)
            return self._made(texts)
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise self._failed("answered with something that is not JSON", _NO_ANSWER) from None
        rows = self._rows(answer, len(texts))
        self._check_widths(rows)
        vectors = self._normalised(rows)
        self._width = len(rows[0])
        return vectors

    def _post(self, texts: Sequence[str]) -> bytes:
        spec = self._spec
        # Half a character, as a broken tool list may have, is no text to any server.
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        asked: dict[str, object] = {"model": spec.model, "input": whole}
        if spec.dimensions is not None:
            asked["dimensions"] = spec.dimensions
        headers = {"Content-Type": "application/json", "User-Agent": "tooldrawer"}
        if spec.api_key:
            headers["Authorization"] = f"Bearer {spec.api_key}"
        request = Request(self._address, json.dumps(asked).encode("ascii"), headers)
        until = monotonic() + spec.timeout
        try:
            with (
                release_exit(),
                self._opener.open(request, timeout=spec.timeout) as response,
            ):
                return self._received(response, most=_MOST_BYTES * len(texts), until=until)
        except HTTPError as error:
            with error:
                raise self._refused(error.code) from None
        except OSError as error:
            raise self._unreachable(error) from None
        except (HTTPException, ValueError):
            # Not shown: what Python complains about here may be a header or what the server wrote.
            raise self._failed("gave no HTTP answer", _NO_ANSWER) from None

    def _received(self, response: HTTPResponse, *, most: int, until: float) -> bytes:
        """The whole body; the time of a socket is that of one step, which could be a byte."""
        pieces: list[bytes] = []
        while piece := response.read1(_PIECE):
            pieces.append(piece)
            most -= len(piece)
            if most < 0:
                raise self._failed("answered with more than any vectors need", _NO_ANSWER)
            if monotonic() > until:
                raise TimeoutError
        return b"".join(pieces)

    def _rows(self, answer: object, count: int) -> list[list[float]]:
        """The vectors in the order of the texts, which need not be that of the answer."""
        items = _items(answer)
        if items is None:
            raise self._failed("answered without a list named data", _NO_ANSWER)
        if len(items) != count:
            came = f"answered {count} texts with {len(items)} vectors"
            raise self._failed(came, _NO_ANSWER)
        found: dict[int, list[float]] = {}
        for item in items:
            index, row = _indexed(item)
            if row is None:
                raise self._failed("answered with an item that is no vector", _OTHER_MODEL)
            found[index] = row
        if found.keys() != set(range(count)):
            raise self._failed("did not answer each text exactly once", _NO_ANSWER)
        return [found[at] for at in range(count)]

    def _check_widths(self, rows: Sequence[Sequence[float]]) -> None:
        expected = self._width or len(rows[0])
        odd = next((len(row) for row in rows if len(row) != expected), None)
        if odd is None:
            return
        came = f"gave a vector of {odd} numbers, {expected} were expected"
        if self._spec.dimensions is not None:
            raise self._failed(came, f"Leave dimensions out of {_SETTINGS}, or set {odd}.")
        raise self._failed(came, _RENAMED)

    def _normalised(self, rows: Sequence[Sequence[float]]) -> Vectors:
        try:
            vectors = np.array(rows, dtype=np.float64)
        except OverflowError:  # a whole number of hundreds of digits
            vectors = np.full((1, 1), np.inf)
        if not np.isfinite(vectors).all():
            raise self._failed("gave a vector with a number that is none", _OTHER_MODEL)
        # By the largest number first: squares of very large or small ones would be lost.
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        if not largest.all():
            raise self._failed("gave a vector of zeros", _OTHER_MODEL)
        vectors /= largest
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def _refused(self, status: int) -> EndpointFailed:
        if 300 <= status < 400:
            return self._failed(f"answered with a redirect (HTTP {status})", _REDIRECT)
        failed = self._failed(f"answered with HTTP {status}", _ADVICE.get(status, _BROKEN))
        return _TooMuch(str(failed)) if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE else failed

    def _unreachable(self, error: OSError) -> EndpointFailed:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            came = f"did not answer within {self._spec.timeout:g} seconds"
            return self._failed(came, f"Start it, or set a longer timeout in {_SETTINGS}.")
        why = reason.strerror if isinstance(reason, OSError) else None
        came = f"cannot be reached ({why or type(reason).__name__})"
        return self._failed(came, f"Start it, or set another url in {_SETTINGS}.")

    def _failed(self, came: str, advice: str) -> EndpointFailed:
        who = f"The embeddings endpoint {self._spec.origin} with model {self._spec.model!r}"
        return EndpointFailed(f"{who} {came}. {advice}")


class _TooMuch(EndpointFailed):
    """More texts came at once than the server takes."""


def _opener() -> OpenerDirector:
    """Opens http and https, through the environment's proxies, and follows no redirect."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        HTTPErrorProcessor(),
        HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _identity(spec: EndpointSpec) -> str:
    known = [spec.url.rstrip("/"), spec.model, spec.query_prefix, spec.tool_prefix, spec.dimensions]
    return blake2b(json.dumps(known).encode("ascii"), digest_size=16).hexdigest()


def _items(answer: object) -> list[object] | None:
    items = cast("Mapping[str, Any]", answer).get("data") if isinstance(answer, Mapping) else None
    return cast("list[object]", items) if isinstance(items, list) else None


def _indexed(item: object) -> tuple[int, list[float] | None]:
    """The place and the numbers of one item of an answer; no numbers when it is none."""
    if not isinstance(item, Mapping):
        return 0, None
    parts = cast("Mapping[str, Any]", item)
    index, row = parts.get("index"), parts.get("embedding")
    if type(index) is not int or not isinstance(row, list) or not row:
        return 0, None
    numbers = cast("list[Any]", row)
    # By the exact type: true is a number to Python, and "1" to numpy.
    return index, numbers if all(type(number) in (int, float) for number in numbers) else None
