"""The ids of a conversation's calls, as a provider takes them."""

from collections.abc import Callable, Iterable
from hashlib import blake2b

from tooldrawer.wire.message import Asked


class Ids:
    """Gives each call an id of its own, the same in every request.

    Some endpoints begin with `call_0` in every answer anew. Other providers refuse a request in
    which two calls have one id, and the conversation with it.
    """

    def __init__(self, fitting: Callable[[str], str]) -> None:
        """`fitting` makes an id that the provider takes; it gives the same id when it is one."""
        self._fitting = fitting
        self._taken: set[str] = set()
        self._last: dict[str, str] = {}

    def begin(self, calls: Iterable[Asked]) -> None:
        """Take in the calls of an answer, to which the next message replies."""
        self._last = {call.id: self._new(call.id) for call in calls}

    def of(self, written: str) -> str:
        """The id of a call in the answer that began last."""
        return self._last.get(written) or self._fitting(written)

    def _new(self, written: str) -> str:
        found, number = self._fitting(written), 1
        while found in self._taken:
            number += 1
            found = self._fitting(f"{written}_{number}")
        self._taken.add(found)
        return found


def hashed(written: str) -> str:
    """An id in place of another; another one stays another."""
    return f"call_{blake2b(written.encode(errors='replace'), digest_size=8).hexdigest()}"
