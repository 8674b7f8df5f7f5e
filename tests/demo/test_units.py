"""The calculator of the demo is right, and no expression breaks or stalls it."""

import math
from contextlib import suppress
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldrawer.demo import units

NAMES = (
    "pi",
    "sqrt(",
    "round(",
    "factorial(",
    "max(",
    "log(",
    "1e308",
    "10**9",
    "-",
    "~",
    "[",
    "x",
)
PIECES = st.sampled_from([*"0123456789.,+*/%() ", "**", "//", *NAMES])
TOO_LARGE = ("9**9**9", "round(1, -10**300)", "factorial(10**9)", "1e999", "1" * 301, "1 / 0")
FOREIGN = ("__import__('os')", "(1).real", "'a' * 9", "max(*[1])", "lambda: 1", "True", "2j", "x")
MALFORMED = ("", "a\0b", "(" * 299, "1 +", "sqrt(x=4)", "sqrt()", "log(0)", "(-8) ** 0.5")
REFUSED = (*TOO_LARGE, *FOREIGN, *MALFORMED)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 * (3 + 4) ** 2", 98),
        (" -7 // 2 ", -4),
        ("7 % 4 + 1 / 4", 3.25),
        ("sqrt(2) ** 2 - 2", pytest.approx(0)),
        ("round(2 * pi, 3)", 6.283),
        ("factorial(5) + max(1, 2) - abs(-3)", 119),
        ("log(8, 2)", pytest.approx(3)),
    ],
)
def test_an_expression_has_the_value_it_has_in_arithmetic(expression: str, value: float) -> None:
    assert units.calculate(expression) == value


@pytest.mark.parametrize("expression", REFUSED)
def test_an_expression_that_is_no_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="The expression"):
        units.calculate(expression)


@given(st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=80))
def test_any_text_gives_a_finite_number_or_a_value_error(expression: str) -> None:
    with suppress(ValueError):
        value = units.calculate(expression)
        assert isinstance(value, int) or math.isfinite(value)


def test_units_are_converted() -> None:
    assert units.convert_length(1, "mi", "km") == 1.609344
    assert units.convert_mass(1, "lb", "g") == 453.59237
    assert units.convert_area(2, "ha", "m2") == 20000
    assert units.convert_volume(1, "gal", "cup") == 16
    assert units.convert_speed(36, "km/h", "m/s") == 10
    assert units.convert_duration(1.5, "day", "h") == 36
    assert units.convert_data_size(1, "GiB", "MB") == 1073.741824
    assert units.convert_temperature(-40, "fahrenheit", "celsius") == -40
    assert units.convert_temperature(0, "celsius", "kelvin") == 273.15


def test_what_has_no_finite_result_is_refused() -> None:
    with pytest.raises(ValueError, match="below absolute zero"):
        units.convert_temperature(-1, "kelvin", "celsius")
    with pytest.raises(ValueError, match="no finite number"):
        units.convert_length(1e308, "km", "mm")
    with pytest.raises(ValueError, match="The whole is zero"):
        units.calculate_percentage(1, 0)
    with pytest.raises(ValueError, match="none beyond"):
        units.summarize_numbers([1.0, math.nan])


def test_numbers_are_summarized() -> None:
    summary = units.summarize_numbers([2, 4, 4, 4, 5, 5, 7, 9])
    assert (summary.mean, summary.median, summary.total) == (5, 4.5, 40)
    assert summary.standard_deviation == pytest.approx(2.1380899353)
    assert units.summarize_numbers([3]).standard_deviation == 0
    assert units.calculate_percentage(30, 120) == 25


@given(st.dates(), st.integers(min_value=-400, max_value=400))
def test_working_days_are_those_that_are_not_on_a_weekend(start: date, days: int) -> None:
    try:
        end = start + timedelta(days=days)
    except OverflowError:
        return
    first, sign = min(start, end), 1 if days >= 0 else -1
    one_by_one = sum((first + timedelta(days=day)).weekday() < 5 for day in range(abs(days)))
    assert units.count_days_between(start, end) == days
    assert units.count_days_between(start, end, working_days_only=True) == sign * one_by_one


@given(st.integers(min_value=2, max_value=10**9))
def test_prime_factors_multiply_to_the_number(number: int) -> None:
    factors = units.factor_number(number)
    assert math.prod(factors) == number
    assert all(units.factor_number(factor) == [factor] for factor in factors)


@given(st.integers(min_value=-(10**50), max_value=10**50), st.integers(min_value=2, max_value=36))
def test_a_number_comes_back_from_another_base(number: int, base: int) -> None:
    written = units.convert_base(str(number), 10, base)
    assert units.convert_base(written, base, 10) == str(number)


def test_roman_numerals_are_written_from_1_to_3999() -> None:
    assert units.write_roman_numeral(1994) == "MCMXCIV"
    assert units.write_roman_numeral(3999) == "MMMCMXCIX"
    with pytest.raises(ValueError, match="from 1 to 3999"):
        units.write_roman_numeral(0)


def test_a_loan_is_paid_back_with_its_interest() -> None:
    loan = units.calculate_loan(200_000, 6, 360)
    assert loan.monthly_payment == 1199.10
    assert units.calculate_loan(1200, 0, 12).monthly_payment == 100
    with pytest.raises(ValueError, match="1 to 600 months"):
        units.calculate_loan(1, 1, 0)


def test_every_tool_says_what_it_does_and_changes_nothing() -> None:
    tools = units.toolset().tools()
    assert len(tools) == 16
    assert all(tool.description and tool.annotations["readOnlyHint"] for tool in tools)
