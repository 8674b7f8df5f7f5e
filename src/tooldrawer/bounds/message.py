"""How large one JSON message may be, counted while its bytes arrive and before it is parsed."""

import re

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_MESSAGE_VALUES = 1_000_000
"""A value takes up to 250 bytes of memory and as little as two of a message, so that the bytes
alone do not bound the memory."""

_LINE_END = re.compile(rb"[\r\n]")
_VALUE_MARKS = (b",", b"[", b"{")
"""Every value but the first of a message follows one of these."""


class MessageMeter:
    """Counts the bytes and values of one message at a time, in the chunks in which they arrive."""

    __slots__ = ("_bytes", "_is_in_string", "_max_bytes", "_max_values", "_unread", "_values")

    def __init__(
        self, *, max_bytes: int = MAX_MESSAGE_BYTES, max_values: int = MAX_MESSAGE_VALUES
    ) -> None:
        self._max_bytes = max_bytes
        self._max_values = max_values
        self.start_message()

    def start_message(self) -> None:
        """Begin again at nothing."""
        self._bytes = 0
        self._values = 0
        self._is_in_string = False
        self._unread = b""

    def find_excess(self, chunk: bytes) -> str:
        """Add the chunk; what the message has too much of, or nothing.

        The answer completes a sentence such as "it sent a message".
        """
        self._bytes += len(chunk)
        if self._bytes > self._max_bytes:
            return f"of more than {self._max_bytes:,} bytes"
        # A line end is never inside a string of JSON: whatever a comment between two messages
        # contains, the next line is counted from its beginning.
        has_line_end = b"\n" in chunk or b"\r" in chunk  # found sooner than split
        first, *others = _LINE_END.split(chunk) if has_line_end else [chunk]
        self._count_line(first)
        for line in others:
            self._is_in_string, self._unread = False, b""
            self._count_line(line)
        if self._values > self._max_values:
            return f"of more than {self._max_values:,} values"
        return ""

    def _count_line(self, text: bytes) -> None:
        if b"\\" in text or self._unread:
            text = self._remove_escapes(self._unread + text)
        parts = text.split(b'"')
        outside = b'"'.join(parts[self._is_in_string :: 2])
        self._values += sum(map(outside.count, _VALUE_MARKS))
        self._is_in_string ^= len(parts) % 2 == 0

    def _remove_escapes(self, text: bytes) -> bytes:
        text = text.replace(b"\\\\", b"")
        # What is escaped comes with the next chunk.
        self._unread = text[-1:] if text.endswith(b"\\") else b""
        return text.removesuffix(b"\\").replace(b'\\"', b"")
