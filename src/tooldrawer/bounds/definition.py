"""Which of a server's definitions are too costly to be listed."""

from collections.abc import Mapping
from typing import cast

from tooldrawer.bounds.graph import MAX_LEVELS, MAX_PARTS, SchemaTooCostly, json_text
from tooldrawer.bounds.template import MAX_URI_CHARS
from tooldrawer.bounds.work import SchemaWork
from tooldrawer.json_values import Json, JsonObject, is_deeper

MAX_LIST_BYTES = 4_000_000
"""Of all definitions in one list; the largest of 91 real servers has 601,000."""
BEYOND_LIST = f"is beyond the {MAX_LIST_BYTES:,} bytes of a list"
_MAX_BYTES = 512_000
"""Of one definition."""
_MAX_NAME_CHARS = 512
_LONGEST = {"name": _MAX_NAME_CHARS, "uri": MAX_URI_CHARS, "uriTemplate": MAX_URI_CHARS}
_COSTLY_WORDS = ("Ref", "$ref", "attern", "unevaluated")
"""Without one of these in it, a schema costs what its text has characters."""


class ListRoom:
    """What one list of definitions may cost in all; each definition takes some of it."""

    def __init__(self) -> None:
        self._bytes = MAX_LIST_BYTES

    def find_excess(self, definition: JsonObject) -> str:
        """Why a tool, prompt, resource or template is too costly; nothing when it is not.

        The reason completes a sentence that begins with its name.
        """
        if self._bytes <= 0:
            return BEYOND_LIST
        try:
            text = json_text(definition)
            self._bytes -= len(text)
            return _excess(definition, text)
        except SchemaTooCostly as error:
            return str(error)


def _excess(definition: JsonObject, text: str) -> str:
    for key, most in _LONGEST.items():
        value = definition.get(key)
        if isinstance(value, str) and len(value) > most:
            return f"has a {key} of {len(value):,} characters, more than {most:,}"
    if len(text) > _MAX_BYTES:
        return f"has {len(text):,} bytes, more than {_MAX_BYTES:,}"
    if is_deeper(definition, MAX_LEVELS):
        return f"is nested more than {MAX_LEVELS} levels deep"
    if _is_plain(text):
        return ""
    for key in ("inputSchema", "outputSchema"):
        if reason := _schema_excess(definition.get(key)):
            return f"has an {key} that {reason}"
    return ""


def _is_plain(text: str) -> bool:
    """Whether no schema in the text can cost more than its length; a quick look for most tools."""
    parts = text.count("{") + text.count("true") + text.count("false")
    return parts <= MAX_PARTS and not any(word in text for word in _COSTLY_WORDS)


def _schema_excess(schema: Json) -> str:
    if not isinstance(schema, Mapping):
        return ""
    try:
        SchemaWork(cast("JsonObject", schema))
    except SchemaTooCostly as error:
        return str(error)
    return ""
