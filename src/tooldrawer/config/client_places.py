"""`${NAME}` and its like in the files of other programs: filled, or as our own file writes it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path as FilePath

from tooldrawer.config.document import Mistake, Path

_PLACE = re.compile(
    r"\$\{(?P<env>env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?\}"
    r"|\$\{(?P<asked>input|command|config):(?P<what>[^{}]*)\}"
    r"|\$\{(?P<slash>/)\}"
)
_BEFORE_A_PLACE = re.compile(r"\$(?=[${])")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9]+")
_PROJECT_FOLDERS = (".vscode", ".cursor", ".gemini", ".claude")


class ClientFilling:
    """Fills the texts of one file; remembers what was missing.

    Anything else with a dollar sign stays: those programs leave it too, and it may be a shell's.
    """

    def __init__(self, environment: Mapping[str, str], file: FilePath) -> None:
        self._environment = environment
        self._folders = _folders(file)
        self.mistakes: list[Mistake] = []

    def fill(self, text: str, path: Path) -> str:
        """`text` with `${NAME}`, `${env:NAME}`, `${NAME:-default}`, `${workspaceFolder}` filled."""
        return _PLACE.sub(lambda place: self._filled(place, path), text) if "${" in text else text

    def _filled(self, place: re.Match[str], path: Path) -> str:
        name, default = place["name"], place["default"]
        if place["asked"]:
            text = f"asks with ${{{place['asked']}:...}}, which only its editor can answer; "
            return self._missing(path, f"{text}write ${{NAME}} and set that variable")
        if place["slash"]:
            return os.sep
        if not place["env"] and default is None and name in self._folders:
            return self._folders[name]
        found = self._environment.get(name) or default
        if found is None:
            state = "is empty" if name in self._environment else "is not set"
            text = f"needs the environment variable {name}, which {state}"
            return self._missing(path, text, variable=name)
        return found

    def _missing(self, path: Path, text: str, *, variable: str = "") -> str:
        self.mistakes.append(Mistake(path, text, variable=variable))
        return ""


def rewritten(text: str, file: FilePath) -> str:
    """`text` as it stands in our own file: the same places, and no other dollar sign is one.

    What an editor would ask a person for becomes a variable of that name.
    """
    folders, parts, at = _folders(file), list[str](), 0
    for place in _PLACE.finditer(text):
        parts += [literal(text[at : place.start()]), _own(place, folders)]
        at = place.end()
    return "".join((*parts, literal(text[at:])))


def literal(text: str) -> str:
    """`text` as it stands in our own file when nothing in it is to be filled."""
    return _BEFORE_A_PLACE.sub("$$", text)


def variable_name(*words: str) -> str:
    """A name for a variable of the environment, made of words."""
    name = _NOT_IN_A_NAME.sub("_", "_".join(words)).strip("_").upper()
    return name if name[:1].isalpha() else f"X_{name}"


def _own(place: re.Match[str], folders: Mapping[str, str]) -> str:
    name, default = place["name"], place["default"]
    if place["asked"]:
        return f"${{{variable_name(place['what'])}}}"
    if place["slash"]:
        return os.sep
    if not place["env"] and default is None and name in folders:
        return literal(folders[name])
    return f"${{{name}}}" if default is None else f"${{{name}:-{default}}}"


def _folders(file: FilePath) -> dict[str, str]:
    """What editors call the folders around the file."""
    own = file.absolute().parent
    project = own.parent if own.name in _PROJECT_FOLDERS else own
    return {
        "workspaceFolder": str(project),
        "workspaceFolderBasename": project.name,
        "userHome": str(FilePath.home()),
        "pathSeparator": os.sep,
    }
