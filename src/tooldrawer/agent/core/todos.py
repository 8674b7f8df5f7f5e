"""The tool that keeps a list of what is to be done, for each session."""

from dataclasses import dataclass
from typing import Literal

from tooldrawer.agent.core.calling import session_of_call
from tooldrawer.errors import InvalidArguments

_MOST_ITEMS, _LONGEST = 50, 500
_MOST_SESSIONS = 1000
"""Those that have been quiet for longest are forgotten."""
_BOXES = {"pending": "[ ]", "doing": "[>]", "done": "[x]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to do."""

    text: str
    status: Literal["pending", "doing", "done"]


class Todos:
    """A list for each session, replaced as a whole."""

    def __init__(self) -> None:
        self._lists: dict[str, list[Item]] = {}

    async def todo(self, items: list[Item] | None = None) -> str:
        """Show your to-do list, or replace all of it with items."""
        session = session_of_call.get()
        if items is not None:
            _check(items)
            self._lists.pop(session, None)
            self._lists[session] = items
            while len(self._lists) > _MOST_SESSIONS:
                del self._lists[next(iter(self._lists))]
        kept = self._lists.get(session, [])
        return "\n".join(f"{_BOXES[item.status]} {item.text}" for item in kept) or "[empty]"


def _check(items: list[Item]) -> None:
    if len(items) > _MOST_ITEMS:
        raise InvalidArguments(
            f"A list has at most {_MOST_ITEMS} items, not {len(items)}. Put some together."
        )
    for number, item in enumerate(items):
        if not 1 <= len(item.text.strip()) <= _LONGEST:
            raise InvalidArguments(f"/items/{number}/text must have 1 to {_LONGEST} characters.")
