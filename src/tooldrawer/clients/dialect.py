"""What each client calls things: its entries into the common form, and the gateway into its own."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from tooldrawer.clients.launch import Launch
from tooldrawer.config.client_places import literal
from tooldrawer.tool import Json, JsonObject

Entry = dict[str, Json]
_ENV_PLACE = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_BARE_PLACE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_STARTUP_SECONDS = 60
_CALL_SECONDS = 600
"""Codex gives up after a minute; a person who is asked, or a slow tool, takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one client writes a server."""

    standard: Callable[[JsonObject], Entry | None]
    """An entry in the words of `mcpServers` files; nothing when it is no entry."""
    gateway: Callable[[Launch], Entry]
    """The entry of the gateway."""
    is_filled: bool = True
    """Whether the client fills `${NAME}`."""


def _as_it_is(entry: JsonObject) -> Entry:
    return dict(entry)


def _typed(launch: Launch) -> Entry:
    if launch.url:
        return {"type": "http", "url": launch.url}
    return {"type": "stdio", "command": launch.command, "args": list(launch.args)}


def _plain(launch: Launch) -> Entry:
    if launch.url:
        return {"url": launch.url}
    return {"command": launch.command, "args": list(launch.args)}


def _claude_code(launch: Launch) -> Entry:
    # Else it puts our three tools behind a search of its own, and does not wait for them.
    return {**_typed(launch), "alwaysLoad": True}


def _gemini_entry(entry: JsonObject) -> Entry:
    return cast("Entry", _each_text(entry, lambda text: _BARE_PLACE.sub(r"${\1}", text)))


def _gemini(launch: Launch) -> Entry:
    return {"httpUrl": launch.url} if launch.url else _plain(launch)


def _codex(launch: Launch) -> Entry:
    # Without `required` the first turn does not have the tools of a server that is still starting;
    # and it hands on no variable that is not named.
    return {
        **_plain(launch),
        **({"env_vars": list(launch.variables)} if launch.variables else {}),
        "required": True,
        "startup_timeout_sec": _STARTUP_SECONDS,
        "tool_timeout_sec": _CALL_SECONDS,
    }


def _codex_entry(entry: JsonObject) -> Entry:
    found: Entry = dict(_object(_each_text(entry, literal)))
    headers: Entry = dict(_object(found.get("http_headers")))
    for name, variable in _object(entry.get("env_http_headers")).items():
        headers[name] = f"${{{variable}}}"
    if isinstance(variable := entry.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    passed: Entry = {}
    for item in _list(entry.get("env_vars")):
        name = item if isinstance(item, str) else _object(item).get("name")
        passed[str(name)] = f"${{{name}}}"
    seconds = entry.get("tool_timeout_sec")
    return {
        **found,
        "env": {**passed, **_object(found.get("env"))} or None,
        "headers": headers or None,
        "timeout": seconds * 1000 if isinstance(seconds, int | float) else None,
        "includeTools": entry.get("enabled_tools"),
        "excludeTools": entry.get("disabled_tools"),
    }


def _opencode_entry(entry: JsonObject) -> Entry | None:
    if not isinstance(entry.get("type"), str):
        return None  # `mcp` also has settings of its own, and switches for servers of others
    found: Entry = dict(_object(_each_text(entry, _opencode_text)))
    words, timeout = found.get("command"), entry.get("timeout")
    if isinstance(words, list):
        found["command"], found["args"] = (words[0] if words else None), words[1:]
    found["env"] = found.get("environment")
    if isinstance(timeout, Mapping):
        found["timeout"] = cast("JsonObject", timeout).get("request")
    return found


def _opencode_text(text: str) -> str:
    return _ENV_PLACE.sub(r"${\1}", literal(text))


def _opencode(launch: Launch) -> Entry:
    if launch.url:
        return {"type": "remote", "url": launch.url}
    return {"type": "local", "command": [launch.command, *launch.args]}


def _each_text(value: Json, change: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        items = cast("JsonObject", value).items()
        return {key: _each_text(item, change) for key, item in items}
    return [_each_text(item, change) for item in value] if isinstance(value, list) else value


def _object(value: Json) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


COMMON = Dialect(standard=_as_it_is, gateway=_typed)
PLAIN = Dialect(standard=_as_it_is, gateway=_plain)
CLAUDE_CODE = Dialect(standard=_as_it_is, gateway=_claude_code)
GEMINI = Dialect(standard=_gemini_entry, gateway=_gemini)
CODEX = Dialect(standard=_codex_entry, gateway=_codex, is_filled=False)
OPENCODE = Dialect(standard=_opencode_entry, gateway=_opencode, is_filled=False)
