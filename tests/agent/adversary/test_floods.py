"""A hostile model asks for more than there is room for."""

from pathlib import Path
from typing import Any

import pytest

from tests.agent.loop.rig import staged
from tests.models.script import Call, Say, Script, Turn
from tests.models.server import scripted
from tooldrawer import ApprovalRequest, Drawer, Tool
from tooldrawer.agent.core import CoreTools, Workplace
from tooldrawer.dispatch.terminal import rendered

pytestmark = pytest.mark.anyio


async def test_of_a_flood_of_calls_the_first_ones_are_run_and_all_are_answered() -> None:
    calls = tuple(
        Call("mcp_github_create_issue", {"title": str(n)}, blind=True) for n in range(300)
    )
    with scripted(Script([Turn(calls=calls), Say("Done.")])) as server:
        async with staged(server, ("chat", "portable")) as stage:
            outcome = await stage.agent.run("Go.")
            replies = stage.replies
    assert outcome.is_success
    assert len(replies) == 300
    ran = [reply for reply in replies if not reply.result.is_error]
    assert len(ran) == 128
    assert ran == replies[:128]
    assert "too many calls in one answer" in replies[-1].result.text


async def test_a_command_that_pours_out_output_is_kept_in_a_few_pages(tmp_path: Path) -> None:
    drawer = Drawer([CoreTools(Workplace(root=tmp_path))])
    result = await drawer.session().call("terminal", {"command": "yes | head -c 30000000"})
    assert len(result.text) < 30_000


@pytest.mark.parametrize(
    "command",
    [
        "ls \x1b[2J\x1b[H\x9b1A; rm -rf x",
        "ls \u202e fr- mr\u2066",
        "ls\r\x08\x08\n\u2028rm -rf x",
        "ls \U000e0041\u200b\ufeff",
    ],
)
def test_a_question_shows_a_command_without_its_disguise(command: str) -> None:
    text = rendered(_request(command, name=command))
    assert all(char == "\n" or " " <= char <= "~" for char in text)
    assert len(text.splitlines()) < 12


def test_a_question_that_has_scrolled_away_says_so_where_the_person_looks() -> None:
    short, long = rendered(_request("ls")), rendered(_request("ls" + " " * 5000 + "; rm -rf x"))
    assert "scroll up" not in short
    assert "scroll up and read them" in long.splitlines()[-1]


def _request(command: str, **changes: Any) -> ApprovalRequest:
    tool = Tool(name=changes.get("name", "terminal"), source="core")
    return ApprovalRequest(
        question="Run it?", tool=tool, arguments={"command": command}, session="chat"
    )
