"""The program behind `search_files`: looks through files, and writes what it finds as JSON lines.

A program of its own because `re` holds the interpreter's lock while it matches: a pattern that
takes for ever, such as (a+)+b, would stop the whole agent from a thread, and no thread can be
stopped. A process can. It is started by its path, alone, so it imports nothing of the package.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

SKIPPED = frozenset({
    ".git", ".hg", ".svn", ".jj", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache",
})  # fmt: skip
_LARGEST = 5_000_000
"""Bytes; larger files are not searched."""
_SAMPLE = 8192
_LONGEST_LINE = 10_000
_SHOWN = 200
_MOST_BRACES = 64
_LONGEST_RULE, _MOST_STARS = 1_000, 8
"""Of a line of .gitignore: one with more would take for ever to be held against a path."""
_TOKEN = re.compile(
    r"(?P<deep>\*\*/)|(?P<rest>\*\*)|(?P<any>\*)|(?P<one>\?)"
    r"|\[(?P<no>[!^]?)(?P<set>\]?[^\]]*)\]|\\(?P<as_is>.)|(?P<plain>.)",
    re.DOTALL,
)
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class Ignored(NamedTuple):
    """One line of a .gitignore, for what lies below `base`."""

    base: str
    pattern: "re.Pattern[str]"
    is_folder: bool
    is_back: bool
    """It takes something back that an earlier line ignored."""


class Found(NamedTuple):
    """A file or folder on the way."""

    path: str
    is_folder: bool


class Tree:
    """Everything below a folder, in order, without what nobody wants to search."""

    def __init__(self, top: str) -> None:
        self._top = str(Path(top).resolve())
        self.unreadable = 0

    def __iter__(self) -> Iterator[Found]:
        if not Path(self._top).is_dir():
            yield Found(self._top, is_folder=False)
            return
        left = [(self._top, _ignored_above(self._top))]
        while left:
            folder, rules = left.pop()
            rules = (*rules, *_ignored_in(folder))
            inner: list[tuple[str, tuple[Ignored, ...]]] = []
            for entry in self._entries(folder):
                is_folder = entry.is_dir(follow_symlinks=False)
                if not self._is_wanted(entry, rules, is_folder=is_folder):
                    continue
                yield Found(entry.path, is_folder)
                if is_folder:
                    inner.append((entry.path, rules))
            left.extend(reversed(inner))

    def _entries(self, folder: str) -> "list[os.DirEntry[str]]":
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            self.unreadable += 1
            return []

    def _is_wanted(
        self, entry: "os.DirEntry[str]", rules: tuple[Ignored, ...], *, is_folder: bool
    ) -> bool:
        if entry.name in SKIPPED or _is_ignored(entry.path, rules, is_folder=is_folder):
            return False
        if is_folder or entry.is_file(follow_symlinks=False):
            return True
        # A link may lead out of what was asked for, and a folder behind one is there already.
        real = Path(os.path.realpath(entry.path))  # which, unlike resolve(), bears a circle
        return real.is_file() and real.is_relative_to(self._top)


def _is_ignored(path: str, rules: tuple[Ignored, ...], *, is_folder: bool) -> bool:
    for rule in reversed(rules):
        if rule.is_folder and not is_folder:
            continue
        if rule.pattern.fullmatch(path[len(rule.base) + 1 :]):
            return not rule.is_back
    return False


def _ignored_above(top: str) -> tuple[Ignored, ...]:
    """What the folders above ignore, as far up as the repository goes."""
    above: list[Path] = []
    folder = Path(top)
    while not (folder / ".git").exists():
        if folder == folder.parent:
            return ()
        folder = folder.parent
        above.append(folder)
    return tuple(rule for each in reversed(above) for rule in _ignored_in(str(each)))


def _ignored_in(folder: str) -> Iterator[Ignored]:
    try:
        with _opened(f"{folder}/.gitignore") as file:
            lines = file.read(_LARGEST).decode(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        text = line.rstrip()
        if (
            not text
            or text.startswith("#")
            or len(text) > _LONGEST_RULE
            or text.count("*") > _MOST_STARS
        ):
            continue
        is_back, text = text.startswith("!"), text.removeprefix("!")
        is_folder, text = text.endswith("/"), text.rstrip("/")
        where = text.removeprefix("/") if "/" in text else f"**/{text}"
        yield Ignored(folder.rstrip("/"), translated(where), is_folder, is_back)


def _opened(path: str) -> BufferedReader:
    """A file to read from; a pipe in its place does not make us wait."""
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")


def translated(glob: str) -> "re.Pattern[str]":
    """A glob as a regular expression: `*` stays within a folder, `**/` is any folders."""
    parts = (_part(found) for found in _TOKEN.finditer(glob))
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:
        return re.compile(re.escape(glob))


def _part(found: "re.Match[str]") -> str:
    match found.lastgroup:
        case "deep":
            return "(?:[^/]+/)*"
        case "rest":
            return ".*"
        case "any":
            return "[^/]*"
        case "one":
            return "[^/]"
        case "set":
            inner = found["set"].replace("\\", r"\\").replace("[", r"\[")
            inner = rf"\{inner}" if inner.startswith(("]", "^")) else inner
            return f"[{'^' if found['no'] else ''}{inner}]"
        case _:
            return re.escape(found["as_is"] or found["plain"])


class Names:
    """Whether a path fits a glob; one with a slash is about the path, else about the name."""

    def __init__(self, glob: str, top: str) -> None:
        glob = glob.removeprefix("./")
        self._is_path = "/" in glob
        self._top = str(Path(top).resolve()).rstrip("/") + "/"
        self._patterns = [translated(each.lstrip("/")) for each in _unbraced(glob)]

    def fit(self, path: str) -> bool:
        """Whether it does."""
        name = path.removeprefix(self._top) if self._is_path else path.rpartition("/")[2]
        return any(pattern.fullmatch(name) for pattern in self._patterns)


def _unbraced(glob: str) -> list[str]:
    """`*.{js,ts}` as `*.js` and `*.ts`."""
    globs = [glob]
    while len(globs) < _MOST_BRACES and (found := _BRACES.search(globs[0])):
        before, after = globs[0][: found.start()], globs[0][found.end() :]
        globs = [*globs[1:], *(f"{before}{each}{after}" for each in found[1].split(","))]
    return globs


class Search:
    """One request, looked for until enough was found."""

    def __init__(self, *, kind: str, pattern: str, top: str, glob: str, limit: int) -> None:
        self._tree = Tree(top)
        self._limit, self._found, self._too_large = limit, 0, 0
        self._names = Names(pattern if kind == "name" else glob or "*", top)
        self._pattern = None if kind == "name" else re.compile(pattern)

    def run(self) -> None:
        """Write every find, and at the end what there is to say."""
        is_more = any(self._is_too_many(found) for found in self._tree)
        _say(end=True, more=is_more, large=self._too_large, unreadable=self._tree.unreadable)

    def _is_too_many(self, found: Found) -> bool:
        if not self._names.fit(found.path):
            return False
        if self._pattern is None:
            return self._tell(found.path + "/" * found.is_folder)
        if found.is_folder:
            return False
        return any(
            self._tell(found.path, line=number, text=_around(line, match.start()))
            for number, line in enumerate(self._lines(found.path), start=1)
            if (match := self._pattern.search(line))
        )

    def _tell(self, path: str, **more: object) -> bool:
        self._found += 1
        if self._found > self._limit:
            return True
        _say(path=path, **more)
        return False

    def _lines(self, path: str) -> Iterator[str]:
        try:
            with _opened(path) as file:
                if os.fstat(file.fileno()).st_size > _LARGEST:
                    self._too_large += 1
                    return
                content = file.read(_LARGEST)
        except OSError:
            self._tree.unreadable += 1
            return
        if b"\0" not in content[:_SAMPLE]:
            for line in content.decode(errors="replace").split("\n"):
                yield line[:_LONGEST_LINE].rstrip("\r")


def _around(line: str, at: int) -> str:
    if len(line) <= _SHOWN:
        return line
    start = max(at - _SHOWN // 3, 0)
    return ("…" if start else "") + line[start : start + _SHOWN] + "…"


def _say(**said: object) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()  # whoever is stopped in the middle has told what it found


def main() -> None:
    """Do what the first argument asks for."""
    try:
        Search(**json.loads(sys.argv[1])).run()
    except (re.error, OverflowError, RecursionError) as error:
        _say(error=str(error))


if __name__ == "__main__":
    main()
