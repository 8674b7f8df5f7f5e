"""What a model may be shown: a tool, taken from and given back to each of three shapes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import is_
from typing import Literal, Self, TypeAlias, cast

from tooldrawer.errors import UnsupportedSchema
from tooldrawer.json_values import Json, JsonObject, is_deeper

Shape: TypeAlias = Literal["mcp", "openai", "anthropic"]
Kind: TypeAlias = Literal["tool", "prompt", "resource"]

MAX_DEFINITION_LEVELS = 200
"""Nesting of a definition; real ones have 20. Code that copies, compares or writes it calls itself
for each level, up to three times, and Python ends that after 1,000 calls."""
NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
UPSTREAM_PREFIX = "mcp-"
"""An MCP server configured as `github` is the toolset `mcp-github`."""
DEFAULT_TEMPLATE = "mcp_{server}_{tool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerNaming:
    """How the names of a server's tools are made, so that a pattern can tell server from tool."""

    template: str = DEFAULT_TEMPLATE
    similar: tuple[str, ...] = ()
    """Other servers whose names begin like this one's: a pattern that names one of them is about
    that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A description that a model can be shown. It cannot run; its toolset does that.

    The JSON inside is treated as immutable: a change is a new `Tool`.

    Raises:
        UnsupportedSchema: The JSON inside is nested more than `MAX_DEFINITION_LEVELS` levels deep.
    """

    name: str
    """Unique in a catalog, and accepted by every provider once a registry has named it."""
    description: str = ""
    parameters: JsonObject = field(default_factory=lambda: NO_PARAMETERS)
    """JSON Schema of the arguments."""
    source: str = ""
    """Name of the toolset that lists and runs it."""
    annotations: JsonObject = field(default_factory=dict[str, Json])
    """MCP's hints (`readOnlyHint`, `destructiveHint`...): claims of the source, not facts."""
    trusted: bool = False
    """Whether its source's annotations may loosen a rule. They may always tighten one."""
    origin_name: str = ""
    """What its source calls it, when that is not `name`."""
    long_name: str = ""
    """`name` before it was shortened or made unique; patterns match it too."""
    naming: ServerNaming = field(default=ServerNaming(), compare=False, repr=False)
    """How its name was made from the server's and its own."""
    raw: JsonObject = field(default_factory=dict[str, Json])
    """The definition as it arrived, so that fields nobody here knows go out again."""
    shape: Shape = "mcp"
    """Whose words `raw` is in."""
    kind: Kind = "tool"
    """What a server offers it as: a gateway runs prompts and resources as it runs tools."""
    _fingerprint: str = field(default="", init=False, repr=False, compare=False)
    _measured: tuple[JsonObject, ...] = field(default=(), repr=False, compare=False)
    """The JSON whose nesting is known, so that a copy with another name need not be measured."""

    def __post_init__(self) -> None:
        parts = (self.parameters, self.annotations, self.raw)
        if len(self._measured) == len(parts) and all(map(is_, parts, self._measured)):
            return
        if any(is_deeper(part, MAX_DEFINITION_LEVELS) for part in parts):
            raise UnsupportedSchema(
                f"The definition of the tool {self.name!r} is nested more than "
                f"{MAX_DEFINITION_LEVELS} levels deep. Give it a flatter schema."
            )
        object.__setattr__(self, "_measured", parts)

    def __hash__(self) -> int:
        return hash((self.name, self.source))

    @classmethod
    def from_mcp(cls, definition: JsonObject, *, source: str = "", trusted: bool = False) -> Self:
        """A tool of an MCP `tools/list` answer."""
        return cls(
            name=_text(definition.get("name")),
            description=_text(definition.get("description")),
            parameters=_object(definition.get("inputSchema")) or NO_PARAMETERS,
            annotations=_object(definition.get("annotations")),
            source=source,
            trusted=trusted,
            raw=definition,
            shape="mcp",
        )

    @classmethod
    def from_openai(
        cls, definition: JsonObject, *, source: str = "", trusted: bool = False
    ) -> Self:
        """A function tool of OpenAI, in the nested (chat) or the flat (responses) form."""
        function = _object(definition.get("function")) or definition
        return cls(
            name=_text(function.get("name")),
            description=_text(function.get("description")),
            parameters=_object(function.get("parameters")) or NO_PARAMETERS,
            source=source,
            trusted=trusted,
            raw=definition,
            shape="openai",
        )

    @classmethod
    def from_anthropic(
        cls, definition: JsonObject, *, source: str = "", trusted: bool = False
    ) -> Self:
        """A tool of Anthropic's Messages API."""
        return cls(
            name=_text(definition.get("name")),
            description=_text(definition.get("description")),
            parameters=_object(definition.get("input_schema")) or NO_PARAMETERS,
            source=source,
            trusted=trusted,
            raw=definition,
            shape="anthropic",
        )

    @property
    def is_upstream(self) -> bool:
        """Whether it comes from an MCP server."""
        return self.source.startswith(UPSTREAM_PREFIX)

    @property
    def server(self) -> str:
        """The source as a person configured it: `github`, not `mcp-github`."""
        return self.source.removeprefix(UPSTREAM_PREFIX)

    @property
    def local_name(self) -> str:
        """What its source calls it: `create_issue`, not `mcp_github_create_issue`."""
        if self.origin_name or not self.server:
            return self.origin_name or self.name
        for prefix in (f"mcp_{self.server}_", f"{self.server}__", f"{self.server}_"):
            if self.name.startswith(prefix) and self.name != prefix:
                return self.name.removeprefix(prefix)
        return self.name

    @property
    def read_only(self) -> bool:
        """Whether a source we trust says that it changes nothing."""
        return self.trusted and self.annotations.get("readOnlyHint") is True

    @property
    def destructive(self) -> bool:
        """Whether it may destroy something; assumed unless a source we trust denies it."""
        if self.annotations.get("destructiveHint") is True:
            return True
        denied = self.read_only or self.annotations.get("destructiveHint") is False
        return not (self.trusted and denied)

    @property
    def fingerprint(self) -> str:
        """A digest of everything that a model or a person is shown about it, and of its source."""
        if not self._fingerprint:
            parts = (
                self.name, self.source, self.local_name, self.trusted, self.description,
                self.parameters, self.annotations, self.raw,
                *(() if self.kind == "tool" else (self.kind,)),
            )  # fmt: skip
            text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
            digest = blake2b(text.encode(), digest_size=16).hexdigest()
            object.__setattr__(self, "_fingerprint", digest)
        return self._fingerprint


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Json) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}
