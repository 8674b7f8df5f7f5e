"""What is published: a wheel with all of the package, nothing else, that works when installed."""

import os
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.packaging.python import CHECKOUT, printed, project

LIBRARY = '''
import anyio

from tooldrawer import Drawer, FunctionToolset, Scope


def create_event(title: str, when: str, guests: list[str] | None = None) -> str:
    """Put a meeting into the calendar."""
    return f"{title} at {when}"


def delete_event(title: str) -> str:
    """Take a meeting out of the calendar."""
    return f"no {title}"


async def main() -> None:
    drawer = Drawer([FunctionToolset("calendar", [create_event, delete_event])])
    async with drawer.session(scope=Scope(toolsets=["calendar"]), context_length=100) as session:
        print([tool["function"]["name"] for tool in (await session.tools()).openai()])
        print((await session.call("create_event", {"title": "Review", "when": "ten"})).text)
        calls = [("tool_search", {"query": "meeting"}), ("delete_event", '{"title": "x"}')]
        print([result.is_error for result in await session.call_all(calls)])
        child = session.child(Scope(deny=["delete_*"]))
        print((await child.call("delete_event", {"title": "x"})).is_error)


anyio.run(main)
'''


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=CHECKOUT)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    source = CHECKOUT / "src"
    expected = {
        str(file.relative_to(source))
        for file in source.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with ZipFile(wheel) as content:
        names = {name for name in content.namelist() if ".dist-info/" not in name}
    assert names == expected
    assert "tooldrawer/py.typed" in names


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    version = project()["version"]
    folder = f"tooldrawer-{version}.dist-info"
    with ZipFile(wheel) as content:
        facts = message_from_string(content.read(f"{folder}/METADATA").decode())
        scripts = content.read(f"{folder}/entry_points.txt").decode().split("\n")
        licence = content.read(f"{folder}/licenses/LICENSE")
    assert wheel.name == f"tooldrawer-{version}-py3-none-any.whl"
    assert (facts["Name"], facts["Version"]) == ("tooldrawer", version)
    assert (facts["Requires-Python"], facts["License-Expression"]) == (">=3.11", "MIT")
    needed = [line for line in facts.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert set(map(Requirement, needed)) == set(map(Requirement, project()["dependencies"]))
    assert scripts[:2] == ["[console_scripts]", "tooldrawer = tooldrawer.cli:main"]
    assert licence == (CHECKOUT / "LICENSE").read_bytes()


@pytest.mark.timeout(900)
def test_the_wheel_works_where_only_it_and_its_needs_are_installed(
    wheel: Path, tmp_path: Path
) -> None:
    # One test, because workers that run tests at the same time would each install it.
    place, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    _run(sys.executable, "-m", "venv", place, cwd=empty)
    programs = place / "bin"
    _run(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=empty)

    assert (
        _run(programs / "tooldrawer", "--version", cwd=empty)
        == f"tooldrawer {project()['version']}\n"
    )

    told = _run(programs / "tooldrawer", "demo", cwd=empty)
    assert told.startswith("Tool search is active: ")
    assert "\nLedger: saved " in told

    assert printed(LIBRARY, python=programs / "python", cwd=empty).splitlines() == [
        "['tool_search', 'tool_describe', 'tool_call']",
        "Review at ten",
        "[False, False]",
        "True",
    ]


def _run(*command: str | Path, cwd: Path) -> str:
    """What a command prints; when it fails, so does the test, with what the command said."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ran = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
