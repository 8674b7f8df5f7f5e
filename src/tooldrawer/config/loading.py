"""A file into settings, or every mistake in it at once."""

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path as FilePath
from typing import Literal

from platformdirs import user_config_path

from tooldrawer.config.build import Builder
from tooldrawer.config.check import checked, without
from tooldrawer.config.document import Document, Mistake
from tooldrawer.config.environment import Filling
from tooldrawer.config.jsonc import JsonText, NotJson
from tooldrawer.config.list_key import list_key
from tooldrawer.config.mcp_json import server_list
from tooldrawer.config.scope_names import patterns_without_server, unknown_toolsets
from tooldrawer.config.sentences import sentences
from tooldrawer.config.server_problems import disable_servers, split_by_server
from tooldrawer.config.settings import Config, GatewayOptions
from tooldrawer.config.shape import FileShape
from tooldrawer.config.short import spelled_out, written
from tooldrawer.config.trust_decisions import SERVERS_KEY
from tooldrawer.config.trust_items import Trusts, settings_items, untrusted
from tooldrawer.config.variables import known_variables
from tooldrawer.errors import ConfigError
from tooldrawer.trust import TrustStore, is_users_own

FILE_NAME = "tooldrawer.yaml"
BESIDE = ".mcp.json"
"""The servers of a folder, as other programs write them."""
_JSON = (".json", ".jsonc")
Trust = Literal["all", "file", "recorded"]
"""What of the files may be used: all, the file itself but not the `.mcp.json` beside it, or only
what was recorded with `tooldrawer trust`. The user's configuration folder is always trusted."""


def find(*, lists: bool = False) -> FilePath:
    """The configuration of this folder, else the user's; with `lists` also a `.mcp.json` here.

    A `.mcp.json` comes with many a repository, and what it names is started: only a person who
    means this folder may ask for that.

    Raises:
        ConfigError: There is none.
    """
    users = user_config_path("tooldrawer", appauthor=False)
    beside = (FilePath(BESIDE),) if lists else ()
    for place in (FilePath(FILE_NAME), *beside, users / FILE_NAME):
        if place.is_file():
            return place
    if FilePath(BESIDE).is_file():
        raise ConfigError(
            f"There is no {FILE_NAME} in this folder or in {users}. There is a {BESIDE}: name it "
            f"with --config {BESIDE} if the servers in it may be started."
        )
    raise ConfigError(
        f"There is no {FILE_NAME} in this folder or in {users}; write one, take over the servers "
        f"of other programs with `tooldrawer import --write {FILE_NAME}`, "
        "name a file with --config."
    )


def sources(path: str | FilePath) -> tuple[FilePath, ...]:
    """The files that `gather` reads; the second need not be there."""
    file = FilePath(path)
    return (file, file.with_name(BESIDE)) if file.name == FILE_NAME else (file,)


def gather(
    path: str | FilePath,
    *,
    environment: Mapping[str, str] | None = None,
    trust: Trust = "file",
) -> Config:
    """Read `path`; to a `tooldrawer.yaml` add the servers that only the `.mcp.json` beside it has.

    What is not trusted is not used: its server has a `problem`, anything else is a mistake.

    Raises:
        ConfigError: As `load`, with the mistakes of both files.
    """
    file, *beside = sources(path)
    complaints: list[str] = []
    config = Config()
    try:
        config = _load(
            file, environment, GatewayOptions(), _gate(file, is_trusted=trust != "recorded")
        )
    except ConfigError as error:
        complaints += error.mistakes
    more = Config()
    try:
        if beside and beside[0].is_file():
            gate = _gate(beside[0], is_trusted=trust == "all")
            more = _load(beside[0], environment, config.gateway, gate)
    except ConfigError as error:
        complaints += error.mistakes
    if complaints:
        # All at once: also what would only have disabled a server.
        complaints += [line for each in (config, more) for line in each.server_mistakes]
        raise ConfigError(*complaints)
    named = {server.name for server in config.servers}
    added = tuple(server for server in more.servers if server.name not in named)
    whole = replace(config, servers=(*config.servers, *added))
    names = (*unknown_toolsets(whole), *patterns_without_server(whole))
    about_names = (f"{file}: {sentence}" for sentence in names)
    return replace(whole, notes=(*config.notes, *more.notes, *about_names))


