import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tooldrawer import Drawer, Function, FunctionToolset, Grants
from tooldrawer.search.engine import SearchEngine

# A busy machine takes its time for any example, and a run that failed must fail again: so no
# deadline, and the same examples each time. `--hypothesis-profile=default` looks for others.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
settings.load_profile("steady")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Instead of the user's cache folder one for the whole run, so a tool is encoded once."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # the workers of a run share it
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder / "cache"


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[dict[str, float]]:
    """What a search waits for its vectors: on a busy machine making them takes over a second."""
    defaults = SearchEngine.__init__.__kwdefaults__
    assert defaults is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(defaults, "patience", 60.0)
        yield defaults


@pytest.fixture
def grants(tmp_path: Path) -> Grants:
    """Answers "always", kept away from the user's own."""
    return Grants(tmp_path / "grants.json")


@pytest.fixture
def ran() -> list[str]:
    """What the tools of `desk` did."""
    return []


@pytest.fixture
def desk(ran: list[str]) -> FunctionToolset:
    """A toolset with one harmless, one plain and one dangerous tool."""

    def read_note(title: str) -> str:
        """Read a note from the desk."""
        ran.append(f"read {title}")
        return f"note {title}"

    async def add_note(title: str, lines: list[str] | None = None, copies: int = 1) -> str:
        """Put a new note on the desk."""
        ran.append(f"add {title} {lines} {copies}")
        return f"added {title}"

    def delete_note(title: str) -> str:
        """Delete a note for good."""
        ran.append(f"delete {title}")
        return f"deleted {title}"

    return FunctionToolset(
        "desk",
        [Function(read_note, read_only=True), add_note, Function(delete_note, destructive=True)],
    )


@pytest.fixture
def drawer(desk: FunctionToolset, grants: Grants) -> Drawer:
    return Drawer([desk], grants=grants)


@pytest.fixture
def numbered() -> Callable[[str, int], FunctionToolset]:
    """Makes a toolset of `count` small tools named after it."""

    def make(name: str, count: int) -> FunctionToolset:
        def tool(number: int) -> Function:
            def run(text: str = "") -> str:
                return f"{name} {number} {text}"

            return Function(
                run, name=f"{name}_{number}", description=f"Do task {number} of {name}."
            )

        return FunctionToolset(name, [tool(number) for number in range(count)])

    return make
