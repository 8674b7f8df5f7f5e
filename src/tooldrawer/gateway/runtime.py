"""Where running gateways can be found: a folder of the user's own, with a card for each."""

import json
import os
import socket
import stat
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from platformdirs import user_runtime_path

from tooldrawer.tool import JsonObject

FOLDER_VARIABLE = "TOOLDRAWER_RUNTIME_DIR"
_HAS_SOCKETS = hasattr(socket, "AF_UNIX") and hasattr(os, "geteuid")
_LONGEST = 100
"""Bytes of a socket's path that every system takes: Linux has room for 107, macOS for 103."""
_PATIENCE = 1.0
"""Seconds for a local connection, which takes microseconds unless the process is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is written down about a running gateway, so that others find it."""

    pid: int
    started: float
    """Seconds since the epoch."""
    transport: str
    address: str
    config: str
    socket: str
    """The path of its control socket."""


class Place:
    """Where one gateway is in the runtime folder: its socket, and its card beside it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._made: list[Path] = []
        """What to remove again, in this order."""

    def occupy(self, status: JsonObject) -> socket.socket:
        """A listening socket that only this user can reach, announced by a card.

        Raises:
            OSError: There is no place for it; the text says why.
        """
        if not _HAS_SOCKETS:
            raise OSError("this system has no unix domain sockets")
        folder = _own_folder(self._folder)
        pid = os.getpid()
        path = self._short(folder / f"{pid}.sock")
        _clear(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(path))
            self._made.insert(0, path)
            path.chmod(0o600)
            listener.listen()
            self._announce(folder / f"{pid}.json", _card(status, path))
        except OSError:
            listener.close()
            self.leave()
            raise
        return listener

    def leave(self) -> None:
        """Remove what was made."""
        while self._made:
            path = self._made.pop(0)
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()

    def _short(self, path: Path) -> Path:
        """A path that fits into a socket's address; in a folder of its own when `path` does not."""
        if len(os.fsencode(path)) <= _LONGEST:
            return path
        folder = Path(tempfile.mkdtemp(prefix="tooldrawer-"))  # made with mode 0700
        self._made.append(folder)
        short = folder / path.name
        if len(os.fsencode(short)) > _LONGEST:
            self.leave()
            raise OSError(f"the path {short} is too long for a socket")
        return short

    def _announce(self, path: Path, card: Card) -> None:
        draft = path.with_suffix(".new")
        self._made[:0] = [path, draft]
        with suppress(FileNotFoundError):
            draft.unlink()
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(card), file)
        draft.replace(path)


def running(folder: Path | None = None) -> list[Card]:
    """The gateways of this user that run, oldest first; what dead ones left behind is removed."""
    cards: dict[str, Card] = {}
    if not _HAS_SOCKETS:
        return []
    for each in [folder] if folder else _folders():
        if not each.is_dir() or _problem(each):
            continue
        for path in each.glob("*.json"):
            card = _read(path)
            if card is None:
                continue
            if _answers(Path(card.socket)):
                cards[card.socket] = card
            else:
                _remove(path, Path(card.socket))
    return sorted(cards.values(), key=lambda card: (card.started, card.pid))


def _folders() -> Iterator[Path]:
    """The folders where a gateway of this user may be: the first one that is usable holds it."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        yield Path(chosen)
        return
    usual = _usual_folder()
    if usual is not None:
        yield usual
    yield Path(tempfile.gettempdir()) / f"tooldrawer-{os.geteuid()}"


def _usual_folder() -> Path | None:
    # It warns when XDG_RUNTIME_DIR is not set. That is so for most processes which an MCP client
    # starts, and no mistake.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return user_runtime_path("tooldrawer", appauthor=False)
        except OSError:  # it found only a folder that somebody else made
            return None


def _own_folder(folder: Path | None) -> Path:
    """The first usable folder, made where it is missing."""
    problems: list[str] = []
    for each in [folder] if folder else _folders():
        try:
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            problems.append(f"{each} cannot be made ({error.strerror})")
            continue
        if problem := _problem(each):
            problems.append(problem)
        else:
            return each
    raise PermissionError("; ".join(problems) or "there is no folder for it")


def _problem(folder: Path) -> str:
    """Why a folder is not safe: whoever can write in it could pose as a gateway."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a folder"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write in {folder}"
    return ""


def _card(status: JsonObject, path: Path) -> Card:
    return Card(
        pid=os.getpid(),
        started=float(cast("float", status.get("started") or 0.0)),
        transport=str(status.get("transport") or ""),
        address=str(status.get("address") or ""),
        config=str(status.get("config") or ""),
        socket=str(path),
    )


def _read(path: Path) -> Card | None:
    try:
        found = cast("JsonObject", json.loads(path.read_text(encoding="utf-8")))
        return Card(
            pid=int(cast("int", found["pid"])),
            started=float(cast("float", found["started"])),
            transport=str(found["transport"]),
            address=str(found["address"]),
            config=str(found["config"]),
            socket=str(found["socket"]),
        )
    except (OSError, ValueError, TypeError, KeyError):  # another version's, or none of ours
        return None


def _answers(path: Path) -> bool:
    """Whether somebody listens. A pid would not tell: it may be reused, or another container's."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PATIENCE)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # it listens, but is too busy or stopped
            return True
    return True


def _clear(path: Path) -> None:
    """Make way for a socket: one that a dead process of the same pid left is removed."""
    if not path.exists():
        return
    if _answers(path):
        raise FileExistsError(f"another gateway of this process listens at {path}")
    path.unlink()


def _remove(card: Path, path: Path) -> None:
    with suppress(OSError):
        card.unlink()
    with suppress(OSError):
        path.unlink()
    if path.parent != card.parent and path.parent.name.startswith("tooldrawer-"):
        with suppress(OSError):  # it was made for this one socket
            path.parent.rmdir()
