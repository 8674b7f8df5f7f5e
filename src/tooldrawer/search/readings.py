"""The words of known tools, kept for the next start: server by server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from tooldrawer.search.daemon_threads import check_exit
from tooldrawer.search.segment import Segment
from tooldrawer.search.vectors import Shelf
from tooldrawer.tool import Tool


class Readings:
    """Reads tools into segments. What was read before, here or elsewhere, is not read again."""

    def __init__(self, shelf: Shelf | None) -> None:
        self._shelf = shelf

    def __call__(self, tools: Iterable[Tool]) -> Segment:
        """The words of `tools`; a changed server costs its own tools only."""
        groups: dict[str, list[Tool]] = {}
        for tool in tools:
            groups.setdefault(tool.source, []).append(tool)
        if self._shelf is None or not groups:
            return Segment.over(_until_exit(tool for group in groups.values() for tool in group))
        contents = {_content(group): group for group in groups.values()}
        known = self._shelf.read(_version(), list(contents))
        made: dict[bytes, bytes] = {}
        segments: list[Segment] = []
        for content, group in contents.items():
            segment = _known(group, known, content)
            if segment is None:
                segment = Segment.over(_until_exit(group))
                made[content] = segment.packed()
            segments.append(segment)
        if made:
            self._shelf.write(_version(), made.items())
        return Segment.joined(segments)


def _until_exit(tools: Iterable[Tool]) -> Iterator[Tool]:
    for tool in tools:
        check_exit()
        yield tool


def _known(tools: Sequence[Tool], known: Mapping[bytes, bytes], content: bytes) -> Segment | None:
    return Segment.unpacked(tools, known[content]) if content in known else None


def _content(tools: Iterable[Tool]) -> bytes:
    digest = blake2b(digest_size=16)
    for tool in tools:
        digest.update(tool.fingerprint.encode())
    return digest.digest()


@cache
def _version() -> str:
    """Changes with the code that reads tools: what other code read is not taken for its own."""
    digest = blake2b(digest_size=8)
    for name in ("document.py", "segment.py", "text.py", "verbs.py"):
        digest.update((files("tooldrawer.search") / name).read_bytes())
    return f"words-{digest.hexdigest()}"
