"""What an endpoint's refusal means, in a sentence for the person."""

import json
import math
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from typing import cast

from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import (
    AnswerCut,
    ContextFull,
    KeyRefused,
    ModelFailed,
    ModelOverloaded,
    ModelUnknown,
    ModelUnreachable,
    NativeRefused,
    RequestRefused,
)
from tooldrawer.tool import Json, JsonObject

_SHOWN = 300
"""Characters of the endpoint's own words in a message."""
_READ = 10_000
"""Characters of them that are looked at."""
_NEAREST = 3
_MOST_NAMES, _LONGEST_NAME = 2_000, 200
_LEAST_KEY = 6
"""Characters of a key that is none of the words of a sentence."""
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|request_too_large|prompt is too long"
    r"|maximum context length|context (size|window|limit|length)[^.]*exceed"
    r"|exceed[^.]*context (size|window|limit|length)|input token count[^.]*exceeds"
    r"|too many (input )?tokens|maximum prompt length|context length (is|of) only"
    r"|\b(prompt|input)\b[^.]{0,80} is (too long|longer than)|greater than the context length",
    re.IGNORECASE,
)
_NO_DEFERRAL = re.compile(
    # A namespace is where OpenAI puts a loaded tool. Bedrock forgets it, and then asks for it.
    r"defer_loading|tool.reference|tool_search|namespace|tool type|tools?\W+\d+\W+type",
    re.IGNORECASE,
)
_NO_CALL = re.compile(r"tool_use_failed", re.IGNORECASE)
"""Groq reads the calls that a model writes, and refuses the request when it cannot."""
_NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing|payment", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|invalid_model|no such model|model .{0,200}(not found|not exist)",
    re.IGNORECASE,
)
# A stream that has begun has no status any more, only a kind of error.
_STATUS_OF = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_PASSING = {408, 409, 425, 429}
"""Beside everything from 500 on: the same request may succeed later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What an endpoint said instead of an answer."""

    status: int = 0
    kind: str = ""
    text: str = ""
    retry_after: float | None = None

    @classmethod
    def of_response(cls, status: int, content: bytes, headers: Mapping[str, str]) -> "Complaint":
        """From a response that is an error."""
        body = content[:_READ].decode("utf-8", "replace")
        try:
            said: Json = json.loads(content)
        except (ValueError, RecursionError):
            # A page for people says nothing that fits into a line.
            said = "" if "<html" in body.lower() else body
        kind, text = _words(said)
        return cls(status=status, kind=kind, text=text, retry_after=_retry_after(headers))

    @classmethod
    def in_event(cls, event: JsonObject) -> "Complaint | None":
        """From an event of a stream, if it is an error."""
        said = _error_in(event)
        if not said:
            return None
        kind, text = _words(said)
        status = next((_STATUS_OF[part] for part in kind.split() if part in _STATUS_OF), 0)
        numbers = [int(part) for part in kind.split() if part.isdecimal() and len(part) == 3]
        return cls(status=status or next(iter(numbers), 0), kind=kind, text=text)


def _error_in(event: JsonObject) -> Json:
    if event.get("type") == "error":
        return event.get("error") or event  # OpenAI's Responses put it beside the type
    if event.get("type") == "response.failed":
        response = event.get("response")
        return (response.get("error") if isinstance(response, Mapping) else None) or "failed"
    if event.get("error"):
        return event["error"]
    if event.get("object") == "error":  # vLLM once, Mistral
        return event
    choices = event.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    first = choices[0]
    return first.get("error") if isinstance(first, Mapping) else None  # OpenRouter


def refused(
    spec: ModelSpec, complaint: Complaint, *, native: bool = False, names: Sequence[str] = ()
) -> ModelFailed:
    """The failure that a complaint amounts to; `names` are the models that the endpoint has."""
    said = _said(spec, complaint)
    status, words = complaint.status, f"{complaint.kind} {complaint.text}"
    if status in {0, 400, 413, 422, 500} and _TOO_LONG.search(words):
        return ContextFull(
            f"The conversation is longer than {spec.name!r} reads{said}. Start a new one, or use a "
            "model with a longer context."
        )
    if native and status in {0, 400, 404, 422} and _NO_DEFERRAL.search(words):
        return NativeRefused(
            f"{spec.host} does not defer tools by itself{said}. "
            "The bridge works there: leave out --bridge native."
        )
    if _NO_CALL.search(words):
        return AnswerCut(
            f"{spec.name!r} made a call that {spec.host} cannot read{said}. Ask again, or use "
            "another model."
        )
    if status in {401, 403}:
        return KeyRefused(f"{spec.host} refused the key{said}. {_key_advice(spec)}")
    if status == 404 or (status == 400 and _NO_MODEL.search(words)):
        return ModelUnknown(f"{spec.host} has no model {spec.name!r}{said}.{_names(spec, names)}")
    return _refused_otherwise(spec, complaint, said)


