"""The prompt of a chat: a line editor with a history."""

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from platformdirs import user_data_path
from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from tooldrawer.private_files import make_private_folder, open_private

_MARK = "> "


class Cleared(Exception):
    """Ctrl-C was pressed with nothing written."""


class Prompt:
    """Reads messages in a terminal. Enter sends; Alt-Enter and pasted text make more lines."""

    def __init__(self, commands: Sequence[tuple[str, str]], *, colour: bool, stores: bool) -> None:
        """With `stores` what is written here is kept for the arrow keys of the next chat."""
        self._mark = ANSI(f"\x1b[1m{_MARK}\x1b[0m") if colour else _MARK
        self._session: PromptSession[str] = PromptSession(
            history=_history() if stores else InMemoryHistory(),
            completer=_Commands(commands),
            complete_while_typing=True,
            reserve_space_for_menu=4,
            key_bindings=_keys(),
            prompt_continuation="  ",
            enable_open_in_editor=False,
            enable_suspend=True,
        )
        self._writing: Awaitable[None] | None = None

    async def read(self) -> str:
        """What the person wrote.

        Raises:
            EOFError: They pressed Ctrl-D.
            Cleared: They pressed Ctrl-C with nothing written.
        """
        try:
            return await self._session.prompt_async(self._mark)
        except KeyboardInterrupt:  # a terminal without a cursor has keys of its own
            raise Cleared from None

    def make_way(self, write: Callable[[], None]) -> None:
        """Have `write` write above what the person is writing; nothing of theirs is lost."""
        self._writing = run_in_terminal(write)


class _Commands(Completer):
    def __init__(self, commands: Sequence[tuple[str, str]]) -> None:
        self._commands = commands

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        del complete_event
        typed = document.text
        if not typed.startswith("/") or " " in typed:
            return
        for name, help_text in self._commands:
            if name.startswith(typed):
                yield Completion(name, start_position=-len(typed), display_meta=help_text)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c")
    @keys.add(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:  # pyright: ignore[reportUnusedFunction]
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=Cleared())

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:  # pyright: ignore[reportUnusedFunction]
        event.current_buffer.insert_text("\n")

    return keys


def _history() -> History:
    folder: Path = user_data_path("tooldrawer", appauthor=False)
    try:
        make_private_folder(folder)
        file = folder / "history"
        os.close(open_private(file, os.O_WRONLY))
    except OSError:  # it is a convenience, and worth no complaint
        return InMemoryHistory()
    return FileHistory(file)
