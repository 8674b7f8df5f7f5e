"""What Gemini answers, whole or in chunks."""

import re
from collections.abc import Iterable, Mapping

from tooldrawer.errors import AnswerCut
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.failure import raise_for
from tooldrawer.wire.heard import Heard
from tooldrawer.wire.mended import arguments, id_of, whole
from tooldrawer.wire.message import Answered, Asked, Usage
from tooldrawer.wire.odd import a_count, a_text, an_object, objects

WIRE = "gemini"
_MADE = "gemini_"
_NOBODY: JsonObject = {}
_AWKWARD = re.compile(r"_*[^A-Za-z_]")
"""Gemini's names begin with a letter or an underscore, others' may begin with a digit."""


def outward(name: str) -> str:
    """A tool's name as Gemini takes it."""
    return f"_{name}" if _AWKWARD.match(name) else name


def inward(name: str) -> str:
    """The tool's own name."""
    return name[1:] if name.startswith("_") and _AWKWARD.match(name) else name


def is_made(call_id: str) -> bool:
    """Whether Gemini gave the call no id, and it was made here."""
    return call_id.startswith(_MADE)


def read(response: JsonObject) -> Answered:
    """A whole response.

    Raises:
        ModelFailed: It is an error in place of an answer.
    """
    stream = GeminiStream()
    stream.feed(response)
    return stream.so_far()


def calls(response: JsonObject) -> tuple[Asked, ...]:
    """The calls in a whole response, for a loop of one's own."""
    return read(response).calls


class GeminiStream:
    """One answer in chunks, each of which looks like a whole response."""

    def __init__(self) -> None:
        self._id = ""
        self._heard = Heard()
        self._parts: list[_Part] = []
        self._usage: JsonObject = {}
        self._finish = ""
        self._why = ""

    def feed(self, event: JsonObject) -> str:
        """Take in one chunk; the text for the person that came with it.

        Raises:
            ModelFailed: The chunk is an error.
        """
        raise_for(event)
        self._id = self._id or a_text(event.get("responseId"))
        self._usage = an_object(event.get("usageMetadata")) or self._usage
        blocked = an_object(event.get("promptFeedback"))
        self._end(blocked.get("blockReason"), blocked.get("blockReasonMessage"))
        candidate = next(iter(objects(event.get("candidates"))), _NOBODY)
        self._end(candidate.get("finishReason"), candidate.get("finishMessage"))
        came = objects(an_object(candidate.get("content")).get("parts"))
        return self._heard.take("".join([self._take(part) for part in came]))

    def answer(self) -> Answered:
        """The whole answer.

        Raises:
            AnswerCut: No chunk said why the model stopped, so more should have come.
        """
        found = self.so_far()
        if not self._finish:
            raise AnswerCut(
                "The answer broke off in the middle: the connection ended before the model did. "
                "Ask again to have it anew.",
                text=found.text,
            )
        return found

    def so_far(self) -> Answered:
        """What has come, as an answer."""
        raw = tuple(part.whole() for part in self._parts)
        text, asked = whole("".join(map(_said, raw))), _asked(raw, self._id)
        if not text and not asked and self._finish not in ("", "STOP"):
            text = f"(No answer: {': '.join(filter(None, (self._finish, self._why)))})"
        return Answered(
            text=text,
            calls=asked,
            wire=WIRE,
            raw=raw,
            usage=_usage(self._usage),
            complete=self._finish == "STOP" or (not self._finish and bool(raw)),
        )

    def _end(self, reason: Json, why: Json) -> None:
        self._finish = a_text(reason) or self._finish
        self._why = a_text(why) or self._why

    def _take(self, came: JsonObject) -> str:
        # The SDK writes null for fields that were not there.
        part = {key: value for key, value in came.items() if value is not None}
        if not isinstance(part.get("functionCall", {}), Mapping):
            return ""
        if self._parts and self._parts[-1].takes(part):
            self._parts[-1].texts.append(a_text(part.get("text")))
        else:
            self._parts.append(_Part(part))
        return _said(part)


class _Part:
    """One part. A stream cuts a text into many; only those without a signature may be joined."""

    def __init__(self, first: JsonObject) -> None:
        self._first = first
        self.texts = [a_text(first.get("text"))]

    def takes(self, part: JsonObject) -> bool:
        kind = part.keys()
        is_plain = kind <= {"text", "thought"} and "text" in part and kind == self._first.keys()
        return is_plain and part.get("thought") == self._first.get("thought")

    def whole(self) -> JsonObject:
        if len(self.texts) == 1:
            return self._first
        return {**self._first, "text": whole("".join(self.texts))}


def _said(part: JsonObject) -> str:
    return "" if part.get("thought") else a_text(part.get("text"))


def _asked(raw: Iterable[JsonObject], answer: str) -> tuple[Asked, ...]:
    found: list[Asked] = []
    for part in raw:
        if "functionCall" not in part:
            continue
        call, position = an_object(part["functionCall"]), len(found)
        taken = [each.id for each in found]
        own = a_text(call.get("id"))
        made = _MADE + id_of(None, answer=f"{answer} {call}", position=position)
        found.append(
            Asked(
                name=whole(inward(a_text(call.get("name")))),
                arguments=arguments(call.get("args", {})),
                id=made if not own or own in taken else whole(own),
            )
        )
    return tuple(found)


def _usage(told: JsonObject) -> Usage:
    def of(*keys: str) -> int:
        return sum(a_count(told.get(key)) for key in keys)

    return Usage(
        input=of("promptTokenCount", "toolUsePromptTokenCount"),
        cached=of("cachedContentTokenCount"),
        output=of("candidatesTokenCount", "thoughtsTokenCount"),
    )
