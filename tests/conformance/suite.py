"""The official conformance suite: run on a server, and read."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tests.real.servers import CONFORMANCE, node
from tooldrawer.tool import JsonObject

BASELINE = Path(__file__).parent / "expected_failures.yaml"
_STAMP_LENGTH = len("-2026-07-28T00-00-00-000Z")
"""The suite names a scenario's folder after it and the time: server-ping-2026-..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the suite found on one server."""

    code: int
    """0 when the baseline has exactly the required scenarios that fail."""
    scenarios: frozenset[str]
    checks: Counter[tuple[str, str]]
    """How often a check of a scenario passed; some are made several times."""
    failures: tuple[tuple[str, str], ...]
    """Scenarios, and the suite's own words on a check of theirs that failed."""
    report: str

    def words_on(self, lost: Iterable[tuple[str, str]]) -> str:
        """Why checks that should have passed did not, and the summary."""
        scenarios = {scenario for scenario, _ in lost}
        words = (words for scenario, words in self.failures if scenario in scenarios)
        return "\n".join((*words, self.report))


def run(url: str, revision: str, folder: Path) -> Outcome:
    """All that a revision of the protocol requires, and the suite's further scenarios for it."""
    done = subprocess.run(
        [
            node(),
            str(CONFORMANCE),
            *("server", "--url", url, "--requirements", revision),
            *("--expected-failures", str(BASELINE), "--output-dir", str(folder)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    found = {_scenario(path): _checks(path) for path in sorted(folder.glob("*/checks.json"))}
    return Outcome(
        code=done.returncode,
        scenarios=frozenset(found),
        checks=Counter(
            (scenario, str(check["id"]))
            for scenario, checks in found.items()
            for check in checks
            if check["status"] == "SUCCESS"
        ),
        failures=tuple(
            (scenario, f"{scenario}:{check['id']}: {check.get('errorMessage', '')}")
            for scenario, checks in found.items()
            for check in checks
            if check["status"] in {"FAILURE", "WARNING"}
        ),
        report=done.stdout.partition("=== SUMMARY ===")[2] or done.stdout,
    )


def _scenario(path: Path) -> str:
    return path.parent.name.removeprefix("server-")[:-_STAMP_LENGTH]


def _checks(path: Path) -> list[JsonObject]:
    return cast("list[JsonObject]", json.loads(path.read_text(encoding="utf-8")))
