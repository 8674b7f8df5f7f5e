"""Servers into a `tooldrawer.yaml` that is there: as text, so that comments and order stay."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

import yaml

from tooldrawer.config.document import Document
from tooldrawer.config.entry import EntryReader
from tooldrawer.config.sentences import sentences
from tooldrawer.config.syntax import composed
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json
from tooldrawer.upstream.spec import UpstreamSpec

_KEY = "mcp_servers"
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./@-]*")
_WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
_DEFAULT = UpstreamSpec(name="")


def written_servers(text: str, *, name: str) -> list[UpstreamSpec]:
    """The servers of the file `name` as they are written: nothing is filled, much unchecked.

    Raises:
        ConfigError: It is not YAML.
    """
    value = _document(text, name).value
    entries = value.get(_KEY) if isinstance(value, dict) else None
    reader = EntryReader(fill=lambda text, _: text)
    items = entries.items() if isinstance(entries, dict) else ()
    return [reader.read(key, entry, (_KEY, key)) for key, entry in items]


def with_servers(text: str, servers: Iterable[UpstreamSpec], *, name: str) -> str:
    """The text of the file `name` with these servers added to it.

    Raises:
        ConfigError: It is not YAML, or written in a way that nothing can be added to.
    """
    added = list(servers)
    before = _document(text, name)
    if not added:
        return text
    after = _added(text, added)
    if _comments(after) < _comments(text) or not _is_right(before, after, added):
        raise ConfigError(
            f"{name}: cannot be added to as it is written; put `{_KEY}` on a line of its own, "
            "with one server on each line below it."
        )
    return after


def _document(text: str, name: str) -> Document:
    document = Document(text)
    if document.mistakes:
        raise ConfigError(*sentences(document.mistakes, document.line, name))
    return document


def _added(text: str, servers: list[UpstreamSpec]) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    pair = _servers_of(composed(text))
    if pair is None:
        start = text if not text or text.endswith("\n") else text + line_end
        gap = line_end if start.strip("\ufeff \t\r\n") else ""
        return f"{start}{gap}{_KEY}:{line_end}{_block(servers, '  ', line_end)}"
    key, node = pair
    inner = _inside(node)
    if not inner:
        return _instead(text, key, node, servers, line_end)
    at = max(map(_end, inner))
    if isinstance(node, yaml.CollectionNode) and node.flow_style:
        flow = "".join(f", {_text(one.name)}: {_flow(_entry(one))}" for one in servers)
        return text[:at] + flow + text[at:]
    block = _block(servers, " " * inner[0].start_mark.column, line_end)
    if text[at - 1] != "\n":  # only a text of several lines ends behind its last one
        at = text.find("\n", at) + 1
    return text[:at] + block + text[at:] if at else f"{text}{line_end}{block}"


def _instead(
    text: str, key: yaml.Node, node: yaml.Node, servers: list[UpstreamSpec], line_end: str
) -> str:
    """The servers instead of `{}`, `~` or nothing."""
    head, tail = text[: node.start_mark.index], text[node.end_mark.index :]
    comment, _, rest = tail.partition("\n")
    space = " " if comment.strip() else ""
    block = _block(servers, " " * (key.start_mark.column + 2), line_end)
    return f"{head.rstrip(' ')}{space}{comment.strip()}{line_end}{block}{rest}"


def _servers_of(root: yaml.Node | None) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(root, yaml.MappingNode):
        return None
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", root.value)
    return next((pair for pair in pairs if pair[0].value == _KEY), None)


def _inside(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
        return [part for pair in pairs for part in pair]
    return cast("list[yaml.Node]", node.value) if isinstance(node, yaml.SequenceNode) else []


def _end(node: yaml.Node) -> int:
    """Where it ends; a block's own end would be only where the next one begins."""
    is_block = isinstance(node, yaml.CollectionNode) and not node.flow_style
    inner = _inside(node) if is_block else []
    return max(map(_end, inner)) if inner else node.end_mark.index


def _comments(text: str) -> int:
    """At least as many in the new text: none was lost."""
    return text.count("#")


def _is_right(before: Document, text: str, servers: list[UpstreamSpec]) -> bool:
    """Whether the text says the same as before, and the servers."""
    after = Document(text)
    old: Json = {} if before.value is None else before.value
    listed = old.get(_KEY) or {} if isinstance(old, dict) else None
    if after.mistakes or not isinstance(old, dict) or not isinstance(listed, dict):
        return False
    added = {one.name: _entry(one) for one in servers}
    return after.value == {**old, _KEY: {**listed, **added}}


def _entry(spec: UpstreamSpec) -> dict[str, Json]:
    """The keys that say more than the defaults."""
    values: dict[str, Json] = {
        "command": spec.command,
        "args": list(spec.args),
        "env": dict(spec.env),
        "cwd": spec.cwd,
        "url": spec.url,
        "headers": dict(spec.headers),
        "enabled": spec.enabled,
        "timeout": spec.timeout,
        "allow": list(spec.allow),
        "deny": list(spec.deny),
    }
    usual: dict[str, Json] = {
        "enabled": True,
        "timeout": _DEFAULT.timeout,
        "allow": list(_DEFAULT.allow),
    }
    return {
        key: value
        for key, value in values.items()
        if value not in ("", [], {}) and (key not in usual or value != usual[key])
    }


def _block(servers: Iterable[UpstreamSpec], indent: str, line_end: str) -> str:
    lines: list[str] = []
    for spec in servers:
        lines.append(f"{indent}{_text(spec.name)}:")
        for key, value in _entry(spec).items():
            if isinstance(value, Mapping):
                items = cast("Mapping[str, Json]", value).items()
                lines.append(f"{indent}  {key}:")
                lines += [f"{indent}    {_text(name)}: {_flow(item)}" for name, item in items]
            else:
                lines.append(f"{indent}  {key}: {_flow(value)}")
    return "".join(f"{line}{line_end}" for line in lines)


def _flow(value: Json) -> str:
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Json]", value).items()
        return f"{{{', '.join(f'{_text(key)}: {_flow(item)}' for key, item in pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _text(value) if isinstance(value, str) else str(value)


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
