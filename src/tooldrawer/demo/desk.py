"""The demo's drawer: five toolsets on local state that is gone afterwards."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tooldrawer.demo import calendar, files, issues, notes, units
from tooldrawer.dispatch import Approver, Grants, Rules
from tooldrawer.drawer import Drawer
from tooldrawer.functions import FunctionToolset

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
"""The demo's clock stands still, so that every run tells the same."""


@contextmanager
def toolsets() -> Generator[tuple[FunctionToolset, ...]]:
    """Five toolsets with a temporary folder and a database in memory behind them."""
    tracker = issues.Issues(now=lambda: NOW)
    with TemporaryDirectory(prefix="tooldrawer-demo-") as folder:
        try:
            yield (
                notes.toolset(notes.Notes(now=lambda: NOW)),
                calendar.toolset(calendar.Calendar(now=lambda: NOW)),
                files.toolset(files.Files(Path(folder))),
                issues.toolset(tracker),
                units.toolset(),
            )
        finally:
            tracker.dispose()


@contextmanager
def desk(approver: Approver) -> Generator[Drawer]:
    """A drawer over the five; whatever destroys something asks `approver` first."""
    with toolsets() as found, TemporaryDirectory(prefix="tooldrawer-demo-") as folder:
        drawer = Drawer(
            found,
            guardrails=[Rules(destructive="ask")],
            approver=approver,
            grants=Grants(Path(folder) / "grants.json"),
        )
        # So that every telling finds with everything there is, on a slow machine too.
        drawer.search.prepare(drawer.session().catalog)
        yield drawer
        drawer.close()
