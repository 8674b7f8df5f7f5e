"""Sessions of the handshake era, which a server may end whenever it likes."""

import pytest

from tests.upstream.fakes import running
from tests.upstream.servers.both import Both, no_such_session
from tooldrawer.activity import UpstreamDown

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),  # the SDK's HTTP client
]


@pytest.mark.parametrize("has_words", [False, True])
async def test_a_call_in_a_session_that_was_ended_is_made_in_a_new_one(*, has_words: bool) -> None:
    both = Both()
    both.is_old = True
    if has_words:
        both.amnesia = no_such_session()
    async with both.served(), running(both.spec()) as server:
        assert server.upstream.protocol == "2025-11-25"
        assert (await server.call("way")).text == "handshake"
        both.forget()
        assert (await server.call("way")).text == "handshake"
        (down,) = server.happened(UpstreamDown)
        assert down.error == "The server 'web' stopped: it has forgotten the session."
    assert both.hands == 2
