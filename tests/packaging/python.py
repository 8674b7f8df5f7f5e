"""The project as it is declared, and programs in a Python of their own."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]


def project() -> dict[str, Any]:
    """What pyproject.toml says about the project."""
    with (CHECKOUT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


def printed(program: str, *, python: str | Path = sys.executable, cwd: Path | None = None) -> str:
    """What a program prints; it ends well and complains about nothing."""
    ran = subprocess.run(
        [python, "-c", program],
        cwd=cwd,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.strip()
