"""What a client is told at the start: how to use the drawer, and what the servers say."""

import re
from collections.abc import Awaitable, Callable, Iterable
from unicodedata import category

from tooldrawer.bridge import BridgeNames
from tooldrawer.upstream.upstream import Upstream

Introduce = Callable[[str], Awaitable[str]]
"""The instructions for a scope, by its name."""
_LEAST = 200
"""Characters that a server's words get at least, or they are left out: a torso helps nobody."""
_MARK = re.compile(r"<(?=[\s/]*server)", re.IGNORECASE)
"""What a model may take for one of our marks, however it is spelled."""
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn")
"""Unicode's categories of what is not seen: controls, direction and zero width, halves, unassigned.
A person who reads the text must see what the model does, and a terminal must not obey it."""
_SELECTORS = range(0xE0100, 0xE01F0)
"""Of another category, and as good for hiding a text."""


def introduction(
    upstreams: Iterable[Upstream], *, names: BridgeNames, closed: bool, max_chars: int
) -> str:
    """A few lines of ours, then the servers' own, bounded and marked as theirs."""
    ours = _about_the_drawer(names) if closed else "The tools of several MCP servers, in one list."
    given = [
        (upstream.spec.name, text)
        for upstream in upstreams
        if (text := _visible(upstream.instructions))
    ]
    parts, left = [ours], max_chars
    for position, (name, text) in enumerate(given):
        share = left // (len(given) - position)
        if share < _LEAST and share < len(text):
            continue
        words = text if len(text) <= share else text[: share - 1].rstrip() + "…"
        parts.append(f'<server name="{name}">{_unmarked(words)}</server>')
        left -= len(words)
    if len(parts) > 1:
        parts.insert(1, "What the servers say about themselves, in their words and not checked:")
    return "\n".join(parts)


def _about_the_drawer(names: BridgeNames) -> str:
    return (
        f"Most tools are kept in a drawer. Find them with {names.search}: say what should be done, "
        f"in a few words. Run one with {names.call}, under the exact name that the search gave and "
        f"with arguments as in its signature; {names.describe} gives its full schema when the "
        "signature leaves a question. Search before you say that something cannot be done."
    )


def _visible(text: str) -> str:
    """The text on one line, without characters that nobody sees."""
    seen = (
        char
        for char in " ".join(text.split())
        if category(char) not in _UNSEEN and ord(char) not in _SELECTORS
    )
    return " ".join("".join(seen).split())


def _unmarked(text: str) -> str:
    """A server must not end its own part and speak as somebody else."""
    return _MARK.sub("(", text)
