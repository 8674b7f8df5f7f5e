"""Daemon threads that the end of the process stops between two pieces of work.

Python ends daemon threads wherever they next need its lock. Inside C++ code (numpy, rapidfuzz,
onnxruntime) that aborts the whole process: exit code 134, "terminate called without an active
exception". So the end of the process waits until each of these threads has finished its piece.
"""

import atexit
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Condition, Thread, get_ident

_MAX_EXIT_WAIT_S = 5.0


class ProcessEnding(BaseException):
    """Ends a daemon thread of this package between two pieces of work."""


class DaemonThreads:
    """The threads that may be in C++ code, and whether the process is ending."""

    def __init__(self, *, max_exit_wait_s: float = _MAX_EXIT_WAIT_S) -> None:
        self._max_exit_wait_s = max_exit_wait_s
        self._changed = Condition()
        self._own: set[int] = set()
        """Identifiers of the threads that were started here."""
        self._busy: set[int] = set()
        """Identifiers of the threads that the end of the process waits for."""
        self._is_ending = False

    def start(self, work: Callable[[], None], *, name: str) -> None:
        """Run `work` in a thread; at its end, the process waits for it until the next pause.

        Pauses are calls of `check_exit`, and whatever runs within `release_exit`.

        Raises:
            RuntimeError: The process is ending.
        """
        self._check_start()
        Thread(target=self._run, args=(work,), daemon=True, name=name).start()

    def check_exit(self) -> None:
        """End this thread if the process is ending; for between two pieces of work.

        Raises:
            ProcessEnding: The process is ending, and the thread was started here.
        """
        if self._is_ending and get_ident() in self._own:
            raise ProcessEnding

    @contextmanager
    def hold_exit(self) -> "Generator[None]":
        """Make the end of the process wait for a piece of work, in whichever thread it runs.

        Raises:
            RuntimeError: The process is ending.
        """
        if get_ident() in self._busy:
            self.check_exit()
            yield
            return
        self._enter()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def release_exit(self) -> "Generator[None]":
        """Let the process end while this thread blocks in Python's own code.

        Python can end a thread there safely, and a wait for the network would hold the exit up.
        """
        if get_ident() not in self._busy:
            yield
            return
        self._leave()
        try:
            yield
        finally:
            self._enter()

    def close(self) -> None:
        """Stop the threads at their next pause, and wait for those that are at work."""
        with self._changed:
            self._is_ending = True
            self._changed.wait_for(lambda: not self._busy - {get_ident()}, self._max_exit_wait_s)

    def forget(self) -> None:
        """Start without threads: a forked child does not have those of its parent."""
        self._changed = Condition()
        self._own.clear()
        self._busy.clear()

    def _run(self, work: Callable[[], None]) -> None:
        self._own.add(get_ident())
        try:
            with self.hold_exit():
                work()
        except ProcessEnding:
            pass
        finally:
            self._own.discard(get_ident())

    def _enter(self) -> None:
        with self._changed:
            self.check_exit()
            self._check_start()
            self._busy.add(get_ident())

    def _check_start(self) -> None:
        if self._is_ending:
            raise RuntimeError("The process is ending; search before that.")

    def _leave(self) -> None:
        with self._changed:
            self._busy.discard(get_ident())
            self._changed.notify_all()


_threads = DaemonThreads()
atexit.register(_threads.close)
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_threads.forget)

start_daemon_thread = _threads.start
check_exit = _threads.check_exit
hold_exit = _threads.hold_exit
release_exit = _threads.release_exit
