"""A token opens its own scope, is kept as a digest only, and when in doubt nobody gets in."""

import json
import logging
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import cast

import httpx2
import pytest
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    BearerAuthBackend,
    RequireAuthMiddleware,
)
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tooldrawer.errors import ConfigError
from tooldrawer.gateway.tokens import Token, Tokens, Verifier

SECRET = re.compile(r"td_[A-Za-z0-9_-]{43}")
DIGEST = "0123456789abcdef" * 4
GOOD: dict[str, object] = {
    "id": DIGEST[:8],
    "name": "laptop",
    "scope": "triage",
    "created": 1.0,
    "expires": None,
    "digest": DIGEST,
}


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "data" / "tokens.json")


def file_with(folder: Path, *records: object) -> Path:
    file = folder / "tokens.json"
    file.write_text(json.dumps({"tokens": records}), encoding="utf-8")
    return file


def expired(tokens: Tokens) -> str:
    """The secret of a token whose time is over."""
    token, secret = tokens.create("old", "triage", 60)
    text = tokens.path.read_text(encoding="utf-8")
    tokens.path.write_text(text.replace(str(token.expires), "1.0"), encoding="utf-8")
    return secret


def test_a_token_is_found_by_its_secret_and_has_its_scope(tokens: Tokens) -> None:
    laptop, first = tokens.create("laptop", "triage")
    desk, second = tokens.create("desk")
    assert SECRET.fullmatch(first)
    assert SECRET.fullmatch(second)
    assert tokens.verify(first) == laptop
    assert tokens.verify(second) == desk
    assert (laptop.name, laptop.scope, laptop.expires) == ("laptop", "triage", None)
    assert desk.scope == ""
    assert list(tokens) == [laptop, desk]


def test_the_secret_is_kept_nowhere(tokens: Tokens) -> None:
    token, secret = tokens.create("laptop", "triage")
    written = tokens.path.read_text(encoding="utf-8")
    assert secret not in written
    assert secret.removeprefix("td_") not in written
    assert secret not in repr(token)
    assert token.digest not in repr(token)


def test_the_file_is_its_owners_alone_and_no_draft_stays(tokens: Tokens) -> None:
    tokens.create()
    tokens.create()
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    names = sorted(file.name for file in tokens.path.parent.iterdir())
    assert names == ["tokens.json", "tokens.json.lock"]


@pytest.mark.parametrize(
    "strange", ["", "td_", "Bearer x", "ü\ud800", "td_" + "A" * 43, "x" * 9999]
)
def test_what_is_no_token_opens_nothing(tokens: Tokens, strange: str) -> None:
    assert tokens.verify(strange) is None
    tokens.create()
    assert tokens.verify(strange) is None


def test_a_secret_that_differs_in_one_character_opens_nothing(tokens: Tokens) -> None:
    _, secret = tokens.create()
    for at in range(len(secret)):
        other = "A" if secret[at] != "A" else "B"
        assert tokens.verify(secret[:at] + other + secret[at + 1 :]) is None
    assert tokens.verify(secret + "A") is None
    assert tokens.verify(secret[:-1]) is None


def test_a_digest_that_only_begins_alike_is_another_token(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    token, secret = tokens.create()
    file_with(tmp_path, {**GOOD, "id": token.id, "digest": token.id + DIGEST[8:]})
    assert [found.id for found in tokens] == [token.id]
    assert tokens.verify(secret) is None


def test_without_a_file_no_token_is_needed_and_none_is_known(tokens: Tokens) -> None:
    assert not tokens
    assert list(tokens) == []
    assert not tokens.path.parent.exists()


def test_a_token_with_a_time_is_valid_until_then(tokens: Tokens) -> None:
    token, secret = tokens.create("laptop", expires_in=3600)
    assert token.expires == token.created + 3600
    assert not token.is_expired
    assert tokens.verify(secret) == token


def test_an_expired_token_is_unknown_and_does_not_open_the_door(tokens: Tokens) -> None:
    secret = expired(tokens)
    assert tokens.verify(secret) is None
    assert tokens
    assert [token.is_expired for token in tokens] == [True]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e15])
def test_a_time_that_is_none_is_an_error_of_the_caller(tokens: Tokens, seconds: float) -> None:
    with pytest.raises(ValueError, match="expires_in"):
        tokens.create(expires_in=seconds)


def test_a_token_is_revoked_by_id_or_by_name(tokens: Tokens) -> None:
    first, one = tokens.create("laptop")
    _, two = tokens.create("desk")
    _, three = tokens.create("phone")
    assert tokens.revoke(first.id)
    assert tokens.revoke("desk")
    assert [tokens.verify(secret) is None for secret in (one, two, three)] == [True, True, False]
    assert not tokens.revoke("desk")
    assert not tokens.revoke(first.id)


def test_nothing_is_revoked_by_no_name(tokens: Tokens) -> None:
    _, secret = tokens.create()
    assert not tokens.revoke("")
    assert tokens.verify(secret) is not None


def test_revoking_the_last_token_does_not_open_the_door(tokens: Tokens) -> None:
    token, _ = tokens.create()
    tokens.revoke(token.id)
    assert list(tokens) == []
    assert tokens
    assert Tokens(tokens.path)


def test_a_file_that_vanishes_does_not_open_the_door_of_who_saw_it(tokens: Tokens) -> None:
    _, secret = tokens.create()
    tokens.path.unlink()
    assert tokens.verify(secret) is None
    assert tokens


