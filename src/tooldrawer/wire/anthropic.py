"""Anthropic's Messages API.

Written against the types of anthropic 2.8. What it answers is read in `anthropic_answer`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire.anthropic_answer import WIRE, AnthropicStream, calls, read
from tooldrawer.wire.anthropic_schema import accepted
from tooldrawer.wire.anthropic_tool import render
from tooldrawer.wire.content import NOTHING, Part, parts, said_beside
from tooldrawer.wire.ids import Ids, hashed
from tooldrawer.wire.mended import name_of, object_of, whole_object
from tooldrawer.wire.message import (
    Answered,
    Asked,
    Message,
    Reply,
    Request,
    Returned,
    Said,
    Summary,
)
from tooldrawer.wire.odd import a_text, an_object

__all__ = ["AnthropicStream", "body", "calls", "read", "render", "results", "tools"]

MAX_OUTPUT = 16_384
"""Tokens of an answer where nobody says how many. The API wants a number; beyond 21,333 the client
of anthropic 2.8 refuses to wait without a stream."""
_MOST_BASE64 = 5 * 1024 * 1024
"""Characters of a picture: a longer one is refused, and with it all that follows in the
conversation."""
_CACHED: JsonObject = {"type": "ephemeral"}
_NO_ANSWER = "(no answer)"
_NO_TEXT = "(nothing)"
_ID = re.compile(r"[A-Za-z0-9_-]+")


def body(request: Request) -> dict[str, Json]:
    """The whole request but for `stream`.

    What grows comes last. The API marks the last block for its cache by itself, so no mark has to
    move through the conversation. It looks back from there only so far: the mark on the system
    text, which never moves either, keeps the tools in the cache after a turn of very many calls.
    """
    shown = (*request.tools, *request.carried) if request.native else request.tools
    learned = request.learned if request.native else ()
    sent: dict[str, Json] = {
        "model": request.model,
        "max_tokens": request.max_output or MAX_OUTPUT,
        "cache_control": _CACHED,
    }
    if array := tools(shown, native=request.native, learned=learned):
        sent["tools"] = array
    if request.system.strip():
        sent["system"] = [{"type": "text", "text": request.system, "cache_control": _CACHED}]
    ids = Ids(_id)
    sent["messages"] = [_message(message, request, ids) for message in request.messages]
    return whole_object(sent)


def tools(
    tools: Iterable[Tool], *, native: bool = False, learned: Iterable[Tool] = ()
) -> list[Json]:
    """The `tools` parameter.

    With `native`, the tools that searches have found follow in the order they came, kept out of
    the prompt until a search refers to them. Each stays as it was found, also when its server
    changes or leaves: the API refuses a reference to a tool that is not there.
    """
    array: dict[str, dict[str, Json]] = {}
    for tool in tools:
        array.setdefault(tool.name, _entry(tool))
    if native:
        # The API refuses an array in which everything is deferred.
        mark: dict[str, Json] = {"defer_loading": True} if array else {}
        for tool in learned:
            if tool.name not in array:
                array[tool.name] = {**_without_cache(_entry(tool)), **mark}
    return list(array.values())


def results(replies: Iterable[Reply]) -> list[dict[str, Json]]:
    """The message to append for a turn's calls: all results, then what has no place in them."""
    return [whole_object(_returned(replies, Ids(_id), native=True))]


def _entry(tool: Tool) -> dict[str, Json]:
    entry = render(tool)
    if "input_schema" in entry or tool.shape != "anthropic":
        entry["input_schema"] = accepted(an_object(entry.get("input_schema")))
    return entry


def _without_cache(entry: dict[str, Json]) -> dict[str, Json]:
    # A deferred tool with a mark for the cache is refused.
    return {key: value for key, value in entry.items() if key != "cache_control"}


def _message(message: Message, request: Request, ids: Ids) -> JsonObject:
    # Two messages of the user in a row stay two, which the API takes for one: putting the second
    # into the first would rewrite what was sent before.
    match message:
        case Said() | Summary():
            return {"role": "user", "content": [_text(message.text)]}
        case Returned():
            return _returned(message.replies, ids, native=request.native)
        case Answered():
            ids.begin(message.calls)
            return {"role": "assistant", "content": _answer(message, request.search, ids)}
        case _:
            assert_never(message)


