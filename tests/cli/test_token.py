"""Tokens on the command line: shown once, listed without secrets, ended at once."""

import re
from pathlib import Path

import pytest

from tests.cli.gateways import gateway, user
from tests.cli.shell import Shell
from tooldrawer.gateway.tokens import Tokens

SECRET = re.compile(r"^td_[A-Za-z0-9_-]{43}$", re.MULTILINE)


def kept(shell: Shell) -> Tokens:
    """The tokens as a gateway of the same user reads them."""
    return Tokens(shell.folder / "data" / "tooldrawer" / "tokens.json")


def test_create_shows_the_token_once_and_how_to_use_it(workshop: Shell) -> None:
    said = workshop.run("token", "create", "--scope", "measuring", "--name", "laptop").text
    (secret,) = SECRET.findall(said)
    assert said.count(secret) == 1
    assert said.startswith(secret + "\n")
    assert "Authorization: Bearer " in said
    assert " /mcp/measuring " in said
    assert "does not expire" in said
    token = kept(workshop).verify(secret)
    assert token is not None
    assert (token.name, token.scope) == ("laptop", "measuring")
    assert f"tooldrawer token revoke {token.id}" in said


def test_a_token_without_a_scope_opens_the_whole_drawer(shell: Shell) -> None:
    made = shell.run("token", "create", "--json").json
    assert (made["scope"], made["path"], made["expires"]) == ("", "/mcp", None)
    token = kept(shell).verify(made["token"])
    assert token is not None
    assert token.scope == ""


@pytest.mark.parametrize(
    ("span", "seconds"),
    [("45s", 45), ("90m", 5_400), ("12h", 43_200), ("30d", 2_592_000), ("8W", 4_838_400)],
)
def test_a_token_ends_when_it_was_told_to(shell: Shell, span: str, seconds: int) -> None:
    said = shell.run("token", "create", "--expires", span).text
    assert " expires 2" in said
    (token,) = kept(shell)
    assert token.expires == token.created + seconds


@pytest.mark.parametrize("span", ["soon", "30", "d", "0d", "-1d", "1.5h", "999999d", "1y"])
def test_a_time_that_is_none_is_refused(shell: Shell, span: str) -> None:
    said = shell.run("token", "create", f"--expires={span}").refusal
    assert f"{span!r} is not a span of time; expected a number and a unit" in said
    assert not kept(shell)


def test_a_scope_that_is_not_configured_is_named_with_those_that_are(workshop: Shell) -> None:
    said = workshop.run("token", "create", "--scope", "triage").refusal
    assert said == (
        "There is no scope named 'triage' in tooldrawer.yaml; configured are: measuring.\n"
    )
    assert not kept(workshop)


def test_the_configuration_that_was_named_counts(workshop: Shell) -> None:
    workshop.write("other.yaml", "scopes: {night shift: {toolsets: []}}\n")
    arguments = ("token", "create", "--config", "other.yaml", "--scope")
    assert "configured are: night shift." in workshop.run(*arguments, "measuring").refusal
    assert " /mcp/night%20shift " in workshop.run(*arguments, "night shift").text


