"""Server-sent events, out of bytes however they were cut."""

from collections.abc import Iterator


class ServerEvents:
    """Takes bytes in and gives each event's data out, whole.

    Only `data` matters here: every provider repeats an event's name inside it. An event that is
    not closed by an empty line never happened, as the standard has it.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._data: list[str] = []
        self._after_return = False

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of the events that end in this chunk.

        Raises:
            UnicodeDecodeError: A line is not UTF-8.
        """
        for line in self._lines(chunk):
            if line:
                self._read(line)
            elif self._data:
                yield "\n".join(self._data)
                self._data.clear()

    def _read(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8"))

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a line's end
        if chunk:
            self._after_return = chunk.endswith(b"\r")
        *whole, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in whole:
            self._pieces.append(line)
            yield b"".join(self._pieces)
            self._pieces.clear()
        # In a list: adding to one long line again and again would copy it each time.
        if rest:
            self._pieces.append(rest)
