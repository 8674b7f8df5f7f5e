"""What servers log is shown to whoever makes the call, and as much of it as they want."""

from collections.abc import AsyncGenerator

import mcp_types as types
import pytest
from mcp import Client

from tests.gateway.rig import (
    HANDSHAKE,
    STATELESS,
    Person,
    Rig,
    ask,
    called,
    document,
    everything,
    rigged,
)

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def rig(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Rig]:
    servers = {"new": everything(), "old": everything("legacy")}
    async with rigged(tmp_path_factory.mktemp("logging"), document(servers)) as rig:
        await rig.settled()
        yield rig


@pytest.fixture(params=["new", "old"])
def server(request: pytest.FixtureRequest) -> str:
    """A server of either era."""
    return str(request.param)


async def _set(client: Client, level: types.LoggingLevel) -> None:
    await ask(client, types.SetLevelRequest(params=types.SetLevelRequestParams(level=level)))


def _seen(person: Person) -> list[tuple[str, str | None]]:
    return [(line.level, line.logger) for line in person.lines]


async def test_the_stateless_era_asks_for_lines_with_each_call(rig: Rig, server: str) -> None:
    person = Person()
    async with rig.client(STATELESS, person, log_level="info") as client:
        await called(client, f"mcp_{server}_say")
        await person.until(lambda: len(person.lines) == 2)
    assert _seen(person) == [("info", f"{server}/own"), ("error", f"{server}/own")]
    assert [line.data for line in person.lines] == ["a line"] * 2


async def test_who_wants_errors_is_told_nothing_else(rig: Rig, server: str) -> None:
    person = Person()
    async with rig.client(STATELESS, person, log_level="error") as client:
        await called(client, f"mcp_{server}_say")
        await person.until(lambda: person.lines)
    assert _seen(person) == [("error", f"{server}/own")]


async def test_who_does_not_ask_is_told_nothing_in_the_stateless_era(rig: Rig, server: str) -> None:
    person = Person()
    async with rig.client(STATELESS, person) as client:
        await called(client, f"mcp_{server}_say")
    assert person.lines == []


async def test_a_client_of_the_handshake_era_says_once_what_it_wants(rig: Rig, server: str) -> None:
    person = Person()
    async with rig.client(HANDSHAKE, person) as client:
        await _set(client, "error")
        await called(client, f"mcp_{server}_say")
        await person.until(lambda: person.lines)
        assert _seen(person) == [("error", f"{server}/own")]
        await _set(client, "debug")
        await called(client, f"mcp_{server}_say")
        await person.until(lambda: len(person.lines) == 3)
    assert _seen(person)[1:] == [("info", f"{server}/own"), ("error", f"{server}/own")]


async def test_what_one_client_wants_is_not_what_another_gets(rig: Rig, server: str) -> None:
    curious, calm = Person(), Person()
    async with (
        rig.client(HANDSHAKE, curious) as first,
        rig.client(HANDSHAKE, calm, name="calm") as second,
    ):
        await _set(first, "debug")
        await _set(second, "error")
        await called(first, f"mcp_{server}_say")
        await called(second, f"mcp_{server}_say")
        await curious.until(lambda: len(curious.lines) == 2)
        await calm.until(lambda: calm.lines)
    assert _seen(calm) == [("error", f"{server}/own")]
