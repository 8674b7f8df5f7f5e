"""The gateway's entry has what each client needs: variables, a token, an approval."""

from dataclasses import replace
from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer.clients.connection import connecting
from tooldrawer.clients.folders import Folders
from tooldrawer.clients.known import Client, client_named
from tooldrawer.clients.launch import Launch

pytestmark = requirement("CFG-3")
LAUNCH = Launch(command="/opt/tooldrawer", args=("serve", "--config", "/srv/tooldrawer.yaml"))
OVER_HTTP = Launch(url="http://127.0.0.1:8765/mcp")
NEEDY = replace(LAUNCH, variables=("CLOCK_TOKEN",), env={"XDG_DATA_HOME": "/srv/data"})
FOLDER = {"XDG_DATA_HOME": "/srv/data"}


def connect(client: Client, folders: Folders, launch: Launch) -> Any:
    """Put the gateway into the client's list; its entry there."""
    plan = connecting(client, client.places[0], folders, launch)
    plan.carry_out()
    return plan.entry


@pytest.mark.parametrize(
    ("name", "written_env"),
    [
        ("claude-desktop", {"env": FOLDER}),
        ("claude-code", {"env": FOLDER}),
        ("cursor", {"env": {"CLOCK_TOKEN": "${env:CLOCK_TOKEN}", **FOLDER}}),
        ("vscode", {"env": {"CLOCK_TOKEN": "${env:CLOCK_TOKEN}", **FOLDER}}),
        ("codex", {"env_vars": ["CLOCK_TOKEN"], "env": FOLDER}),
        ("gemini", {"env": {"CLOCK_TOKEN": "$CLOCK_TOKEN", **FOLDER}}),
        ("opencode", {"environment": FOLDER}),
    ],
)
def test_a_client_that_keeps_variables_back_is_told_which_to_pass(
    folders: Folders, name: str, written_env: dict[str, Any]
) -> None:
    entry: Any = connect(client_named(name), folders, NEEDY)
    keys = ("env", "environment", "env_vars")
    assert {key: entry[key] for key in keys if key in entry} == written_env


@pytest.mark.parametrize(
    ("name", "by_variable", "by_value"),
    [
        ("claude-code", "Bearer ${GATE}", "Bearer td_x"),
        ("cursor", "Bearer ${env:GATE}", "Bearer td_x"),
        ("vscode", "Bearer ${env:GATE}", "Bearer td_x"),
        ("gemini", "Bearer $GATE", "Bearer td_x"),
        ("opencode", "Bearer {env:GATE}", "Bearer td_x"),
    ],
)
def test_a_token_is_written_as_the_header_of_an_address(
    folders: Folders, name: str, by_variable: str, by_value: str
) -> None:
    client = client_named(name)
    entry: Any = connect(client, folders, replace(OVER_HTTP, token_variable="GATE"))
    assert entry["headers"] == {"Authorization": by_variable}
    entry = connect(client, folders, replace(OVER_HTTP, token="td_x"))
    assert entry["headers"] == {"Authorization": by_value}


def test_codex_has_its_own_words_for_a_token_and_for_approval(folders: Folders) -> None:
    client = client_named("codex")
    entry: Any = connect(client, folders, replace(OVER_HTTP, token_variable="GATE"))
    assert entry["bearer_token_env_var"] == "GATE"
    entry = connect(client, folders, replace(LAUNCH, approves_tools=True))
    assert entry["default_tools_approval_mode"] == "approve"
    assert "bearer_token_env_var" not in entry
    entry = connect(client, folders, replace(OVER_HTTP, token="td_x"))
    assert entry["http_headers"] == {"Authorization": "Bearer td_x"}
