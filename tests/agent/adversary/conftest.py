from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The one that `tooldrawer chat` runs on; see the loop's own."""
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder that somebody works in, with everything of theirs in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name, place in (
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_CACHE_HOME", ".cache"),
    ):
        monkeypatch.setenv(name, str(folder / place))
    return folder
