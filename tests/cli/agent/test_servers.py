"""An agent has the MCP servers of the configuration, and does not wait long for any."""

import json
import sys

from tests.cli.agent.agents import at
from tests.cli.agent.terminal import terminal
from tests.cli.shell import Shell
from tests.models.script import Call, Say
from tests.models.server import scripted
from tests.requirements import requirement

ECHO = json.dumps({"command": sys.executable, "args": ["-m", "tooldrawer.bench.peers.echo"]})
MUTE = json.dumps({"command": "sh", "args": ["-c", "touch started; exec sleep 1000"]})


def configured(shell: Shell, **servers: str) -> Shell:
    listed = "".join(f"  {name}: {entry}\n" for name, entry in servers.items())
    shell.write("tooldrawer.yaml", f"gateway: {{first_search_wait: 30}}\nmcp_servers:\n{listed}")
    return shell


@requirement("AF-2")
def test_the_first_request_has_the_tools_of_a_server_that_just_started(shell: Shell) -> None:
    configured(shell, echo=ECHO)
    call = Call("mcp_echo_echo", {"message": "hello"})
    with scripted(call, Say("It said hello.")) as server:
        ran = shell.run("run", *at(server), "say hello")
    assert (ran.code, ran.out) == (0, "It said hello.\n")
    assert {"mcp_echo_echo", "mcp_echo_records", "terminal"} <= server.seen[0].names
    assert server.seen[1].results[0].text == "hello"
    assert ran.err.startswith('✓ mcp_echo_echo(message: "hello")  ')


def test_a_server_that_says_nothing_keeps_nobody_from_the_prompt(shell: Shell) -> None:
    configured(shell, mute=MUTE)
    config = (shell.folder / "tooldrawer.yaml").read_text()
    shell.write("tooldrawer.yaml", config.replace("wait: 30", "wait: 0.1"))
    with scripted(Say("Here.")) as server, terminal(shell, "chat", *at(server)) as person:
        person.prompted()
        assert "Starting: mute." in person.shown
        person.enter("hello")
        person.until("mute did not answer within 0.1 s")
        person.until("Here.")
        person.prompted()


def test_a_server_that_fails_is_not_said_to_be_late(shell: Shell) -> None:
    configured(shell, brief='{"command": "true"}')
    with scripted(Say("Here.")) as server:
        ran = shell.run("run", *at(server), "hello")
    assert "brief is down: " in ran.err
    assert "did not answer within" not in ran.err


def test_a_server_that_cannot_start_is_told_once(shell: Shell) -> None:
    configured(shell, gone='{"command": "no-such-program"}')
    with scripted(Say("Here.")) as server:
        ran = shell.run("run", *at(server), "hello")
    assert ran.out == "Here.\n"
    assert ran.err.count("no-such-program") == 1
    assert "Saved nothing" in ran.err  # and it costs nothing: the drawer is not closed for it


@requirement("SCOPE-1")
def test_a_server_outside_the_scope_is_not_even_started(shell: Shell) -> None:
    configured(shell, echo=ECHO, mute=MUTE)
    with scripted(Say("Here.")) as server:
        ran = shell.run("run", "--toolsets", "mcp-echo", *at(server), "hello")
    assert ran.out == "Here.\n"
    assert "terminal" not in server.seen[0].names
    assert not (shell.folder / "started").exists()


@requirement("CFG-4")
def test_a_server_without_its_variable_is_told_once_and_is_not_starting(shell: Shell) -> None:
    configured(shell, tide='{"command": "true", "env": {"KEY": "${TD_TEST_TIDE_KEY}"}}')
    with scripted(Say("Here.")) as server:
        ran = shell.run("run", *at(server), "hello")
    assert ran.err.count("TD_TEST_TIDE_KEY") == 1
    with scripted(Say("Here.")) as server, terminal(shell, "chat", *at(server)) as person:
        person.prompted()
        assert "Starting:" not in person.shown
        person.enter("hello")
        person.until("Here.")
        assert " ".join(person.shown.split()).count("TD_TEST_TIDE_KEY") == 1
