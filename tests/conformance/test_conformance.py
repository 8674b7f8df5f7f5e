"""What the official conformance suite finds on a server, it finds on the gateway before it."""

from pathlib import Path

import anyio
import pytest
from mcp import Client

from tests.conformance.suite import run
from tests.real.gateways import configuration, over_http
from tests.real.programs import listening
from tests.real.servers import example, needs
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = [needs("conformance"), pytest.mark.timeout(900)]

REVISIONS = ["2025-11-25", "2026-07-28"]
LOST = {
    "2025-11-25": {
        # The server's tool closes its stream on purpose and goes on in the next one. The gateway
        # takes it up there and keeps its own open, so that the suite finds nothing to take up.
        "server-sse-polling:server-sse-disconnect-resume",
    },
    "2026-07-28": {
        # Of an extension that neither side has. The server passes by accident: it answers a call
        # of an unknown tool with a result. MCP wants a protocol error, -32602, in both revisions
        # (server/tools, "Error Handling"), and that is what the gateway answers.
        "tasks-capability-negotiation:sep-2663-server-rejects-undeclared-client",
        "tasks-dispatch-and-envelope:sep-2663-legacy-task-param-ignored",
        "tasks-dispatch-and-envelope:tasks-immediate-result-shortcut",
        "tasks-dispatch-and-envelope:tasks-result-type-complete-on-non-task-responses",
        "tasks-lifecycle:tasks-sync-tool-call",
    },
}
"""Checks that the server passes and the gateway does not, all beyond what a revision requires."""


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_gateway_passes_every_check_that_the_server_behind_it_passes(
    revision: str, tmp_path: Path
) -> None:
    with listening(*example(port=0)) as address:
        directly = run(f"{address}/mcp", revision, tmp_path / "directly")
    assert directly.code == 0, directly.report

    with listening(*example(port=0)) as address:  # another, since the suite changes its tools
        server = UpstreamSpec(name="example", url=f"{address}/mcp")
        config = configuration(tmp_path, [server], template="{tool}", mode="passthrough")
        with over_http(config) as url:
            anyio.run(_connected, url)
            through = run(url, revision, tmp_path / "through")

    lost = directly.checks - through.checks
    assert {":".join(check) for check in lost} == LOST[revision], through.words_on(lost)
    assert through.code == 0, through.report
    assert through.scenarios == directly.scenarios


async def _connected(url: str) -> None:
    """Wait until the gateway has reached the server: it answers lists before, but not calls."""
    async with Client(url) as client:
        await client.call_tool("test_simple_text")
