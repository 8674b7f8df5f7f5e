from pathlib import Path

import pytest

from tests.agent.core.people import Yes
from tooldrawer import Drawer, Grants, Session
from tooldrawer.agent.core import CoreRules, CoreTools, Workplace


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside it with one file."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("the secret\n", encoding="utf-8")
    return folder


@pytest.fixture
def workplace(project: Path) -> Workplace:
    return Workplace(root=project)


@pytest.fixture
def yes() -> Yes:
    """A person who allows everything, and remembers what they were asked."""
    return Yes()


@pytest.fixture
def session(workplace: Workplace, grants: Grants, yes: Yes, tmp_path: Path) -> Session:
    """A conversation with the core tools under their rules."""
    tools = CoreTools(workplace, memory=tmp_path / "notes" / "memory.md")
    drawer = Drawer([tools], guardrails=[CoreRules(workplace)], approver=yes, grants=grants)
    return drawer.session("here")
