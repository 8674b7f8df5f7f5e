"""What it costs the validator to compare JSON values, in steps of 20 ns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import frexp

from tooldrawer.json_values import values_inside
from tooldrawer.tool import Json

ORDINARY_NUMBER_STEPS = 60
"""At most for a number of usual size. With a fraction it is compared as a quotient of integers."""
_PLAIN_NUMBER_STEPS = 10
_PLAIN = 2**53
"""Integers below it are floats as well, and as quick to compare."""
_ORDINARY_EXPONENT = 70
"""Of two: up to 10^21, or that much below 1."""
_DIGITS_PER_1000_BITS = 302
_FLOAT_DIGITS = 18
_STEPS_PER_DIGIT = 8
_DIGIT_PAIRS_PER_STEP = 200
"""Arithmetic on long numbers grows with the square of their digits."""
_CONTAINER_STEPS = 15
_CHARS_PER_STEP = 100


def number_steps(number: float) -> int:
    """What comparing, testing or dividing by a number costs for this one of the two."""
    if isinstance(number, int):
        if -_PLAIN < number < _PLAIN:
            return _PLAIN_NUMBER_STEPS
        bits = number.bit_length()
        digits = 1 + bits * _DIGITS_PER_1000_BITS // 1000
    else:
        exponent = abs(frexp(number)[1])
        if exponent <= _ORDINARY_EXPONENT:
            return ORDINARY_NUMBER_STEPS
        digits = _FLOAT_DIGITS + exponent * _DIGITS_PER_1000_BITS // 1000
    return _STEPS_PER_DIGIT * digits + digits * digits // _DIGIT_PAIRS_PER_STEP


def scalar_steps(value: Json) -> int:
    """What comparing a value costs without what is in it."""
    if isinstance(value, str):
        return 1 + len(value) // _CHARS_PER_STEP
    if value is None or isinstance(value, bool):
        return 1
    return number_steps(value) if isinstance(value, int | float) else _CONTAINER_STEPS


def comparison_steps(value: Json) -> int:
    """What comparing a value costs for this one of the two, with all that is in it."""
    steps, left = 0, [value]
    while left:
        each = left.pop()
        steps += scalar_steps(each)
        left.extend(values_inside(each))
        if isinstance(each, Mapping):
            steps += sum(map(scalar_steps, each))
    return steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values that `enum` or `const` allows, each of which is compared with the given one."""

    others: int = 0
    """How many are text, true, false or null."""
    numbers: int = 0
    number_steps: int = 0
    """Of all numbers among them."""
    containers: int = 0
    """How many are objects or arrays."""
    container_steps: int = 0

    @property
    def fixed_steps(self) -> int:
        """At most for a value of usual size that is neither an object nor an array."""
        numbers = self.numbers * ORDINARY_NUMBER_STEPS + self.number_steps
        return self.others + numbers + self.container_steps

    def steps_for_number(self, number: float) -> int:
        """Steps of looking for a number among them."""
        return self.others + self.numbers * number_steps(number) + self.number_steps

    def steps_for_container(self, steps: int) -> int:
        """Steps of looking for an object or array among them that takes `steps` to compare."""
        return self.others + self.containers * steps + self.container_steps


def read_options(values: Sequence[Json]) -> Options:
    """Count the values of an `enum`."""
    if all(isinstance(value, str) for value in values):
        return Options(others=1)  # looked up, not compared with each
    numbers = [
        number_steps(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    containers = [
        comparison_steps(value)
        for value in values
        if isinstance(value, Mapping | Sequence) and not isinstance(value, str)
    ]
    return Options(
        others=len(values) - len(numbers) - len(containers),
        numbers=len(numbers),
        number_steps=sum(numbers),
        containers=len(containers),
        container_steps=sum(containers),
    )
