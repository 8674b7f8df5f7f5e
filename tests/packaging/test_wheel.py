"""What is published: a wheel with all of the package and nothing else, that works when installed."""

import os
import subprocess
import sys
import tomllib
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.python import printed

# One worker builds and installs for all of them where the run is grouped (--dist loadgroup).
pytestmark = [pytest.mark.xdist_group("wheel"), pytest.mark.timeout(900)]
CHECKOUT = Path(__file__).parents[2]
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


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment into which only the wheel and its needs were installed."""
    folder = tmp_path_factory.mktemp("installed")
    _run(sys.executable, "-m", "venv", folder, cwd=folder)
    programs = folder / "bin"
    _run(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return programs


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
    with (CHECKOUT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    version = project["version"]
    folder = f"tooldrawer-{version}.dist-info"
    with ZipFile(wheel) as content:
        facts = message_from_string(content.read(f"{folder}/METADATA").decode())
        scripts = content.read(f"{folder}/entry_points.txt").decode().split("\n")
        licence = content.read(f"{folder}/licenses/LICENSE")
    assert wheel.name == f"tooldrawer-{version}-py3-none-any.whl"
    assert (facts["Name"], facts["Version"]) == ("tooldrawer", version)
    assert (facts["Requires-Python"], facts["License-Expression"]) == (">=3.11", "MIT")
    needed = [line for line in facts.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(needed) == sorted(project["dependencies"])
    assert scripts[:2] == ["[console_scripts]", "tooldrawer = tooldrawer.cli:main"]
    assert licence == (CHECKOUT / "LICENSE").read_bytes()


def test_the_installed_command_tells_its_version(installed: Path, tmp_path: Path) -> None:
    said = _run(installed / "tooldrawer", "--version", cwd=tmp_path)
    with (CHECKOUT / "pyproject.toml").open("rb") as file:
        assert said == f"tooldrawer {tomllib.load(file)['project']['version']}\n"


def test_the_installed_command_shows_the_demo(installed: Path, tmp_path: Path) -> None:
    said = _run(installed / "tooldrawer", "demo", cwd=tmp_path)
    assert said.startswith("The drawer is closed: ")
    assert "\nLedger: saved " in said


def test_the_installed_library_runs_a_session(installed: Path, tmp_path: Path) -> None:
    assert printed(LIBRARY, python=installed / "python", cwd=tmp_path).splitlines() == [
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
