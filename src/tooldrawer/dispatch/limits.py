"""How long, how much, how many."""

import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tooldrawer.bounds.size import Size, SizeLimits
from tooldrawer.call import ToolResult, text_block
from tooldrawer.dispatch.result_memory import MAX_TEXT_CHARS, ResultMemory
from tooldrawer.option_checks import SECONDS, require_fields, whole_number
from tooldrawer.tool import Json, JsonObject

MOST_LEVELS = 64
"""How deep arguments may be nested: recursion in anyone's code, ours included, stays bounded."""
READ_REST = "read_rest"
"""What `tool_call` is given to read on in a result that was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on every call.

    Raises:
        ConfigError: A value is out of its range; the text has all of them.
    """

    call_timeout: float = 120.0
    """Seconds that a tool may run."""
    approval_timeout: float = 300.0
    """Seconds that a person has to answer; then it is a no."""
    result_max_chars: int = 100_000
    """Characters of a result that a model is given at once."""
    arguments_max_bytes: int = 1_000_000
    concurrency: int = 8
    """Calls of one turn that run at the same time; 1 runs them one after the other."""

    def __post_init__(self) -> None:
        require_fields(
            self,
            call_timeout=SECONDS,
            approval_timeout=SECONDS,
            result_max_chars=whole_number(1),
            arguments_max_bytes=whole_number(1),
            concurrency=whole_number(1),
        )


_MEDIA = ("image", "audio")
_MOST_MEDIA = 5_000_000
"""Characters of a picture or sound. A model reads its pixels, not these; beyond this providers
refuse it, and with it the whole conversation."""
_MOST_MEDIA_TOGETHER = 20_000_000
_MOST_OPENED = 1_000
"""Blocks of one result that become text because they do not fit: each costs up to 20 µs."""
_MOST_LEVELS_MEASURED = 200
_TEXT_KEYS = frozenset(("type", "text"))


