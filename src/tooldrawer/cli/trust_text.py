"""What a person reads before trusting something in a configuration file."""

import json
import re
from collections.abc import Iterable
from shlex import join

from tooldrawer.activity.masking import names_secret
from tooldrawer.activity.secret_formats import MASK, mask_formats
from tooldrawer.tool import Json, JsonObject
from tooldrawer.trust import TrustItem

_SERVER_LISTS = "servers"
_TITLES = {
    "cwd": "in the folder",
    "url": "connects to",
    "httpUrl": "connects to",
    "serverUrl": "connects to",
}
_VALUES = {"env": ("with the variable", "="), "headers": ("with the header", ": ")}
_VARIABLE = re.compile(r"(\$\{[^{}]*\})")
_DEFAULT = re.compile(r"(?<=:-)[^{}]+(?=\})")
_SCHEMES = ("", "basic", "bearer", "digest", "token", "apikey")
_RUNS = re.compile(r"(?:command|cmd|file|path|helper|program|askpass)$", re.IGNORECASE)
"""Ends of names whose value is a program or a file, whatever it is for."""
_GONE = "no longer in the file: what it had is not applied any more"


def describe_item(item: TrustItem) -> Iterable[tuple[str, str]]:
    """Return titles and values: all that was fingerprinted, without literal secrets.

    Variables stay unfilled, since which of them is sent where is what has to be judged.
    """
    content = item.content
    if content is None:
        return [("", _GONE)]
    if isinstance(content, dict):
        is_server = item.path[0].casefold().endswith(_SERVER_LISTS)
        return _describe_server(content) if is_server else _describe_settings(content)
    return [("", _text(item.path[-1], content))]


def mask_value(name: str, value: str) -> str:
    """Return the value of `name` with its `${VARIABLES}` and without a secret in plain text."""
    is_secret = names_secret(name) and not _RUNS.search(name)
    parts = _VARIABLE.split(value)
    return "".join(_mask_part(part, is_secret=is_secret) for part in parts)


def _mask_part(part: str, *, is_secret: bool) -> str:
    if not is_secret:
        return mask_formats(part)
    if part.startswith("${"):
        return _DEFAULT.sub(MASK, part)
    return part if part.strip().casefold() in _SCHEMES else MASK


def _describe_settings(content: JsonObject) -> Iterable[tuple[str, str]]:
    return [(key, _text(key, value)) for key, value in content.items()]


def _describe_server(entry: JsonObject) -> Iterable[tuple[str, str]]:
    rest = dict(entry)
    command, args = rest.pop("command", None), rest.get("args")
    if command is not None:
        # Nothing is masked here: what looks like a secret may be a command.
        words = args if isinstance(args, list) else []
        if words:
            del rest["args"]
        yield "starts", join([str(command), *map(str, words)])
    for key, value in rest.items():
        yield from _describe_key(key, value)


def _describe_key(key: str, value: Json) -> Iterable[tuple[str, str]]:
    if key in _VALUES and isinstance(value, dict):
        title, sign = _VALUES[key]
        return [(title, f"{name}{sign}{_text(name, inner)}") for name, inner in value.items()]
    if key == "trusted" and value is True:
        return [("believed", "what it says about its tools loosens rules")]
    return [(_TITLES.get(key, key), _text(key, value))]


def _text(name: str, value: Json) -> str:
    if isinstance(value, str):
        return mask_value(name, value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(mask_value(name, str(each)) for each in value) or "[]"
    return json.dumps(_masked(name, value), ensure_ascii=False)


def _masked(name: str, value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _masked(key, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_masked(name, inner) for inner in value]
    return mask_value(name, value) if isinstance(value, str) else value
