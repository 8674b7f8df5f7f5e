"""A result's content in parts that any provider can be given: text, and bytes with a type."""

import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from tooldrawer.call import ToolResult
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.mended import arguments
from tooldrawer.wire.odd import a_text, an_object, objects

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What OpenAI, Anthropic and Gemini all take. A request with another kind is refused for good,
since the picture stays in the conversation."""
_BESIDE = ("note", "hint", "advice")
NOTHING = "(no content)"
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Bytes that a tool gave: a picture, a sound, a document."""

    kind: str
    """`image`, `audio` or `resource`, as the tool said."""
    type: str
    """Its media type: what its first bytes say, else what the tool said."""
    data: str
    """In base64; empty when what came was none."""
    uri: str = ""
    size: int = 0
    """In bytes."""

    @property
    def is_picture(self) -> bool:
        """Whether models that see can be shown it."""
        return bool(self.data) and self.type in PICTURES

    @property
    def is_pdf(self) -> bool:
        """Whether it is a document that models can read."""
        return bool(self.data) and self.type == "application/pdf"

    @property
    def url(self) -> str:
        """The bytes themselves as a URL."""
        return f"data:{self.type};base64,{self.data}"

    @property
    def line(self) -> str:
        """What stands for it where it cannot be shown."""
        size = f"{self.size} bytes" if self.data else "not readable"
        told = ", ".join(filter(None, (self.kind, self.uri, self.type, size)))
        return f"[{told}]"


Part: TypeAlias = str | Blob


def parts(result: ToolResult) -> tuple[Part, ...]:
    """Everything in the result, in its order; never empty, and never an empty text.

    Structured content is JSON, and only there when no block of text is: servers that give it
    repeat it as text, as the protocol asks them to.
    """
    found = [part for block in result.content for part in _of(block) if part]
    has_text = any(
        block.get("type") == "text" and a_text(block.get("text")) for block in result.content
    )
    if result.structured is not None and not has_text:
        found.insert(0, json.dumps(result.structured, ensure_ascii=False, separators=(",", ":")))
    return tuple(found) or (NOTHING,)


def told(result: ToolResult, *, in_place_of: Mapping[Blob, str] | None = None) -> str:
    """The result as one text, for whoever takes nothing else; an error says that it is one."""
    instead = in_place_of or {}
    text = "\n".join(
        part if isinstance(part, str) else instead.get(part, part.line) for part in parts(result)
    )
    return as_error(text) if result.is_error else text


def said_beside(result: ToolResult) -> str:
    """What the reply of a search tells besides its matches: advice, notes, what others added."""
    said: list[str] = []
    for part in parts(result):
        value = arguments(part) if isinstance(part, str) else None
        if not isinstance(value, Mapping):
            said.append(part if isinstance(part, str) else part.line)
            continue
        reply = cast("JsonObject", value)
        every = (*objects(reply.get("results")), reply)
        said += [a_text(each.get(key)) for each in every for key in _BESIDE]
    return "\n".join(dict.fromkeys(text for text in said if text.strip()))


def as_error(text: str) -> str:
    """Marked as an error, where the provider has no flag for it."""
    return text if text.startswith("Error") else f"Error: {text}"


def _of(block: JsonObject) -> Iterator[Part]:
    match block.get("type"):
        case "text":
            yield a_text(block.get("text"))
        case "image" | "audio" as kind:
            yield _blob(cast("str", kind), block, block.get("data"))
        case "resource":
            yield _resource(an_object(block.get("resource")))
        case "resource_link":
            yield _link(block)
        case other:
            yield f"[{a_text(other) or 'something'} that cannot be shown here]"


def _resource(resource: JsonObject) -> Part:
    if isinstance(text := resource.get("text"), str):
        return text
    return _blob("resource", resource, resource.get("blob"))


def _link(block: JsonObject) -> str:
    keys = ("title", "name", "uri", "mimeType", "description")
    told = dict.fromkeys(filter(None, (a_text(block.get(key)) for key in keys)))
    return f"[link: {', '.join(told)}]"


def _blob(kind: str, block: JsonObject, data: Json) -> Blob:
    content = _decoded(data)
    return Blob(
        kind=kind,
        type=_sniffed(content) or a_text(block.get("mimeType")).lower(),
        data=a_text(data) if content else "",
        uri=a_text(block.get("uri")),
        size=len(content),
    )


def _decoded(data: Json) -> bytes:
    """The bytes, or none: providers refuse a request whose base64 is wrong."""
    if not isinstance(data, str):
        return b""
    try:
        return binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        return b""


def _sniffed(content: bytes) -> str:
    """Servers often say `image/png` of a JPEG, which Anthropic refuses."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _MAGIC if content.startswith(start)), "")
