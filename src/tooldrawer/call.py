"""What travels after the model: a call, whose arguments nobody can change, and its result."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Never, Self, cast

from tooldrawer.json_values import ARRAYS, OBJECTS, SCALARS, Json, JsonObject
from tooldrawer.tool import Kind, Tool

_FROZEN = "Arguments are frozen; pass a changed copy on with call.with_arguments({...})."


def _refuse(*_: object, **__: object) -> Never:
    raise TypeError(_FROZEN)


class FrozenObject(dict[str, Json]):
    """A JSON object that refuses every change, so that what a person approved is what runs."""

    __slots__ = ()

    def __new__(cls, items: Mapping[str, Json] | Iterable[tuple[str, Json]] = ()) -> Self:
        """Filled here and not in `__init__`, which anyone could call again."""
        made = super().__new__(cls)
        super(FrozenObject, made).update(items)
        return made

    def __init__(self, items: Mapping[str, Json] | Iterable[tuple[str, Json]] = ()) -> None: ...

    __setitem__ = __delitem__ = __ior__ = _refuse  # pyright: ignore[reportAssignmentType]
    clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[type, tuple[dict[str, Json]]]:
        """Copies, deep or pickled, are plain and may be changed."""
        return dict, (dict(self),)


class FrozenArray(list[Json]):
    """A JSON array that refuses every change."""

    __slots__ = ()

    def __new__(cls, items: Iterable[Json] = ()) -> Self:
        """Filled here and not in `__init__`, which anyone could call again."""
        made = super().__new__(cls)
        super(FrozenArray, made).extend(items)
        return made

    def __init__(self, items: Iterable[Json] = ()) -> None: ...

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # pyright: ignore[reportAssignmentType]
    append = extend = insert = remove = pop = _refuse  # pyright: ignore[reportAssignmentType]
    clear = sort = reverse = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[type, tuple[list[Json]]]:
        """Copies, deep or pickled, are plain and may be changed."""
        return list, (list(self),)


_EMPTY_OBJECT, _EMPTY_ARRAY = FrozenObject(), FrozenArray()


def freeze(value: Json) -> Json:
    """A deep copy that refuses to be changed, and still is a `dict` or `list` for JSON."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, OBJECTS):
        items = {key: freeze(item) for key, item in value.items()}
        return FrozenObject(items) if items else _EMPTY_OBJECT
    if isinstance(value, ARRAYS) and not isinstance(value, str):
        return FrozenArray(map(freeze, value)) if value else _EMPTY_ARRAY
    return value


def thaw(value: Json) -> Json:
    """A deep copy in plain `dict`s and `list`s, for whoever may change it."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, OBJECTS):
        return thawed(value)
    if isinstance(value, ARRAYS) and not isinstance(value, str):
        return list(map(thaw, value))
    return value


def thawed(value: JsonObject) -> dict[str, Json]:
    """`thaw` for an object."""
    return {key: thaw(item) for key, item in value.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One request to run one tool: always the real one, never the bridge."""

    name: str
    arguments: JsonObject = field(default_factory=FrozenObject)
    id: str = ""
    """The provider's id of the call, handed back with the result."""
    session: str = ""
    principal: str = ""
    """On whose behalf it is made; empty for the process itself."""
    has_conversation: bool = True
    """Whether the calls of its session are one conversation; some clients cannot be told apart."""
    kind: Kind = "tool"
    """Whether it runs a tool, gets a prompt or reads a resource."""

    def with_arguments(self, arguments: JsonObject) -> Self:
        """The same call with other arguments: how a hook changes them."""
        return replace(self, arguments=cast("JsonObject", freeze(arguments)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came back, as the tool gave it."""

    content: tuple[JsonObject, ...] = ()
    """MCP content blocks: text, image, audio, resource, resource_link."""
    structured: Json = None
    is_error: bool = False
    meta: JsonObject = field(default_factory=dict[str, Json])
    call_id: str = ""
    cause: Exception | None = field(default=None, compare=False, repr=False)
    """The error behind an error result, for a host that answers in a protocol of its own."""
    tools: tuple[Tool, ...] = field(default=(), compare=False)
    """What a search found, best first, for a provider that loads definitions itself."""

    @classmethod
    def of_text(cls, text: str, *, is_error: bool = False, call_id: str = "") -> Self:
        """One block of text."""
        return cls(content=(text_block(text),), is_error=is_error, call_id=call_id)

    @classmethod
    def of_json(cls, value: Json, *, structured: bool = False) -> Self:
        """A JSON value as compact text, and as structured content where it was one."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return cls(content=(text_block(text),), structured=value if structured else None)

    @classmethod
    def from_mcp(cls, result: JsonObject) -> Self:
        """The answer of an MCP server to `tools/call`."""
        blocks = cast("Sequence[JsonObject]", result.get("content") or ())
        return cls(
            content=tuple(blocks),
            structured=result.get("structuredContent"),
            is_error=result.get("isError") is True,
            meta=cast("JsonObject", result.get("_meta") or {}),
        )

    def mcp(self) -> dict[str, Json]:
        """The answer in MCP's words."""
        answer: dict[str, Json] = {"content": [thawed(block) for block in self.content]}
        if self.structured is not None:
            answer["structuredContent"] = thaw(self.structured)
        if self.is_error:
            answer["isError"] = True
        if self.meta:
            answer["_meta"] = thawed(self.meta)
        return answer

    @property
    def text(self) -> str:
        """The text blocks, joined by line ends."""
        return "\n".join(
            str(block.get("text", "")) for block in self.content if block.get("type") == "text"
        )

    def with_note(self, note: str) -> Self:
        """The same result with one more block of text after the tool's own."""
        return replace(self, content=(*self.content, text_block(note)))


def text_block(text: str) -> JsonObject:
    """MCP's block of text."""
    return {"type": "text", "text": text}