class Rests:
    """The ends of results that were too long, for a while, so that a model can read on."""

    def __init__(self, memory: ResultMemory, principal: str = "", *, keep: int = 16) -> None:
        """At most `keep` of them, and as much as `memory` has room for."""
        self._memory, self._principal, self._keep = memory, principal, keep
        self._count = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    def shortened(self, result: ToolResult, *, most: int, how_to_read_on: str) -> ToolResult:
        """The result itself, or its first `most` characters and how to get at the rest.

        Blocks that are not text cannot be read in parts. Those that do not fit become text, or
        they are named and left out if they are binary. So does `_meta`, which no model reads.
        """
        if _fits(result, most):
            return result
        fitting = replace(result, content=_fitting_blocks(result.content, most))
        if _value_size(result.structured, most) > most:
            fitting = _without_structured(fitting)
        if _value_size(result.meta, most) > most:
            note = "[The _meta of this result was left out: too large.]"
            fitting = replace(fitting, meta={}).with_note(note)
        text = fitting.text
        others = tuple(block for block in fitting.content if block.get("type") != "text")
        room = max(most - _read_size(others, most), most // 2, 1)
        if len(text) <= room:
            return fitting
        text = _without_end(text, max(most, MAX_TEXT_CHARS))
        first = _part(text, self._store(text), 0, most=room, how_to_read_on=how_to_read_on)
        return replace(fitting, content=(*first.content, *others))

    def shortened_text(self, result: ToolResult, *, most: int, how_to_read_on: str) -> ToolResult:
        """The same for the text alone; all other blocks stay as they are."""
        others = tuple(block for block in result.content if block.get("type") != "text")
        texts = tuple(block for block in result.content if block.get("type") == "text")
        short = self.shortened(
            replace(result, content=texts), most=most, how_to_read_on=how_to_read_on
        )
        is_whole = short.content == texts
        return result if is_whole else replace(short, content=(*short.content, *others))

    def forget(self, handle: str) -> None:
        """Let go of a text, if it is still there."""
        self._texts.pop(handle, None)

    def _store(self, text: str) -> str:
        """Keep a text, and return its handle."""
        self._count += 1
        handle = f"rest-{self._count}"
        self._texts[handle] = text
        if len(self._texts) > self._keep:
            self._texts.popitem(last=False)
        self._memory.keep(self._principal, self, handle, text)
        return handle

    def read(self, handle: Json, offset: Json, *, most: int, how_to_read_on: str) -> ToolResult:
        """The next part of a result that was cut; whatever a model gives for the two."""
        text = self._texts.get(handle) if isinstance(handle, str) else None
        offset = _whole(offset)
        if text is None or not 0 <= offset < len(text):
            return ToolResult.of_text(
                "There is no such part of a result any more. Call the tool again, "
                "with arguments that ask for less.",
                is_error=True,
            )
        return _part(text, str(handle), offset, most=most, how_to_read_on=how_to_read_on)


def _part(text: str, handle: str, offset: int, *, most: int, how_to_read_on: str) -> ToolResult:
    """A part of a text, and how to get at what follows it."""
    part = text[offset : offset + most]
    left = len(text) - offset - len(part)
    if not left:
        return ToolResult.of_text(part)
    note = how_to_read_on.format(left=f"{left:,}", handle=handle, offset=offset + len(part))
    return ToolResult.of_text(part).with_note(note)


def _without_end(text: str, most: int) -> str:
    """The text, or its first `most` characters with a note on the others."""
    left = len(text) - most
    if left <= 0:
        return text
    return f"{text[:most]}\n[{left:,} more characters were not kept. Ask the tool for less.]"


def how_to_read_on(call: str = "") -> str:
    """What a model is told at the end of a result that was cut.

    `call` is the bridge's name for calling; nothing where the model has no such tool.
    """
    rest = '{{"id": "{handle}", "offset": {offset}}}'
    if not call:
        return f"[{{left}} more characters. To read on: {READ_REST} {rest}]"
    return (
        f"[{{left}} more characters. To read on: {call} "
        f'{{{{"name": "{READ_REST}", "arguments": {rest}}}}}]'
    )


def _whole(value: Json) -> int:
    """A number, also one in a text; -1 for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,12}", value.strip(), re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _fits(result: ToolResult, most: int) -> bool:
    return (
        max(_value_size(result.structured, most), _value_size(result.meta, most)) <= most
        and _read_size(result.content, most) <= most
        and _media_fit(result.content, most)
    )


def _read_size(blocks: Iterable[JsonObject], most: int) -> int:
    """Characters of what a model reads of the blocks, counted until there are too many."""
    size = -1  # one line end less than there are blocks
    for block in blocks:
        if block.get("type") not in _MEDIA:
            size += 1 + _block_size(block, most)
            if size > most:
                break
    return max(size, 0)


def _media_fit(blocks: Iterable[JsonObject], most: int) -> bool:
    together = max(most, _MOST_MEDIA_TOGETHER)
    sizes = [_block_size(block, together) for block in blocks if block.get("type") in _MEDIA]
    return max(sizes, default=0) <= max(most, _MOST_MEDIA) and sum(sizes) <= together


def _fitting_blocks(blocks: Iterable[JsonObject], most: int) -> tuple[JsonObject, ...]:
    """The blocks that fit in, each on its own and all together, and text instead of the others."""
    media, others = max(most, _MOST_MEDIA_TOGETHER), most
    fitting: list[JsonObject] = []
    opened = 0
    for block in blocks:
        is_media, text = block.get("type") in _MEDIA, _text_of(block)
        if opened >= _MOST_OPENED and text is None:
            opened += 1
            continue
        room = min(media, max(most, _MOST_MEDIA)) if is_media else others
        # Of a text only what is beside it: the text itself can be read in parts.
        size = _block_size(block, room) - len(text or "")
        if size > room:
            opened += text is None
            fitting.append(_opened(block, most))
            continue
        media, others = (media - size, others) if is_media else (media, others - size)
        fitting.append(block)
    if opened > _MOST_OPENED:
        more = f"[{opened - _MOST_OPENED:,} more blocks left out: too many. Ask the tool for less.]"
        fitting.append(text_block(more))
    return tuple(fitting)


def _text_of(block: JsonObject) -> str | None:
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else None


def _block_size(block: JsonObject, most: int) -> int:
    text = _text_of(block)
    if text is None:
        return _value_size(block, most)
    beside = len(block) > len(_TEXT_KEYS)
    rest = {key: block[key] for key in block if key not in _TEXT_KEYS} if beside else None
    return len(text) + _value_size(rest, most)


def _value_size(value: Json, most: int) -> int:
    """Characters of a value in JSON; of one that is much longer than `most`, any number above."""
    if not value:
        return 0
    # To write a million values as JSON takes long, and this ends when there are too many. It counts
    # up to three bytes for a character.
    limits = SizeLimits(levels=_MOST_LEVELS_MEASURED, values=most, bytes=4 * most + 100)
    return most + 1 if Size(value, limits).excess else len(_json(value))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _without_structured(result: ToolResult) -> ToolResult:
    """The same with its structured content as text, where the text is not just that already."""
    plain = replace(result, structured=None)
    try:
        is_there = json.loads(result.text) == result.structured
    except (ValueError, RecursionError):
        is_there = False
    return plain if is_there else plain.with_note(_json(result.structured))


def _opened(block: JsonObject, most: int) -> JsonObject:
    """A block that does not fit, as text: what it embeds, its JSON, or what it was."""
    if block.get("type") == "text":
        return text_block(str(block.get("text", "")))
    inner = block.get("resource")
    about = {**block, **inner} if isinstance(inner, Mapping) else block
    name = " ".join(str(about[key]) for key in ("type", "uri") if about.get(key))
    text = about.get("text")
    if isinstance(text, str):
        return text_block(f"[{name}]\n{text}")
    is_binary = "data" in about or "blob" in about
    if not is_binary and _value_size(block, most) <= most:
        return text_block(_json(block))
    mime, size = about.get("mimeType", "unknown type"), len(_json(block))
    return text_block(
        f"[{name} of {mime}, {size:,} bytes, left out: too large. Ask the tool for less.]"
    )
