"""Each wrong list of `bad_json/` gives exactly the sentences that stand beside it."""

from pathlib import Path

import pytest

from tests.config.complaints import complaints
from tests.requirements import requirement

BAD = Path(__file__).parent / "bad_json"
FILES = sorted(BAD.glob("*.json"))
pytestmark = requirement("CFG-3")
ENVIRONMENT = {"EMPTY": "", "SECRET": "hunter2hunter2"}


def complaint(path: Path) -> str:
    return "\n".join(complaints(path, ENVIRONMENT)).replace(str(path), path.name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_mistake_is_told_with_its_file_line_and_key(path: Path) -> None:
    expected = path.with_suffix(".txt").read_text(encoding="utf-8")
    assert complaint(path) + "\n" == expected


@requirement("CFG-4")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_message_repeats_a_secret(path: Path) -> None:
    assert "hunter2" not in complaint(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mistakes_come_in_the_order_of_their_lines(path: Path) -> None:
    lines = [int(sentence.split(":")[1]) for sentence in complaint(path).splitlines()]
    assert lines == sorted(lines)


def test_every_expectation_has_its_file() -> None:
    assert {path.stem for path in BAD.glob("*.txt")} == {path.stem for path in FILES}
    assert len(FILES) > 15
