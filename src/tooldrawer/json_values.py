"""JSON as Python values: their types, and how deep they are nested."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

SCALARS = frozenset((str, bool, int, float, type(None)))
"""Asked first: whether something is a `Mapping` takes ten times as long to say."""
OBJECTS = (dict, Mapping)
ARRAYS = (list, Sequence)


def is_deeper(value: Json, most: int) -> bool:
    """Whether `value` is nested more than `most` levels deep; looks level by level, no deeper."""
    level = [value]
    for _ in range(most + 1):
        level = [
            item for part in level if type(part) not in SCALARS for item in values_inside(part)
        ]
        if not level:
            return False
    return True


def values_inside(value: Json) -> Collection[Json]:
    """What an object or array has in it; nothing for every other value."""
    if isinstance(value, OBJECTS):
        return value.values()
    return value if isinstance(value, ARRAYS) and not isinstance(value, str) else ()
