"""What the gateway serves, as it is written in its files."""

from pathlib import Path

from tooldrawer.clients import change
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.server_file import text_of
from tooldrawer.clients.taken import servers_of
from tooldrawer.config import sources
from tooldrawer.config.appending import written_servers
from tooldrawer.errors import ConfigError
from tooldrawer.upstream.spec import UpstreamSpec


def served_by(config: Path, *, without: Path, folders: Folders) -> list[UpstreamSpec]:
    """The servers of a configuration, but for those that only the file `without` names.

    Raises:
        ConfigError: A file cannot be read, or `without` is the configuration itself.
    """
    if config.resolve() == without.resolve():
        raise ConfigError(
            f"{without} is where the gateway finds its servers, so none can be taken out of it; "
            f"first write them elsewhere with `tooldrawer import --from {without} --write FILE`."
        )
    found: list[UpstreamSpec] = []
    for path in sources(config):
        data = change.read(path)
        if data is None or path.resolve() == without.resolve():
            continue
        if path.suffix == ".json":
            found += [one.spec for one in servers_of(path, folders).found if not one.left_out]
        else:
            found += written_servers(text_of(data, path), name=str(path))
    return found
