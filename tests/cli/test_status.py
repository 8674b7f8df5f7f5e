"""`status`: which gateways run, and how they are."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.cli.gateways import FOLDER, gateway, user
from tests.cli.shell import Shell
from tooldrawer.tool import Json

SERVERS: list[Json] = [
    {
        "name": "github", "state": "up", "protocol": "2026-07-28", "tools": 1000, "tokens": 20500,
        "error": "", "since": 0, "starts": 1,
    },
    {
        "name": "slack", "state": "down", "protocol": "", "tools": 30, "tokens": 1500,
        "error": "it ended with code 1: \x1b[2Jno \ntoken", "since": 1, "starts": 12,
    },
]  # fmt: skip
ANOTHER = """
import json, os, sys, time
import anyio
from pathlib import Path
from tooldrawer import ActivityLog, Grants
from tooldrawer.activity import UpstreamDown
from tooldrawer.gateway.control import Control
from tooldrawer.gateway.pending import Pending

async def main():
    says = {**json.loads(sys.argv[2]), "pid": os.getpid(), "started": time.time()}
    log = ActivityLog()
    log(UpstreamDown(at=1.0, upstream="milk", error="it is sour"))
    control = Control(
        status=lambda: says,
        activity=log,
        pending=Pending(),
        grants=Grants(Path(sys.argv[1]) / "grants.json"),
        folder=Path(sys.argv[1]),
    )
    async with control:
        print("listening", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@contextmanager
def another(shell: Shell, **says: Json) -> "Generator[subprocess.Popen[str]]":
    """A gateway in another process."""
    arguments = [sys.executable, "-c", ANOTHER, str(shell.folder / FOLDER), json.dumps(says)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            yield process
        finally:
            process.kill()


def test_without_a_gateway_it_says_how_to_start_one(shell: Shell) -> None:
    said = (
        "No gateway of yours is running. An agent that uses tooldrawer starts one; "
        "`tooldrawer serve --http` starts one by hand."
    )
    for command in ("status", "watch"):
        assert user(shell).run(command).refusal == f"{said}\n"
    ended = "Calls that waited have ended with the agents that started their gateways."
    for command in (("approve",), ("approve", "k7q2"), ("deny", "k7q2")):
        assert user(shell).run(*command).refusal == f"{said} {ended}\n"


def test_the_gateway_its_drawer_and_its_servers_are_shown(shell: Shell) -> None:
    with gateway(shell, servers=SERVERS):
        shown = user(shell).run("status").text
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[0] == (
        f"Gateway {os.getpid()}, http at http://127.0.0.1:8000/mcp, up 2 hours, "
        "tooldrawer.yaml, bridge"
    )
    assert lines[1] == (
        "Tool search is active: 22,000 tokens are 11.0 % of 200,000. 1,030 of 1,034 tools are "
        "deferred; the array costs 412 tokens a turn instead of 22,000."
    )
    assert lines[2] == "Sessions 2, calls in flight 1."
    assert "server state attempts tools tokens" in lines
    assert "github up (2026-07-28) 1 1,000 20,500" in lines
    (slack,) = [line for line in lines if line.startswith("slack")]
    assert "; it ended with code 1: \\u001b[2Jno \\u000atoken 12 30 1,500" in slack
    assert "\x1b" not in shown


def test_an_open_drawer_is_told(shell: Shell) -> None:
    drawer: Json = {"active": False, "reason": "3 tools", "tools": 3, "array_tokens": 900}
    with gateway(shell, drawer=drawer, transport="stdio", address="stdio"):
        shown = user(shell).run("status").text
    assert "Tool search is inactive: 3 tools. All 3 tools are shown: 900 tokens.\n" in shown
    assert f"Gateway {os.getpid()}, stdio, up " in shown


def test_before_the_first_client_there_is_no_drawer_to_tell_of(shell: Shell) -> None:
    with gateway(shell, drawer={}):
        assert "No client has asked for tools yet.\n" in user(shell).run("status").text


def test_calls_that_wait_for_a_person_are_told(shell: Shell) -> None:
    with gateway(shell, waiting=3):
        shown = user(shell).run("status").text
    assert "Waiting for a person: 3; see `tooldrawer approve`." in shown


def test_json_is_what_the_gateways_say(shell: Shell) -> None:
    with gateway(shell, servers=SERVERS) as running:
        assert user(shell).run("status", "--json").json == [running.says]


@pytest.mark.parametrize("odd", [{}, {"servers": None, "drawer": 3, "calls": [], "started": "x"}])
def test_a_status_of_another_version_is_shown_as_far_as_it_goes(
    shell: Shell, odd: dict[str, Json]
) -> None:
    with gateway(shell) as running:
        running.says = {"pid": 3, **odd}
        assert user(shell).run("status").text.startswith("Gateway 3, ")


def test_several_gateways_are_shown_and_one_can_be_chosen(shell: Shell) -> None:
    with gateway(shell), another(shell, transport="stdio") as process:
        found = user(shell).run("status", "--json").json
        assert [each["pid"] for each in found] == [os.getpid(), process.pid]
        (chosen,) = user(shell).run("status", "--json", "--pid", str(process.pid)).json
        assert chosen["pid"] == process.pid
        assert user(shell).run("status").text.count("Gateway ") == 2
        refusal = user(shell).run("status", "--pid", "1").refusal
        assert refusal.startswith("No gateway has the process id 1; those that run have ")
        assert str(process.pid) in refusal


def test_a_gateway_that_was_killed_is_none(shell: Shell) -> None:
    with another(shell) as process:
        assert "Gateway" in user(shell).run("status").text
        process.kill()
        process.wait()
        assert "No gateway of yours is running" in user(shell).run("status").refusal
    assert list((shell.folder / FOLDER).iterdir()) == []


def test_a_gateway_that_fails_is_told_and_the_others_are_shown(shell: Shell) -> None:
    with gateway(shell) as running, another(shell) as process:
        running.says = {"pid": {1, 2}}  # pyright: ignore[reportAttributeAccessIssue]
        ran = user(shell).run("status")
    assert ran.code == 2
    assert ran.err.startswith(f"The gateway {os.getpid()} refused: it answered with status 500.")
    assert ran.out.startswith(f"Gateway {process.pid}, ")


def test_other_commands_do_not_pay_for_what_talks_to_a_gateway() -> None:
    code = (
        "import sys; from tooldrawer.cli import approve, running, status, watch; "
        "print({'httpx2', 'starlette', 'uvicorn', 'mcp'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert ran.stdout == b"set()\n"
