"""A YAML text into nodes; what is wrong with its syntax, in words and without its contents."""

from typing import Any, cast

import yaml

from tooldrawer.config.scalars import PLAIN

_MOST_LEVELS = 50
_TOO_DEEP = f"more than {_MOST_LEVELS} levels are nested"
_BACKSLASH = "a backslash means nothing here; put the text into single quotes"
_QUOTE = "a quote is not closed"
_MARK = "put a text that begins with * or & into quotes"
_TAG = "put a text that begins with ! into quotes"
_BLOCK = "put a text that begins with | or > into quotes"
_MISFIT = "this does not fit what is before it; check indentation and quotes"
_WHERE_IT_ENDED = {
    "found character '\\t'": "a tab stands here, expected spaces",
    "found character": "a text cannot begin with this character; put it into quotes",
    "but found another document": "a second document begins here, expected one",
    "found undefined alias": f"an alias is not known; {_MARK}",
    "second occurrence": f"an anchor is there twice; {_MARK}",
    "found undefined tag handle": f"a tag is not known; {_TAG}",
    "found unknown escape character": _BACKSLASH,
    "expected escape sequence": _BACKSLASH,
    "expected alphabetic or numeric character": f"this is not the name of an alias; {_MARK}",
    "expected ' '": f"a space is missing; {_TAG}",
    "expected URI": f"a tag is not one; {_TAG}",
    "expected '!'": f"a tag is not one; {_TAG}",
    "expected '>'": f"a tag is not one; {_TAG}",
    "expected chomping": f"a text cannot begin so; {_BLOCK}",
    "expected indentation indicator": f"a text cannot begin so; {_BLOCK}",
    "expected a comment or a line break": f"a text cannot begin so; {_BLOCK}",
    "expected <block end>": _MISFIT,
    "expected '<document start>'": _MISFIT,
    "expected the node content": "a value is missing here",
    "mapping values are not allowed": "no ': ' can stand here; check indentation and quotes",
    "sequence entries are not allowed": "no list can begin here; check the indentation",
}
_WHERE_IT_BEGAN = {
    "expected ',' or ']'": "a [ is not closed, or a comma is missing in it",
    "expected ',' or '}'": "a { is not closed, or a comma is missing in it",
    "expected the node content, but found '<stream end>'": "a bracket is not closed",
    "could not find expected ':'": "a key has no ': ' behind it",
    "found unexpected end of stream": _QUOTE,
    "found unexpected document separator": _QUOTE,
}
"""For these the line to look at is the one where the thing began."""


class NotYaml(Exception):
    """The text is not YAML; `str(error)` says why."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


class _Loader(yaml.SafeLoader):
    """Knows the plain values of YAML 1.2, and stops before the nesting fills the stack."""

    levels = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.levels += 1
        if self.levels > _MOST_LEVELS:
            raise yaml.MarkedYAMLError(
                problem=_TOO_DEEP, problem_mark=cast("Any", self).peek_event().start_mark
            )
        node = super().compose_node(parent, index)
        self.levels -= 1
        return node


_Loader.yaml_implicit_resolvers = {}
for _tag, _plain in PLAIN.items():
    _Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
        _tag, _plain.pattern, [*_plain.first, ""]
    )


def composed(text: str) -> yaml.Node | None:
    """The text's one document; nothing when it is empty.

    Raises:
        NotYaml: It is none, or nested too deeply.
    """
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, cast("int", error.position)) + 1
        code = f"U+{cast('int', error.character):04X}"
        raise NotYaml(f"the character {code} cannot stand in a file", line) from None
    try:
        return loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _in_words(error, loader.marks) from None
    except (ValueError, OverflowError):  # a character beyond Unicode, a number of endless digits
        raise NotYaml(_BACKSLASH, loader.get_mark().line + 1) from None


def _in_words(error: yaml.MarkedYAMLError, open_since: list[Any]) -> NotYaml:
    problem = str(error.problem or error.context)
    ended, began = error.problem_mark or error.context_mark, error.context_mark
    if problem.endswith("but found '<stream end>'") and open_since:
        began = open_since[-1]
    for start, words in _WHERE_IT_BEGAN.items():
        if problem.startswith(start):
            return _located(words, began or ended)
    found = (words for start, words in _WHERE_IT_ENDED.items() if problem.startswith(start))
    return _located(next(found, problem), ended)


def _located(words: str, mark: Any) -> NotYaml:
    return (
        NotYaml(f"{words} (column {mark.column + 1})", mark.line + 1) if mark else NotYaml(words, 1)
    )
