"""`${NAME}` is filled from the environment, then from the secret file."""

import logging
from pathlib import Path

import pytest

from tests.requirements import requirement
from tooldrawer.config.secret_file import SecretFile
from tooldrawer.config.variables import known_variables
from tooldrawer.errors import ConfigError

pytestmark = requirement("CFG-4")


@pytest.fixture
def secrets(tmp_path: Path) -> SecretFile:
    return SecretFile(tmp_path / "data" / "secrets.json")


def test_the_environment_comes_before_the_secret_file(secrets: SecretFile) -> None:
    assert secrets.add({"A": "stored", "B": "stored", "C": "stored"}) == ("A", "B", "C")
    found = known_variables({"A": "own", "B": ""}, secrets)
    assert found == {"A": "own", "B": "stored", "C": "stored"}


@pytest.mark.parametrize("text", ["$KEY", "${KEY}", "${env:KEY}", "{env:KEY}"])
def test_a_reference_that_a_client_left_as_it_is_counts_as_not_set(
    secrets: SecretFile, text: str
) -> None:
    assert known_variables({"KEY": text, "OTHER": text}, secrets) == {"OTHER": text}


def test_values_can_be_added_and_removed(secrets: SecretFile) -> None:
    secrets.add({"A": "1"})
    assert secrets.add({"A": "2", "B": "3"}) == ("B",)
    secrets.remove(["A", "unknown"])
    assert secrets.read() == {"B": "3"}


def test_a_damaged_file_is_reported_and_never_overwritten(
    secrets: SecretFile, caplog: pytest.LogCaptureFixture
) -> None:
    secrets.path.parent.mkdir()
    secrets.path.write_text("[1]", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert known_variables({"A": "own"}, secrets) == {"A": "own"}
    assert "it is not a JSON object of texts" in caplog.text
    with pytest.raises(ConfigError, match="it is not a JSON object of texts"):
        secrets.add({"B": "1"})
    assert secrets.path.read_text(encoding="utf-8") == "[1]"


def test_where_no_file_can_be_there_are_no_values(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert SecretFile(tmp_path / "file" / "secrets.json").read() == {}
