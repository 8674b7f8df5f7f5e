"""Importing the library is quick, and brings in nothing that only commands or servers need."""

import ast
import re
from importlib.metadata import packages_distributions
from pathlib import Path
from sys import stdlib_module_names

from tests.packaging.python import CHECKOUT, printed, project

HEAVY = (
    "mcp", "mcp_types", "starlette", "uvicorn", "httpx", "httpx2", "typer", "rich", "yaml",
    "pydantic", "numpy", "splintr", "snowballstemmer",
)  # fmt: skip


def test_importing_the_library_brings_in_no_server_web_terminal_or_model_package() -> None:
    program = f"import sys, tooldrawer; print([name for name in {HEAVY} if name in sys.modules])"
    assert printed(program) == "[]"


def test_a_drawer_can_be_built_without_the_packages_of_the_commands() -> None:
    program = (
        "import sys; from tooldrawer import Drawer, StaticToolset\n"
        "drawer = Drawer([StaticToolset('a', [{'name': 'b'}])])\n"
        "print(sorted({'typer', 'rich', 'yaml', 'pydantic'} & set(sys.modules)))"
    )
    assert printed(program) == "[]"


CONNECTING = """
import sys, threading, anyio
from tooldrawer import Config, Drawer
from tooldrawer.upstream.spec import UpstreamSpec

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp":
            print("on the loop" if threading.current_thread() is loop else "in a thread")

async def main():
    async with Drawer().connected():
        print("mcp" in sys.modules)
    server = UpstreamSpec(name="brief", command="true")
    async with Drawer(config=Config(servers=(server,))).connected() as pool:
        print(len(pool.upstreams))

loop = threading.current_thread()
sys.meta_path.insert(0, Watch())
anyio.run(main)
"""


def test_connecting_imports_mcp_for_servers_only_and_not_on_the_event_loop() -> None:
    assert printed(CONNECTING).splitlines() == ["False", "in a thread", "1"]


def test_every_package_that_is_imported_is_declared() -> None:
    facts = project()
    extras = facts["optional-dependencies"].values()
    lines = [*facts["dependencies"], *(line for extra in extras for line in extra)]
    declared = {_package(line) for line in lines}
    owners = packages_distributions()
    imported = {
        module: {_package(owner) for owner in owners.get(module, ["nobody"])}
        for file in sorted((CHECKOUT / "src").rglob("*.py"))
        for module in _imported(file)
    }
    assert imported
    assert {module for module, owner in imported.items() if not owner & declared} == set()


def _package(line: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", line)
    assert found
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def _imported(file: Path) -> set[str]:
    """The packages of others that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    roots = {name.partition(".")[0] for name in names}
    return roots - set(stdlib_module_names) - {"tooldrawer"}
