"""How long, how much, how many."""

import json
from collections import OrderedDict
from dataclasses import dataclass, replace

from tooldrawer.call import ToolResult, text_block
from tooldrawer.tool import Json, JsonObject

MOST_LEVELS = 64
"""How deep arguments may be nested: recursion in anyone's code, ours included, stays bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on every call."""

    call_timeout: float = 120.0
    """Seconds that a tool may run."""
    approval_timeout: float = 300.0
    """Seconds that a person has to answer; then it is a no."""
    result_max_chars: int = 100_000
    """Characters of a result that a model is given at once."""
    arguments_max_bytes: int = 1_000_000
    concurrency: int = 8
    """Calls of one turn that run at the same time; 1 runs them one after the other."""


class Rests:
    """The ends of results that were too long, for a while, so that a model can read on."""

    def __init__(self, *, keep: int = 16) -> None:
        self._keep = keep
        self._count = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    def shortened(self, result: ToolResult, *, most: int, how_to_read_on: str) -> ToolResult:
        """The result itself, or its first `most` characters and how to get at the rest.

        Blocks that are not text cannot be read in parts; those too long are named and left out.
        """
        if _size(result) <= most:
            return result
        text = result.text
        if result.structured is not None:
            text = text or json.dumps(result.structured, ensure_ascii=False)
        others = tuple(
            block if len(json.dumps(block)) <= most else _left_out(block)
            for block in result.content
            if block.get("type") != "text"
        )
        if len(text) <= most:
            return replace(result, content=(text_block(text), *others), structured=None)
        self._count += 1
        handle = f"rest-{self._count}"
        self._texts[handle] = text
        while len(self._texts) > self._keep:
            self._texts.popitem(last=False)
        first = self.read(handle, 0, most=most, how_to_read_on=how_to_read_on)
        return replace(result, content=(*first.content, *others), structured=None)

    def read(self, handle: str, offset: int, *, most: int, how_to_read_on: str) -> ToolResult:
        """The next part of a result that was cut."""
        text = self._texts.get(handle)
        if text is None or not 0 <= offset < len(text):
            return ToolResult.of_text(
                "There is no such part of a result any more. Call the tool again, "
                "with arguments that ask for less.",
                is_error=True,
            )
        part = text[offset : offset + most]
        left = len(text) - offset - len(part)
        if not left:
            return ToolResult.of_text(part)
        note = how_to_read_on.format(left=f"{left:,}", handle=handle, offset=offset + len(part))
        return ToolResult.of_text(part).with_note(note)


def _size(result: ToolResult) -> int:
    structured = 0 if result.structured is None else len(json.dumps(result.structured))
    return max(sum(_block_size(block) for block in result.content), structured)


def _block_size(block: JsonObject) -> int:
    text: Json = block.get("text")
    return len(text) if isinstance(text, str) else len(json.dumps(block))


def _left_out(block: JsonObject) -> JsonObject:
    kind, mime = block.get("type"), block.get("mimeType", "unknown type")
    return text_block(f"[{kind} of {mime}, {len(json.dumps(block)):,} bytes, left out: too large]")
