"""A query that asks for several things, as one query for each."""

import re
from collections.abc import Iterator
from functools import cache

from tooldrawer.search.text import folded, is_function_word, words

_LONGEST = 600
"""A longer text is a story, and its sentences are not needs."""
_MOST = 4
_FEWEST_WORDS = 2

_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb")
_SENTENCE = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+|\s*[\n;]+\s*|\s+-\s+")
_NEXT = re.compile(
    r",?\s+(?:and\s+)?(?:then|afterwards?|after\s+that|finally|additionally|also|plus)\s+"
    r"|,?\s+(?:as\s+well\s+as|followed\s+by)\s+",
    re.IGNORECASE,
)
_JOINT = re.compile(r",?\s+(?:and|but|&)\s+|,\s+", re.IGNORECASE)
_POLITE = re.compile(
    r"^(?:(?:and|so|then|now|next|also|first|firstly|secondly|lastly|finally|additionally|moreover|"
    r"furthermore|besides|in\s+addition|after\s+that|afterwards|please|pls|kindly|just|hey|hi|ok|okay|"
    r"if\s+so|if\s+not|(?:can|could|would|will)\s+you(?:\s+(?:also|please|then))*|"
    r"(?:i|we)\s+(?:also\s+)?(?:need|want|would\s+like)(?:\s+(?:you\s+)?to)?|"
    r"(?:i|we)'d\s+(?:also\s+)?like(?:\s+(?:you\s+)?to)?|let's|help\s+me)\b[\s,:]*)+",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:what|which|who|whose|where|why|how|is|are|was|were|do|does|did|has|have|any"
    # "When a build fails, tell me" asks no question.
    r"|when(?=\s+(?:is|are|was|were|do|does|did|has|have|will|can|should)\b|['\u2019]s\b))\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:please|(?:can|could|would)\s+you|(?:i|we)\s+(?:also\s+)?(?:need|want|would\s+like)|"
    r"i'd\s+(?:also\s+)?like)\b",
    re.IGNORECASE,
)
_IMPERATIVES = (
    "add alert analyse analyze annotate announce append apply approve archive arrange ask assess "
    "assign attach back block book bring browse build bump buy calculate call cancel change chart "
    "check clean clear clone close collect comment commit compare compute connect convert copy "
    "count create crop cut delete deploy describe detach determine diff disable dm download draft "
    "draw drop dump duplicate edit email enable enter estimate evaluate execute explain export "
    "extract fetch figure file fill filter find finish fire fix fork format forward gather "
    "generate get give go grab hand hide highlight hook identify import include increase inform "
    "insert inspect install investigate invite invoke join jot keep kick kill label launch learn "
    "leave let link list load lock log look lookup lower mail make map mark measure merge message "
    "migrate monitor move mute name navigate note notify obtain open order pack pause pay pick "
    "pin ping place plan play post predict print provide provision publish pull push put query "
    "queue raise read rebase reboot recommend record redeploy reduce refresh register reject "
    "release remember remind remove rename render reopen replace reply report request reschedule "
    "reserve reset resize resolve restart restore resume retrieve retry return revert review "
    "revoke roll rotate run save scale scan schedule scrape search see select send set share "
    "shift show shut sign slack snap sort spin split stage start stop store submit subscribe "
    "suggest sum summarise summarize switch sync tag take tell terminate test text tidy track "
    "transfer transform translate trigger try turn tweet type undo unlock unpin unsubscribe "
    "update upgrade upload use validate verify view wipe work write zip"
)


def needs(text: str) -> list[str]:
    """The parts of `text` that each ask for something; empty when it asks for one thing only."""
    if len(text) > _LONGEST:
        return []
    # What stands in quotes is said to somebody else.
    masked = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    found: list[str] = []
    at = 0
    for part in _parts(masked):
        at = masked.index(part, at)
        if _asks(part):
            found.append(text[at : at + len(part)])
    return found[:_MOST] if len(found) > 1 else []


def _parts(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        for clause in _NEXT.split(sentence):
            yield from _clauses(clause)


def _clauses(text: str) -> Iterator[str]:
    """Cut where a new verb or question begins right after `and` or a comma."""
    start = 0
    for joint in _JOINT.finditer(text):
        if _orders(text[joint.end() :]) and _has_object(text[start : joint.start()]):
            yield text[start : joint.start()].strip()
            start = joint.end()
    yield text[start:].strip()


def _asks(text: str) -> bool:
    """Whether something is asked for; a sentence that only tells a circumstance asks nothing."""
    return (_orders(text) or bool(_REQUEST.search(text))) and _has_object(text)


def _orders(text: str) -> bool:
    rest = _POLITE.sub("", text.strip())
    if _QUESTION.match(rest):
        return True
    first = re.match(r"[^\W\d_]+", folded(rest))
    return first is not None and first[0].casefold() in _imperatives()


def _has_object(text: str) -> bool:
    return len({word for word in words(text) if not is_function_word(word)}) >= _FEWEST_WORDS


@cache
def _imperatives() -> frozenset[str]:
    return frozenset(_IMPERATIVES.split())
