"""The messages of Chat Completions as stricter endpoints take them.

Whoever imitates OpenAI has rules of its own, or those of the model's template. What is refused
stays in the conversation and would be refused for good, so it is written in another way from then
on. The words of each refusal are those that people reported.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.odd import a_text, objects

Rows = Sequence[JsonObject]

_NINE = re.compile(r"[A-Za-z0-9]{9}")
_NOT_KEPT = "(not kept)"
_GO_ON = "I have the results."
_UNSIGNED: JsonObject = {"google": {"thought_signature": "skip_thought_signature_validator"}}
_UNKNOWN = re.compile(
    r"unsupported|not supported|unknown|unexpected|unrecognized|\bextra|not (permitted|allowed)"
    r"|additional propert",
    re.IGNORECASE,
)
_PLAIN = {"role", "content", "tool_calls", "id", "type", "function"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Another way to write a conversation."""

    asked_for: re.Pattern[str]
    """The words of a refusal that mean it."""
    rows: Callable[[Rows], Rows]


class ChatRows:
    """How the messages are written for one endpoint: as they are, until it refuses something."""

    def __init__(self) -> None:
        self._ways: set[Way] = set()
        self._left_out: set[str] = set()

    def written(self, rows: Rows) -> list[Json]:
        """The messages, each refusal heeded; the same ones give the same."""
        if self._left_out:
            rows = [self._without(row) for row in rows]
        for way in _WAYS:
            if way in self._ways:
                rows = way.rows(rows)
        return list(rows)

    def heed(self, refusal: str, rows: Rows) -> bool:
        """Whether the words of a refusal lead to a way that was not tried yet."""
        for way in _WAYS:
            if way not in self._ways and way.asked_for.search(refusal):
                self._ways.add(way)
                return True
        if not _UNKNOWN.search(refusal):
            return False
        found = {name for name in _beside(rows) if re.search(rf"\b{re.escape(name)}\b", refusal)}
        is_new = bool(found - self._left_out)
        self._left_out |= found
        return is_new

    def _without(self, row: JsonObject) -> JsonObject:
        if row.get("role") != "assistant":
            return row
        kept = {key: value for key, value in row.items() if key not in self._left_out}
        if "tool_calls" in kept:
            kept["tool_calls"] = [
                {key: value for key, value in call.items() if key not in self._left_out}
                for call in objects(kept["tool_calls"])
            ]
        return kept


def _beside(rows: Rows) -> set[str]:
    """The fields that only some endpoints have, in answers and their calls."""
    answers = [row for row in rows if row.get("role") == "assistant"]
    calls = [call for row in answers for call in objects(row.get("tool_calls"))]
    return {name for each in (*answers, *calls) for name in each} - _PLAIN


def _short_ids(rows: Rows) -> Rows:
    def row(one: JsonObject) -> JsonObject:
        if "tool_call_id" in one:
            return {**one, "tool_call_id": _nine(one["tool_call_id"])}
        calls = [{**it, "id": _nine(it.get("id"))} for it in objects(one.get("tool_calls"))]
        return {**one, "tool_calls": calls} if calls else one

    return [row(one) for one in rows]


def _nine(written: Json) -> str:
    found = a_text(written)
    if _NINE.fullmatch(found):
        return found
    return blake2b(found.encode(errors="replace"), digest_size=5).hexdigest()[:9]


def _thought(rows: Rows) -> Rows:
    return [
        {**row, "reasoning_content": _NOT_KEPT}
        if row.get("role") == "assistant" and not row.get("reasoning_content")
        else row
        for row in rows
    ]


def _signed(rows: Rows) -> Rows:
    """Of calls that were made together, the first one has a signature."""

    def row(one: JsonObject) -> JsonObject:
        first, *others = objects(one.get("tool_calls")) or ({},)
        if not first or "extra_content" in first:
            return one
        return {**one, "tool_calls": [{**first, "extra_content": _UNSIGNED}, *others]}

    return [row(one) for one in rows]


def _filled(rows: Rows) -> Rows:
    return [{**row, "content": ""} if row.get("content") is None else row for row in rows]


def _alternating(rows: Rows) -> Rows:
    merged: list[JsonObject] = []
    for row in rows:
        if merged and row.get("role") == merged[-1].get("role") == "user":
            merged[-1] = {**row, "content": _both(merged[-1].get("content"), row.get("content"))}
        else:
            merged.append(row)
    return _answered(merged)


def _both(first: Json, second: Json) -> Json:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Json) -> Sequence[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _answered(rows: Rows) -> Rows:
    def found() -> Iterator[JsonObject]:
        for before, row in pairwise(({}, *rows)):
            if before.get("role") == "tool" and row.get("role") == "user":
                yield {"role": "assistant", "content": _GO_ON}
            yield row

    return list(found())


def _way(asked_for: str, rows: Callable[[Rows], Rows]) -> Way:
    return Way(asked_for=re.compile(asked_for, re.IGNORECASE), rows=rows)


_WAYS = (
    # Mistral, and servers that run its templates: they refuse ids that they made themselves too.
    _way(r"tool.?call.?id\b.*length of 9", _short_ids),
    # LM Studio once, Ollama: no content beside calls is null.
    _way(r"\bcontent\b.{0,60}(\bnull\b|\bnone\b|<nil>|must be a string|valid string)", _filled),
    # Gemma's and Mistral's templates. A person may speak twice: after an error, after a summary.
    _way(r"roles must alternate", _alternating),
    # Mistral: a call that the person interrupts, and pictures that are shown after the results.
    _way(r"\brole\W+user\W+after role\W+tool", _answered),
    # DeepSeek and Kimi: answers of others, and those for which they did not think.
    _way(r"missing\W+reasoning_content|reasoning_content\b.*(passed back|is missing)", _thought),
    # Gemini, from version 3 on: calls of others, as Google documents it.
    _way(r"missing a \W?thought_signature", _signed),
)