def _answer(message: Answered, search: str, ids: Ids) -> list[Json]:
    own = message.wire == WIRE and bool(message.raw)
    sent = list(_own(message, ids) if own else _rewritten(message, search, ids))
    if not sent or sent[-1].get("type") in ("thinking", "redacted_thinking"):
        # An answer may be nothing but thought, when its length ran out; such a message is refused.
        sent.append(_text(_NO_ANSWER))
    return list(sent)


def _own(message: Answered, ids: Ids) -> Iterator[JsonObject]:
    """The blocks as they came, but for those that the API gives and would not take back."""
    asked = iter(message.calls)
    for block in message.raw:
        kind = block.get("type")
        if kind == "tool_use":
            yield {**_given(block), **_call(next(asked, None) or _named(block), ids)}
        elif kind == "server_tool_use":
            yield {**_given(block), "input": object_of(block.get("input"))}
        elif kind and not _is_refused(block):
            yield _given(block)


def _is_refused(block: JsonObject) -> bool:
    """Whether it is text without a word, or a thought that broke off before its signature."""
    if block.get("type") == "text":
        return not a_text(block.get("text")).strip()
    return block.get("type") == "thinking" and not block.get("signature")


def _given(block: JsonObject) -> JsonObject:
    # The SDK writes null for fields that were not there, and the API refuses some of these.
    return {key: value for key, value in block.items() if value is not None}


def _named(block: JsonObject) -> Asked:
    return Asked(
        name=a_text(block.get("name")), arguments=block.get("input"), id=a_text(block.get("id"))
    )


def _rewritten(message: Answered, search: str, ids: Ids) -> Iterator[JsonObject]:
    """An answer that came over another wire."""
    if message.text.strip():
        yield _text(message.text)
    for call in message.calls:
        sent = _call(call, ids)
        yield {**sent, "name": search} if call.native else sent


def _call(call: Asked, ids: Ids) -> dict[str, Json]:
    return {
        "type": "tool_use",
        "id": ids.of(call.id),
        "name": name_of(call.name),
        "input": object_of(call.arguments),
    }


def _id(written: str) -> str:
    """An id that the API takes."""
    return written if _ID.fullmatch(written) else hashed(written)


def _returned(replies: Iterable[Reply], ids: Ids, *, native: bool) -> JsonObject:
    found: list[Json] = []
    after: list[Json] = []
    for reply in replies:
        block, beside = _result(reply, ids, native=native)
        found.append(block)
        after += beside
    return {"role": "user", "content": [*found, *after] or [_text(_NO_TEXT)]}


def _result(reply: Reply, ids: Ids, *, native: bool) -> tuple[JsonObject, Sequence[Json]]:
    """The result of one call, and what is shown after all results."""
    result = reply.result
    block: dict[str, Json] = {"type": "tool_result", "tool_use_id": ids.of(reply.call.id)}
    if native and result.tools and not result.is_error:
        names = dict.fromkeys(tool.name for tool in result.tools)
        block["content"] = [{"type": "tool_reference", "tool_name": name} for name in names]
        beside = said_beside(result)
        return block, [_text(beside)] if beside and beside != NOTHING else ()
    shown = [_part(part) for part in parts(result)]
    if not result.is_error:
        return {**block, "content": shown}, ()
    # Anything but text in a result that is an error is refused.
    texts: list[Json] = [part for part in shown if part.get("type") == "text"]
    others: list[Json] = [part for part in shown if part.get("type") != "text"]
    if others:
        texts.append(_text("[what came with this error is shown after the results]"))
    return {**block, "content": texts, "is_error": True}, others


def _part(part: Part) -> dict[str, Json]:
    if isinstance(part, str):
        return _text(part)
    if len(part.data) <= _MOST_BASE64 and (part.is_picture or part.is_pdf):
        source: JsonObject = {"type": "base64", "media_type": part.type, "data": part.data}
        return {"type": "image" if part.is_picture else "document", "source": source}
    return _text(part.line)


def _text(text: str) -> dict[str, Json]:
    # Blank text is refused.
    return {"type": "text", "text": text if text.strip() else _NO_TEXT}
