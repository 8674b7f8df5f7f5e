"""Whatever the umask, what tooldrawer keeps of a user is for that user alone."""

import os
import stat
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.activity.parts import searched
from tests.requirements import requirement
from tooldrawer import ActivityLog, Drawer, Grants, JsonLines, Tool
from tooldrawer.agent.conversations import Conversations
from tooldrawer.agent.core import CoreTools, Workplace
from tooldrawer.agent.database import Database
from tooldrawer.gateway.tokens import Tokens
from tooldrawer.upstream.manifest import Manifest, Manifests
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")


@pytest.fixture(autouse=True)
def _generous_umask() -> Generator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    """What another user of the machine could read or enter."""
    found = (folder, *folder.rglob("*"))
    return [str(path) for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077]


def log_one_event(path: Path) -> None:
    log = ActivityLog(sinks=[JsonLines(path)])
    log(searched("milk"))
    log.close()


@requirement("AF-3")
@pytest.mark.anyio
async def test_no_file_or_folder_of_ours_is_open_to_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    Grants(data / "grants" / "grants.json").add(Tool(name="burn", source="desk"))
    Tokens(data / "tokens" / "tokens.json").create()
    Manifests(data / "manifests").save(UpstreamSpec(name="shop", command="x"), Manifest())
    notes = CoreTools(Workplace(root=tmp_path), memory=data / "notes" / "memory.md")
    await Drawer([notes]).session().call("memory", {"action": "add", "text": "private"})
    path = data / "conversations" / "conversations.db"
    Conversations(path).start(model="m", cwd="/", scope="")
    with Database(path).writing() as connection:
        connection.execute("UPDATE conversation SET title = 'milk'")
        beside = sorted(each.name for each in path.parent.iterdir())
        assert beside == [f"{path.name}{end}" for end in ("", "-shm", "-wal")]
        for folder in data.iterdir():
            assert open_to_others(folder) == []
    log_one_event(data / "grants" / "activity.jsonl")
    assert open_to_others(data / "grants") == []


@requirement("AF-3")
@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o666, 0o600), (0o640, 0o640)])
def test_an_activity_log_of_an_earlier_version_becomes_private(
    tmp_path: Path, before: int, after: int
) -> None:
    path = tmp_path / "activity.jsonl"
    path.touch()
    path.chmod(before)
    log_one_event(path)
    assert stat.S_IMODE(path.stat().st_mode) == after