def test_a_configuration_that_is_wrong_makes_no_token(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", "scopes: 3\n")
    assert "tooldrawer.yaml:1: scopes" in workshop.run("token", "create", "--scope", "x").refusal
    assert not kept(workshop)


def test_without_a_configuration_the_scope_is_taken_as_it_is_and_that_is_said(
    shell: Shell,
) -> None:
    ran = shell.run("token", "create", "--scope", "triage")
    assert ran.code == 0
    assert "There is no configuration here, so the scope 'triage' was not checked." in ran.err
    assert [token.scope for token in kept(shell)] == ["triage"]


def test_list_shows_every_token_and_no_secret(shell: Shell) -> None:
    assert "There are no tokens" in shell.run("token", "list").text
    assert shell.run("token", "list", "--json").json == []
    secrets = [
        shell.run("token", "create", "--json", *arguments).json["token"]
        for arguments in (("--name", "laptop", "--expires", "30d"), ())
    ]
    first, second = kept(shell)
    listed = shell.run("token", "list")
    for words in (first.id, second.id, "laptop", "never"):
        assert words in listed.text
    found = shell.run("token", "list", "--json")
    assert [item["id"] for item in found.json] == [first.id, second.id]
    assert found.json[0].keys() == {"id", "name", "scope", "created", "expires", "is_expired"}
    for hidden in (*secrets, first.digest, second.digest):
        assert hidden not in listed.out + found.out


def test_an_expired_token_is_listed_as_such(shell: Shell) -> None:
    tokens = kept(shell)
    token, _ = tokens.create("old", expires_in=60)
    text = tokens.path.read_text(encoding="utf-8")
    tokens.path.write_text(text.replace(str(token.expires), "0.0"), encoding="utf-8")
    assert "expired 1970-01-01" in shell.run("token", "list").text
    assert shell.run("token", "list", "--json").json[0]["is_expired"] is True


def test_revoke_ends_a_token_by_id_or_name_and_says_when_it_was_the_last(shell: Shell) -> None:
    tokens = kept(shell)
    first, secret = tokens.create()
    tokens.create("laptop")
    assert shell.run("token", "revoke", first.id).text == f"The token {first.id} is revoked.\n"
    assert tokens.verify(secret) is None
    said = shell.run("token", "revoke", "laptop").text
    assert "It was the last one: over HTTP no client gets in until you create another" in said
    assert "`tooldrawer token open`" in said
    refused = shell.run("token", "revoke", "laptop").refusal
    assert "no token with the id or name 'laptop'; `tooldrawer token list` shows them." in refused


def test_a_name_that_is_taken_is_refused(shell: Shell) -> None:
    kept(shell).create("laptop")
    said = shell.run("token", "create", "--name", "laptop").refusal
    assert "There is a token named 'laptop' already" in said


@pytest.mark.parametrize("arguments", [("create",), ("list",), ("revoke", "laptop")])
def test_a_damaged_file_is_one_sentence_and_stays(shell: Shell, arguments: tuple[str, ...]) -> None:
    file = Path(shell.write("data/tooldrawer/tokens.json", "torn"))
    said = shell.run("token", *arguments).refusal
    assert f"{file} cannot be read (" in said
    assert said.count("cannot be read") == 1
    assert (shell.folder / file).read_text(encoding="utf-8") == "torn"


def test_the_first_token_says_what_it_changes_and_for_whom(shell: Shell) -> None:
    entry = (
        '{"mcpServers": {"drawer": {"url": "http://127.0.0.1:8765/mcp"}, "b": {"command": "b"}}}'
    )
    shell.write("home/.cursor/mcp.json", entry)
    said = shell.run("token", "create").text
    assert "This is the first token: from now on every client over HTTP needs one." in said
    assert f"Cursor ({shell.folder}/home/.cursor/mcp.json: drawer)" in said
    assert "`tooldrawer connect CLIENT --http ADDRESS --new-token`" in said
    assert "first token" not in shell.run("token", "create").text


def test_a_running_gateway_is_named_when_the_first_token_is_created(shell: Shell) -> None:
    person = user(shell)
    with gateway(shell, address="http://127.0.0.1:4711/mcp"):
        assert "next request on: http://127.0.0.1:4711/mcp." in person.run("token", "create").text


def test_clients_of_this_machine_are_let_in_again_on_request_only(shell: Shell) -> None:
    tokens = kept(shell)
    _, secret = tokens.create("laptop")
    assert "There are still tokens: laptop." in shell.run("token", "open").refusal
    shell.run("token", "revoke", "laptop")
    assert tokens
    assert "need no token now" in shell.run("token", "open").text
    assert not tokens
    assert tokens.verify(secret) is None
    assert shell.run("token", "list").text.startswith("There are no tokens")
    shell.run("token", "create")
    assert tokens
