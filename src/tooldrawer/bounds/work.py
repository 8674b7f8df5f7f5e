"""How much work it is to validate a value, counted from schema and value without validating."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from tooldrawer.bounds.comparison import ORDINARY_NUMBER_STEPS, number_steps, scalar_steps
from tooldrawer.bounds.graph import MAX_STEPS, Part, SchemaGraph, SchemaTooCostly
from tooldrawer.bounds.keywords import MAX_PAIRWISE_ITEMS, NO_COST
from tooldrawer.bounds.pattern import TYPICAL_CHARS
from tooldrawer.bounds.size import Size
from tooldrawer.json_values import SCALARS, values_inside
from tooldrawer.tool import Json, JsonObject

MAX_ERRORS = 600
"""That one validation may report, in units of a small one, which takes 25 µs."""
_KEYWORD_STEPS = 5
_MAX_CHAIN = 30
"""Parts that look at one value, each through the one before: the validator calls itself for each,
and 1,000 of them on each of 64 levels of a value overflowed the stack of the process."""
_MAX_LINKS = 50_000
"""Pairs of parts that look at the same value."""
_MAX_PAIRS = 10_000
"""Of a part and a value, which are looked at while counting: together 10 ms."""
_ERROR_BYTES = 10_000
"""Of a value that make an error about it one small error more expensive: the error has a copy."""
_PATH_STEPS = 100
"""Of the path to a keyword that make an error about it one small error more expensive."""
_VALUE_BYTES = 110
"""What a value costs in such a copy, as if it were so many bytes of text."""

_SCALARS = (int, float, type(None))
_NUMBERS = (int, float)


@dataclass(frozen=True, slots=True)
class Work:
    """What a validation costs at most."""

    steps: int
    errors: int
    """Units of a small error; only to be paid when all errors are asked for."""


class SchemaWork:
    """Counts the work of one schema."""

    def __init__(self, schema: JsonObject) -> None:
        """Read a schema.

        Raises:
            SchemaTooCostly: Evaluating it once may take longer than `MAX_STEPS`, or for ever.
        """
        graph = SchemaGraph(schema)
        self.document = graph.document
        """The schema with its references resolved: what was counted is what must be compiled."""
        self.unreachable = tuple(dict.fromkeys(graph.unreachable))
        self.has_alternatives = graph.has_alternatives
        """Whether one error may contain others."""
        self._root = graph.root
        order = _in_order(graph.parts)
        self._chain = _require_few_steps(order)
        self._looking = _closures(order)
        self._unrolled = _unroll(graph)

    def is_small(self, size: Size) -> bool:
        """Whether a value of this size certainly is within `MAX_STEPS`."""
        unrolled = self._unrolled
        if unrolled is None or size.has_long_numbers:
            return False
        # An item of an array is compared with a few others, or with all objects and arrays.
        times = unrolled.comparisons * (MAX_PAIRWISE_ITEMS + size.containers)
        comparing = times * (ORDINARY_NUMBER_STEPS * size.values + size.bytes)
        matching = unrolled.matching * size.bytes
        return unrolled.fixed * size.values + matching + comparing <= MAX_STEPS

    def measure(self, value: Json) -> Work | None:
        """The work of validating `value`; None when counting it would take too long already."""
        count = _Count(self._looking)
        try:
            steps, errors = count.of(self._root, value)
        except _Endless:
            return None
        # An error has the path to its keyword, through every part and level.
        return Work(steps, errors * (1 + self._chain * count.levels // _PATH_STEPS))


def _in_order(parts: Sequence[Part]) -> list[Part]:
    """Every part after those that it looks through at the same value."""
    ordered = _sorted(parts, {id(part): part.same for part in parts})
    if len(ordered) < len(parts):
        raise SchemaTooCostly("refers to itself without end")
    return ordered


def _sorted(parts: Sequence[Part], uses: Mapping[int, Sequence[Part]]) -> list[Part]:
    """Parts after those that they use; without those that use themselves."""
    missing = {id(part): len(uses[id(part)]) for part in parts}
    users: dict[int, list[Part]] = {id(part): [] for part in parts}
    for part in parts:
        for used in uses[id(part)]:
            users[id(used)].append(part)
    ready = [part for part in parts if not missing[id(part)]]
    for part in ready:
        for user in users[id(part)]:
            missing[id(user)] -= 1
            if not missing[id(user)]:
                ready.append(user)
    return ready


def _require_few_steps(order: Iterable[Part]) -> int:
    """The most parts in a row that look at one value, each through the one before."""
    steps: dict[int, int] = {}
    chain: dict[int, int] = {}
    for part in order:
        own = part.cost.fixed_steps
        own += _own_steps(part, TYPICAL_CHARS) + _key_steps(part, TYPICAL_CHARS)
        steps[id(part)] = own + part.factor * sum(steps[id(each)] for each in part.same)
        chain[id(part)] = 1 + max((chain[id(each)] for each in part.same), default=0)
        if chain[id(part)] > _MAX_CHAIN:
            raise SchemaTooCostly(f"has more than {_MAX_CHAIN} references in a row")
        if steps[id(part)] > MAX_STEPS:
            raise SchemaTooCostly(f"takes more than {MAX_STEPS:,} steps to evaluate")
    return max(chain.values())


def _own_steps(part: Part, characters: int) -> int:
    matches = sum(pattern.match(characters) for pattern in part.patterns)
    return _KEYWORD_STEPS * part.keywords + matches


def _key_steps(part: Part, characters: int) -> int:
    return sum(pattern.match(characters) for pattern in part.key_patterns)


_Looking = Mapping[int, Mapping[Part, int]]


def _closures(order: Iterable[Part]) -> _Looking:
    """For each part all that look at its value, and how often."""
    found: dict[int, dict[Part, int]] = {}
    links = 0
    for part in order:
        looking = {part: 1}
        for each in part.same:
            for other, times in found[id(each)].items():
                looking[other] = looking.get(other, 0) + part.factor * times
        found[id(part)] = looking
        links += len(looking)
        if links > _MAX_LINKS:
            raise SchemaTooCostly("has too many references between its subschemas")
    return found


@dataclass(frozen=True, slots=True)
class _Unrolled:
    """Steps of all parts together, each as often as it is referred to."""

    fixed: int = 0
    """For each value."""
    matching: int = 0
    """For each character."""
    comparisons: int = 0
    """How often a value is compared with others."""

    def with_added(self, other: "_Unrolled") -> "_Unrolled":
        """Both together, as far as it matters how much that is."""
        return _Unrolled(
            min(self.fixed + other.fixed, MAX_STEPS),
            min(self.matching + other.matching, MAX_STEPS),
            min(self.comparisons + other.comparisons, MAX_STEPS),
        )


def _unroll(graph: SchemaGraph) -> _Unrolled | None:
    """The steps of the whole schema; None if its references are endless."""
    uses = {id(part): (*part.same * part.factor, *part.inside) for part in graph.parts}
    total: dict[int, _Unrolled] = {}
    for part in _sorted(graph.parts, uses):
        matching = sum(each.match(1) for each in (*part.patterns, *part.key_patterns))
        own = _Unrolled(
            _KEYWORD_STEPS * part.keywords + part.cost.fixed_steps,
            matching + part.cost.char_steps,
            part.cost.comparisons,
        )
        for used in uses[id(part)]:
            own = own.with_added(total[id(used)])
        total[id(part)] = own
    return total.get(id(graph.root))


def _identity(value: Json) -> int:
    """The same for values that cost the same: numbers of one length, true, false and null."""
    if isinstance(value, _NUMBERS):
        return -number_steps(value)
    return 0 if value is None else id(value)


class _Endless(Exception):
    """Counting takes too long."""


class _Count:
    """Counts the work of one value; each pair of a part and a value once."""

    def __init__(self, looking: _Looking) -> None:
        self._looking = looking
        self._known: dict[tuple[int, int], tuple[int, int]] = {}
        self._sizes: dict[int, int] = {}
        self._comparing: dict[int, int] = {}
        self._left = _MAX_PAIRS
        self._level = 0
        self.levels = 0
        """How deep it looked."""

    def of(self, part: Part, value: Json) -> tuple[int, int]:
        """Steps and errors."""
        key = (id(part), _identity(value))
        known = self._known.get(key)
        if known is None:
            steps = errors = 0
            for each, times in self._looking[id(part)].items():
                more, faults = self._seen_by(each, value)
                steps += times * more
                errors += times * faults
            known = self._known[key] = (steps, errors)
        return known

    def _seen_by(self, part: Part, value: Json) -> tuple[int, int]:
        self._spend(1)
        size = self._size(value)
        characters = len(value) if isinstance(value, str) else 0
        steps = _own_steps(part, characters)
        if part.cost is not NO_COST or isinstance(value, _NUMBERS):
            steps += part.cost.steps(value, self._compare)
        errors = part.faults * (1 + size // _ERROR_BYTES)
        self._level += 1
        self.levels = max(self.levels, self._level)
        for inner, looking in self._inside(part, value):
            for each in looking:
                more, faults = self.of(each, inner)
                steps += more
                errors += faults
        self._level -= 1
        if part.key_patterns and isinstance(value, Mapping):
            self._spend(len(value) * len(part.key_patterns))
            steps += sum(_key_steps(part, len(key)) for key in value)
        return steps, errors

    def _inside(self, part: Part, value: Json) -> Iterable[tuple[Json, Iterable[Part]]]:
        if isinstance(value, Mapping) and (part.properties or part.values or part.keys):
            self._spend(len(value) * (1 + len(part.values)))
            for key, inner in value.items():
                named = part.properties.get(key)
                yield inner, part.values if named is None else (named, *part.values)
                yield key, part.keys
        elif part.items and isinstance(value, Sequence) and not isinstance(value, str):
            self._spend(len(value) * len(part.items))
            for inner in cast("Sequence[Json]", value):
                yield inner, part.items

    def _size(self, value: Json) -> int:
        """What copying a value costs, as bytes of text."""
        if isinstance(value, str):
            return len(value) + _VALUE_BYTES
        if isinstance(value, _SCALARS):
            return _VALUE_BYTES
        if not value:
            return _VALUE_BYTES
        known = self._sizes.get(id(value))
        if known is None:
            inner = values_inside(value)
            self._spend(1 + len(inner) // 4)  # quicker than looking at it
            others = [each for each in inner if not isinstance(each, _SCALARS)]
            names = sum(map(len, map(str, value))) if isinstance(value, dict) else 0
            plain = _VALUE_BYTES * (len(inner) - len(others))
            known = self._sizes[id(value)] = names + plain + sum(map(self._size, others))
        return known

    def _compare(self, value: Json) -> int:
        """The steps of comparing a value with another."""
        if type(value) in SCALARS:
            return scalar_steps(value)
        known = self._comparing.get(id(value))
        if known is None:
            inside = values_inside(value)
            self._spend(1 + len(inside) // 2)
            known = scalar_steps(value) + sum(map(self._compare, inside))
            if isinstance(value, Mapping):
                known += sum(map(scalar_steps, value))
            self._comparing[id(value)] = known
        return known

    def _spend(self, pairs: int) -> None:
        self._left -= pairs
        if self._left < 0:
            raise _Endless
