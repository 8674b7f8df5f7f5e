"""Many servers, some of which are not there."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator

import anyio
import anyio.to_thread
import pytest

from tests.faults.gateways import gateway
from tests.faults.place import ROOT, Place

pytestmark = pytest.mark.anyio


@pytest.fixture
def unanswered() -> Iterator[str]:
    """An address at which connecting takes for ever: its queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        callers = [socket.socket() for _ in range(4)]
        for caller in callers:
            caller.settimeout(0)
            caller.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        for caller in callers:
            caller.close()


@pytest.fixture
def silent() -> Iterator[str]:
    """An address at which every request is taken and none is answered."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


@pytest.fixture
def refused() -> Iterator[str]:
    """An address at which nobody listens, and nobody else can begin to."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{unused.getsockname()[1]}/mcp"


async def test_addresses_that_hang_keep_nobody_waiting(
    place: Place, unanswered: str, silent: str, refused: str
) -> None:
    place.add("unanswered", url=unanswered)
    place.add("silent", url=silent)
    place.add("refused", url=refused)
    place.plain("mute", "--mute")
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.until(lambda server: server["error"], "refused")
        servers = await found.servers()
        assert "nobody answers at its address" in servers["refused"]["error"]
        waiting = ("mute", "silent", "unanswered")
        assert {servers[name]["state"] for name in waiting} == {"connecting"}
        note = json.loads(await client.search("weather"))["note"]
        assert all(name in note for name in (*waiting, "refused"))


@pytest.mark.timeout(600)
async def test_fifty_servers_of_which_ten_are_dead(
    place: Place, unanswered: str, refused: str
) -> None:
    healthy = [f"well{number}" for number in range(39)]
    for name in healthy:
        place.plain(name)
    for number in range(2):
        place.add(f"missing{number}", command="no-such-command-anywhere")
        place.plain(f"leaving{number}", "--exit", "3")
        place.plain(f"mute{number}", "--mute")
        place.add(f"unanswered{number}", url=unanswered)
        place.add(f"refused{number}", url=refused)
    assert len(place.servers) == 50
    async with gateway(place) as found, found.client() as client, client.beating():
        await found.up(*healthy)
        answers: dict[str, object] = {}

        async def call(name: str) -> None:
            answers[name] = (await client.call(f"{name}/echo", {"name": name})).structured_content

        async with anyio.create_task_group() as tasks:
            for name in healthy:
                tasks.start_soon(call, name)
        assert answers == {name: {"name": name} for name in healthy}
        dead = ("missing0", "leaving1", "refused0")
        await found.until(lambda server: server["error"], *dead)
        servers = await anyio.to_thread.run_sync(_status, place)
        assert len(servers) == 50
        assert servers["missing0"]["state"] == "down"
        assert "'no-such-command-anywhere' was not found" in servers["missing0"]["error"]
        assert "there is no licence" in servers["leaving1"]["error"]
        assert servers["mute0"]["state"] == servers["unanswered0"]["state"] == "connecting"
        assert servers["well7"]["state"] == "up"


def _status(place: Place) -> dict[str, dict[str, str]]:
    command = [sys.executable, "-m", "tooldrawer", "status", "--json"]
    said = subprocess.run(
        command, capture_output=True, check=True, env=place.environment, cwd=ROOT, timeout=60
    )
    (found,) = json.loads(said.stdout)
    return {server["name"]: server for server in found["servers"]}