def test_a_name_is_given_once_and_no_name_as_often_as_wanted(tokens: Tokens) -> None:
    token, _ = tokens.create("laptop")
    for taken in ("laptop", token.id):
        with pytest.raises(ConfigError, match=f"named '{taken}' already; choose another name"):
            tokens.create(taken)
    tokens.create()
    tokens.create()
    assert tokens.revoke("laptop")
    tokens.create("laptop")


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\udcff"])
def test_a_name_that_cannot_be_shown_is_refused(tokens: Tokens, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be shown"):
        tokens.create(name)
    assert not tokens


def test_what_another_process_does_is_noticed(tokens: Tokens) -> None:
    _, mine = tokens.create("mine")
    other = Tokens(tokens.path)
    assert other.verify(mine) is not None
    _, theirs = other.create("theirs")
    assert tokens.verify(theirs) is not None
    other.revoke("mine")
    assert tokens.verify(mine) is None


MAKE_TEN = """
import sys
from pathlib import Path
from tooldrawer.gateway.tokens import Tokens

tokens = Tokens(Path(sys.argv[1]))
for number in range(10):
    tokens.create(f"{sys.argv[2]} {number}")
"""


def test_two_processes_that_write_at_once_lose_nothing(tokens: Tokens) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", MAKE_TEN, str(tokens.path), name])
        for name in ("left", "right")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert {token.name for token in tokens} == {
        f"{side} {number}" for side in ("left", "right") for number in range(10)
    }


DAMAGED = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[]",
    b"{}",
    b"[" * 100_000,
    json.dumps({"tokens": {}}).encode(),
    json.dumps({"tokens": [1]}).encode(),
    json.dumps({"tokens": [GOOD, GOOD]}).encode(),
    *(
        json.dumps({"tokens": [{**GOOD, **wrong}]}).encode()
        for wrong in (
            {"id": "ffffffff"},
            {"id": ""},
            {"digest": DIGEST[:-1]},
            {"digest": None},
            {"scope": None},
            {"scope": ["triage"]},
            {"created": True},
            {"expires": "never"},
            {"expires": float("nan")},
            {"expires": float("inf")},
        )
    ),
]


@pytest.mark.parametrize("content", DAMAGED)
def test_of_a_damaged_file_nobody_gets_in_and_one_sentence_says_so(
    tokens: Tokens, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    _, secret = tokens.create()
    tokens.path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert tokens.verify(secret) is None
        assert tokens.verify(secret) is None
        assert tokens
        assert list(tokens) == []
    (said,) = caplog.messages
    assert said.startswith(f"The tokens in {tokens.path} cannot be read (")
    assert said.endswith("Mend the file, or delete it and create the tokens again.")
    assert "\n" not in said


@pytest.mark.parametrize("content", [b"", b"{}"])
def test_a_damaged_file_is_never_written_over(tokens: Tokens, content: bytes) -> None:
    tokens.create("laptop")
    tokens.path.write_bytes(content)
    for change in (tokens.create, lambda: tokens.revoke("laptop"), tokens.check):
        with pytest.raises(ConfigError, match="cannot be read"):
            change()
    assert tokens.path.read_bytes() == content


def test_a_file_that_is_mended_is_used_again(tokens: Tokens) -> None:
    token, secret = tokens.create()
    whole = tokens.path.read_bytes()
    tokens.path.write_bytes(b"torn")
    assert tokens.verify(secret) is None
    tokens.path.write_bytes(whole)
    tokens.check()
    assert tokens.verify(secret) == token


def test_where_the_file_cannot_even_be_looked_for_nobody_gets_in(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no folder", encoding="utf-8")
    tokens = Tokens(tmp_path / "plain" / "tokens.json")
    assert tokens
    assert list(tokens) == []


def test_a_file_of_a_later_version_may_say_more_about_a_token(tmp_path: Path) -> None:
    tokens = Tokens(file_with(tmp_path, {**GOOD, "note": "of Monday"}))
    assert [token.name for token in tokens] == ["laptop"]


async def who(request: Request) -> JSONResponse:
    user = cast("object", request.user)
    assert isinstance(user, AuthenticatedUser)
    return JSONResponse([user.username, user.scopes])


def door(tokens: Tokens) -> httpx2.AsyncClient:
    """A client of a small application that is behind the SDK's own check of bearer tokens."""
    inner = RequireAuthMiddleware(Starlette(routes=[Route("/", who)]), required_scopes=[])
    backend = BearerAuthBackend(Verifier(tokens))
    app = AuthenticationMiddleware(inner, backend=backend)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://gateway")


@pytest.mark.anyio
async def test_the_sdk_lets_in_who_has_a_token_and_nobody_else(tokens: Tokens) -> None:
    token, secret = tokens.create("laptop", "triage", 3600)
    old = expired(tokens)
    async with door(tokens) as client:

        async def knock(secret: str) -> httpx2.Response:
            return await client.get("/", headers={"Authorization": f"Bearer {secret}"})

        welcome = await knock(secret)
        assert welcome.json() == [token.id, ["triage"]]
        assert [(await knock(wrong)).status_code for wrong in ("td_wrong", old)] == [401, 401]
        assert (await client.get("/")).status_code == 401
        tokens.revoke("laptop")
        assert (await knock(secret)).status_code == 401


@pytest.mark.anyio
async def test_the_sdk_is_given_the_id_and_never_the_secret(tokens: Tokens) -> None:
    token, secret = tokens.create("laptop", expires_in=60)
    found = await Verifier(tokens).verify_token(secret)
    assert found is not None
    assert (found.token, found.client_id, found.subject) == (token.id,) * 3
    assert found.scopes == []
    assert token.expires is not None
    assert found.expires_at == int(token.expires)
    assert secret not in repr(found)


def test_a_token_is_a_value() -> None:
    one, other = (
        Token(id=DIGEST[:8], name="", scope="", created=1.0, digest=DIGEST) for _ in range(2)
    )
    assert one == other
    assert len({one, other}) == 1
