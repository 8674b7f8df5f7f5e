"""What the keywords of a schema cost that have no subschemas, in steps of 20 ns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tooldrawer.bounds.comparison import (
    ORDINARY_NUMBER_STEPS,
    Options,
    comparison_steps,
    number_steps,
    read_options,
)
from tooldrawer.tool import Json, JsonObject

_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_NAME_STEPS = 2
"""For each name that is looked up in an object."""
MAX_PAIRWISE_ITEMS = 15
"""Up to so many items are compared with each other; of more, only those with the same hash."""
_CHARS_PER_STEP = 100

Weigh = Callable[[Json], int]
"""The steps of comparing a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordCost:
    """How the work of one subschema's own keywords grows with the value."""

    names: int = 0
    """Names in `required`, `dependentRequired` and `dependencies`."""
    options: Sequence[Options] = ()
    limits: int = 0
    """How many keywords compare a number with one of theirs."""
    limit_steps: int = 0
    is_unique: bool = False
    """Whether the items of an array are compared with each other."""
    decodes: bool = False
    """Whether a text is read as base64 or JSON."""

    @property
    def fixed_steps(self) -> int:
        """At most for any value in which no number is unusual, without what follows."""
        limits = self.limits * ORDINARY_NUMBER_STEPS + self.limit_steps
        options = sum(each.fixed_steps for each in self.options)
        return _NAME_STEPS * self.names + options + limits

    @property
    def char_steps(self) -> int:
        """For each character of a text."""
        return int(self.decodes or bool(self.options))

    @property
    def comparisons(self) -> int:
        """How often a value is compared as a whole; one with `uniqueItems` for each item."""
        return sum(each.containers for each in self.options) + self.is_unique

    def steps(self, value: Json, weigh: Weigh) -> int:
        """The steps for one value."""
        if isinstance(value, str):
            return self._steps_for_text(len(value))
        if value is None or isinstance(value, bool):
            return sum(each.others for each in self.options)
        if isinstance(value, int | float):
            return self._steps_for_number(value)
        steps = sum(each.steps_for_container(weigh(value)) for each in self.options)
        if isinstance(value, Mapping):
            return steps + _NAME_STEPS * self.names
        return steps + (unique_steps(value, weigh) if self.is_unique else 0)

    def _steps_for_text(self, characters: int) -> int:
        read = characters if self.decodes else 0
        compared = sum(each.others + characters // _CHARS_PER_STEP for each in self.options)
        return read + compared

    def _steps_for_number(self, number: float) -> int:
        own = number_steps(number)
        # Already to see what type it has, the validator converts a long number.
        long = own if own > ORDINARY_NUMBER_STEPS else 0
        limits = self.limits * own + self.limit_steps
        return long + limits + sum(each.steps_for_number(number) for each in self.options)


NO_COST = KeywordCost()


def unique_steps(items: Sequence[Json], weigh: Weigh) -> int:
    """The steps of finding out whether all items differ.

    Arrays with the same leaves have the same hash, however they are nested; so have integers that
    are the same when rounded to a float, and false and 0. Each of those may be compared with all.
    """
    steps = [weigh(item) for item in items]
    if len(items) > MAX_PAIRWISE_ITEMS:
        alike = [each for item, each in zip(items, steps, strict=True) if _may_collide(item, each)]
    else:
        alike = steps
    return sum(steps) + len(alike) * sum(alike)


def _may_collide(item: Json, steps: int) -> bool:
    if isinstance(item, int | float):
        return steps > ORDINARY_NUMBER_STEPS
    return item is not None and not isinstance(item, str)


def read_keywords(schema: JsonObject) -> KeywordCost:
    """The cost of a subschema's own keywords."""
    if len(schema) == 1 and "type" in schema:
        return NO_COST
    options: list[Options] = []
    if isinstance(allowed := schema.get("enum"), list):
        options.append(read_options(allowed))
    if "const" in schema:
        options.append(read_options([schema["const"]]))
    limits = [
        number_steps(limit)
        for key in _LIMITS
        if isinstance(limit := schema.get(key), int | float) and not isinstance(limit, bool)
    ]
    return KeywordCost(
        names=_count_names(schema),
        options=tuple(options),
        limits=len(limits),
        limit_steps=sum(limits),
        is_unique=schema.get("uniqueItems") is True,
        decodes="contentEncoding" in schema or "contentMediaType" in schema,
    )


def _count_names(schema: JsonObject) -> int:
    required = schema.get("required")
    names = len(required) if isinstance(required, list) else 0
    for key in ("dependentRequired", "dependencies", "dependentSchemas"):
        if isinstance(named := schema.get(key), Mapping):
            names += len(named)
            names += sum(len(each) for each in named.values() if isinstance(each, list))
    return names


def compilation_steps(schema: JsonObject) -> int:
    """The steps of checking the schema itself, where that is more than to read it.

    Lists of names and types must be without repetition, and are searched for it before anything
    looks at whether they are names.
    """
    lists = [schema.get("required"), schema.get("type")]
    for key in ("dependentRequired", "dependencies"):
        if isinstance(named := schema.get(key), Mapping):
            lists.extend(named.values())
    limits = sum(number_steps(limit) for limit in schema.values() if isinstance(limit, int | float))
    unique = (unique_steps(each, comparison_steps) for each in lists if isinstance(each, list))
    return limits + sum(unique)
