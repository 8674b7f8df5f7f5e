"""The tool that searches files, by content or by name."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

from tooldrawer.agent.core.opening import failure
from tooldrawer.agent.core.processes import run
from tooldrawer.agent.core.tape import Tape
from tooldrawer.agent.core.workplace import Workplace
from tooldrawer.errors import InvalidArguments, ToolFailed
from tooldrawer.tool import Json

_PROGRAM = Path(__file__).with_name("looking.py")
_MOST = 200
_LONGEST_PATTERN = 2_000
_ROOM = 4_000_000
"""Bytes that the program may answer; more than its finds can ever be."""

_Line = Mapping[str, Json]


class Finder:
    """Files searched by a program that is ended at its time limit, whatever the pattern."""

    def __init__(self, workplace: Workplace, *, seconds: float = 20) -> None:
        self._workplace = workplace
        self._seconds = seconds

    async def search_files(
        self,
        pattern: str,
        path: str = ".",
        glob: str | None = None,
        kind: Literal["content", "name"] = "content",
        limit: int = 50,
    ) -> str:
        """Search file contents by regex, or names by glob. Skips ignored and binary files.

        Args:
            pattern: Python regex, or glob for names
            path: Folder or file
            glob: Only these files, e.g. *.py
        """
        if not pattern or len(pattern) > _LONGEST_PATTERN:
            raise InvalidArguments(f"/pattern must have 1 to {_LONGEST_PATTERN:,} characters.")
        if glob and len(glob) > _LONGEST_PATTERN:
            raise InvalidArguments(f"/glob must have at most {_LONGEST_PATTERN:,} characters.")
        top = self._top(path)
        request = {
            "kind": kind,
            "pattern": pattern,
            "top": str(top),
            "glob": glob or "",
            "limit": min(max(limit, 1), _MOST),
        }
        tape = Tape(head=_ROOM, tail=1)
        ending = await run(
            (sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(request)),
            tape=tape,
            seconds=self._seconds,
            folder=Path(top.anchor),
        )
        said = list(_parsed(tape.text))
        if not ending.is_late and (not said or not said[-1].keys() & {"end", "error"}):
            raise ToolFailed(f"The search broke: {tape.text[-500:].strip()}. Use the terminal.")
        return self._rendered(said, is_late=ending.is_late)

    def _top(self, path: str) -> Path:
        top = self._workplace.resolve(path)
        try:
            top.stat()
        except OSError as error:
            raise failure(top, error) from error
        if not top.is_dir() and not top.is_file():
            raise InvalidArguments(f"{path!r} is no folder or regular file. Correct /path.")
        return top

    def _rendered(self, said: Sequence[_Line], *, is_late: bool) -> str:
        finds = [line for line in said if "path" in line]
        last: _Line = {} if is_late else said[-1]
        if "error" in last:
            raise InvalidArguments(
                f"/pattern is no regular expression: {last['error']}. Correct it, and put a "
                "backslash before ( [ { . * + ? | ^ $ that stand for themselves."
            )
        parts: list[str] = []
        name = ""
        for find in finds:
            if find["path"] != name:
                name = cast("str", find["path"])
                parts.append(self._name(name))
            if "line" in find:
                parts.append(f"{find['line']}: {find['text']}")
        parts += [] if finds or is_late else ["[no matches]"]
        parts += self._notes(last, len(finds), is_late=is_late)
        return "\n".join(parts).encode(errors="replace").decode()

    def _name(self, path: str) -> str:
        return self._workplace.name(Path(path)) + "/" * path.endswith("/")

    def _notes(self, last: _Line, count: int, *, is_late: bool) -> list[str]:
        notes: list[str] = []
        if is_late:
            notes.append(
                f"[stopped after {self._seconds:g} s with {count} matches; there may be more. "
                "Narrow path or glob, or take a simpler pattern]"
            )
        if last.get("more"):
            notes.append(f"[the first {count}; more match. Narrow the search or raise limit]")
        if last.get("large"):
            notes.append(f"[{last['large']} files over 5 MB were not searched]")
        if last.get("unreadable"):
            notes.append(f"[{last['unreadable']} files or folders could not be read]")
        return notes


def _parsed(text: str) -> list[_Line]:
    lines: list[_Line] = []
    for line in text.splitlines():
        try:
            lines.append(cast("_Line", json.loads(line)))
        except ValueError:  # the last one, when the program was ended while it wrote it
            continue
    return lines