def load(path: str | FilePath, *, environment: Mapping[str, str] | None = None) -> Config:
    """Read and check `path`, which is trusted. A mistake stops the program.

    Raises:
        ConfigError: With one sentence for each mistake: file, line, key, found, expected.
    """
    return _load(FilePath(path), environment, GatewayOptions())


def _gate(file: FilePath, *, is_trusted: bool) -> Trusts | None:
    """Return what decides about the contents of a file; nothing when the user trusts all of it."""
    if is_trusted or is_users_own(file):
        return None
    return TrustStore().trusts


def _load(
    file: FilePath,
    environment: Mapping[str, str] | None,
    gateway: GatewayOptions,
    trusts: Trusts | None = None,
) -> Config:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text ({error.reason}).") from error
    return parse(text, name=str(file), environment=environment, gateway=gateway, trusts=trusts)


def parse(
    text: str,
    *,
    name: str,
    environment: Mapping[str, str] | None = None,
    gateway: GatewayOptions | None = None,
    trusts: Trusts | None = None,
) -> Config:
    """The settings in `text`; `name` stands for the file in messages.

    A name that ends in .json is a list of servers, from which the one at the address of `gateway`
    is left out. What `trusts` does not trust is neither imported nor started.

    Raises:
        ConfigError: As `load`.
    """
    values = known_variables() if environment is None else environment
    if name.lower().endswith(_JSON):
        found = _servers(text, name, values, gateway or GatewayOptions(), trusts)
        if found is not None:
            return found
    return _settings(text, name, values, trusts)


def _servers(
    text: str,
    name: str,
    environment: Mapping[str, str],
    gateway: GatewayOptions,
    trusts: Trusts | None,
) -> Config | None:
    """The servers of a JSON file; nothing when it has our own settings instead."""
    try:
        document = JsonText(text)
    except NotJson as error:
        mistake = Mistake((), f"is not JSON: {error}", error.line)
        raise ConfigError(*sentences([mistake], lambda _: 1, name)) from None
    ours = {field.name for field in fields(FileShape)}
    value = document.value
    if list_key(value) is None and isinstance(value, dict) and ours & value.keys():
        return None
    found = server_list(
        document, name=name, environment=environment, gateway=gateway, trusts=trusts
    )
    if found.mistakes:
        raise ConfigError(*sentences(found.mistakes, document.line, name))
    return Config(servers=found.servers, notes=found.notes)


def _settings(
    text: str, name: str, environment: Mapping[str, str], trusts: Trusts | None
) -> Config:
    document = Document(text)
    if document.value is None and not document.mistakes:
        how = f"add servers with `tooldrawer import --write {name}`, write some, or delete the file"
        mistake = Mistake((), f"has no settings in it; {how}")
        raise ConfigError(*sentences([mistake], document.line, name))
    items = settings_items(document.value, FilePath(name))
    waiting = untrusted(items, trusts, name)
    # Importing runs code, so what is not trusted must not even be looked at.
    settings = [mistake.path for mistake in waiting if mistake.path[0] != SERVERS_KEY]
    filling = Filling(environment)
    usable = without(document.value, settings) if settings else document.value
    value = filling.fill(spelled_out(usable))
    shape, wrong = checked(value, secret=filling.filled)
    as_written = partial(written, value=document.value)
    unread = document.unread | {as_written(mistake.path) for mistake in filling.mistakes}
    builder = Builder(
        shape, secret=filling.filled, doubtful=unread | {mistake.path for mistake in wrong}
    )
    config = builder.build()
    mistakes = [
        *document.mistakes,
        *waiting,
        *filling.mistakes,
        # A value that could not be read or filled would only be complained about a second time.
        *(
            mistake
            for mistake in wrong
            if mistake.is_unknown or as_written(mistake.path) not in unread
        ),
        *builder.mistakes,
    ]
    found = [replace(mistake, path=as_written(mistake.path)) for mistake in mistakes]
    by_server, others = split_by_server(found, document.value)
    if others:
        raise ConfigError(*sentences(found, document.line, name))
    servers = disable_servers(
        config.servers, by_server, value=document.value, line_of=document.line, name=name
    )
    by_name = {item.path[1]: item for item in items if trusts and item.path[0] == SERVERS_KEY}
    prints = {name: item.fingerprint for name, item in by_name.items()}
    return replace(
        config,
        servers=tuple(replace(one, fingerprint=prints.get(one.name, "")) for one in servers),
    )
