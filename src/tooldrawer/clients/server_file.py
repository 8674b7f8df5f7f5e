"""A client's file with lists of servers, whatever its format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tooldrawer.clients.json_file import JsonFile
from tooldrawer.clients.toml_file import TomlFile
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json, JsonObject


class ServerFile(Protocol):
    """What can be read from such a file, and what it becomes."""

    def entries(self, keys: tuple[str, ...]) -> JsonObject | None:
        """The servers of the list at `keys`; nothing when there is no such list.

        Raises:
            ConfigError: Something else stands there.
        """
        ...

    def edited(self, keys: tuple[str, ...], changes: Mapping[str, Json]) -> str:
        """The text with these entries of the list changed, `None` takes one out.

        All else stays as it is, byte for byte.

        Raises:
            ConfigError: The list is written in a way that cannot be edited.
        """
        ...

    def masked(self) -> str:
        """The text, line by line the same, without what may be a secret."""
        ...


def server_file(path: Path, text: str) -> ServerFile:
    """The file `path` with that text; an empty text is a file without any settings.

    Raises:
        ConfigError: It is not in the format of its name; with the line.
    """
    kind = TomlFile if path.suffix == ".toml" else JsonFile
    return kind(text, name=str(path))


def text_of(data: bytes, path: Path) -> str:
    """A file's bytes as text; line ends stay as they are.

    Raises:
        ConfigError: They are no text.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text ({error.reason}).") from error
