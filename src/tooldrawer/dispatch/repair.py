"""Small mistakes in arguments that can be put right without guessing."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from tooldrawer.activity import MASK, names_secret
from tooldrawer.call import thaw
from tooldrawer.dispatch.complaints import Complaint, Critic, Path, leaves, place
from tooldrawer.dispatch.limits import MOST_LEVELS
from tooldrawer.dispatch.unsendable import find_unsendable
from tooldrawer.json_values import Json, is_deeper

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_ABOUT_KIND = ("type", "enum", "const")
_MOST_REPAIRS = 50
_MOST_COMPLAINTS = 200

_Identity = tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Repair:
    """One value put right."""

    path: Path
    before: Json
    after: Json
    is_left_out: bool = False

    def __str__(self) -> str:
        where = "".join(f"/{part}" for part in self.path)
        if self.is_left_out:
            return f"{where}: null left out"
        if any(map(names_secret, self.path)):
            return f"{where}: {MASK} → {MASK}"
        return f"{where}: {_shown(self.before)} → {_shown(self.after)}"


@dataclass(frozen=True, slots=True)
class Repaired:
    """Arguments, what is still wrong with them, and what was put right."""

    arguments: dict[str, Json]
    left: Sequence[Complaint] | None
    """Nothing when the complaints are too many to be told apart."""
    repairs: tuple[Repair, ...] = ()


def repaired(arguments: dict[str, Json], critic: Critic) -> Repaired:
    """The arguments with every safe repair made.

    A repair is kept only when the complaint about its place goes away. Inside alternatives, where
    the complaint is about all of them at once, it is enough that it becomes a smaller one.
    """
    now = Repaired(arguments, critic.complaints(arguments))
    while now.left and len(now.left) <= _MOST_COMPLAINTS and len(now.repairs) < _MOST_REPAIRS:
        better = _better(now, now.left, critic)
        if better is None:
            break
        now = better
    return now


def _better(now: Repaired, found: Sequence[Complaint], critic: Critic) -> Repaired | None:
    """One repair further."""
    smaller: Repaired | None = None
    for complaint in found:
        for leaf, repair in _candidates(complaint, now.arguments):
            changed = _with(now.arguments, repair)
            left = critic.complaints(changed)
            if left is None:
                continue
            better = Repaired(changed, left, (*now.repairs, repair))
            if _is_gone(complaint, repair, found, left):
                return better
            if smaller is None and _is_gone(leaf, repair, _leaves(found), _leaves(left)):
                smaller = better
    return smaller


def _is_gone(
    complaint: Complaint, repair: Repair, before: Iterable[Complaint], after: Iterable[Complaint]
) -> bool:
    """Whether a repair ended a complaint and made no other in its stead.

    Complaints below its place do not count: they are about what only now can be looked into, for
    example a decoded object, and must be put right in their turn.
    """
    left = {_identity(item) for item in after}
    if _identity(complaint) in left:
        return False
    depth = len(repair.path)
    elsewhere = [path for path, _ in left if len(path) <= depth or path[:depth] != repair.path]
    return len(elsewhere) < len({_identity(item) for item in before})


def _leaves(found: Iterable[Complaint]) -> Iterator[Complaint]:
    for complaint in found:
        yield from leaves(complaint)


def _identity(complaint: Complaint) -> _Identity:
    return place(complaint), tuple(complaint.schema_path)


def _candidates(
    complaint: Complaint, arguments: dict[str, Json]
) -> Iterator[tuple[Complaint, Repair]]:
    for leaf in leaves(complaint):
        path = place(leaf)
        if not path:
            continue
        old = _at(arguments, path)
        if old is None and isinstance(path[-1], str) and leaf.kind.name in _ABOUT_KIND:
            yield leaf, Repair(path, None, None, is_left_out=True)
        for new in _values(old, leaf):
            yield leaf, Repair(path, old, new)


def _values(value: Json, complaint: Complaint) -> Iterator[Json]:
    kind = complaint.kind
    if kind.name == "type":
        for wanted in cast("Sequence[str]", kind.types):  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            yield from _as_type(value, wanted)
    elif kind.name == "enum" and isinstance(value, str):
        options = cast("Sequence[Json]", kind.options)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        yield from _as_one_of(value, options)


def _as_type(value: Json, wanted: str) -> Iterator[Json]:
    found = list(_from_text(value, wanted)) if isinstance(value, str) else []
    if any(is_deeper(each, MOST_LEVELS) or find_unsendable(each) for each in found):
        return
    if not found and wanted == "array" and value is not None and not isinstance(value, list):
        found = [[thaw(value)]]
    yield from found


def _from_text(value: str, wanted: str) -> Iterator[Json]:
    text = value.strip()
    if wanted == "integer" and _WHOLE.fullmatch(text):
        yield int(text)
    elif wanted == "number" and _NUMBER.fullmatch(text):
        yield int(text) if _WHOLE.fullmatch(text) else float(text)
    elif wanted == "boolean" and text.casefold() in ("true", "false"):
        yield text.casefold() == "true"
    elif wanted == "object" and not text:
        yield {}
    elif wanted in ("object", "array") and text[:1] in ("{", "["):
        try:
            decoded = cast("Json", json.loads(text))
        except (ValueError, RecursionError):
            return
        if isinstance(decoded, dict if wanted == "object" else list):
            yield decoded


def _as_one_of(value: str, options: Sequence[Json]) -> Iterator[Json]:
    folded = value.strip().casefold()
    same = [item for item in options if isinstance(item, str) and item.strip().casefold() == folded]
    if len(same) == 1:
        yield same[0]


def _at(arguments: dict[str, Json], path: Path) -> Json:
    value: Json = arguments
    for step in path:
        value = cast("dict[str | int, Json]", value)[step]
    return value


def _with(arguments: dict[str, Json], repair: Repair) -> dict[str, Json]:
    """A copy with one value changed or left out; what it did not change, it shares."""
    copy = dict(arguments)
    holder = cast("dict[str | int, Json]", copy)
    for step in repair.path[:-1]:
        inner = holder[step]
        holder[step] = (
            dict(inner) if isinstance(inner, Mapping) else list(cast("list[Json]", inner))
        )
        holder = cast("dict[str | int, Json]", holder[step])
    if repair.is_left_out:
        del holder[repair.path[-1]]
    else:
        holder[repair.path[-1]] = repair.after
    return copy


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
