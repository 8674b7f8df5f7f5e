"""How long, how much, how many."""

import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tooldrawer.call import ToolResult, text_block
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


class Rests:
    """The ends of results that were too long, for a while, so that a model can read on."""

    def __init__(self, *, keep: int = 16, keep_chars: int = 20_000_000) -> None:
        """At most `keep` of them, and `keep_chars` together unless the newest alone is longer."""
        self._keep, self._keep_chars = keep, keep_chars
        self._count = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    def shortened(self, result: ToolResult, *, most: int, how_to_read_on: str) -> ToolResult:
        """The result itself, or its first `most` characters and how to get at the rest.

        Blocks that are not text cannot be read in parts; those too long are named and left out.
        """
        if _fits(result, most):
            return result
        blocks = tuple(
            block if _block_size(block) <= _room(block, most) else _opened(block)
            for block in result.content
        )
        fitting = replace(result, content=blocks)
        if _value_size(result.structured) > most:
            fitting = _without_structured(fitting)
        text = fitting.text
        if len(text) <= most:
            return fitting
        self._count += 1
        handle = f"rest-{self._count}"
        self._texts[handle] = text
        while len(self._texts) > self._keep or self._is_too_much():
            self._texts.popitem(last=False)
        first = self.read(handle, 0, most=most, how_to_read_on=how_to_read_on)
        others = (block for block in fitting.content if block.get("type") != "text")
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

    def _is_too_much(self) -> bool:
        return len(self._texts) > 1 and sum(map(len, self._texts.values())) > self._keep_chars

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
        part = text[offset : offset + most]
        left = len(text) - offset - len(part)
        if not left:
            return ToolResult.of_text(part)
        note = how_to_read_on.format(left=f"{left:,}", handle=handle, offset=offset + len(part))
        return ToolResult.of_text(part).with_note(note)


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
    media = [block for block in result.content if block.get("type") in _MEDIA]
    read = sum(_block_size(block) for block in result.content if block.get("type") not in _MEDIA)
    pictures_fit = all(_block_size(block) <= _room(block, most) for block in media)
    return pictures_fit and max(read, _value_size(result.structured)) <= most


def _room(block: JsonObject, most: int) -> int:
    return max(most, _MOST_MEDIA) if block.get("type") in _MEDIA else most


def _block_size(block: JsonObject) -> int:
    text: Json = block.get("text")
    return len(text) if isinstance(text, str) else len(_json(block))


def _value_size(value: Json) -> int:
    return 0 if value is None else len(_json(value))


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


def _opened(block: JsonObject) -> JsonObject:
    """A block that is too long, as text: what it embeds, or what it was."""
    if block.get("type") == "text":
        return block
    inner = block.get("resource")
    about = {**block, **inner} if isinstance(inner, Mapping) else block
    name = " ".join(str(about[key]) for key in ("type", "uri") if about.get(key))
    text = about.get("text")
    if isinstance(text, str):
        return text_block(f"[{name}]\n{text}")
    mime, size = about.get("mimeType", "unknown type"), len(_json(block))
    return text_block(
        f"[{name} of {mime}, {size:,} bytes, left out: too large. Ask the tool for less.]"
    )
