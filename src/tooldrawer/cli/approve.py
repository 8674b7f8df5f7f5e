"""`approve` and `deny`: a person's word on the calls that wait for it."""

import json
import time
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from tooldrawer.activity import Masker
from tooldrawer.cli.controlling_terminal import is_attended
from tooldrawer.cli.grants import revoke_grant, show_grants
from tooldrawer.cli.output import harmless, show
from tooldrawer.cli.running import Gateway, PidOption, gateways, spoken
from tooldrawer.dispatch import Answer
from tooldrawer.errors import ToolDrawerError
from tooldrawer.tool import JsonObject

_HOW = "Approve one with `tooldrawer approve ID`, or refuse it with `tooldrawer deny ID`."
_NOTHING_WAITS = "Calls that waited have ended with the agents that started their gateways."
_MADE_AGAIN = {
    Answer.ONCE: "Approved; it runs once, when the model makes the same call again.",
    Answer.SESSION: "Approved for the session, from when the model makes the same call again.",
    Answer.ALWAYS: "Approved for good, for who asked; the model can make the call again. "
    "`tooldrawer approve --list` shows it, to be taken back.",
    Answer.NO: "Refused; the model is told when it makes the same call again.",
}


def approve(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="Which call; all are shown without it.")
    ] = None,
    *,
    session: Annotated[bool, typer.Option("--session", help="The tool, for the session.")] = False,
    always: Annotated[bool, typer.Option("--always", help="The tool, until it changes.")] = False,
    list_all: Annotated[
        bool, typer.Option("--list", help="Show what was approved with --always.")
    ] = False,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Take back what --list shows under this ID.")
    ] = False,
    pid: PidOption = None,
) -> None:
    """Show the calls that wait for a person, or let one run; for a person at a terminal."""
    _refuse_contradiction(name, session=session, always=always, list_all=list_all, revoke=revoke)
    if list_all:
        show_grants()
    elif name is None:
        _show_all(gateways(pid, consequence=_NOTHING_WAITS))
    elif revoke:
        revoke_grant(name)
    else:
        answer = Answer.SESSION if session else Answer.ALWAYS if always else Answer.ONCE
        _answer(name, answer, pid)


def _refuse_contradiction(
    name: str | None, *, session: bool, always: bool, list_all: bool, revoke: bool
) -> None:
    if session and always:
        raise typer.BadParameter("Say --session or --always, not both.")
    if [session or always, list_all, revoke].count(True) > 1:
        raise typer.BadParameter("Leave out the other options with --list or --revoke.")
    if list_all and name is not None:
        raise typer.BadParameter("--list shows all; leave the ID out.")
    if revoke and name is None:
        raise typer.BadParameter("Say which: `tooldrawer approve --list` shows them.")
    if (session or always) and name is None:
        raise typer.BadParameter("Say which call: `tooldrawer approve` alone shows them.")


def deny(
    name: Annotated[str, typer.Argument(metavar="ID", help="Which call.")],
    pid: PidOption = None,
) -> None:
    """Refuse a call that waits for a person."""
    _answer(name, Answer.NO, pid)


def _show_all(found: Sequence[Gateway]) -> None:
    waiting = [(gateway, *entry) for gateway in found for entry in _entries(gateway)]
    if not waiting:
        show("No call waits for a person.")
        return
    for gateway, entry, exact in waiting:
        place = f", gateway {gateway.card.pid}" if len(found) > 1 else ""
        show(f"{_printed(entry, 'id')}: {_left(entry)} left{place}")
        show(_described(entry, exact=exact))
        show("")
    show(_HOW)


def _answer(name: str, answer: Answer, pid: int | None) -> None:
    holders = gateways(pid, consequence=_NOTHING_WAITS)
    if len(holders) > 1 and answer is not Answer.NO:
        # A yes must not reach a call of another gateway that has the same id by chance.
        holders = [each for each in holders if _waits(each, name)]
    if len(holders) > 1 and answer is not Answer.NO:
        known = ", ".join(str(each.card.pid) for each in holders)
        raise ToolDrawerError(f"{name} waits in several gateways; choose one with --pid: {known}.")
    attended = is_attended()
    answered = [
        entry for each in holders if (entry := each.answer(name, answer.value, attended=attended))
    ]
    if not answered:
        raise ToolDrawerError(
            f"No call waits as {name}: it was answered and made, its time ran out, or the id is "
            "another. See what waits with `tooldrawer approve`."
        )
    for entry in answered:
        show(_described(entry, exact=attended or answer is not Answer.NO))
    show(_MADE_AGAIN[answer])


def _waits(gateway: Gateway, name: str) -> bool:
    return any(entry.get("id") == name.strip().lower() for entry, _ in _entries(gateway))


def _entries(gateway: Gateway) -> list[tuple[JsonObject, bool]]:
    """The calls that wait, each with whether its exact arguments may be shown here."""
    found = gateway.get("/approvals")
    exact = is_attended() or found.get("unattended") is True
    return [(entry, exact) for entry in cast("Sequence[JsonObject]", found.get("approvals") or ())]


def _described(entry: JsonObject, *, exact: bool) -> str:
    """The call, with nothing left out that decides what it does.

    Secrets are masked unless `exact`: a process without a person may be the model's.
    """
    arguments = entry.get("arguments")
    shown = json.dumps(arguments if exact else Masker().masked(arguments), indent=2)
    who = _printed(entry, "principal").partition("\\u0000")[0]
    asks = [part for part in (who, _printed(entry, "session")) if part]
    if scope := _printed(entry, "scope"):
        asks.append(f"scope {scope}")
    lines = (
        f"  {_printed(entry, 'question')}",
        f"  tool:      {_printed(entry, 'tool')}",
        f"  toolset:   {_printed(entry, 'toolset')}",
        f"  asked by:  {', '.join(asks)}",
        f"  arguments: {shown}".replace("\n", "\n             "),
    )
    return "\n".join(lines)


def _printed(entry: JsonObject, key: str) -> str:
    """A text as one line."""
    return harmless(str(entry.get(key) or ""), keep="")


def _left(entry: JsonObject) -> str:
    at = entry.get("expires_at")
    return spoken(at - time.time() if isinstance(at, int | float) else 0.0)
