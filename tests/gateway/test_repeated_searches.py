"""The gateway does not see its client's other calls, so it answers every search."""

from pathlib import Path

import anyio
import pytest

from tests.gateway.rig import ERAS, LONG, document, goods, rigged, searched, shelf, tool
from tests.requirements import requirement

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@requirement("BR-11")
@pytest.mark.parametrize("era", ERAS)
async def test_repeated_searches_get_matches_and_a_hint(tmp_path: Path, era: str) -> None:
    file = goods(tmp_path / "goods.json", tool("plant", "Plant a tree"))
    settings = document({"garden": shelf(file)}, search={"max_searches_in_a_row": 3})
    async with rigged(tmp_path, settings) as rig, rig.client(era) as client:
        with anyio.fail_after(LONG):
            await rig.settled()
            replies = [await searched(client, "tree") for _ in range(4)]
    assert all(reply["matches"] for reply in replies)
    assert not any("advice" in reply for reply in replies[:3])
    assert "Call one of the tools found" in str(replies[3]["advice"])
