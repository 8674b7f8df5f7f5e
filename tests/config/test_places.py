"""Where a configuration is found when nobody names one."""

from pathlib import Path

import pytest

from tests.requirements import requirement
from tooldrawer import Drawer
from tooldrawer.config import find, load
from tooldrawer.errors import ConfigError

pytestmark = requirement("CFG-2")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the user's configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "users"))
    folder = tmp_path / "users" / "tooldrawer"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, context_length: int) -> Path:
    path = folder / "tooldrawer.yaml"
    path.write_text(f"model: {{context_length: {context_length}}}", encoding="utf-8")
    return path


def test_the_file_of_this_folder_comes_first(here: Path, users: Path) -> None:
    write(here, 1_000)
    write(users, 2_000)
    assert load(find()).context_length == 1_000
    assert Drawer.from_config().config.context_length == 1_000


def test_else_it_is_the_users_own(here: Path, users: Path) -> None:
    path = write(users, 2_000)
    assert find() == path
    assert Drawer.from_config().config.context_length == 2_000


def test_a_folder_of_that_name_is_passed_over(here: Path, users: Path) -> None:
    (here / "tooldrawer.yaml").mkdir()
    path = write(users, 2_000)
    assert find() == path


def test_a_named_file_wins_over_both(here: Path, users: Path, tmp_path: Path) -> None:
    write(here, 1_000)
    write(users, 2_000)
    named = write(tmp_path, 3_000)
    assert Drawer.from_config(named).config.context_length == 3_000


def test_when_there_is_none_both_places_are_told(here: Path, users: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find()
    assert str(caught.value).startswith(
        f"There is no tooldrawer.yaml in this folder or in {users}; write one"
    )
    with pytest.raises(ConfigError, match=r"There is no tooldrawer\.yaml"):
        Drawer.from_config()
