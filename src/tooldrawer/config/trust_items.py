"""What a configuration file contains that needs the user's trust."""

from collections.abc import Callable, Iterable
from pathlib import Path as FilePath
from shlex import quote

from tooldrawer.config.document import Document, Mistake
from tooldrawer.config.entry import is_off
from tooldrawer.config.jsonc import JsonText, NotJson
from tooldrawer.config.list_key import list_key
from tooldrawer.config.sentences import key_shown
from tooldrawer.config.trust_decisions import SERVER_KEYS, SERVERS_KEY, TRUSTED_SETTINGS, KeyPath
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json
from tooldrawer.trust import TrustItem, TrustStore, is_users_own

Trusts = Callable[[TrustItem], bool]
"""Whether the user has trusted an item."""
_UNTRUSTED = "is not trusted yet; to see and trust it, run `{}`"
_REMOVED = "was trusted and is gone, which may loosen a rule; to see and trust that, run `{}`"


def trust_command(name: str) -> str:
    """Return the command with which a person sees and trusts what is in the file `name`."""
    return f"tooldrawer trust {quote(name)}"


def require_trust(path: FilePath) -> None:
    """Return when all in a file that was found, not named, is trusted.

    Raises:
        ConfigError: Something in it is not.
    """
    store = TrustStore()
    items = () if is_users_own(path) else read_items(path)
    if waiting := untrusted(items, store.trusts, str(path)):
        raise ConfigError(*(f"{path}: {key_shown(each.path)} {each.text}." for each in waiting))


def untrusted(items: Iterable[TrustItem], trusts: Trusts | None, name: str) -> list[Mistake]:
    """Return a mistake for each item of the file `name` that is not trusted yet."""
    command = trust_command(name)
    waiting = () if trusts is None else (item for item in items if not trusts(item))
    return [
        Mistake(
            item.path,
            (_UNTRUSTED if item.content is not None else _REMOVED).format(command),
            is_untrusted=True,
        )
        for item in waiting
    ]


def read_items(path: FilePath) -> list[TrustItem]:
    """Return what needs trust in a file, without starting, importing or filling anything.

    Nothing in a file that cannot be read or is wrong: reading the settings reports that.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    if path.suffix.lower() in (".json", ".jsonc"):
        try:
            value = JsonText(text).value
        except NotJson:
            return []
        if list_key(value) is not None:
            return list_items(value, path)
    return settings_items(Document(text).value, path)


def settings_items(value: Json, path: FilePath) -> list[TrustItem]:
    """Return what needs trust in our own settings `value`, the file `path`.

    A setting that is not there has no content: it needs trust where the user has trusted some.
    """
    file = str(path.resolve())
    keys = TRUSTED_SETTINGS if isinstance(value, dict) else ()
    found = [TrustItem(file=file, path=key, content=_at(value, key) or None) for key in keys]
    return [*_server_items(value, SERVERS_KEY, file), *found]


def list_items(value: Json, path: FilePath) -> list[TrustItem]:
    """Return what needs trust in another program's list of servers `value`, the file `path`."""
    return _server_items(value, list_key(value) or "", str(path.resolve()))


def server_item(path: tuple[str, str], entry: Json, file: str) -> TrustItem | None:
    """Return what needs trust in one server's entry; nothing when it is switched off."""
    if not isinstance(entry, dict) or is_off(entry):
        return None
    content = {key: entry[key] for key in SERVER_KEYS if key in entry}
    return TrustItem(file=file, path=path, content=content)


def _server_items(value: Json, key: str, file: str) -> list[TrustItem]:
    entries = value.get(key) if isinstance(value, dict) else None
    items = entries.items() if isinstance(entries, dict) else ()
    found = (server_item((key, name), entry, file) for name, entry in items)
    return [item for item in found if item is not None]


def _at(value: Json, path: KeyPath) -> Json:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value
