"""Values in arguments that look like JSON in Python and cannot be sent as JSON."""

from math import isfinite, isnan

from tooldrawer.dispatch.complaints import Path, show_place
from tooldrawer.json_values import ARRAYS, OBJECTS, Json
from tooldrawer.surrogates import has_half_pair

_HALF = "has half of a character, which cannot be sent; write the whole character or leave it out"


def find_unsendable(value: Json, path: Path = ()) -> str:
    """Where arguments have something that cannot be sent, and what it is; nothing if they do not.

    An MCP server may never answer a message with half of a surrogate pair, and a number that JSON
    does not have would be sent as null. Arguments are refused and not repaired: half of a character
    may be part of a file name, and what a tool stores cannot be put right afterwards.
    """
    if isinstance(value, str):
        return f"{show_place(path)}: {_HALF}" if has_half_pair(value) else ""
    if isinstance(value, float):
        if isfinite(value):
            return ""
        name = "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"{show_place(path)}: is {name}, and JSON has no such number"
    if isinstance(value, OBJECTS):
        if any(has_half_pair(str(key)) for key in value):
            return f"{show_place(path)}: a name in it {_HALF}"
        found = (find_unsendable(item, (*path, key)) for key, item in value.items())
        return next(filter(None, found), "")
    if isinstance(value, ARRAYS):
        found = (find_unsendable(item, (*path, at)) for at, item in enumerate(value))
        return next(filter(None, found), "")
    return ""
