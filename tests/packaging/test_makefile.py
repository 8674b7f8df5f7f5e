"""The two commands of a newcomer, as `make` would run them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def list_commands(clone: Path, *arguments: str) -> str:
    # `make test` hands its own settings to the processes that it starts; this is another run.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "--dry-run", *arguments],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_an_interrupted_first_run_starts_again_with_a_new_environment(clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    commands = list_commands(clone, "up")
    assert "venv --clear" in commands
    assert commands.index("venv --clear") < commands.index("--editable")


def test_a_complete_environment_is_used_as_it_is(clone: Path) -> None:
    (clone / ".venv").mkdir()
    for stamp in ("venv", "run"):
        (clone / ".venv" / f".stamp-{stamp}").touch()
    assert list_commands(clone, "up").strip() == ".venv/bin/tooldrawer serve --http --demo"


def test_an_interrupted_installation_starts_again_with_a_new_environment(clone: Path) -> None:
    (clone / ".venv").mkdir()
    for name in (".stamp-venv", ".stamp-run"):
        (clone / ".venv" / name).touch()
        os.utime(clone / ".venv" / name, (0, 0))
    (clone / ".venv" / ".incomplete").touch()
    commands = list_commands(clone, "up")
    assert "venv --clear" in commands
    assert commands.index("venv --clear") < commands.index("--editable")


def test_the_port_can_be_chosen(clone: Path) -> None:
    assert "serve --http --demo --port 9000" in list_commands(clone, "up", "PORT=9000")


def test_each_slow_step_is_announced(clone: Path) -> None:
    commands = list_commands(clone, "up")
    assert "Creating a virtual environment" in commands
    assert "Installing tooldrawer and its dependencies" in commands
    assert "--quiet" not in commands
