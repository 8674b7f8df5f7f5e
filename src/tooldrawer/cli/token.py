"""`token`: who may come in over HTTP."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from tooldrawer import config as configuration
from tooldrawer.cli.first_token import first_token_warning
from tooldrawer.cli.opening import ConfigOption, JsonOption
from tooldrawer.cli.output import notice, show, show_json, table
from tooldrawer.errors import ConfigError
from tooldrawer.gateway.tokens import Token, Tokens

_PURPOSE = "Tokens for the gateway over HTTP: each opens one scope, or the whole drawer."
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"(?P<count>[1-9]\d{0,4})(?P<unit>[smhdw])")
_WHOLE = "(whole drawer)"

app = typer.Typer(no_args_is_help=True, help=_PURPOSE)


@app.callback(help=_PURPOSE)
def root() -> None:
    """Hold the commands together."""


@app.command()
def create(
    scope: Annotated[
        str, typer.Option("--scope", help="A scope of the configuration; else the whole drawer.")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="What to call it, e.g. laptop.")] = "",
    expires: Annotated[
        str, typer.Option("--expires", help="When it ends, e.g. 12h, 30d or 8w; else never.")
    ] = "",
    config: ConfigOption = None,
    json: JsonOption = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Make a token and show it, once."""
    seconds = _seconds(expires) if expires else None
    if scope or config:
        _check_scope(scope, config)
    tokens = Tokens()
    tokens.check()
    is_first = not tokens
    token, secret = tokens.create(name.strip(), scope, seconds)
    if json:
        facts = {**_facts(token), "token": secret, "path": _address(token), "is_first": is_first}
        show_json(facts)
        return
    ends = f"expires {_moment(token.expires)}" if token.expires is not None else "does not expire"
    show(
        f"{secret}\n\n"
        "Keep it now: it is not shown again, and only its digest is stored.\n"
        f"Clients send it to {_address(token)} of the gateway as\n\n"
        "    Authorization: Bearer TOKEN\n\n"
        f"It opens {_opens(token)} and {ends}; "
        f"`tooldrawer token revoke {token.id}` ends it at once."
    )
    if is_first:
        show(f"\n{first_token_warning()}")


@app.command(name="list")
def list_(json: JsonOption = False) -> None:  # noqa: FBT002
    """Show the tokens, never their secrets."""
    tokens = Tokens()
    tokens.check()
    if json:
        show_json([_facts(token) for token in tokens])
    elif rows := [_row(token) for token in tokens]:
        table(("id", "name", "scope", "created", "expires"), rows, numbers=3)
    else:
        show("There are no tokens; `tooldrawer token create` makes one.")


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID", help="The token's id, or its name.")],
) -> None:
    """End a token; running gateways notice at the next request."""
    tokens = Tokens()
    if not tokens.revoke(token):
        raise ConfigError(
            f"There is no token with the id or name {token!r}; `tooldrawer token list` shows them."
        )
    show(f"The token {token} is revoked.")
    if not any(True for _ in tokens):
        show(
            "It was the last one: over HTTP no client gets in until you create another with "
            "`tooldrawer token create`, or run `tooldrawer token open` to let clients on this "
            "machine in without one."
        )


@app.command(name="open")
def open_() -> None:
    """Let clients on this machine in without a token, once all tokens are revoked."""
    Tokens().open()
    show(
        "Clients on this machine need no token now; running gateways notice at the next request. "
        "A gateway that listens on another address than this machine's lets no client in without "
        "one. `tooldrawer token create` asks for tokens again."
    )


def _check_scope(scope: str, config: Path | None) -> None:
    try:
        file = config or configuration.find()
    except ConfigError:
        notice(f"There is no configuration here, so the scope {scope!r} was not checked.")
        return
    known = configuration.gather(file, trust="file" if config else "recorded").scopes
    if scope and scope not in known:
        names = ", ".join(sorted(known)) or "none"
        raise ConfigError(f"There is no scope named {scope!r} in {file}; configured are: {names}.")


def _seconds(span: str) -> int:
    found = _SPAN.fullmatch(span.strip().lower())
    if found is None:
        raise typer.BadParameter(
            f"{span!r} is not a span of time; expected a number and a unit, as in 12h, 30d or 8w",
            param_hint="'--expires'",
        )
    return int(found["count"]) * _SECONDS[found["unit"]]


def _address(token: Token) -> str:
    return f"/mcp/{quote(token.scope, safe='')}" if token.scope else "/mcp"


def _opens(token: Token) -> str:
    return f"the scope {token.scope!r}" if token.scope else "the whole drawer"


def _facts(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "created": _moment(token.created),
        "expires": None if token.expires is None else _moment(token.expires),
        "is_expired": token.is_expired,
    }


def _row(token: Token) -> tuple[str, ...]:
    ends = "never" if token.expires is None else _moment(token.expires)[:10]
    return (
        token.id,
        token.name,
        token.scope or _WHOLE,
        _moment(token.created)[:10],
        f"expired {ends}" if token.is_expired else ends,
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
