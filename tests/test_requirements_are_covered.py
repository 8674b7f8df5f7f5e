"""The manifest of promises, and the tests that show them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.requirements import PROMISES

TESTS = Path(__file__).parent


def shown() -> Iterator[tuple[str, str]]:
    """Each id that a test function carries, with the test's name."""
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "requirement":
                    yield ast.literal_eval(decorator.args[0]), f"{file.name}::{node.name}"


def test_every_promise_has_a_test_or_is_written_down_as_open() -> None:
    covered = {name for name, _ in shown()}
    kept = {name for name, promise in PROMISES.items() if not promise.is_open}
    assert kept - covered == set()


def test_no_test_shows_a_promise_that_is_open_or_that_nobody_made() -> None:
    odd = [(name, test) for name, test in shown() if name not in PROMISES or PROMISES[name].is_open]
    assert odd == []
