"""Each wrong file of `bad/` gives exactly the sentences that stand beside it."""

from pathlib import Path

import pytest

from tests.config.complaints import complaints
from tests.requirements import requirement
from tooldrawer import config
from tooldrawer.errors import ConfigError

BAD = Path(__file__).parent / "bad"
FILES = sorted(BAD.glob("*.yaml"))
ENVIRONMENT = {"EMPTY": "", "SECRET": "hunter2hunter2"}
LITERAL_SECRETS = ("hunter2", "271828")


def complaint(path: Path) -> str:
    return "\n".join(complaints(path, ENVIRONMENT)).replace(str(path), path.name)


@requirement("CFG-2")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_mistake_is_told_with_its_file_line_and_key(path: Path) -> None:
    expected = path.with_suffix(".txt").read_text(encoding="utf-8")
    assert complaint(path) + "\n" == expected


@requirement("CFG-4")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_message_repeats_a_secret(path: Path) -> None:
    text = complaint(path)
    assert not [secret for secret in LITERAL_SECRETS if secret in text]


@requirement("CFG-2")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mistakes_come_in_the_order_of_their_lines(path: Path) -> None:
    lines = [int(sentence.split(":")[1]) for sentence in complaint(path).splitlines()]
    assert lines == sorted(lines)
    assert lines[-1] <= len(path.read_text(encoding="utf-8").splitlines())


def test_every_expectation_has_its_file() -> None:
    expected = {path.stem for path in BAD.glob("*.txt")}
    assert expected == {path.stem for path in FILES}
    assert len(FILES) > 100


@requirement("CFG-2")
def test_the_sentences_of_an_error_can_be_read_one_by_one() -> None:
    with pytest.raises(ConfigError) as caught:
        config.load(BAD / "choice_approvals.yaml", environment={})
    assert len(caught.value.mistakes) == 2
    assert "\n".join(caught.value.mistakes) == str(caught.value)


@requirement("CFG-2")
def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.yaml"
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    assert str(caught.value) == f"{path}: cannot be read: No such file or directory."


@requirement("CFG-2")
def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        config.load(str(tmp_path))
    assert str(caught.value).startswith(f"{tmp_path}: cannot be read: ")


@requirement("CFG-2")
def test_a_file_in_another_encoding_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("model: {} # größer".encode("latin-1"))
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    assert str(caught.value) == f"{path}: is not UTF-8 text (invalid start byte)."


@requirement("CFG-2")
def test_a_byte_order_mark_and_other_line_ends_keep_the_lines_right(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfmodel: {}\r\ntools:\r\n  tool_search: maybe\r\n")
    assert complaint(path).startswith("windows.yaml:3: tools.tool_search is 'maybe'")


@requirement("CFG-2")
def test_a_mistake_behind_an_alias_is_shown_where_it_is_written() -> None:
    text = "scopes:\n  night: &night\n    deny: all\n  day: *night\n"
    with pytest.raises(ConfigError) as caught:
        config.parse(text, name="x.yaml", environment={})
    assert [sentence[:27] for sentence in caught.value.mistakes] == [
        "x.yaml:3: scopes.night.deny",
        "x.yaml:3: scopes.day.deny i",
    ]
