"""Which contents of configuration files the user has trusted."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import time
from typing import cast

from platformdirs import user_config_path, user_data_path

from tooldrawer.json_store import JsonStore, StoreFormat
from tooldrawer.tool import Json

_DIGEST_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustItem:
    """Something in a file that needs the user's trust, as it is written there."""

    file: str
    """The absolute path, links resolved."""
    path: tuple[str, ...]
    """The key: `("mcp_servers", "github")`, `("hooks",)`."""
    content: Json = field(repr=False)
    """Unfilled: `${NAME}` stays, so that no secret of the environment is in it. `None` where the
    file does not have the key."""

    @property
    def key(self) -> str:
        """The key as a person reads it."""
        return ".".join(self.path)

    @property
    def fingerprint(self) -> str:
        """Differs when file, key or content do."""
        text = json.dumps([self.file, self.path, self.content], sort_keys=True)
        return sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """An item that was trusted once."""

    fingerprint: str
    file: str
    key: str
    at: float
    """Seconds since the epoch."""


class TrustStore:
    """The fingerprints that this user has trusted. In doubt nothing is trusted."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or trust_file()
        self._store = JsonStore(self.path, _FORMAT)

    def __contains__(self, fingerprint: str) -> bool:
        return fingerprint in self._store.value

    def trusts(self, item: TrustItem) -> bool:
        """Whether the user has trusted `item` as it is.

        A key that is not in the file is as trusted as no file at all, unless the user has trusted
        what it had: approval rules that disappear are rules that were loosened.
        """
        if item.content is not None:
            return item.fingerprint in self
        known = self._store.value.values()
        return not any((each.file, each.key) == (item.file, item.key) for each in known)

    def items(self) -> list[Trusted]:
        """Return all, ordered by file and key."""
        return sorted(self._store.value.values(), key=lambda each: (each.file, each.key))

    def add(self, items: Iterable[TrustItem]) -> None:
        """Trust these; what was trusted under the same file and key before is replaced.

        One without content only ends the trust in what the key had before.

        Raises:
            ConfigError: The file of fingerprints is damaged.
            OSError: It cannot be written.
        """
        given = {(item.file, item.key): item for item in items}
        added = [
            Trusted(fingerprint=item.fingerprint, file=item.file, key=item.key, at=time())
            for item in given.values()
            if item.content is not None
        ]
        with self._store.locked() as known:
            kept = [each for each in known.values() if (each.file, each.key) not in given]
            self._store.write({each.fingerprint: each for each in (*kept, *added)})

    def remove(self, file: str) -> int:
        """Trust nothing of this file any more; return how many items that were.

        Raises:
            ConfigError: The file of fingerprints is damaged.
            OSError: It cannot be written.
        """
        with self._store.locked() as known:
            kept = {digest: each for digest, each in known.items() if each.file != file}
            if len(kept) < len(known):
                self._store.write(kept)
            return len(known) - len(kept)


def trust_file() -> Path:
    """Return where the fingerprints are kept."""
    return user_data_path("tooldrawer", appauthor=False) / "trust.json"


def is_users_own(file: Path) -> bool:
    """Whether the file is in the user's configuration folder, so that it is trusted as it is."""
    return file.absolute().parent == user_config_path("tooldrawer", appauthor=False).absolute()


def _parse(data: bytes) -> Mapping[str, Trusted]:
    found = cast("Json", json.loads(data))
    entries = found.get("trusted") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise ValueError("expected a list named trusted")  # noqa: TRY004  the store's contract
    return {each.fingerprint: each for each in map(_parse_entry, entries)}


def _parse_entry(entry: Json) -> Trusted:
    values = entry if isinstance(entry, dict) else {}
    digest, file, key, at = (values.get(name) for name in ("fingerprint", "file", "key", "at"))
    texts = isinstance(digest, str) and isinstance(file, str) and isinstance(key, str)
    if not texts or len(str(digest)) != _DIGEST_CHARS or not isinstance(at, int | float):
        raise ValueError("an entry is not one")
    return Trusted(fingerprint=str(digest), file=str(file), key=str(key), at=float(at))


def _serialize(known: Mapping[str, Trusted]) -> Json:
    return {
        "trusted": [
            {"fingerprint": each.fingerprint, "file": each.file, "key": each.key, "at": each.at}
            for each in known.values()
        ]
    }


_FORMAT: StoreFormat[Mapping[str, Trusted]] = StoreFormat(
    parse=_parse,
    serialize=_serialize,
    empty={},
    damage=(
        "{path} cannot be read ({reason}), so no configuration of a folder is trusted. Repair the "
        "file, or delete it and run `tooldrawer trust` again."
    ),
)
