"""A YAML text into nodes; what is wrong with its syntax, in words and without its contents."""

from collections.abc import Iterable
from typing import Any, cast

import yaml

_MOST_LEVELS = 50
_UNCLOSED = "is not closed, or a comma is missing in it"
_BACKSLASH = "a backslash means nothing here; put the text into single quotes"
_TAG = "a tag is not known; put a text that begins with ! into quotes"
_WORDS: tuple[tuple[str, str], ...] = (
    ("found character '\\t'", "a tab stands here, expected spaces"),
    ("found character", "a text cannot begin with this character; put it into quotes"),
    ("but found another document", "a second document begins here, expected one"),
    ("found undefined alias", "an alias is not known; put a text that begins with * into quotes"),
    ("second occurrence", "an anchor is there twice; put a text that begins with & into quotes"),
    ("found undefined tag handle", _TAG),
    ("found unknown escape character", _BACKSLASH),
    ("expected escape sequence", _BACKSLASH),
    ("expected <block end>", "this does not fit the lines above; check indentation and quotes"),
    (
        "mapping values are not allowed here",
        "no ': ' can stand here; check the indentation, or put the text into quotes",
    ),
    ("sequence entries are not allowed here", "no list can begin here; check the indentation"),
)
_WORDS_OF_THE_BEGINNING: tuple[tuple[str, str], ...] = (
    ("expected ',' or ']'", f"a [ {_UNCLOSED}"),
    ("expected ',' or '}'", f"a {{ {_UNCLOSED}"),
    ("expected the node content, but found '<stream end>'", "a bracket is not closed"),
    ("could not find expected ':'", "a key has no ': ' behind it"),
    ("found unexpected end of stream", "a quote is not closed"),
    ("found unexpected document separator", "a quote is not closed"),
)
"""For these the place to look at is where the thing began, not where the reader gave up."""


class NotYaml(Exception):
    """The text is not YAML; `str(error)` says why."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


def composed(text: str, loader: type[yaml.SafeLoader]) -> yaml.Node | None:
    """The text's one document; nothing when it is empty.

    Raises:
        NotYaml: It is none, or nested too deeply.
    """
    try:
        reader = loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NotYaml(f"the character {_code(error.character)} cannot be used", line) from None
    try:
        _check_depth(loader(text))
        return cast("yaml.Node | None", cast("Any", reader).get_single_node())
    except yaml.MarkedYAMLError as error:
        raise _in_words(error) from None
    except (ValueError, OverflowError):  # a character beyond Unicode, a version of endless digits
        raise NotYaml(_BACKSLASH, 1) from None
    finally:
        cast("Any", reader).dispose()


def _code(character: Any) -> str:
    return f"U+{character if isinstance(character, int) else ord(character):04X}"


def _check_depth(reader: yaml.SafeLoader) -> None:
    """Count the levels from the events: PyYAML itself would run out of stack."""
