"""Text as the words that a tool and a query can share."""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple, cast
from unicodedata import combining, normalize

_FUNCTION_WORDS = (
    "a about all also am an and any are as at be been but by can could did do does for from had "
    "has have how i if in into is it its just like me my need of on or our please should so some "
    "that the their them then there these they this those to want was we were what when where "
    "which while who will with would you your"
)

_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNDECOMPOSED = str.maketrans(
    dict(zip("đĐıłŁøØħĦ", "dDilLoOhH", strict=True))
    | {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"}
)
"""Letters that Unicode does not take apart."""
_LONGEST_RUN = 24
_REMEMBERED = 65_536


class Form(NamedTuple):
    """A word as it was written, in lower case, and its stem."""

    stem: str
    written: str
    is_whole: bool = False
    """Whether it is a run whose parts follow: `youtube`, before `you` and `tube`."""


def forms(text: str) -> Iterator[Form]:
    """The words of a text; `snake_case`, `camelCase`, `kebab-case`, dots and digits split.

    A run of several parts (`s3`, `k8s`, `YouTube`) also stays whole.
    """
    for run in _RUN.findall(folded(text)):
        yield from _forms_of(run)


@lru_cache(maxsize=_REMEMBERED)
def _forms_of(run: str) -> tuple[Form, ...]:
    parts = [part.casefold() for part in _PART.findall(run)]
    found = tuple(Form(stem(part), part) for part in parts)
    if len(parts) == 1 or len(run) > _LONGEST_RUN:
        return found
    whole = run.casefold()
    return (Form(stem(whole), whole, is_whole=True), *found)


def words(text: str) -> list[str]:
    """Folded, stemmed words."""
    return [form.stem for form in forms(text)]


def spaced(text: str) -> str:
    """A name with its words apart: `createPullRequest` as `create Pull Request`."""
    return " ".join(_RUN.findall(_HUMP.sub(" ", text)))


def is_function_word(stemmed: str) -> bool:
    """Whether a stem says nothing about what is wanted.

    A tool that shares only `this` or `with` with a need does not fit it.
    """
    return stemmed in _function_words()


def folded(text: str) -> str:
    """Without accents, in the compatibility form."""
    if text.isascii():
        return text
    decomposed = normalize("NFKD", text).translate(_UNDECOMPOSED)
    return "".join(char for char in decomposed if not combining(char))


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """The stem of a folded, lower-case English word."""
    # A stemmer keeps the word it works on in itself, so threads must not share one. Making one
    # costs a tenth of the time that it takes for a word.
    return _stemmer_factory()().stemWord(word)


@cache
def _function_words() -> frozenset[str]:
    return frozenset(map(stem, _FUNCTION_WORDS.split()))


@cache
def _stemmer_factory() -> Callable[[], Any]:
    # The package loads 30 languages at once: 12 ms that `import tooldrawer` need not pay.
    from snowballstemmer import stemmer  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    return partial(cast("Any", stemmer), "english")
