"""What a model wrote, mended where its own provider would refuse to take it back.

A broken call stays in the conversation, and every request after it would be refused: vLLM,
llama.cpp and SGLang parse the arguments of past calls, OpenAI checks the names of past calls.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from math import isfinite
from typing import Never, cast

from tooldrawer.json_values import Json, JsonObject, is_deeper
from tooldrawer.naming import fitting
from tooldrawer.surrogates import replace_half_pairs

NO_NAME = "unnamed_tool"
MALFORMED = "_malformed"
"""The one argument of a past call whose arguments were no JSON object: what they were instead."""
MOST_MALFORMED = 2000
"""Characters of them that are kept: enough for a model to see its mistake."""
MOST_LEVELS = 100
"""How deep what is sent back may be nested."""


def arguments(written: Json) -> Json:
    """A call's arguments as a JSON value; the text itself when it is none."""
    if not isinstance(written, str):
        return written if is_deeper(written, MOST_LEVELS) else whole_json(written)
    try:
        # Line ends inside of strings are not JSON, but models write them and mean them.
        found = cast("Json", json.loads(written, strict=False, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return whole(written)
    return found if is_deeper(found, MOST_LEVELS) else whole_json(found)


def object_of(written: Json) -> JsonObject:
    """Arguments, parsed or not, as the JSON object that every provider takes."""
    value = arguments(written)
    if isinstance(value, str):  # JSON inside of a string, as small models send it
        value = arguments(value)
    if is_deeper(value, MOST_LEVELS):
        return {MALFORMED: f"nested more than {MOST_LEVELS} levels deep"}
    if isinstance(value, Mapping):
        return cast("JsonObject", value)
    if value is None or value == "":
        return {}
    text = value if isinstance(value, str) else compact(value)
    return {MALFORMED: text[:MOST_MALFORMED]}


def text_of(written: Json) -> str:
    """Arguments as the text of a JSON object; the same text when it is one."""
    value = object_of(written)
    if isinstance(written, str) and _is_strictly(written, value):
        return written
    return compact(value)


def name_of(written: Json) -> str:
    """A tool's name that providers take; the same when it is one."""
    name = whole(written) if isinstance(written, str) else ""
    return fitting(name, identity=name) if name else NO_NAME


def id_of(written: Json, *, answer: str, position: int, taken: Iterable[str] = ()) -> str:
    """A call's id; made from the answer's and its position where it has none of its own."""
    if isinstance(written, str) and written and written not in taken:
        return whole(written)
    digest = blake2b(f"{answer} {position}".encode(errors="replace"), digest_size=8).hexdigest()
    return f"call_{digest}_{position}"


def compact(value: Json) -> str:
    """JSON in as few bytes as possible."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def whole(text: str) -> str:
    """Text that can be sent: halves of characters are joined, and replaced when they are alone.

    A stream may cut a character beyond the first 65,536 in two; half of one cannot be encoded.
    """
    return replace_half_pairs(text)


def whole_json(value: Json, *, levels: int = 2 * MOST_LEVELS) -> Json:
    """A copy in plain `dict`s and `list`s that can be sent, cut off below `levels`."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        inside = value.items() if levels else ()
        return {whole(str(key)): whole_json(item, levels=levels - 1) for key, item in inside}
    if isinstance(value, Sequence):
        return [whole_json(item, levels=levels - 1) for item in value] if levels else []
    return value


def whole_object(value: JsonObject) -> dict[str, Json]:
    """`whole_json` of an object."""
    return cast("dict[str, Json]", whole_json(value))


def _is_strictly(text: str, value: JsonObject) -> bool:
    """Whether the text is JSON to the letter, and says just this."""
    try:
        return json.loads(text, parse_constant=_refuse) == value
    except (ValueError, RecursionError):
        return False


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant} is not JSON")
