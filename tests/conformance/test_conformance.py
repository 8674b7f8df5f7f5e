"""What the official conformance suite finds on a server, it finds on the gateway before it."""

from pathlib import Path

import pytest

from tests.conformance.suite import run
from tests.real.gateways import configuration, over_http
from tests.real.programs import listening
from tests.real.servers import example, needs
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = [needs("conformance"), pytest.mark.timeout(300)]

REVISIONS = ["2025-11-25", "2026-07-28"]
LOST: dict[str, set[str]] = {"2025-11-25": set(), "2026-07-28": set()}
"""Checks, beyond what the revision requires, that the server passes and the gateway does not."""


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
            through = run(url, revision, tmp_path / "through")

    lost = {":".join(check) for check in directly.checks - through.checks}
    assert lost == LOST[revision], "\n".join((*through.failures, through.report))
    assert through.code == 0, through.report
    assert through.scenarios == directly.scenarios
