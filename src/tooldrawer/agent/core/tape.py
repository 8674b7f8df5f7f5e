"""Output as it comes in, of which the beginning and the end are kept."""

_LEFT_OUT = "\n[… {count:,} bytes left out: send the output to a file to read all of it …]\n"


class Tape:
    """Bytes without end in a bounded memory: the first `head` and the last `tail` of them."""

    def __init__(self, *, head: int, tail: int) -> None:
        self._most_head, self._most_tail = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._total = 0

    def write(self, chunk: bytes) -> None:
        """Take in what came next."""
        self._total += len(chunk)
        room = self._most_head - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        # Twice, so that not every small chunk moves the whole tail.
        if len(self._tail) > 2 * self._most_tail:
            del self._tail[: -self._most_tail]

    @property
    def text(self) -> str:
        """What was kept, as text; bytes that are none are replaced."""
        tail = self._tail[-self._most_tail :]
        missing = self._total - len(self._head) - len(tail)
        if not missing:
            return _text(self._head + tail)
        # A character that the cut went through is left out rather than shown as rubbish.
        first, last = _text(self._head).rstrip("\ufffd"), _text(tail).lstrip("\ufffd")
        return f"{first}{_LEFT_OUT.format(count=missing)}{last}"


def _text(content: bytes | bytearray) -> str:
    return content.decode(errors="replace").replace("\0", "\ufffd")
