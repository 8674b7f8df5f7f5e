"""A value in a private JSON file that several processes read and change."""

import json
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from tooldrawer.errors import ConfigError
from tooldrawer.private_files import lock_beside, replace_private, stamp_file
from tooldrawer.tool import Json

_logger = logging.getLogger(__name__)
_UNREADABLE = (0, 0, 0, 0)
"""The stamp of a file that cannot even be looked at."""
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFormat(Generic[_Value]):
    """How a value is written, and what it is when there is none."""

    parse: Callable[[bytes], _Value]
    """Raises ValueError for anything that `serialize` does not make."""
    serialize: Callable[[_Value], Json]
    empty: _Value
    """The value of a missing file, and of a damaged one until a person has repaired it."""
    damage: str
    """The error for a damaged file, with `{path}` and `{reason}`: what follows, what to do."""


class JsonStore(Generic[_Value]):
    """Reads a file again when it changed, and changes it under a lock between processes.

    A damaged file is reported and never overwritten. A change is on disk when `write` returns.
    """

    def __init__(self, path: Path, form: StoreFormat[_Value]) -> None:
        self.path = path
        self._form = form
        self._lock = Lock()
        self._writing = Lock()
        self._value = form.empty
        self._stamp: tuple[int, ...] | None = None

    @property
    def value(self) -> _Value:
        """The value in the file now; the empty one when it is missing or damaged."""
        with self._lock:
            stamp = self._look()
            if stamp != self._stamp:
                self._stamp, self._value = stamp, self._form.empty
                try:
                    self._value = self.read()
                except ConfigError as error:  # logged once for each state of the file
                    _logger.error(str(error))  # noqa: TRY400  a trace says nothing more
            return self._value

    @property
    def exists(self) -> bool:
        """Whether there is a file, readable or not."""
        return self._look() is not None

    def read(self) -> _Value:
        """Return the value in the file; the empty one when it is missing.

        Raises:
            ConfigError: The file is damaged.
        """
        try:
            return self._form.parse(self.path.read_bytes())
        except FileNotFoundError:
            return self._form.empty
        except (OSError, ValueError, RecursionError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            raise ConfigError(self._form.damage.format(path=self.path, reason=reason)) from error

    @contextmanager
    def locked(self) -> Generator[_Value]:
        """Give the value as it is now; until the block ends only this one may `write`.

        Raises:
            ConfigError: The file is damaged.
            OSError: The lock file cannot be created.
        """
        with self._writing, lock_beside(self.path):
            yield self.read()

    def write(self, value: _Value) -> None:
        """Replace the value; only inside `locked`. It is durable when this returns.

        Raises:
            OSError: It cannot be written; the old value stays.
        """
        text = json.dumps(self._form.serialize(value), indent=1)
        replace_private(self.path, text.encode())
        with self._lock:
            self._stamp, self._value = self._look(), value

    def _look(self) -> tuple[int, ...] | None:
        try:
            return stamp_file(self.path)
        except OSError:
            return _UNREADABLE
