"""Results past the SDK's models, which drop every field that they do not know."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

Raw = dict[str, Any]

# Kinds of content and the revision that brought them. An older client cannot read such a block,
# and some refuse the whole result over it.
_SINCE = {"audio": "2025-03-26", "resource_link": "2025-06-18"}


_METHODS = (
    "tools/list",
    "tools/call",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)


@dataclass(slots=True)
class _Whole:
    """What goes into the result of the request that this task answers."""

    fields: Raw = field(default_factory=dict[str, Any])


_WHOLE: ContextVar[_Whole | None] = ContextVar("tooldrawer_whole", default=None)


def whole(result: Raw, *keys: str) -> Raw:
    """`result` for the SDK to check without the fields `keys`, which go out as they are.

    Checking 5 MB of content only to lose part of it would be time badly spent.
    """
    place = _WHOLE.get()
    if place is None:
        return result
    place.fields = {key: result[key] for key in keys if key in result}
    rest = {key: value for key, value in result.items() if key not in place.fields}
    return {**rest, **{key: [] for key, value in place.fields.items() if isinstance(value, list)}}


async def envelope(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that puts back what `whole` kept."""
    if ctx.method not in _METHODS:
        return await call_next(ctx)
    place = _Whole()
    token = _WHOLE.set(place)
    try:
        result = await call_next(ctx)
    finally:
        _WHOLE.reset(token)
    if not place.fields or not isinstance(result, Mapping):
        return result
    return {**result, **place.fields}


def readable(blocks: list[Raw], version: str) -> list[Raw]:
    """The blocks that a client of `version` can read; others as text that says what they were."""
    if all(_SINCE.get(str(block.get("type")), "") <= version for block in blocks):
        return blocks
    return [
        block if _SINCE.get(str(block.get("type")), "") <= version else _as_text(block)
        for block in blocks
    ]


def _as_text(block: Raw) -> Raw:
    about = " ".join(str(block[key]) for key in ("uri", "name", "mimeType") if block.get(key))
    return {"type": "text", "text": f"[{block.get('type')}: {about}]"}
