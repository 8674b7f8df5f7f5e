"""What reading a file complains about, whether it stops the start or only a server."""

from collections.abc import Mapping
from pathlib import Path

from tooldrawer import config
from tooldrawer.errors import ConfigError


def complaints(path: Path, environment: Mapping[str, str]) -> list[str]:
    """The sentences about a file that is wrong somewhere."""
    try:
        found = config.load(path, environment=environment)
    except ConfigError as error:
        return list(error.mistakes)
    assert found.server_mistakes, "the file is right"
    return list(found.server_mistakes)
