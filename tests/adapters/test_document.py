"""The examples of docs/adapters.md run as they stand."""

import os
import re
import sys
from pathlib import Path

import anyio
import pytest

from tests.models.script import Call, Say
from tests.models.server import scripted

pytestmark = pytest.mark.anyio

TEXT = (Path(__file__).parents[2] / "docs/adapters.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"## ([^\n]+)\n(?:(?!\n## ).)*?```python\n(.*?)```", TEXT, re.DOTALL)


def test_there_is_an_example_for_each_framework() -> None:
    assert [title for title, _ in EXAMPLES] == [
        "Pydantic AI",
        "OpenAI Agents SDK",
        "LangChain and LangGraph",
    ]


@pytest.mark.parametrize("example", [code for _, code in EXAMPLES], ids=[t for t, _ in EXAMPLES])
async def test_the_example_runs(example: str, tmp_path: Path) -> None:
    with scripted(Call("read_note", {"title": "milk"}), Say("It says milk.")) as server:
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": "key",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }
        with anyio.fail_after(60):
            done = await anyio.run_process(
                [sys.executable, "-c", example], env=environment, cwd=tmp_path, check=False
            )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "It says milk.\n"
    assert [result.text for result in server.seen[-1].results] == ["note milk"]
