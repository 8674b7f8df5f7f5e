"""Files of the model are compared with their checksums before they are loaded."""

import logging
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from tests.requirements import requirement
from tests.search.town import TOWN
from tooldrawer import SearchEngine
from tooldrawer.errors import ModelFileChanged
from tooldrawer.search import LEXICAL, embedder, fusion, model_files
from tooldrawer.search.embedder import Encoder

NAMES = ("encoder.onnx", "fusion.json", "vocabulary.txt")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the packaged model, loaded instead of it."""
    copy = tmp_path / "model"
    shutil.copytree(str(files("tooldrawer.search") / "model"), copy)

    def copied(package: str) -> Path:
        del package
        return tmp_path

    monkeypatch.setattr(model_files, "files", copied)
    memories = (model_files.checksums, fusion.learned, embedder.shipped)
    for memory in memories:
        memory.cache_clear()
    yield copy
    for memory in memories:
        memory.cache_clear()


def change(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@requirement("TRUST-5")
@pytest.mark.parametrize("name", NAMES)
def test_a_changed_file_is_not_loaded_and_words_answer_with_a_notice(
    model: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    change(model / name)
    engine = SearchEngine(cache=None, patience=60)
    with caplog.at_level(logging.WARNING, "tooldrawer.search"):
        hits = engine.search(TOWN, "renew the loan of a book")
    assert hits[0].tool.name == "mcp_library_renew_loan"
    assert not engine.index(TOWN).has_meaning
    assert f"The model file {name} is not the one that was packaged." in engine.notice(TOWN)
    assert caplog.messages == [engine.notice(TOWN)]


@requirement("TRUST-5")
@pytest.mark.parametrize("name", [*NAMES, "SHA256SUMS"])
def test_without_one_of_its_files_the_model_is_not_loaded(model: Path, name: str) -> None:
    (model / name).unlink()
    with pytest.raises(ModelFileChanged, match=f"{name} cannot be read"):
        Encoder()


def test_a_copy_that_was_not_changed_is_loaded(model: Path) -> None:
    engine = SearchEngine(cache=None, patience=60)
    assert engine.prepare(TOWN).has_meaning
    assert engine.notice(TOWN) == ""
    words = [hit.tool.name for hit in SearchEngine(recipe=LEXICAL, cache=None).search(TOWN, "loan")]
    assert words
