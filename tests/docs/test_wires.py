"""What docs/wires.md says runs, and its table is the table in the code."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.models.script import Call, Say, Search
from tests.models.server import scripted
from tooldrawer.wire.anthropic import MAX_OUTPUT
from tooldrawer.wire.wires import WIRES

TEXT = (Path(__file__).parents[2] / "docs" / "wires.md").read_text(encoding="utf-8")


def test_the_loop_of_ones_own_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    event = {"title": "Review", "when": "ten"}
    with scripted(Search("create an event"), Call("create_event", event), Say("Done.")) as server:
        done = subprocess.run(
            [sys.executable, "-c", example],
            env={**os.environ, "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stdout == "Done.\n", done.stderr
    assert server.refusals == []
    assert [result.text for result in server.seen[-1].results] == ["create_event", "Review at ten"]


def test_the_wires_and_who_defers_are_as_listed() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (yes|no) \|", TEXT, re.MULTILINE)
    assert {name: answer == "yes" for name, answer in rows} == {
        wire.name: wire.defers for wire in WIRES.values()
    }
    assert f"{MAX_OUTPUT:,} tokens unless it is set" in TEXT
