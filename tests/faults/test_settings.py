"""Settings, folders and addresses that are wrong, before the start and while it runs."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest

from tests.faults.gateways import gateway
from tests.faults.place import ROOT, Place
from tests.faults.waiting import eventually
from tests.requirements import requirement

NAMED = ("--config", "tooldrawer.yaml")
"""Trusted, because it is named."""


def refused(place: Place, *options: str, **variables: str) -> str:
    """What `serve` says before it gives up."""
    said = subprocess.run(
        [sys.executable, "-m", "tooldrawer", "serve", *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**place.environment, **variables},
        cwd=place.folder,
        timeout=60,
    )
    assert (said.returncode, said.stdout) == (2, "")
    assert "went wrong inside" not in said.stderr
    assert place.left() == []
    return said.stderr


def test_a_file_that_is_not_there_is_named(place: Place) -> None:
    assert "nowhere.yaml: cannot be read: No such file" in refused(
        place, "--config", "nowhere.yaml"
    )
    assert refused(place).startswith("There is no tooldrawer.yaml in this folder or in ")


def test_a_scope_that_is_not_there_is_named_with_those_that_are(place: Place) -> None:
    place.settings["scopes"] = {"triage": {"toolsets": ["mcp-well"]}}
    place.write()
    said = refused(place, *NAMED, "--scope", "triag")
    assert said == "There is no scope named 'triag'; configured are: triage.\n"


def test_a_network_needs_a_token(place: Place) -> None:
    place.write()
    said = refused(place, *NAMED, "--http", "--host", "0.0.0.0")
    assert "would let in everyone who can reach it. Make a token first with" in said


def test_an_address_that_is_taken_is_named(place: Place) -> None:
    place.write()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert refused(place, *NAMED, "--http", "--port", port) == (
            f"Cannot listen on 127.0.0.1:{port}: Address already in use. "
            "Choose another with --host or --port.\n"
        )


def test_a_gateway_inside_itself_is_stopped(place: Place) -> None:
    place.write()
    said = refused(place, *NAMED, TOOLDRAWER_DEPTH="3")
    assert "one of them starts itself through its own list of servers" in said


def test_somebody_who_starts_it_in_a_terminal_is_told_what_it_waits_for(place: Place) -> None:
    place.write()
    keyboard, terminal = os.openpty()
    command = [sys.executable, "-m", "tooldrawer", "serve", *NAMED]
    with (
        subprocess.Popen(
            command,
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=place.environment,
            cwd=place.folder,
        ) as process,
        os.fdopen(keyboard, "wb"),
        os.fdopen(terminal, "rb"),
    ):
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"Waiting for an MCP client on standard input")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == b""
        assert process.returncode in {0, 130}  # 130 when it had not begun yet
    assert place.left() == []


@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_the_end_of_it_and_no_crash(place: Place, closed: str) -> None:
    place.write()
    command = f"exec {sys.executable} -m tooldrawer serve {' '.join(NAMED)} {closed}"
    said = subprocess.run(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        env=place.environment,
        cwd=place.folder,
        timeout=60,
    )
    assert said.stdout + said.stderr == b""
    assert place.left() == []


@pytest.mark.anyio
async def test_a_gateway_that_starts_itself_comes_to_an_end(place: Place) -> None:
    own = ["-m", "tooldrawer", "serve", "--config", str(place.config)]
    place.add("itself", command=sys.executable, args=[*own], cwd=str(ROOT))
    variables = {
        key: value for key, value in place.environment.items() if key[:3] in {"XDG", "TOO"}
    }
    place.servers["itself"] = {**place.servers["itself"], "env": variables}
    async with gateway(place) as found, found.client() as client, client.beating():
        # This one, two inside it, and one healthy server of each; the fourth gateway refuses.
        await eventually(lambda: len(place.left()) >= 6)
        assert "itself" in await client.search("call a tool")


@requirement("CFG-2")
@pytest.mark.anyio
async def test_a_file_that_breaks_while_it_runs_is_told_and_changes_nothing(place: Place) -> None:
    async with gateway(place) as found, found.client() as client, client.beating():
        place.replace("mcp_servers: [")
        await eventually(lambda: place.complaints.endswith("\n"))
        assert place.complaints.startswith("The settings from before stay in force: ")
        assert "tooldrawer.yaml:1: the file is not YAML" in place.complaints
        assert (await found.status())["mistake"]
        assert (await found.server("well"))["starts"] == 1
        place.write()

        async def is_mended() -> bool:
            return not (await found.status())["mistake"]

        await eventually(is_mended)
        assert (await found.server("well"))["starts"] == 1


@pytest.mark.anyio
async def test_thirty_servers_come_and_go_while_it_runs(place: Place) -> None:
    async with gateway(place) as found, found.client() as client, client.beating():
        names = [f"more{number}" for number in range(30)]
        for name in names:
            place.plain(name)
        place.write()
        await found.up(*names)
        assert (await client.call("more7/echo", {"a": 1})).structured_content == {"a": 1}
        for name in names:
            del place.servers[name]
        place.write()
        await eventually(lambda: len(place.left()) == 2)
        assert list(await found.servers()) == ["well"]
        assert (await found.server("well"))["starts"] == 1


@contextmanager
def _nowhere(place: Place) -> Generator[None]:
    """No folder that the gateway would keep something in can be made."""
    names = ("cache", "data", "config", "state", "run")
    for name in names:
        (place.folder / name).write_text("no folder", encoding="utf-8")
    yield
    for name in names:
        assert (place.folder / name).is_file()


@pytest.mark.anyio
async def test_without_any_folder_to_write_in_it_serves_all_the_same(place: Place) -> None:
    with _nowhere(place):
        async with gateway(place) as found, found.bare_client() as client:

            async def answers() -> bool:
                return not (await client.call("well/echo", {"a": 1})).is_error

            await eventually(answers)
        assert place.complaints == (
            "This gateway cannot be watched or steered with `tooldrawer status`, `watch` or "
            f"`approve`: {place.runtime} cannot be made (File exists).\n"
        )


@pytest.mark.anyio
async def test_without_a_home_it_serves_all_the_same(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("USER", raising=False)
    async with gateway(place) as found, found.client() as client:
        await client.beat(1)
        assert place.complaints == ""


@pytest.mark.anyio
async def test_over_http_the_address_is_told_at_once_and_nobody_has_to_read_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    async with gateway(place, "--http") as found:
        stdout = found.process.stdout
        assert stdout is not None
        with anyio.fail_after(60):
            assert (await stdout.receive()).startswith(b"tooldrawer is at http://127.0.0.1:")
        await stdout.aclose()
        async with found.http_client() as client:
            await client.beat(1)
        assert place.complaints == ""
