"""A command imports its own module only, and the help is that of the commands."""

import subprocess
import sys

import pytest

from tooldrawer.cli.app import COMMANDS, load_command

PACKAGES = {
    "mcp", "mcp_types", "starlette", "uvicorn", "httpx2", "pydantic", "yaml", "numpy",
    "onnxruntime", "openai", "anthropic", "prompt_toolkit",
}  # fmt: skip
PROGRAM = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from tooldrawer.cli import main
main()
"""
PARTS = {f"tooldrawer.{name}" for name in ("agent", "bench", "clients", "demo", "gateway")}


def imported_by(*arguments: str) -> set[str]:
    """Return the modules that a command has imported when it ends."""
    line = [sys.executable, "-c", PROGRAM, *arguments]
    ran = subprocess.run(line, capture_output=True, encoding="utf-8", check=True)
    return set(ran.stderr.split())


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_import_no_command_and_none_of_its_packages(option: str) -> None:
    imported = imported_by(option)
    assert "tooldrawer.cli.app" in imported
    assert imported & (PACKAGES | PARTS) == set()
    commands = {f"tooldrawer.cli.{place.partition(':')[0]}" for place, _ in COMMANDS.values()}
    assert imported & commands == set()


def test_a_command_imports_no_other_command() -> None:
    imported = imported_by("forget", "--help")
    assert "tooldrawer.cli.forget" in imported
    assert imported & {"tooldrawer.cli.serve", "tooldrawer.cli.connect", "mcp", "numpy"} == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_shows_the_first_sentence_of_each_command(name: str) -> None:
    first, _, _ = load_command(name).help.partition("\n\n")
    assert COMMANDS[name][1] == " ".join(first.split())
