"""What OpenAI's Responses API answers, whole or in events."""

from collections.abc import Iterable, Iterator

from tooldrawer.errors import AnswerCut
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.failure import failure, raise_for
from tooldrawer.wire.heard import Heard
from tooldrawer.wire.mended import (
    arguments,
    id_of,
    name_of,
    object_of,
    text_of,
    whole,
    whole_object,
)
from tooldrawer.wire.message import Answered, Asked, Usage
from tooldrawer.wire.odd import a_count, a_text, an_object, objects

WIRE = "responses"
SEARCH = "tool_search"
"""The name of a search that came as the provider's own kind, which has no name."""
BETWEEN = "\n\n"
"""What stands between two messages of one answer."""
_NOT_TAKEN_BACK = {
    "reasoning": {"status"},  # refused as an unknown parameter, though the API gives it
    "function_call": {"parsed_arguments", "async_"},  # the SDK's own
    "tool_search_call": {"created_by"},
    "message": {"parsed"},
}


def read(response: JsonObject) -> Answered:
    """A whole response.

    Raises:
        ModelFailed: The response is an error.
    """
    raise_for(response)
    if response.get("status") == "failed":
        raise failure(None)
    return _answered(response, objects(response.get("output")))


def calls(response: JsonObject) -> tuple[Asked, ...]:
    """What the model asked for in a response."""
    return read(response).calls


class ResponsesStream:
    """One answer in events."""

    def __init__(self) -> None:
        self._heard = Heard()
        self._has_spoken = False
        self._at: Json = None
        self._done: list[JsonObject] = []
        self._last: JsonObject | None = None

    def feed(self, event: JsonObject) -> str:
        """Take in one event; the text that came with it.

        Raises:
            ModelFailed: The endpoint gave an error instead.
        """
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return self._said(event)
            case "response.output_item.done":
                self._done += objects([event.get("item")])
            case "response.completed" | "response.incomplete":
                self._last = an_object(event.get("response"))
            case "response.failed":
                raise failure(an_object(event.get("response")).get("error"))
            case "error":
                raise failure(event.get("error") or event)
            case _:
                raise_for(event)
        return ""

    def answer(self) -> Answered:
        """The whole answer.

        Raises:
            AnswerCut: The event that ends an answer has not come.
        """
        if self._last is None:
            raise AnswerCut(
                "The answer broke off: the stream ended before the event that completes it. "
                "Send the request again.",
                text=self._heard.text,
            )
        # Some endpoints leave the output of the last event empty, having told each item before.
        return _answered(self._last, objects(self._last.get("output")) or self._done)

    def _said(self, event: JsonObject) -> str:
        delta, at = a_text(event.get("delta")), event.get("output_index")
        if not delta:
            return ""
        between = BETWEEN if self._has_spoken and at != self._at else ""
        self._has_spoken, self._at = True, at
        return self._heard.take(between + delta)


def _answered(response: JsonObject, output: Iterable[JsonObject]) -> Answered:
    items = [_given(item) for item in output if a_text(item.get("type"))]
    raw, asked = _mended(items, answer=a_text(response.get("id")))
    usage = an_object(response.get("usage"))
    details = an_object(usage.get("input_tokens_details"))
    return Answered(
        text=whole(BETWEEN.join(filter(None, map(_text, items)))),
        calls=asked,
        wire=WIRE,
        raw=tuple(whole_object(item) for item in _followed(raw)),
        usage=Usage(
            input=a_count(usage.get("input_tokens")),
            cached=a_count(details.get("cached_tokens")),
            written=a_count(details.get("cache_write_tokens")),
            output=a_count(usage.get("output_tokens")),
        ),
        complete=response.get("status") != "incomplete",
    )


def _given(item: JsonObject) -> JsonObject:
    """An item without what the API refuses: nulls that the SDK writes, and some of its own."""
    refused = _NOT_TAKEN_BACK.get(a_text(item.get("type")), ())
    found = {key: value for key, value in item.items() if value is not None and key not in refused}
    if item.get("type") == "message":
        found["content"] = [_without_nulls(part) for part in objects(item.get("content"))]
    return found


def _without_nulls(part: JsonObject) -> JsonObject:
    return {key: value for key, value in part.items() if value is not None}


def _followed(items: list[JsonObject]) -> list[JsonObject]:
    """Without empty items, and without reasoning that nothing came of: the API refuses both."""
    kept = [item for item in items if _has_content(item)]
    while kept and kept[-1].get("type") == "reasoning":
        kept.pop()
    return kept


def _has_content(item: JsonObject) -> bool:
    match item.get("type"):
        case "message":
            return bool(item.get("content"))
        case "reasoning":  # without its content it is looked up where nothing is stored
            return bool(item.get("encrypted_content") or item.get("content"))
        case _:
            return True


def _mended(
    items: Iterable[JsonObject], *, answer: str
) -> tuple[list[JsonObject], tuple[Asked, ...]]:
    """The items as they are sent back, and the calls among them."""
    raw: list[JsonObject] = []
    asked: dict[str, Asked] = {}
    for item in items:
        kind = item.get("type")
        is_search = kind == "tool_search_call" and item.get("execution") != "server"
        if kind != "function_call" and not is_search:
            raw.append(item)
            continue
        call_id = id_of(item.get("call_id"), answer=answer, position=len(asked), taken=asked)
        written = item.get("arguments")
        asked[call_id] = Asked(
            name=SEARCH if is_search else whole(a_text(item.get("name"))),
            arguments=arguments(written),
            id=call_id,
            native=is_search,
        )
        mended: dict[str, Json] = {**item, "call_id": call_id}
        if is_search:
            mended["arguments"] = object_of(written)
        else:
            mended |= {"name": name_of(item.get("name")), "arguments": text_of(written)}
        raw.append(mended)
    return raw, tuple(asked.values())


def _text(item: JsonObject) -> str:
    return "".join(_texts(item)) if item.get("type") == "message" else ""


def _texts(message: JsonObject) -> Iterator[str]:
    for part in objects(message.get("content")):
        yield a_text(part.get("refusal" if part.get("type") == "refusal" else "text"))
