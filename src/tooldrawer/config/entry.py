"""One server in the list of another program."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import inf

from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.words import quoted, shown
from tooldrawer.tool import Json
from tooldrawer.upstream.spec import UpstreamSpec

Fill = Callable[[str, Path], str]
_URLS = ("httpUrl", "url", "serverUrl")
_LOCAL = ("stdio", "local")
_REMOTE = ("http", "streamable-http", "streamablehttp", "streamable_http", "remote")
_ALLOWED = ("includeTools", "enabledTools")
_DENIED = ("excludeTools", "disabledTools")
_NEAR_ENOUGH = 0.75
_SETTINGS = "settings with a command or a url"
_UNUSABLE = re.compile("[\0\ud800-\udfff]")
_MILLISECONDS = 1000
"""Programs count a server's `timeout` in seconds or in milliseconds. From this figure on it is
milliseconds: nobody waits a quarter of an hour for a server, or gives it less than a second."""


@dataclass(slots=True, kw_only=True)
class EntryReader:
    """Reads entries one after the other, and collects what is wrong with them.

    Keys that are not known here belong to the program whose list it is.
    """

    fill: Fill
    mistakes: list[Mistake] = field(default_factory=list[Mistake])

    def read(self, name: str, value: Json, path: Path) -> UpstreamSpec:
        """How to reach the server; of use only when there was no mistake."""
        if not isinstance(value, dict):
            self._expected(path, value, _SETTINGS)
            return UpstreamSpec(name=name)
        if is_off(value):
            # Nobody starts it, so what is missing in it is missed by nobody.
            unheard = EntryReader(fill=lambda text, _: text)
            return replace(unheard._server(name, value, path), enabled=False)
        return self._server(name, value, path)

    def _server(self, name: str, entry: dict[str, Json], path: Path) -> UpstreamSpec:
        url_key = next((key for key in _URLS if entry.get(key) is not None), "url")
        is_remote = self._is_remote(entry, url_key, path)
        command = "" if is_remote else self._text(entry, "command", path)
        url = self._text(entry, url_key, path) if is_remote else ""
        if url and not url.startswith(("http://", "https://")):
            text = "is a text that does not begin with http:// or https://"
            self._wrong((*path, url_key), text)
        if entry.get("envFile") is not None:
            text = "names a file that is not read here; write its variables into env"
            self._wrong((*path, "envFile"), text)
        return UpstreamSpec(
            name=name,
            command=command,
            args=() if is_remote else self._texts(entry, "args", path),
            env={} if is_remote else self._values(entry, "env", path),
            cwd="" if is_remote else self._text(entry, "cwd", path),
            url=url,
            headers=self._values(entry, "headers", path) if is_remote else {},
            timeout=self._timeout(entry, path),
            allow=self._tools(entry, _ALLOWED, path) or UpstreamSpec(name="").allow,
            deny=self._tools(entry, _DENIED, path),
        )

    def _is_remote(self, entry: dict[str, Json], url_key: str, path: Path) -> bool:
        kind = entry.get("type")
        word = kind.lower() if isinstance(kind, str) else ""
        self._check_kind(kind, word, path)
        has_command, has_url = (entry.get(key) is not None for key in ("command", url_key))
        is_remote = word in ("sse", *_REMOTE) or (word not in _LOCAL and has_url)
        if has_command and has_url and not word:
            self._wrong(path, "has both a command and a url, expected one of the two")
        elif not (has_url if is_remote else has_command):
            self._wrong(path, _lacking(entry, word, is_remote=is_remote))
        return is_remote

    def _check_kind(self, kind: Json, word: str, path: Path) -> None:
        if word == "sse":
            text = (
                "is 'sse', the transport that streamable HTTP replaced and that is not spoken "
                "here; give the server's streamable HTTP address with the type 'http'"
            )
            self._wrong((*path, "type"), text)
        elif kind is not None and word not in (*_LOCAL, *_REMOTE):
            self._expected((*path, "type"), kind, "'stdio' or 'http'")

    def _text(self, entry: dict[str, Json], key: str, path: Path) -> str:
        value, place = entry.get(key), (*path, key)
        if value is None:
            return ""
        if not isinstance(value, str) or not value:
            self._expected(place, value, "a text")
            return ""
        return self._filled(value, place)

    def _texts(self, entry: dict[str, Json], key: str, path: Path) -> tuple[str, ...]:
        value, place = entry.get(key), (*path, key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self._expected(place, value, "a list of texts")
            return ()
        found: list[str] = []
        for at, item in enumerate(value):
            if isinstance(item, str):
                found.append(self._filled(item, (*place, at)))
            else:
                self._expected((*place, at), item, "a text")
        return tuple(found)

    def _tools(self, entry: dict[str, Json], keys: tuple[str, ...], path: Path) -> tuple[str, ...]:
        """Which tools a person let the other program use: that holds here too."""
        return tuple(name for key in keys for name in self._texts(entry, key, path))

    def _values(self, entry: dict[str, Json], key: str, path: Path) -> dict[str, str]:
        """Texts by name. A number or a flag is its text; an empty one takes the name away."""
        value, place = entry.get(key), (*path, key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._expected(place, value, "texts by name")
            return {}
        found: dict[str, str] = {}
        for name, item in value.items():
            self._check_characters(name, (*place, name))
            if isinstance(item, str):
                found[name] = self._filled(item, (*place, name))
            elif isinstance(item, bool | int | float):
                found[name] = shown(item)
            elif item is not None:
                self._expected((*place, name), item, "a text")
        return found

    def _timeout(self, entry: dict[str, Json], path: Path) -> float:
        value, place = entry.get("timeout"), (*path, "timeout")
        if value is None:
            return UpstreamSpec(name="").timeout
        if isinstance(value, int | float) and value is not True and 0 < value < inf:
            return value / _MILLISECONDS if value >= _MILLISECONDS else float(value)
        self._expected(place, value, "a number above 0")
        return UpstreamSpec(name="").timeout

    def _filled(self, text: str, path: Path) -> str:
        self._check_characters(text, path)
        return self.fill(text, path)

    def _check_characters(self, text: str, path: Path) -> None:
        if _UNUSABLE.search(text):
            self._wrong(path, "has half a character or a zero, which no program can be given")

    def _expected(self, path: Path, value: Json, words: str) -> None:
        # Of the others only what they are is shown: any may be a secret, or have one in it.
        given = shown(value, is_hidden=path[-1] not in ("type", "timeout"))
        self._wrong(path, f"is {given}, expected {words}")

    def _wrong(self, path: Path, text: str) -> None:
        self.mistakes.append(Mistake(path, text))


def is_off(entry: dict[str, Json]) -> bool:
    """Whether the entry says that its server is not to be started."""
    return entry.get("disabled") is True or entry.get("enabled") is False


def unused_keys(entry: dict[str, Json], spec: UpstreamSpec) -> tuple[str, ...]:
    """Return the keys of an entry that have a value and of which nothing is in its `spec`."""
    url_key = next((key for key in _URLS if entry.get(key) is not None), "url")
    own = (url_key, "headers") if spec.url else ("command", "args", "env", "cwd")
    used = {*own, "type", "timeout", "disabled", "enabled", *_ALLOWED, *_DENIED}
    return tuple(key for key, value in entry.items() if key not in used and not _is_empty(value))


def _is_empty(value: Json) -> bool:
    return value is None or value in ("", [], {})


def _lacking(entry: dict[str, Json], word: str, *, is_remote: bool) -> str:
    for key in entry.keys() - {"command", *_URLS}:
        if near := get_close_matches(key, ("command", "url"), n=1, cutoff=_NEAR_ENOUGH):
            return f"has {quoted(key)} and neither a command nor a url; did you mean {near[0]!r}?"
    if not word:
        return "has neither a command nor a url, expected one of the two"
    return f"has the type {word!r} and no {'url' if is_remote else 'command'}"
