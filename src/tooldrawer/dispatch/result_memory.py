"""How much memory results that were cut may take: for each principal, and together."""

from collections import Counter, defaultdict, deque
from sys import getsizeof
from threading import Lock
from typing import NamedTuple, Protocol
from weakref import ReferenceType, ref

MAX_TEXT_CHARS = 5_000_000
"""Of one result. A model reads 100,000 at once, so nothing reads as far as that."""
_MAX_PRINCIPAL_BYTES = 32 * 1024 * 1024
_MAX_BYTES = 128 * 1024 * 1024
_ENTRY_BYTES = 256
"""What remembering a text takes, however short it is."""


class TextHolder(Protocol):
    """Keeps texts, each under a handle of its own."""

    def forget(self, handle: str) -> None:
        """Let go of a text, if it is still there."""
        ...


class _Kept(NamedTuple):
    holder: ReferenceType[TextHolder]
    """Not the holder itself: with an ended session its texts go at once."""
    handle: str
    size: int


class ResultMemory:
    """Counts the texts of all sessions in bytes, and lets the oldest go when there are too many.

    A limit for each session would not limit anything: a client begins as many as it likes.
    """

    def __init__(
        self, *, max_principal_bytes: int = _MAX_PRINCIPAL_BYTES, max_bytes: int = _MAX_BYTES
    ) -> None:
        """`max_bytes` is for all principals together; who has most then gives way."""
        self._max_principal_bytes, self._max_bytes = max_principal_bytes, max_bytes
        self._lock = Lock()  # a drawer may have sessions in several threads
        self._kept: defaultdict[str, deque[_Kept]] = defaultdict(deque)
        self._sizes: Counter[str] = Counter()

    def keep(self, principal: str, holder: TextHolder, handle: str, text: str) -> None:
        """Note a text that a session of `principal` keeps; perhaps it is forgotten at once."""
        size = getsizeof(text) + _ENTRY_BYTES
        with self._lock:
            self._kept[principal].append(_Kept(ref(holder), handle, size))
            self._sizes[principal] += size
            while self._sizes[principal] > self._max_principal_bytes:
                self._forget_oldest(principal)
            while self._sizes.total() > self._max_bytes:
                self._forget_oldest(max(self._sizes, key=self._sizes.__getitem__))

    def _forget_oldest(self, principal: str) -> None:
        oldest = self._kept[principal].popleft()
        self._sizes[principal] -= oldest.size
        if not self._kept[principal]:
            del self._kept[principal], self._sizes[principal]
        if (holder := oldest.holder()) is not None:
            holder.forget(oldest.handle)
