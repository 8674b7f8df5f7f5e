"""How large arguments may be, seen before anything else is done with them."""

import sys

from tooldrawer.bounds.size import Size, SizeLimits
from tooldrawer.dispatch.limits import MOST_LEVELS
from tooldrawer.errors import InvalidArguments
from tooldrawer.tool import Json

MAX_VALUES = 20_000
"""Of one call's arguments, each element and member counted. A value costs up to 2 µs on the event
loop until the tool has it, so these take 40 ms."""
MAX_VALUES_AT_ONCE = 2_000
"""With more, others get a turn before the arguments are checked."""
_FRAME_BYTES = 10_000
_FRAME_VALUES = 100
"""What a request to the bridge may have besides the arguments in it."""


def require_size(arguments: Json, *, tool: str, max_bytes: int) -> Size:
    """The size of a tool's arguments.

    Raises:
        InvalidArguments: They are too large, or nested too deep.
    """
    size = _measure(arguments, values=MAX_VALUES, max_bytes=max_bytes)
    if size.excess:
        raise InvalidArguments(f"{tool!r} was not run: its {_explain(size, max_bytes)}")
    return size


def require_request_size(arguments: Json, *, max_bytes: int) -> None:
    """See that a request is not larger than one with the largest arguments of a tool in it.

    Raises:
        InvalidArguments: It is, or it is nested too deep.
    """
    most = MAX_VALUES + _FRAME_VALUES
    size = _measure(arguments, values=most, max_bytes=max_bytes + _FRAME_BYTES)
    if size.excess:
        raise InvalidArguments(f"The {_explain(size, max_bytes)}")


def is_small(arguments: Json) -> bool:
    """Whether arguments are still small after a repair, which may decode a text."""
    return not _measure(arguments, values=MAX_VALUES, max_bytes=sys.maxsize).excess


def _measure(arguments: Json, *, values: int, max_bytes: int) -> Size:
    return Size(arguments, SizeLimits(levels=MOST_LEVELS, values=values, bytes=max_bytes))


def _explain(size: Size, max_bytes: int) -> str:
    match size.excess:
        case "levels":
            return (
                f"arguments are nested more than {MOST_LEVELS} levels deep. "
                "Call again with flatter ones."
            )
        case "values":
            what = f"{MAX_VALUES:,} values"
        case _:
            what = f"{max_bytes:,} bytes"
    return f"arguments have more than {what}. Call again with less at once."
