"""`trust`: what the configuration of a folder may start."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import join
from time import localtime, strftime
from typing import Annotated, cast

import typer

from tooldrawer.cli.output import harmless, notice, show, table
from tooldrawer.config import sources
from tooldrawer.config.loading import BESIDE, FILE_NAME
from tooldrawer.config.trust_items import read_items
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json, JsonObject
from tooldrawer.trust import TrustItem, TrustStore, is_users_own

_QUESTION = "Trust these? [y]es, [N]o: "
_YES = ("y", "yes")
_REFUSED = 1


def trust(
    file: Annotated[
        Path | None,
        typer.Argument(help=f"A configuration; by default {FILE_NAME} and {BESIDE} here."),
    ] = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Show all that is trusted.")] = False,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Trust nothing of the file any more.")
    ] = False,
) -> None:
    """Show what the configuration of this folder starts, and trust it."""
    store = TrustStore()
    if list_all:
        _list(store)
    elif revoke:
        _revoke(store, file)
    else:
        _trust(store, _files(file), is_agreed=yes)


def _files(file: Path | None) -> list[Path]:
    """The files to look at.

    Raises:
        ConfigError: There is none.
    """
    found = [each for each in sources(file or FILE_NAME) if each.is_file()]
    if not found:
        raise ConfigError(
            f"{file} is not there." if file else f"There is no {FILE_NAME} or {BESIDE} here."
        )
    return found


def _trust(store: TrustStore, files: Sequence[Path], *, is_agreed: bool) -> None:
    own = [each for each in files if is_users_own(each)]
    for each in own:
        show(f"{each} is in your configuration folder, so all of it is trusted.")
    items = [item for each in files if each not in own for item in read_items(each)]
    waiting = [item for item in items if item.fingerprint not in store]
    if not waiting:
        if len(own) < len(files):
            show("All that these files start is trusted already.")
        return
    for item in waiting:
        _show(item)
    if not is_agreed and not _ask():
        show("Nothing was trusted.")
        raise typer.Exit(_REFUSED)
    # What was shown is recorded, also if the file was changed meanwhile.
    store.add(waiting)
    show(f"Trusted: {len(waiting)}. What changes later is asked about again.")


def _show(item: TrustItem) -> None:
    # Escaped, so that no line break in a name or an argument can pose as a line of this list.
    show(harmless(f"{item.file}: {item.key}", keep=""))
    content = item.content
    rows = _describe(content) if item.path[0].casefold().endswith("servers") else [("", content)]
    for title, value in rows:
        show(harmless(f"  {title + ': ' if title else ''}{_text(value)}", keep=""))


def _describe(content: Json) -> Iterable[tuple[str, Json]]:
    entry: JsonObject = content if isinstance(content, dict) else {}
    command, args = entry.get("command"), entry.get("args")
    if command is not None:
        words = [command, *(args if isinstance(args, list) else [])]
        yield "starts", join(map(str, words))
    for key in ("url", "httpUrl", "serverUrl"):
        if key in entry:
            yield "connects to", entry[key]
    if "cwd" in entry:
        yield "in the folder", entry["cwd"]
    for key, title in (("env", "with the variables"), ("headers", "with the headers")):
        if values := entry.get(key):
            yield (
                title,
                ", ".join(cast("JsonObject", values)) if isinstance(values, dict) else values,
            )
    if entry.get("trusted"):
        yield "believed", "what it says about its tools loosens rules"


def _text(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items() if key != "api_key")
    return str(value)


def _ask() -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            "Nobody can be asked here. Look at the list above; to trust it, run this again in a "
            "terminal, or with --yes."
        )
    sys.stdout.flush()
    sys.stderr.write(_QUESTION)
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES


def _list(store: TrustStore) -> None:
    found = store.items()
    if not found:
        show("Nothing is trusted besides your own configuration.")
        return
    rows = [(each.file, each.key, strftime("%Y-%m-%d %H:%M", localtime(each.at))) for each in found]
    table(("file", "what", "since"), rows)


def _revoke(store: TrustStore, file: Path | None) -> None:
    """Also for a file that is gone."""
    count = sum(store.remove(str(each.resolve())) for each in sources(file or FILE_NAME))
    if count:
        show(f"No longer trusted: {count}. A gateway that runs stops them.")
    else:
        notice("Nothing of it was trusted.")
