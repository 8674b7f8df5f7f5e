"""A tool, and a query, as the words they share."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, cast
from unicodedata import combining, normalize

from tooldrawer.tool import Json, JsonObject, Tool

# Weights in hundredths, so that lengths stay whole numbers and a score does not depend on the order
# in which an index grew. Chosen on public tool-retrieval sets, where a tool's own name says most.
NAME, SERVER, DESCRIPTION, PARAMETER, PARAMETER_TEXT = 200, 100, 60, 33, 22

_FUNCTION_WORDS = (
    "a about all also am an and any are as at be been but by can could did do does for from had "
    "has have how i if in into is it its just like me my need of on or our please should so some "
    "that the their them then there these they this those to want was we were what when where "
    "which while who will with would you your"
)

_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")


def words(text: str) -> list[str]:
    """Folded, stemmed words; `snake_case`, `camelCase`, `kebab-case`, dots and digits split.

    A run with digits in it (`s3`, `k8s`, `base64`) also stays whole.
    """
    found: list[str] = []
    for run in _RUN.findall(_folded(text)):
        parts = _PART.findall(run)
        if len(parts) > 1 and any(map(str.isdigit, parts)):
            found.append(run.casefold())
        found.extend(_stem(part.casefold()) for part in parts)
    return found


def query_words(text: str) -> list[str]:
    """The words of a query that say what is wanted; all of them when none does.

    A tool that shares only `this` or `with` with a need does not fit it.
    """
    found = words(text)
    return [word for word in found if word not in _function_words()] or found


@cache
def _function_words() -> frozenset[str]:
    return frozenset(map(_stem, _FUNCTION_WORDS.split()))


def weighted_words(tool: Tool) -> Iterator[tuple[int, list[str]]]:
    """The fields a tool is found by, each with its weight."""
    yield NAME, words(tool.local_name)
    yield SERVER, words(tool.server)
    yield DESCRIPTION, words(tool.description)
    properties = tool.parameters.get("properties")
    if isinstance(properties, Mapping):
        for name, schema in cast("JsonObject", properties).items():
            yield PARAMETER, words(name)
            yield PARAMETER_TEXT, words(_described(schema))


def _described(schema: Json) -> str:
    description = (
        cast("JsonObject", schema).get("description") if isinstance(schema, Mapping) else ""
    )
    return description if isinstance(description, str) else ""


def _folded(text: str) -> str:
    if text.isascii():
        return text
    return "".join(char for char in normalize("NFKD", text) if not combining(char))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    # The package loads 30 languages at once: 12 ms that `import tooldrawer` need not pay.
    from snowballstemmer import stemmer  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    return cast("Any", stemmer("english")).stemWord
