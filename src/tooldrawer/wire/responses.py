"""OpenAI's Responses API.

Written against the types of openai 3.49. What it answers is read in `responses_answer`.

Nothing is stored with the provider (`store`), so the conversation is sent whole each time, and
reasoning comes sealed to be sent back (`include`), which a client may have to leave out.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import assert_never

from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire.content import NOTHING, Part, parts, said_beside, told
from tooldrawer.wire.ids import Ids, hashed
from tooldrawer.wire.mended import compact, name_of, object_of, whole_object
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
from tooldrawer.wire.openai import render
from tooldrawer.wire.openai_schema import accepted
from tooldrawer.wire.responses_answer import SEARCH, WIRE, ResponsesStream, calls, read

__all__ = ["ResponsesStream", "body", "calls", "read", "results", "tools"]

_MOST_ID = 64
"""Characters of a call's id, which others make longer."""


def body(request: Request) -> dict[str, Json]:
    """The whole request but for `stream`; what grows is last."""
    sent: dict[str, Json] = {
        "model": request.model,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.max_output is not None:
        sent["max_output_tokens"] = request.max_output
    rows = tools(
        request.tools, native=request.native, learned=request.carried, search=request.search
    )
    if rows:
        sent["tools"] = rows
    if request.system:
        sent["instructions"] = request.system
    conversation = _Conversation(request)
    following = (*request.messages[1:], None)
    items: list[Json] = [
        item
        for message, after in zip(request.messages, following, strict=False)
        for item in conversation.items(message, after)
    ]
    return whole_object({**sent, "input": items})


def tools(
    tools: Iterable[Tool],
    *,
    native: bool = False,
    learned: Iterable[Tool] = (),
    search: str = SEARCH,
) -> list[Json]:
    """The `tools` parameter.

    With `native`, the tool named `search` is the provider's own kind, and `learned` tools, which a
    summary carries, are shown in full at the end. What searches find is in their results instead.
    """
    if not native:
        return [_function(tool) for tool in tools]
    rows = {tool.name: _search(tool) if tool.name == search else _function(tool) for tool in tools}
    for tool in learned:
        rows.setdefault(tool.name, _function(tool))
    return list(rows.values())


def results(replies: Iterable[Reply]) -> list[dict[str, Json]]:
    """The items to append for a turn's calls: one for each, then what has no place in them."""
    given = tuple(replies)
    return [whole_object(item) for item in _returned(given, Ids(_id), loading=_native(given))]


class _Conversation:
    """The messages of a request as items, one after the other."""

    def __init__(self, request: Request) -> None:
        self._native = request.native
        self._search = request.search
        shown = (*request.tools, *request.carried) if request.native else ()
        self._shown = frozenset(tool.name for tool in shown)
        learned = request.learned if request.native else ()
        self._loaded = frozenset(tool.name for tool in learned) - self._shown
        self._loading = frozenset[str]()
        self._ids = Ids(_id)

    def items(self, message: Message, after: Message | None) -> Iterable[JsonObject]:
        match message:
            case Said() | Summary():
                return [{"role": "user", "content": message.text}]
            case Returned():
                return _returned(
                    message.replies, self._ids, loading=self._loading, shown=self._shown
                )
            case Answered():
                self._ids.begin(message.calls)
                self._loading = _loading(message, after) if self._native else frozenset[str]()
                return self._own(message) if self._is_own(message) else self._rewritten(message)
            case _:
                assert_never(message)

    def _is_own(self, message: Answered) -> bool:
        """Whether it can go back as it came, searches included."""
        return message.wire == WIRE and all(
            call.native == (call.id in self._loading) for call in message.calls
        )

    def _own(self, message: Answered) -> Iterator[JsonObject]:
        for item in message.raw:
            placed, written = self._placed(item), a_text(item.get("call_id"))
            is_same = not written or self._ids.of(written) == written
            yield placed if is_same else {**placed, "call_id": self._ids.of(written)}

    def _rewritten(self, message: Answered) -> Iterator[JsonObject]:
        """An answer that came over another wire, or whose searches are of another kind now."""
        if message.text:
            yield {"role": "assistant", "content": message.text}
        for call in message.calls:
            if call.id in self._loading:
                yield {
                    "type": "tool_search_call",
                    "call_id": self._ids.of(call.id),
                    "execution": "client",
                    "status": "completed",
                    "arguments": object_of(call.arguments),
                }
            else:
                yield self._called(call)

    def _called(self, call: Asked) -> JsonObject:
        return self._placed(
            {
                "type": "function_call",
                "call_id": self._ids.of(call.id),
                "name": self._search if call.native else name_of(call.name),
                "arguments": compact(object_of(call.arguments)),
            }
        )

    def _placed(self, item: JsonObject) -> JsonObject:
        """The item itself, or a call moved to where its tool is in this request.

        The API calls the namespace of a loaded tool after it, and refuses a call of one without
        it, also when the call is older: made while the drawer was open, or by another provider.
        A tool that stands in the array has none.
        """
        name = a_text(item.get("name")) if item.get("type") == "function_call" else ""
        if name in self._loaded:
            return item if "namespace" in item else {**item, "namespace": name}
        if "namespace" not in item or (self._native and name not in self._shown):
            return item
        return {key: value for key, value in item.items() if key != "namespace"}


def _loading(message: Answered, after: Message | None) -> frozenset[str]:
    """The searches that are answered with definitions: the provider's own, and all that found."""
    replies = after.replies if isinstance(after, Returned) else ()
    found = frozenset(reply.call.id for reply in replies if reply.result.tools)
    return found | {call.id for call in message.calls if call.native}


def _native(replies: Iterable[Reply]) -> frozenset[str]:
    return frozenset(reply.call.id for reply in replies if reply.call.native)


def _id(written: str) -> str:
    return written if len(written) <= _MOST_ID else hashed(written)


def _returned(
    replies: Iterable[Reply], ids: Ids, *, loading: Collection[str], shown: Collection[str] = ()
) -> Iterator[JsonObject]:
    beside: list[str] = []
    for reply in replies:
        if reply.call.id not in loading:
            yield {
                "type": "function_call_output",
                "call_id": ids.of(reply.call.id),
                "output": _output(reply),
            }
            continue
        found = reply.result.tools if not reply.result.is_error else ()
        new = [tool for tool in found if tool.name not in shown]
        beside.append(_beside(reply, [tool.name for tool in found if tool.name in shown]))
        yield {
            "type": "tool_search_output",
            "call_id": ids.of(reply.call.id),
            "execution": "client",
            "status": "completed",
            "tools": [{**_function(tool), "defer_loading": True} for tool in new],
        }
    # The output of a search has no room for text: why nothing was found, or how to go on.
    if text := "\n".join(filter(None, beside)):
        yield {"role": "developer", "content": text}


def _beside(reply: Reply, already: Sequence[str]) -> str:
    """What the model is told of a search besides the definitions of what is new."""
    result = reply.result
    asked = compact(object_of(reply.call.arguments))
    if result.is_error or not result.tools:
        return f"Reply to the search {asked}: {told(result)}"
    lines = [said_beside(result)]
    if already:
        lines.append(f"Found, and not new: {', '.join(already)}.")
    text = "\n".join(line for line in lines if line and line != NOTHING)
    return f"Reply to the search {asked}: {text}" if text else ""


def _output(reply: Reply) -> Json:
    """Text as it is; with pictures or documents, everything in parts."""
    found = parts(reply.result)
    if all(isinstance(part, str) or not (part.is_picture or part.is_pdf) for part in found):
        return told(reply.result)
    shown = [_part(part) for part in found]
    if reply.result.is_error and not a_text(shown[0].get("text")).startswith("Error"):
        shown.insert(0, {"type": "input_text", "text": "Error:"})
    return shown


def _part(part: Part) -> JsonObject:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if part.is_picture:
        return {"type": "input_image", "image_url": part.url, "detail": "auto"}
    if part.is_pdf:
        name = part.uri.rstrip("/").rpartition("/")[2] or "document.pdf"
        return {"type": "input_file", "filename": name, "file_data": part.url}
    return {"type": "input_text", "text": part.line}


def _function(tool: Tool) -> dict[str, Json]:
    told = an_object(render(tool)["function"])
    row: dict[str, Json] = {"type": "function", **told}
    row.pop("defer_loading", None)
    row["parameters"] = accepted(an_object(told.get("parameters")))
    row["strict"] = told.get("strict") is True
    return row


def _search(tool: Tool) -> dict[str, Json]:
    # The API refuses a search of the client's that has no description.
    return {
        "type": "tool_search",
        "execution": "client",
        "description": tool.description or "Find tools.",
        "parameters": accepted(tool.parameters),
    }
