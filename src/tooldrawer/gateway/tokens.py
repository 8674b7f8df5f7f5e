"""Who may come in over HTTP, and to which scope."""

import hmac
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated, cast

from annotated_types import Interval, Len
from platformdirs import user_data_path

from tooldrawer.errors import ConfigError
from tooldrawer.json_store import JsonStore, StoreFormat
from tooldrawer.tool import Json

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken

_PREFIX = "td_"
_RANDOM_BYTES = 32
_ID_LENGTH = 8
_END_OF_TIME = 253_402_300_800
"""The year 10000, which Python's calendar does not have."""
_Moment = Annotated[float, Interval(ge=0, lt=_END_OF_TIME)]
"""Seconds since the epoch. What is no number is out of it: it would never expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One way in, without the secret that opens it."""

    id: Annotated[str, Len(_ID_LENGTH, _ID_LENGTH)]
    """The first digits of the digest: enough to tell tokens apart, and to find one again."""
    name: str
    """For people; unique when there is one."""
    scope: str
    """A scope of the configuration by name; nothing for the whole drawer."""
    created: _Moment
    expires: _Moment | None = None
    digest: Annotated[str, Len(64, 64)] = field(repr=False)
    """SHA-256 of the secret. A slow hash protects what can be guessed; 256 random bits cannot."""

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= time()


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """What the file holds."""

    tokens: tuple[Token, ...]
    is_open: bool = False
    """Whether a person let clients on this machine in without a token."""

    @property
    def by_id(self) -> dict[str, Token]:
        """Return the tokens by their ids."""
        return {token.id: token for token in self.tokens}


class Tokens:
    """The tokens of this user's gateways, in a file that is read again when it changed.

    Whatever is wrong with the file, nobody gets in.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_data_path("tooldrawer", appauthor=False) / "tokens.json"
        self._store = JsonStore(self.path, _FORMAT)
        self._is_guarded = False

    def __iter__(self) -> Iterator[Token]:
        """Oldest first, expired ones too; none of a damaged file."""
        return iter(tuple(self._known().values()))

    def __bool__(self) -> bool:
        """Whether a token is needed to come in.

        Once there was a file it is, unless `open` was called since: an expired or revoked token,
        a damaged file, or one that vanished under a running gateway must not let everyone in.
        """
        self._known()
        return self._is_guarded and not self._store.value.is_open

    def create(
        self, name: str = "", scope: str = "", expires_in: float | None = None
    ) -> tuple[Token, str]:
        """A new token, valid for `expires_in` seconds or for ever, and its secret.

        The secret is nowhere else: who loses it needs another token.

        Raises:
            ConfigError: The name is taken or cannot be shown, or the file cannot be read.
        """
        if expires_in is not None and not 0 < expires_in < _END_OF_TIME - time():
            raise ValueError(f"expires_in is {expires_in}; expected a positive number of seconds.")
        if not f"{name}{scope}".isprintable():
            raise ConfigError("The name of a token or scope has characters that cannot be shown.")
        with self._store.locked() as file:
            known = file.by_id
            taken = _names(known)
            if name in taken:
                raise ConfigError(
                    f"There is a token named {name!r} already; "
                    "choose another name, or revoke that token first."
                )
            secret, digest = _drawn(taken=taken)
            now = time()
            token = Token(
                id=digest[:_ID_LENGTH],
                name=name,
                scope=scope,
                created=now,
                expires=None if expires_in is None else now + expires_in,
                digest=digest,
            )
            self._write({**known, token.id: token})
        return token, secret

    def verify(self, secret: str) -> Token | None:
        """The token of this secret; nothing when it is unknown, revoked or expired."""
        digest = _digest(secret)
        found = self._known().get(digest[:_ID_LENGTH])
        # What a stranger could time is how an id begins, which is no secret.
        if found is None or not hmac.compare_digest(found.digest, digest) or found.is_expired:
            return None
        return found

    def revoke(self, id_or_name: str) -> bool:
        """Forget a token; false when there is none of that id or name.

        Raises:
            ConfigError: The file cannot be read.
        """
        with self._store.locked() as file:
            known = file.by_id
            by_name = (token.id for token in known.values() if token.name == id_or_name)
            found = id_or_name if id_or_name in known else next(by_name, "")
            if not id_or_name or not found:
                return False
            self._write({key: token for key, token in known.items() if key != found})
        return True

    def open(self) -> None:
        """Let clients on this machine in without a token, until one is created again.

        Raises:
            ConfigError: There are tokens, or the file cannot be read.
        """
        with self._store.locked() as file:
            if file.tokens:
                names = ", ".join(token.name or token.id for token in file.tokens)
                raise ConfigError(
                    f"There are still tokens: {names}. Revoke each with `tooldrawer token revoke` "
                    "first."
                )
            self._store.write(_File(tokens=(), is_open=True))

    def check(self) -> None:
        """Return when the file is sound, or not there.

        Raises:
            ConfigError: It cannot be read, so nobody gets in.
        """
        self._store.read()

    def _write(self, tokens: dict[str, Token]) -> None:
        self._store.write(_File(tokens=tuple(tokens.values())))
        self._is_guarded = True

    def _known(self) -> dict[str, Token]:
        self._is_guarded = self._is_guarded or self._store.exists
        return self._store.value.by_id


class Verifier:
    """The tokens as the SDK asks for them: its `TokenVerifier`."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> "AccessToken | None":
        """Who comes with this secret; the secret itself goes no further."""
        # Loaded already where this runs; the command line, which imports this file, does without.
        from mcp.server.auth.provider import AccessToken  # noqa: PLC0415

        found = self._tokens.verify(token)
        if found is None:
            return None
        return AccessToken(
            token=found.id,
            client_id=found.id,
            subject=found.id,
            scopes=[found.scope] if found.scope else [],
            expires_at=None if found.expires is None else int(found.expires),
        )


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", errors="surrogatepass")).hexdigest()


def _drawn(*, taken: set[str]) -> tuple[str, str]:
    """A new secret and its digest, whose beginning is not taken."""
    while True:
        secret = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        digest = _digest(secret)
        if digest[:_ID_LENGTH] not in taken:
            return secret, digest


def _names(known: dict[str, Token]) -> set[str]:
    """What a person may call a token by."""
    return {*known, *(token.name for token in known.values() if token.name)}


def _parse(content: bytes) -> _File:
    """Return what is in a file.

    Raises:
        ValueError: Something in it is not what this module writes.
    """
    # Here, because every command would pay for it: only these ones read the file.
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    try:
        file = TypeAdapter(_File).validate_json(content, strict=True)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from error
    own = [token for token in file.tokens if token.digest.startswith(token.id)]
    if len(own) < len(file.tokens) or len(file.by_id) < len(own):
        raise ValueError("the id of a token is not its own")
    return replace(file, is_open=file.is_open and not own)


def _serialize(file: _File) -> Json:
    return cast("Json", asdict(file))


_FORMAT: StoreFormat[_File] = StoreFormat(
    parse=_parse,
    serialize=_serialize,
    empty=_File(tokens=()),
    damage="The tokens in {path} cannot be read ({reason}), so nobody gets in with a token. "
    "Mend the file, or delete it and create the tokens again.",
)
