"""The manifest of requirements agrees with the tests that cover them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).parent


def list_covered_ids() -> Iterator[tuple[str, str]]:
    """Each id that a test function carries, with the test's name."""
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "requirement":
                    yield ast.literal_eval(decorator.args[0]), f"{file.name}::{node.name}"


def test_every_implemented_requirement_has_a_test() -> None:
    covered = {name for name, _ in list_covered_ids()}
    implemented = {name for name, entry in REQUIREMENTS.items() if not entry.is_open}
    assert implemented - covered == set()


def test_no_test_names_an_open_or_unknown_requirement() -> None:
    wrong = [
        (name, test)
        for name, test in list_covered_ids()
        if name not in REQUIREMENTS or REQUIREMENTS[name].is_open
    ]
    assert wrong == []
