"""A grant holds for who was asked, survives other writers and a kill, and is never lost."""

import json
import logging
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dispatch.parts import ask
from tests.fakes import ScriptedApprover
from tests.requirements import requirement
from tooldrawer import Answer, Config, Drawer, FunctionToolset, Grants, Scope, Session, Tool
from tooldrawer.dispatch import Grantee
from tooldrawer.errors import ConfigError

ALWAYS, NO = Answer.ALWAYS, Answer.NO
TOOL = Tool(name="burn", description="Burn it.", source="desk")
WRITE = """
import sys
from pathlib import Path
from tooldrawer import Grants, Tool
from tooldrawer.dispatch import Grantee

grants = Grants(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    tool = Tool(name=f"{sys.argv[2]}_{number}", source="desk")
    grants.add(tool, grantee=Grantee(principal=sys.argv[2]))
    print(number, flush=True)
"""


async def read(session: Session) -> bool:
    """Whether the call ran."""
    return not (await session.call("read_note", {"title": "milk"})).is_error


@pytest.mark.anyio
@requirement("DSP-12")
async def test_always_of_one_principal_does_not_hold_for_another(
    desk: FunctionToolset, grants: Grants
) -> None:
    approver = ScriptedApprover(ALWAYS, NO, NO)
    drawer = Drawer([desk], guardrails=[ask], approver=approver, grants=grants)
    assert await read(drawer.session(principal="token:alice"))
    assert await read(drawer.session(principal="token:alice"))
    assert not await read(drawer.session(principal="token:bob"))
    assert not await read(drawer.session())
    assert len(approver.requests) == 3


@pytest.mark.anyio
@requirement("DSP-12")
async def test_always_in_one_scope_does_not_hold_in_another(
    desk: FunctionToolset, grants: Grants
) -> None:
    approver = ScriptedApprover(ALWAYS, *[NO] * 5)
    scopes = {name: Scope(allow=["*_note"], name=name) for name in ("triage", "other")}
    config = Config(scopes=scopes)
    drawer = Drawer([desk], config=config, guardrails=[ask], approver=approver, grants=grants)
    assert await read(drawer.session(scope="triage"))
    assert await read(drawer.session(scope="triage"))
    others: list[Scope | str | None] = ["other", None, Scope(allow=["*_note"]), Scope(deny=["x"])]
    for other in others:
        assert not await read(drawer.session(scope=other))
    assert len(approver.requests) == 5


@pytest.mark.anyio
@requirement("DSP-12")
async def test_always_reaches_subagents_but_not_from_a_narrower_one_upwards(
    desk: FunctionToolset, grants: Grants
) -> None:
    approver = ScriptedApprover(ALWAYS, NO, ALWAYS)
    drawer = Drawer([desk], guardrails=[ask], approver=approver, grants=grants)
    parent = drawer.session(principal="alice")
    child = parent.child(Scope(allow=["read_*"]))
    assert await read(child)
    assert await read(parent.child(Scope(allow=["read_*"])))
    assert not await read(parent)
    assert await read(parent)
    assert await read(parent.child())
    assert await read(parent.child(Scope(deny=["add_*"])))
    assert len(approver.requests) == 3


@pytest.mark.anyio
@requirement("DSP-12")
async def test_a_grant_that_is_taken_back_ends_in_running_sessions_too(
    desk: FunctionToolset, grants: Grants, tmp_path: Path
) -> None:
    approver = ScriptedApprover(ALWAYS, NO)
    drawer = Drawer([desk], guardrails=[ask], approver=approver, grants=grants)
    session = drawer.session()
    assert await read(session)
    assert await read(session)
    another_process = Grants(tmp_path / "grants.json")
    ((grant, tool),) = another_process.entries()
    assert tool == "read_note"
    assert another_process.remove(grant.id)
    assert not another_process.remove(grant.id)
    assert not await read(session)


