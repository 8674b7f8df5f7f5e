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
    own_keys: frozenset[str] = frozenset()
    """Keys of this client that `standard` translates."""
    is_filled: bool = True
    """Whether the client fills `${NAME}`."""


def _as_it_is(entry: JsonObject) -> Entry:
    return dict(entry)


def _env_reference(name: str) -> str:
    """Refer to a variable as Cursor and VS Code do."""
    return f"${{env:{name}}}"


def _shell_reference(name: str) -> str:
    """Refer to a variable as Claude Code does."""
    return f"${{{name}}}"


def _gemini_reference(name: str) -> str:
    return f"${name}"


def _opencode_reference(name: str) -> str:
    return f"{{env:{name}}}"


def _headers(launch: Launch, reference: Callable[[str], str]) -> Entry:
    token = reference(launch.token_variable) if launch.token_variable else launch.token
    return {"headers": {"Authorization": f"Bearer {token}"}} if token else {}


def _env(launch: Launch, reference: Callable[[str], str] | None = None) -> Entry:
    """The `env` of a client that starts servers without some of its own variables."""
    passed = {name: reference(name) for name in launch.variables} if reference else {}
    env: Entry = {**passed, **launch.env}
    return {"env": env} if env else {}


def _command(launch: Launch) -> Entry:
    return {"command": launch.command, "args": list(launch.args)}


def _vscode(launch: Launch) -> Entry:
    if launch.url:
        return {"type": "http", "url": launch.url, **_headers(launch, _env_reference)}
    return {"type": "stdio", **_command(launch), **_env(launch, _env_reference)}


def _cursor(launch: Launch) -> Entry:
    if launch.url:
        return {"url": launch.url, **_headers(launch, _env_reference)}
    return {**_command(launch), **_env(launch, _env_reference)}


def _claude_desktop(launch: Launch) -> Entry:
    # It fills nothing in: a variable that it does not have itself cannot be passed on.
    return {**_command(launch), **_env(launch)}


def _claude_code(launch: Launch) -> Entry:
    # Without `alwaysLoad` it puts our three tools behind its own search, and does not wait for
    # them. It passes its whole environment on.
    if launch.url:
        entry: Entry = {"type": "http", "url": launch.url, **_headers(launch, _shell_reference)}
    else:
        entry = {"type": "stdio", **_command(launch), **_env(launch)}
    return {**entry, "alwaysLoad": True}


def _gemini_entry(entry: JsonObject) -> Entry:
    return cast("Entry", _each_text(entry, lambda text: _BARE_PLACE.sub(r"${\1}", text)))


def _gemini(launch: Launch) -> Entry:
    if launch.url:
        return {"httpUrl": launch.url, **_headers(launch, _gemini_reference)}
    # It removes variables whose name or value looks like a secret, unless `env` names them.
    return {**_command(launch), **_env(launch, _gemini_reference)}


def _codex(launch: Launch) -> Entry:
    if launch.url:
        entry: Entry = {"url": launch.url, **_codex_token(launch)}
    else:
        # It passes on no variable that is not named.
        passed: Entry = {"env_vars": list(launch.variables)} if launch.variables else {}
        entry = {**_command(launch), **passed, **_env(launch)}
    # Without `required` the first turn does not have the tools of a server that is still starting.
    return {
        **entry,
        "required": True,
        "startup_timeout_sec": _STARTUP_SECONDS,
        "tool_timeout_sec": _CALL_SECONDS,
        **({"default_tools_approval_mode": "approve"} if launch.approves_tools else {}),
    }


def _codex_token(launch: Launch) -> Entry:
    if launch.token_variable:
        return {"bearer_token_env_var": launch.token_variable}
    return {"http_headers": {"Authorization": f"Bearer {launch.token}"}} if launch.token else {}


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
        return {"type": "remote", "url": launch.url, **_headers(launch, _opencode_reference)}
    # It passes its whole environment on.
    own: Entry = {"environment": dict(launch.env)} if launch.env else {}
    return {"type": "local", "command": [launch.command, *launch.args], **own}


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


COMMON = Dialect(standard=_as_it_is, gateway=_vscode)
CLAUDE_DESKTOP = Dialect(standard=_as_it_is, gateway=_claude_desktop)
CURSOR = Dialect(standard=_as_it_is, gateway=_cursor)
CLAUDE_CODE = Dialect(standard=_as_it_is, gateway=_claude_code)
GEMINI = Dialect(standard=_gemini_entry, gateway=_gemini)
CODEX = Dialect(
    standard=_codex_entry,
    gateway=_codex,
    own_keys=frozenset(
        {
            "http_headers",
            "env_http_headers",
            "bearer_token_env_var",
            "env_vars",
            "tool_timeout_sec",
            "enabled_tools",
            "disabled_tools",
        }
    ),
    is_filled=False,
)
OPENCODE = Dialect(
    standard=_opencode_entry,
    gateway=_opencode,
    own_keys=frozenset({"environment"}),
    is_filled=False,
)
