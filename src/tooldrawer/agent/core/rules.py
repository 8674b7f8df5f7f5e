"""Where the core tools may work without asking a person."""

import os
from collections.abc import Iterable
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path

from tooldrawer.agent.core.steering_files import is_steering
from tooldrawer.agent.core.workplace import Workplace
from tooldrawer.call import ToolCall
from tooldrawer.dispatch import Allow, Ask, Deny, Verdict
from tooldrawer.errors import InvalidArguments
from tooldrawer.tool import Tool

SOURCE = "core"
"""The name of the toolset that these rules are about."""


class CoreRules:
    """A guardrail: commands are asked about, writing outside is denied, reading outside is asked.

    The tools look again when they run, because a link may have been turned meanwhile. Only for
    reading this rule is the one check: the tool cannot know what a person has allowed.
    """

    def __init__(self, workplace: Workplace, *, steering: Iterable[Path] = ()) -> None:
        """`steering` are files by any name that programs obey, such as the configuration in use."""
        self._workplace = workplace
        self._steering = tuple(path.absolute() for path in steering)

    def __call__(self, tool: Tool, call: ToolCall) -> Verdict:
        """Judge one call."""
        if tool.source != SOURCE:
            return Allow()
        try:
            match tool.local_name:
                case "terminal":
                    return self._command(self._place(call, "cwd"))
                case "write_file" | "patch":
                    return self._write(self._place(call, "path"), call.arguments.get("path"))
                case "read_file" | "search_files":
                    return self._read(self._place(call, "path"), tool.local_name)
                case _:
                    return Allow()
        except InvalidArguments as error:
            return Deny(str(error))

    def _place(self, call: ToolCall, argument: str) -> Path:
        given = call.arguments.get(argument)
        if given is not None and not isinstance(given, str):
            raise InvalidArguments(f"/{argument} must be text. Correct it and call again.")
        return self._workplace.resolve(given or ".")

    def _command(self, folder: Path) -> Verdict:
        if not self._workplace.holds(folder):
            return Deny(self._workplace.refusal(folder))
        return Ask(f"Run this command in {folder}? (session, always: any command)")

    def _write(self, place: Path, given: object) -> Verdict:
        if not self._workplace.holds(place):
            return Deny(self._workplace.refusal(place))
        if self._steers(place) or self._is_called_steering(given):
            return Ask(
                f"Write {place}? Programs run or obey what is in it. "
                "(session, always: any such file)",
                about="what programs obey",
            )
        return Allow()

    def _steers(self, place: Path) -> bool:
        # From the working directory on, which may itself be a worktree below .claude.
        if is_steering(Path(self._workplace.name(place)).parts):
            return True
        # Who works in the home folder has tooldrawer's own files in the workplace: grants, notes.
        steering = (*_own(), *self._steering)
        return self._is_hidden_at_home(place) or any(
            place.is_relative_to(path.resolve()) for path in steering
        )

    def _is_called_steering(self, given: object) -> bool:
        """Whether the path as given is: AGENTS.md may be a link to a file of any name."""
        root = self._workplace.root.expanduser().absolute()
        place = Path(os.path.normpath(root / Path(str(given)).expanduser()))
        return is_steering(place.relative_to(root).parts if place.is_relative_to(root) else ())

    def _is_hidden_at_home(self, place: Path) -> bool:
        """Whether it is in what programs keep in the home folder, and nobody works in there.

        `.config/autostart`, `.local/bin`, `.npmrc`, `.aws`... are too many to be named.
        """
        home = Path("~").expanduser().resolve()
        if not place.is_relative_to(home) or place == home:
            return False
        entry = home / place.relative_to(home).parts[0]
        return entry.name.startswith(".") and not self._workplace.lies_in(entry)

    def _read(self, place: Path, name: str) -> Verdict:
        if self._workplace.holds(place):
            return Allow()
        what = "Read" if name == "read_file" else "Search"
        return Ask(
            f"{what} {place}, outside the working directory? (session, always: anywhere outside)",
            about="outside",
        )


def _own() -> Iterable[Path]:
    """Where tooldrawer keeps what it obeys."""
    for folder in (user_data_path, user_config_path, user_cache_path):
        yield folder("tooldrawer", appauthor=False)
