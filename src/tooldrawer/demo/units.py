"""Arithmetic, units, dates and number formats, all without state."""

import ast
import math
import operator
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from tooldrawer.functions import Function, FunctionToolset

LONGEST_EXPRESSION = 300
MOST_BITS = 1024
LARGEST_FACTORED = 10**12
LONGEST_DIGITS = 200
UNWORKABLE = (ArithmeticError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError)

LENGTHS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048, "mi": 1609.344}
MASSES = {"mg": 1e-6, "g": 1e-3, "kg": 1.0, "t": 1e3, "oz": 0.028349523125, "lb": 0.45359237}
AREAS = {"cm2": 1e-4, "m2": 1.0, "ha": 1e4, "km2": 1e6, "ft2": 0.09290304, "acre": 4046.8564224}
VOLUMES = {"ml": 1e-3, "l": 1.0, "m3": 1e3, "cup": 0.2365882365, "gal": 3.785411784}
SPEEDS = {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 1852 / 3600}
DURATIONS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0, "week": 604800.0}
DATA_SIZES = {
    "bit": 0.125, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
}  # fmt: skip

ROMAN = {
    "M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40,
    "X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1,
}  # fmt: skip

LengthUnit = Literal["mm", "cm", "m", "km", "in", "ft", "mi"]
MassUnit = Literal["mg", "g", "kg", "t", "oz", "lb"]
AreaUnit = Literal["cm2", "m2", "ha", "km2", "ft2", "acre"]
VolumeUnit = Literal["ml", "l", "m3", "cup", "gal"]
SpeedUnit = Literal["m/s", "km/h", "mph", "kn"]
DurationUnit = Literal["ms", "s", "min", "h", "day", "week"]
DataUnit = Literal["bit", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"]
TemperatureUnit = Literal["celsius", "fahrenheit", "kelvin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a list of numbers is like."""

    count: int
    total: float
    mean: float
    median: float
    smallest: float
    largest: float
    standard_deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """What a loan costs when it is paid back in equal parts."""

    monthly_payment: float
    total_paid: float
    total_interest: float


def calculate(expression: str) -> float:
    """Work out an arithmetic expression, such as "2 * (3 + 4) ** 2" or "sqrt(2) * pi".

    Args:
        expression: Numbers, + - * / // % **, brackets, pi, e, and the functions abs, sqrt,
            exp, log, sin, cos, tan, floor, ceil, round, factorial, min and max.
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise ValueError(
            f"The expression is longer than {LONGEST_EXPRESSION} characters: split it."
        )
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except UNWORKABLE as error:
        raise ValueError(f"The expression cannot be worked out: {error}. Change it.") from error


def summarize_numbers(numbers: list[float]) -> Summary:
    """Return the count, sum, mean, median, range and standard deviation of numbers.

    Args:
        numbers: At least one number.
    """
    if not numbers or not all(abs(number) <= 1e150 for number in numbers):
        raise ValueError("Give at least one number, and none beyond 1e150.")
    spread = statistics.stdev(numbers) if len(numbers) > 1 else 0.0
    return Summary(
        count=len(numbers),
        total=_tidy(sum(numbers)),
        mean=_tidy(sum(numbers) / len(numbers)),
        median=_tidy(statistics.median(numbers)),
        smallest=min(numbers),
        largest=max(numbers),
        standard_deviation=_tidy(spread),
    )


def calculate_percentage(part: float, whole: float) -> float:
    """Return how many per cent a part is of a whole.

    Args:
        part: The part.
        whole: The whole, which is 100 per cent; it must not be zero.
    """
    if whole == 0:
        raise ValueError("The whole is zero, so no part of it can be told: give another whole.")
    return _tidy(part / whole * 100)


def convert_length(value: float, from_unit: LengthUnit, to_unit: LengthUnit) -> float:
    """Convert a length or distance between metric and imperial units.

    Args:
        value: The length to convert.
        from_unit: The unit it is in.
        to_unit: The unit to return.
    """
    return _convert(value, from_unit, to_unit, LENGTHS)


def convert_mass(value: float, from_unit: MassUnit, to_unit: MassUnit) -> float:
    """Convert a mass or weight between metric and imperial units.

    Args:
        value: The mass to convert.
        from_unit: The unit it is in.
        to_unit: The unit to return.
    """
    return _convert(value, from_unit, to_unit, MASSES)


def convert_area(value: float, from_unit: AreaUnit, to_unit: AreaUnit) -> float:
    """Convert an area, such as that of a room or a field.

    Args:
        value: The area to convert.
        from_unit: The unit it is in.
        to_unit: The unit to return.
    """
    return _convert(value, from_unit, to_unit, AREAS)


def convert_volume(value: float, from_unit: VolumeUnit, to_unit: VolumeUnit) -> float:
    """Convert a volume between litres, cubic metres and US cups and gallons.

    Args:
        value: The volume to convert.
        from_unit: The unit it is in.
        to_unit: The unit to return.
    """
    return _convert(value, from_unit, to_unit, VOLUMES)


def convert_speed(value: float, from_unit: SpeedUnit, to_unit: SpeedUnit) -> float:
    """Convert a speed; "kn" stands for knots.

    Args:
        value: The speed to convert.
        from_unit: The unit it is in.
        to_unit: The unit to return.
    """
    return _convert(value, from_unit, to_unit, SPEEDS)


def convert_duration(value: float, from_unit: DurationUnit, to_unit: DurationUnit) -> float:
    """Convert a length of time, from milliseconds to weeks.

    Args:
        value: The duration to convert.
        from_unit: The unit it is in.
        to_unit: The unit to return.
    """
    return _convert(value, from_unit, to_unit, DURATIONS)


def convert_data_size(value: float, from_unit: DataUnit, to_unit: DataUnit) -> float:
    """Convert an amount of data between bits, decimal and binary multiples of bytes.

    Args:
        value: The amount to convert.
        from_unit: The unit it is in.
        to_unit: The unit to return.
    """
    return _convert(value, from_unit, to_unit, DATA_SIZES)


def convert_temperature(
    value: float, from_unit: TemperatureUnit, to_unit: TemperatureUnit
) -> float:
    """Convert a temperature between Celsius, Fahrenheit and kelvin.

    Args:
        value: The temperature to convert; it must not be below absolute zero.
        from_unit: The scale it is on.
        to_unit: The scale to return.
    """
    scales = {"celsius": (1.0, 273.15), "fahrenheit": (5 / 9, 459.67 * 5 / 9), "kelvin": (1.0, 0.0)}
    (degree, zero), (wanted_degree, wanted_zero) = scales[from_unit], scales[to_unit]
    kelvin = value * degree + zero
    if kelvin < -1e-9:
        raise ValueError(f"{value} {from_unit} is below absolute zero: check value and scale.")
    return _tidy((kelvin - wanted_zero) / wanted_degree)


def count_days_between(start: date, end: date, *, working_days_only: bool = False) -> int:
    """Count the days from one date to another, below zero if the second comes first.

    Args:
        start: The date to count from, such as "2026-03-02".
        end: The date to count to; it is not counted itself.
        working_days_only: Whether Saturdays and Sundays are left out.
    """
    days = (end - start).days
    if not working_days_only:
        return days
    first = min(start, end)
    weeks, rest = divmod(abs(days), 7)
    working = weeks * 5 + sum((first.weekday() + day) % 7 < 5 for day in range(rest))
    return working if days >= 0 else -working


def factor_number(number: int) -> list[int]:
    """Split a whole number into its prime factors; a prime gives itself alone.

    Args:
        number: A whole number from 2 to 10**12.
    """
    if not 2 <= number <= LARGEST_FACTORED:
        raise ValueError(f"Give a whole number from 2 to {LARGEST_FACTORED}.")
    factors: list[int] = []
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    return [*factors, number] if number > 1 else factors


def convert_base(digits: str, from_base: int, to_base: int) -> str:
    """Write a whole number in another number base, such as 255 as "ff".

    Args:
        digits: The number as written in its own base.
        from_base: The base it is written in, from 2 to 36.
        to_base: The base to return, from 2 to 36.
    """
    if not (2 <= from_base <= 36 and 2 <= to_base <= 36) or len(digits) > LONGEST_DIGITS:
        raise ValueError(f"Give bases from 2 to 36, and at most {LONGEST_DIGITS} digits.")
    try:
        number = int(digits, from_base)
    except ValueError as error:
        raise ValueError(f"{digits!r} is no number in base {from_base}.") from error
    rest, written = abs(number), ""
    while rest:
        rest, digit = divmod(rest, to_base)
        written = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + written
    return ("-" if number < 0 else "") + (written or "0")


def write_roman_numeral(number: int) -> str:
    """Write a number in Roman numerals.

    Args:
        number: A whole number from 1 to 3999.
    """
    if not 1 <= number <= 3999:
        raise ValueError(f"Roman numerals run from 1 to 3999, so not to {number}.")
    written = ""
    for symbol, worth in ROMAN.items():
        times, number = divmod(number, worth)
        written += symbol * times
    return written


def calculate_loan(amount: float, yearly_interest_percent: float, months: int) -> Loan:
    """Return the monthly payment and the total cost of a loan paid back in equal parts.

    Args:
        amount: How much is borrowed.
        yearly_interest_percent: The yearly interest, such as 4.5; it may be zero.
        months: Over how many months it is paid back, from 1 to 600.
    """
    if not (0 < amount < 1e12 and 0 <= yearly_interest_percent <= 100 and 1 <= months <= 600):
        raise ValueError("Give an amount above 0, interest from 0 to 100 and 1 to 600 months.")
    rate = yearly_interest_percent / 1200
    payment = amount * rate / -math.expm1(-months * math.log1p(rate)) if rate else amount / months
    return Loan(
        monthly_payment=round(payment, 2),
        total_paid=round(payment * months, 2),
        total_interest=round(payment * months - amount, 2),
    )


def _power(base: float, exponent: float) -> object:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and int(base).bit_length() * exponent > 2 * MOST_BITS:
        raise OverflowError("a power is too large")
    return base**exponent


def _factorial(number: int) -> int:
    if number > 170:
        raise OverflowError("factorial takes whole numbers up to 170")
    return math.factorial(number)


def _round(number: float, digits: int = 0) -> float:
    if abs(digits) > 300:
        raise OverflowError("round takes at most 300 digits")
    return round(number, digits) if digits else round(number)


CONSTANTS = {"pi": math.pi, "e": math.e}
SIGNS: Mapping[type[ast.unaryop], Callable[[float], object]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
OPERATORS: Mapping[type[ast.operator], Callable[[float, float], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
FUNCTIONS: Mapping[str, Callable[..., object]] = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan")},
    **{"floor": math.floor, "ceil": math.ceil, "abs": abs, "min": min, "max": max},
    **{"round": _round, "factorial": _factorial},
}


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=value):
            return _number(value)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
            return _number(OPERATORS[type(sign)](_value(left), _value(right)))
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in SIGNS:
            return _number(SIGNS[type(sign)](_value(operand)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return _number(FUNCTIONS[name](*map(_value, args)))
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is not allowed in it")


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no real number")
    if value.bit_length() > MOST_BITS if isinstance(value, int) else not math.isfinite(value):
        raise OverflowError("a number grows too large")
    return value


def _convert(value: float, from_unit: str, to_unit: str, factors: Mapping[str, float]) -> float:
    unknown = [unit for unit in (from_unit, to_unit) if unit not in factors]
    if unknown:
        raise ValueError(f"There is no unit {unknown[0]!r}. Use one of: {', '.join(factors)}.")
    return _tidy(value * factors[from_unit] / factors[to_unit])


def _tidy(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("The result is no finite number: give smaller numbers.")
    return float(f"{value:.12g}")


def toolset() -> FunctionToolset:
    """Offer the functions as tools; none of them changes anything."""
    functions = (
        calculate,
        summarize_numbers,
        calculate_percentage,
        convert_length,
        convert_mass,
        convert_area,
        convert_volume,
        convert_speed,
        convert_duration,
        convert_data_size,
        convert_temperature,
        count_days_between,
        factor_number,
        convert_base,
        write_roman_numeral,
        calculate_loan,
    )
    return FunctionToolset("units", [Function(one, read_only=True) for one in functions])