def _refused_otherwise(spec: ModelSpec, complaint: Complaint, said: str) -> ModelFailed:
    status, words = complaint.status, f"{complaint.kind} {complaint.text}"
    if status in {402, 429} and (status == 402 or _NO_CREDIT.search(words)):
        return RequestRefused(
            f"The account at {spec.host} has no credit left{said}. Add some there, or use another "
            "model."
        )
    if status in _PASSING or status >= 500:
        wait = complaint.retry_after
        asks = "" if wait is None else f" It asks to wait {wait:,.0f} seconds."
        what = "has too many requests" if status == 429 else "is overloaded or in trouble"
        return ModelOverloaded(
            f"{spec.host} {what}{said}.{asks} Try again later.", retry_after=wait
        )
    if 300 <= status < 400:
        return RequestRefused(
            f"{spec.host} answered with a redirect (HTTP {status}), which is not followed so that "
            "the key goes nowhere else. Set the base URL anew."
        )
    return RequestRefused(
        f"{spec.host} refused the request{said}. Ask in another way, or use another model."
    )


def unreachable(spec: ModelSpec, error: BaseException, *, timed_out: bool) -> ModelUnreachable:
    """Nothing answered; the text names no more of the error than its kind."""
    if timed_out:
        return ModelUnreachable(
            f"{spec.host} gave no sign of life for {spec.timeout:g} seconds. "
            "Look whether it is still at work, or allow it a longer timeout."
        )
    advice = "Look whether the server runs there, or set another base URL."
    if not spec.base_url:
        advice = "Check this machine's way to the internet."
    return ModelUnreachable(f"Nothing answers at {spec.host} ({_why(error)}). {advice}")


def lost(spec: ModelSpec, *, timed_out: bool) -> ModelUnreachable:
    """The connection ended while the answer came."""
    if timed_out:
        return ModelUnreachable(f"{spec.host} sent nothing more for {spec.timeout:g} seconds.")
    return ModelUnreachable(f"The connection to {spec.host} was lost. Try again.")


def no_answer(spec: ModelSpec, what: str) -> RequestRefused:
    """It answered, but not as a model does."""
    return RequestRefused(
        f"{spec.host} answered with {what}, which is no model's answer. Check that the base URL "
        f"leads to an API that speaks {spec.wire!r}{_path_hint(spec)}."
    )


def shown(spec: ModelSpec, text: str) -> str:
    """An endpoint's words on one line, not too many, without the key or a part of it."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:_READ]).split())
    if len(spec.api_key) >= _LEAST_KEY:
        line = line.replace(spec.api_key, "***")  # whatever characters are in it
    line = re.sub(r"[\w.\-]{6,}", lambda word: _masked(word[0], spec.api_key), line)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _masked(word: str, key: str) -> str:
    return "***" if key and (word in key or key in word) else word


def _said(spec: ModelSpec, complaint: Complaint) -> str:
    status = f" (HTTP {complaint.status})" if complaint.status else ""
    text = shown(spec, complaint.text or complaint.kind).rstrip(".")
    return f"{status}: {text}" if text else status


def _key_advice(spec: ModelSpec) -> str:
    if spec.key_name:
        return f"Set {spec.key_name} to a key that is valid there."
    return "It needs another one."


def _names(spec: ModelSpec, names: Sequence[str]) -> str:
    names = [name for name in names[:_MOST_NAMES] if len(name) <= _LONGEST_NAME]
    if not names:
        return f" Check the name{_path_hint(spec)}."
    near = get_close_matches(spec.name, names, n=_NEAREST, cutoff=0.3) or sorted(names)[:_NEAREST]
    return f" The nearest that it has: {', '.join(shown(spec, name) for name in near)}."


def _path_hint(spec: ModelSpec) -> str:
    if not spec.base_url:
        return ""
    if spec.wire == "anthropic":
        return "; it ends before /v1" if spec.base_url.endswith("/v1") else ""
    return "" if "/v" in spec.base_url else ", and that the base URL ends in /v1"


def _words(said: Json) -> tuple[str, str]:
    """The kinds and the sentence in whatever JSON an endpoint complains with."""
    if isinstance(said, Mapping):
        inner = said.get("error")
        if isinstance(inner, (Mapping, str)) and inner:
            return _words(inner)
        # Cut, as the text is: an expression that looks for words takes the square of its length.
        kinds = [str(said[key])[:_SHOWN] for key in ("type", "code", "status") if said.get(key)]
        texts = (said.get(key) for key in ("message", "detail", "error_description"))
        text = next((text for text in texts if text), "")
        text = text if isinstance(text, str) else json.dumps(text)
        return " ".join(kinds), f"{text}{_behind(said.get('metadata'))}"[:_READ]
    if isinstance(said, Sequence) and not isinstance(said, str):
        return _words(said[0]) if said else ("", "")  # Gemini puts it into a list
    return "", str(said or "")[:_READ]


def _behind(metadata: Json) -> str:
    """What a provider behind OpenRouter said, whose own words are only that it said something."""
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if not isinstance(raw, str) or not raw:
        return ""
    try:
        _, text = _words(json.loads(raw))
    except (ValueError, RecursionError):
        text = ""
    return f": {text or raw}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            seconds = float(text)
    except ValueError:
        seconds = _until(text)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _until(date: str) -> float:
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - datetime.now(UTC)).total_seconds()


def _why(error: BaseException) -> str:
    """The plainest cause below an SDK's error, without its text: that may hold a header."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return "its certificate is not trusted, or it does not speak TLS"
        if isinstance(cause, socket.gaierror):
            return "there is no host of that name"
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno).lower()  # its own text repeats the address
    return "it closed the connection"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    if error is None:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for part in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _causes(part)
    yield from _causes(error.__cause__ or error.__context__)
