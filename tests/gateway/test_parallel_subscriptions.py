"""Two clients that subscribe to one resource at the same time."""

from pathlib import Path

import pytest

from tests.gateway.rig import document, goods, let_in, rigged, shelf, tool
from tests.gateway.wire import wired

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_no_client_is_told_that_it_is_subscribed_when_the_server_refuses(
    tmp_path: Path,
) -> None:
    note = {"uri": "note://1", "name": "a note"}
    file = goods(tmp_path / "shop.json", tool("a"), resources=[note], refuses_subscriptions=True)
    gate = tmp_path / "gate"
    let_in(gate)
    settings = document({"shop": shelf(file, "--hold", str(gate))})
    async with (
        rigged(tmp_path, settings) as rig,
        wired(rig.gateway) as ann,
        wired(rig.gateway) as bob,
    ):
        await rig.settled()
        for wire in (ann, bob):
            await wire.shake_hands("2025-11-25")
            (listed,) = (await wire.ask("resources/list"))["resources"]
        gate.unlink()  # from here on the server answers nothing
        asked: list[int] = []
        for wire in (ann, bob):
            asked.append(wire.start("resources/subscribe", {"uri": listed["uri"]}))
            await wire.ask("ping")
        let_in(gate)
        answers = [await ann.answer(asked[0]), await bob.answer(asked[1])]
    assert [answer["error"]["message"] for answer in answers] == ["Not this one."] * 2
