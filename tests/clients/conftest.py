from pathlib import Path

import pytest

from tooldrawer.clients.folders import Folders


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """The folders of a user who has nothing yet."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    return Folders(
        here=here,
        home=home,
        settings=home / ".config",
        xdg=home / ".config",
        claude=home,
        codex=home / ".codex",
    )
