"""`trust`: what the configuration of a folder may do."""

import sys
from collections.abc import Sequence
from pathlib import Path
from time import localtime, strftime
from typing import Annotated

import typer

from tooldrawer.cli.output import harmless, notice, show, table
from tooldrawer.cli.trust_text import describe_item
from tooldrawer.config import sources
from tooldrawer.config.loading import BESIDE, FILE_NAME
from tooldrawer.config.trust_items import read_items
from tooldrawer.errors import ConfigError
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
    """Show what the configuration of this folder starts and changes, and trust it."""
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
    waiting = [item for item in items if not store.trusts(item)]
    if not waiting:
        if len(own) < len(files):
            show("All in these files that needs trust is trusted already.")
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
    for title, value in describe_item(item):
        show(harmless(f"  {title + ': ' if title else ''}{value}", keep=""))


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
