"""What the tests of the activity have in common."""

from collections.abc import AsyncIterable
from typing import TypeVar

from tooldrawer import Event
from tooldrawer.activity import Assembled, CallFinished, CallStarted, Searched
from tooldrawer.tool import Json

Kind = TypeVar("Kind")


def started(*, session: str = "", **arguments: Json) -> CallStarted:
    """An event with arguments."""
    return CallStarted(
        at=1.0, session=session, tool="t", toolset="s", arguments=arguments, argument_tokens=1
    )


def searched(query: str, *, session: str = "") -> Searched:
    return Searched(at=1.0, session=session, query=query, hits=(), reply_tokens=0, duration=0.0)


def finished(tool: str) -> CallFinished:
    return CallFinished(at=1.0, tool=tool, duration=0.0, result_tokens=0)


async def first(count: int, stream: AsyncIterable[Event]) -> list[Event]:
    """The next `count` events."""
    found: list[Event] = []
    if count:
        async for event in stream:
            found.append(event)
            if len(found) == count:
                break
    return found


def queries(found: list[Event]) -> list[str]:
    return [event.query for event in found if isinstance(event, Searched)]


def assembled(*, session: str = "", direct: int = 3) -> Assembled:
    return Assembled(
        at=1.0,
        session=session,
        active=True,
        direct=direct,
        deferred=10,
        array_tokens=300,
        saved_tokens=1_000,
        duration=0.0,
    )
