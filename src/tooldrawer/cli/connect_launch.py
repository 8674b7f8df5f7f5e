"""How `connect` lets a client reach the gateway: by a command with variables, or an address."""

import dataclasses
import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from tooldrawer import config as configuration
from tooldrawer.cli.first_token import first_token_warning
from tooldrawer.cli.output import notice, show
from tooldrawer.clients.inheritance import own_folders
from tooldrawer.clients.known import Client, Place
from tooldrawer.clients.launch import Launch, launch_of_this_program
from tooldrawer.config.secret_file import SecretFile
from tooldrawer.config.trust_items import require_trust
from tooldrawer.errors import ConfigError
from tooldrawer.gateway.tokens import Tokens

_SCHEMES = ("http://", "https://")
_EXAMPLE = "http://127.0.0.1:8765/mcp"
_FILLED = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)")
_SCOPE_PATH = re.compile(r".*/mcp/(?P<scope>[^/]+)/?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """The options of `connect --http`."""

    address: str
    token_variable: str = ""
    is_new_token: bool = False


def launch_command(config: Path | None, scope: str | None) -> Launch:
    """Start this program with the configuration.

    Raises:
        ConfigError: There is no configuration, or no such scope in it.
    """
    file = config_file(config)
    if config is None:  # the client will name the file, and so trust it
        require_trust(file)
    _check_scope(file, scope)
    arguments = ["serve", "--config", str(file), *(["--scope", scope] if scope else [])]
    launch = dataclasses.replace(
        launch_of_this_program(arguments),
        variables=_variables(file),
        env=own_folders(os.environ),
    )
    return without_stored(launch)


def config_file(config: Path | None) -> Path:
    """Return the configuration that was named, or the one that is found here.

    Raises:
        ConfigError: There is none.
    """
    if config is not None and not config.is_file():
        raise ConfigError(f"--config is {str(config)!r}, and there is no such file.")
    return (config or configuration.find(lists=True)).absolute()


def scope_of(launch: Launch, scope: str | None) -> str:
    """Return the scope that the client will have: named, in the address, or the token's."""
    if scope or not launch.url:
        return scope or ""
    if match := _SCOPE_PATH.fullmatch(urlsplit(launch.url).path):
        return unquote(match["scope"])
    token = Tokens().verify(os.environ.get(launch.token_variable, ""))
    return token.scope if token else ""


def without_stored(launch: Launch) -> Launch:
    """Leave out variables that the gateway finds in the secret file; the client need not know them.

    Raises:
        ConfigError: The secret file cannot be read.
    """
    stored = SecretFile().read()
    names = tuple(name for name in launch.variables if name not in stored)
    return dataclasses.replace(launch, variables=names)


def launch_http(
    client: Client, place: Place, options: HttpOptions, scope: str | None, stack: ExitStack
) -> Launch:
    """Call a running gateway; a token that is made for it is revoked when `stack` unwinds.

    Raises:
        ConfigError: The client takes no address, or the options do not go together.
    """
    if not client.has_http:
        raise ConfigError(
            f"{client.title} starts its servers and cannot be given an address in its file; "
            "leave --http out."
        )
    http = options.address
    _check_address(http)
    address = http.rstrip("/")
    if scope is not None and not address.endswith("/mcp"):
        raise ConfigError(f"--http is {http!r}; with --scope it has to end in /mcp.")
    _check_token(place, options)
    token = _make_token(client, scope, stack) if options.is_new_token else ""
    return Launch(
        url=http if scope is None else f"{address}/{quote(scope, safe='')}",
        token=token,
        token_variable=options.token_variable,
    )


def _check_address(http: str) -> None:
    if not http.startswith(_SCHEMES):
        raise ConfigError(f"--http is {http!r}, expected an address that begins with http://.")
    try:
        parts = urlsplit(http)
        # Only reading the port finds out whether it is a number up to 65535.
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not http.isprintable() or " " in http:
        raise ConfigError(
            f"--http is {http!r}, which is not a valid address; expected one such as {_EXAMPLE}."
        )


def _check_token(place: Place, options: HttpOptions) -> None:
    name = options.token_variable
    if name and not _VARIABLE.fullmatch(name):
        raise ConfigError(f"--token-env is {name!r}, expected the name of a variable.")
    if name and options.is_new_token:
        raise ConfigError("--token-env and --new-token exclude each other.")
    if options.is_new_token and place.where == "project":
        raise ConfigError(
            "A project's file may be shared, so no token is written into it; use --token-env."
        )


def describe_refused_token(launch: Launch, problem: str) -> str:
    """Return what to do when the gateway wants a token; empty when that is not the problem."""
    if not launch.url or "HTTP 401" not in problem:
        return ""
    name = launch.token_variable
    if not name:
        return (
            " It wants a token: make one with --new-token, or name the variable that has one with "
            "--token-env."
        )
    if not os.environ.get(name):
        return f" The variable {name}, which --token-env names, is not set here."
    return f" The token in {name} is not one that this gateway knows."


def _make_token(client: Client, scope: str | None, stack: ExitStack) -> str:
    tokens = Tokens()
    tokens.check()
    taken = {token.name for token in tokens}
    number, name = 1, client.name
    while name in taken:
        number += 1
        name = f"{client.name}-{number}"
    was_open = not tokens
    token, secret = tokens.create(name, scope or "")
    if was_open:
        stack.callback(tokens.open)
        notice(first_token_warning())
    stack.callback(tokens.revoke, token.id)
    show(f"Made the token {name}; `tooldrawer token revoke {name}` ends it.")
    return secret


def _variables(file: Path) -> tuple[str, ...]:
    """The names of what is filled in from the environment, in the order of the file."""
    found: list[str] = []
    for source in configuration.sources(file):
        if source.is_file():
            text = source.read_text(encoding="utf-8", errors="replace")
            found += _FILLED.findall(text)
    return tuple(dict.fromkeys(found))


def _check_scope(file: Path, scope: str | None) -> None:
    if scope is None:
        return
    try:
        found = configuration.gather(file)
    except ConfigError:
        return  # starting the gateway says what is wrong
    if scope not in found.scopes:
        known = ", ".join(sorted(found.scopes)) or "none"
        raise ConfigError(f"There is no scope named {scope!r}; configured are: {known}.")