@requirement("DSP-12")
def test_scopes_with_confusing_names_are_different_grantees() -> None:
    nested = Scope(name="b").within(Scope(name="a"))
    keys = {
        Grantee.of("", scope).scopes[0]
        for scope in (nested, Scope(name="a/b"), Scope(name="#0"), Scope(deny=["a"]), Scope())
    }
    assert len(keys) == 5
    assert Grantee.of("", nested).scopes == ("a/b", "a")
    assert Grantee.of("", Scope().within(Scope(name="a"))).scopes == ("a",)


@pytest.mark.anyio
@requirement("DSP-6")
async def test_the_request_tells_whom_and_what_a_yes_would_hold_for(
    desk: FunctionToolset, grants: Grants
) -> None:
    approver = ScriptedApprover(NO)
    drawer = Drawer([desk], guardrails=[ask], approver=approver, grants=grants)
    await read(drawer.session(principal="alice", scope=Scope(name="triage")))
    (request,) = approver.requests
    assert request.grantee == Grantee(principal="alice", scopes=("triage",))
    assert request.about == ("",)


def writer(path: Path, name: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITE, str(path), name, str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@requirement("DSP-6")
def test_gateways_that_write_at_once_lose_no_grant(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    writers = [writer(path, name, 50) for name in "abcd"]
    for each in writers:
        each.communicate(timeout=120)
    assert [each.returncode for each in writers] == [0] * 4
    grants = Grants(path)
    assert len(grants.names()) == 200
    for name in "abcd":
        grantee = Grantee(principal=name)
        tools = [Tool(name=f"{name}_{number}", source="desk") for number in range(50)]
        assert all(grants.holds(tool, grantee=grantee) for tool in tools)


@requirement("DSP-6")
def test_taking_one_back_while_others_write_loses_no_grant(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    grants = Grants(path)
    for number in range(20):
        grants.add(Tool(name=f"mine_{number}", source="desk"))
    taken_back = [grant.id for grant, _ in grants.entries()]
    writers = [writer(path, name, 30) for name in "ab"]
    assert all(grants.remove(name) for name in taken_back)
    for each in writers:
        each.communicate(timeout=120)
    assert [each.returncode for each in writers] == [0] * 2
    wanted = {f"{name}_{number}" for name in "ab" for number in range(30)}
    assert set(Grants(path).names()) == wanted


@requirement("DSP-6")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_grant_that_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    process = writer(path, "a", 1_000_000)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    acknowledged = 3 + rest.count("\n")
    assert len(Grants(path).names()) >= acknowledged
    Grants(path).add(TOOL)
    assert TOOL in Grants(path)


@requirement("DSP-6")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"grants": {}}',
        b'{"grants": [1]}',
        b'{"grants": [{"tool": "x"}]}',
        b'{"a": 1}',
        b'{"grants": "none"}',
    ],
)
def test_damaged_grants_are_reported_and_stay_as_they_are(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "grants.json"
    path.write_bytes(content)
    grants = Grants(path)
    with caplog.at_level(logging.WARNING):
        assert [TOOL in grants, TOOL in grants] == [False, False]
    (said,) = caplog.messages
    assert said.startswith(f"The grants in {path} cannot be read (")
    assert said.endswith("Repair the file, or move it away.")
    with pytest.raises(ConfigError, match="cannot be read"):
        grants.add(TOOL)
    assert path.read_bytes() == content


@requirement("DSP-12")
def test_grants_of_an_earlier_version_hold_for_no_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "grants.json"
    path.write_text(json.dumps({TOOL.fingerprint: "burn"}), encoding="utf-8")
    grants = Grants(path)
    with caplog.at_level(logging.WARNING):
        assert TOOL not in grants
    assert "do not say who was asked" in caplog.text
    grants.add(TOOL)
    assert TOOL in Grants(path)


@requirement("DSP-6")
def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "grants.json"
    Grants(path).add(TOOL)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
