"""Every command in the README and the documents runs as written."""

from pathlib import Path

import pytest

from tests.docs.commands import Block, list_blocks, prepare_home, run_line


@pytest.mark.parametrize(
    "block", list_blocks(), ids=lambda block: f"{block.document}-{block.commands[0][:40]}"
)
def test_the_commands_of_a_document_run_in_order(tmp_path: Path, block: Block) -> None:
    shell = prepare_home(tmp_path)
    for line in block.commands:
        run_line(shell, line)
