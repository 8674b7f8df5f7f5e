"""The gateways that run, and talking to them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast
from urllib.parse import quote

import typer

from tooldrawer.errors import ToolDrawerError
from tooldrawer.gateway.runtime import Card, running
from tooldrawer.tool import JsonObject

if TYPE_CHECKING:
    from collections.abc import Generator

    from httpx2 import Client, Response

PidOption = Annotated[
    int | None, typer.Option("--pid", help="Which gateway, by its process id, when several run.")
]
_NOT_FOUND = 404
_NO_GATEWAY = (
    "No gateway of yours is running. An agent that uses tooldrawer starts one; "
    "`tooldrawer serve --http` starts one by hand."
)
_DATA = "data: "
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_PATIENCE = 10.0
"""Seconds for an answer; a gateway answers at once unless it is stopped or stuck."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """One gateway that runs, reached over its control socket."""

    card: Card

    def get(self, path: str) -> JsonObject:
        """What it answers to a question.

        Raises:
            ToolDrawerError: It does not answer, or refuses.
        """
        with self._connected() as client:
            return self._read(client.get(path))

    def answer(self, name: str, answer: str, *, attended: bool) -> JsonObject | None:
        """Hand it a person's word about a call; nothing when no such call waits there.

        `attended` is whether a person at a terminal gave it.

        Raises:
            ToolDrawerError: It does not answer, or refuses.
        """
        with self._connected() as client:
            said = {"answer": answer, "attended": attended}
            response = client.post(f"/approvals/{quote(name, safe='')}", json=said)
            return None if response.status_code == _NOT_FOUND else self._read(response)

    def events(self, *, last: int, session: str | None) -> Iterator[str]:
        """Its last events and those to come, as JSON; ends when the gateway stops.

        Raises:
            ToolDrawerError: It does not answer, or refuses.
        """
        from httpx2 import ReadError, RemoteProtocolError, Timeout  # noqa: PLC0415  as below

        asked = {"last": str(last), **({} if session is None else {"session": session})}
        forever = Timeout(_PATIENCE, read=None)
        with (
            self._connected() as client,
            client.stream("GET", "/activity", params=asked, timeout=forever) as response,
        ):
            if response.is_error:
                response.read()
                self._read(response)
            try:
                for line in response.iter_lines():
                    if line.startswith(_DATA):
                        yield line.removeprefix(_DATA)
            except (ReadError, RemoteProtocolError):  # it was killed
                return

    @contextmanager
    def _connected(self) -> "Generator[Client]":
        # Not at the top: other commands start faster without it.
        from httpx2 import Client, HTTPTransport, TransportError  # noqa: PLC0415

        # Nothing is encrypted on a socket of one's own, so no certificates need to be loaded.
        transport = HTTPTransport(uds=self.card.socket, verify=False)
        try:
            with Client(
                transport=transport, base_url="http://gateway", timeout=_PATIENCE, trust_env=False
            ) as client:
                yield client
        except TransportError as error:
            raise ToolDrawerError(
                f"The gateway {self.card.pid} does not answer at {self.card.socket} "
                f"({str(error) or type(error).__name__}); if it hangs, stop and start it again."
            ) from error

    def _read(self, response: "Response") -> JsonObject:
        found: JsonObject = {}
        with suppress(ValueError):
            found = cast("JsonObject", json.loads(response.content))
        if response.is_success and found:
            return found
        said = found.get("error") or f"it answered with status {response.status_code}."
        raise ToolDrawerError(f"The gateway {self.card.pid} refused: {said}")


def gateways(pid: int | None, *, consequence: str = "") -> list[Gateway]:
    """The gateways of this user that run, or the one of this process id.

    `consequence` is what it means for the command that there is none, as a sentence.

    Raises:
        ToolDrawerError: There is none.
    """
    cards = running()
    if not cards:
        raise ToolDrawerError(f"{_NO_GATEWAY} {consequence}".strip())
    chosen = [card for card in cards if pid in (None, card.pid)]
    if not chosen:
        known = ", ".join(str(card.pid) for card in cards)
        raise ToolDrawerError(f"No gateway has the process id {pid}; those that run have {known}.")
    return [Gateway(card=card) for card in chosen]


def gateway(pid: int | None) -> Gateway:
    """The gateway that runs, or the one of this process id.

    Raises:
        ToolDrawerError: There is none, or several run and none was chosen.
    """
    found = gateways(pid)
    if len(found) > 1:
        known = ", ".join(f"{each.card.pid} ({each.card.address})" for each in found)
        raise ToolDrawerError(f"Several gateways run; choose one with --pid: {known}.")
    return found[0]


def spoken(seconds: float) -> str:
    """A stretch of time for people, in its largest unit."""
    size, unit = next((known for known in _UNITS if seconds >= known[0]), (1, "second"))
    count = int(max(seconds, 0) // size)
    return f"{count} {unit}{'' if count == 1 else 's'}"
