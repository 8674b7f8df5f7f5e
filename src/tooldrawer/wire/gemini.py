"""Gemini's generateContent.

Written against the types of google-genai 3.1. The model's name is in the address of a request, not
in its body. Gemini has no deferral of its own, so `native` changes nothing here.
"""

import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from tooldrawer.call import thawed
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire.content import Blob, parts
from tooldrawer.wire.gemini_answer import WIRE, GeminiStream, calls, inward, is_made, outward, read
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

__all__ = ["GeminiStream", "body", "calls", "read", "render", "results", "tools"]

_MEDIA = ("image/png", "image/jpeg", "image/webp", "application/pdf")
"""What a function's response may hold."""
_SIGNED: JsonObject = {"thoughtSignature": "skip_thought_signature_validator"}
"""The signature that Google documents for calls that Gemini did not make itself. Since Gemini 3, a
call without a signature is refused."""
_OLD = re.compile(r"\bgemini-[12]\b")
"""Before Gemini 3, pictures are taken beside a response, not in it, and no such signature."""
_NO_ANSWER = "(no answer)"
_NO_TEXT = "(nothing)"


def render(tool: Tool) -> dict[str, Json]:
    """One entry of `functionDeclarations`."""
    return {
        "name": outward(tool.name),
        "description": tool.description,
        "parametersJsonSchema": {**thawed(tool.parameters), "type": "object"},
    }


def body(request: Request) -> dict[str, Json]:
    """The whole request; what grows comes last."""
    sent: dict[str, Json] = {}
    if request.system.strip():
        sent["systemInstruction"] = {"parts": [{"text": request.system}]}
    if array := tools(request.tools):
        sent["tools"] = array
    if request.max_output is not None:
        sent["generationConfig"] = {"maxOutputTokens": request.max_output}
    is_old = _OLD.search(request.model) is not None
    sent["contents"] = [_content(it, request.search, is_old=is_old) for it in request.messages]
    return whole_object(sent)


def tools(
    tools: Iterable[Tool], *, native: bool = False, learned: Iterable[Tool] = ()
) -> list[Json]:
    """The `tools` field. `native` and `learned` are those of other wires."""
    del native, learned
    declarations: list[Json] = [render(tool) for tool in tools]
    return [{"functionDeclarations": declarations}] if declarations else []


def results(replies: Iterable[Reply]) -> list[dict[str, Json]]:
    """The content to append for a turn's calls."""
    return [whole_object(_returned(replies, "tool_search", is_old=False))]


def _content(message: Message, search: str, *, is_old: bool) -> JsonObject:
    match message:
        case Said() | Summary():
            return {"role": "user", "parts": [{"text": message.text or _NO_TEXT}]}
        case Returned():
            return _returned(message.replies, search, is_old=is_old)
        case Answered():
            own = message.wire == WIRE and bool(message.raw)
            sent: list[Json] = list(
                _own(message, is_old=is_old) if own else _rewritten(message, search, is_old=is_old)
            )
            return {"role": "model", "parts": sent or [{"text": _NO_ANSWER}]}
        case _:
            assert_never(message)


def _own(message: Answered, *, is_old: bool) -> Iterator[JsonObject]:
    """The parts as they came: their signatures hold for them only, and in their order."""
    for part in message.raw:
        if "functionCall" in part:
            yield _mended(part, is_old=is_old)
        elif part.get("text") or part.keys() - {"text", "thought"}:
            yield part


def _mended(part: JsonObject, *, is_old: bool) -> JsonObject:
    """The call as it came, or one that can be sent back; that is not the call that was signed."""
    call = an_object(part["functionCall"])
    sent = {**call, "name": outward(name_of(inward(a_text(call.get("name")))))}
    if "args" in call:
        sent["args"] = object_of(call["args"])
    if sent == call:
        return part
    rest = {key: value for key, value in part.items() if key != "thoughtSignature"}
    is_signed = "thoughtSignature" in part and not is_old
    return {**rest, "functionCall": sent, **(_SIGNED if is_signed else {})}


def _rewritten(message: Answered, search: str, *, is_old: bool) -> Iterator[JsonObject]:
    """An answer that came over another wire."""
    if message.text:
        yield {"text": message.text}
    for position, call in enumerate(message.calls):
        part: dict[str, Json] = {
            "functionCall": {
                **_id(call),
                "name": _name(call, search),
                "args": object_of(call.arguments),
            }
        }
        # Of calls that were made together, only the first one has a signature.
        if position == 0 and not is_old:
            part |= _SIGNED
        yield part


def _returned(replies: Iterable[Reply], search: str, *, is_old: bool) -> JsonObject:
    found: list[Json] = []
    beside: list[Json] = []
    for reply in replies:
        response: dict[str, Json] = {
            **_id(reply.call),
            "name": _name(reply.call, search),
            "response": _response(reply),
        }
        media = [_inline(blob) for blob in _shown(reply)]
        if media and is_old:
            beside += media
        elif media:
            response["parts"] = media
        found.append({"functionResponse": response})
    return {"role": "user", "parts": [*found, *beside] or [{"text": _NO_TEXT}]}


def _name(call: Asked, search: str) -> str:
    """The name of the function; another provider's own search goes by the bridge's name."""
    return outward(search if call.native else name_of(call.name))


def _id(call: Asked) -> dict[str, Json]:
    """The call's id, where the provider gave it one: an id of ours is not in what came."""
    return {} if not call.id or is_made(call.id) else {"id": call.id}


def _response(reply: Reply) -> JsonObject:
    result = reply.result
    shown = set(_shown(reply))
    told = [
        part
        if isinstance(part, str)
        else f"[{part.kind}, attached]"
        if part in shown
        else part.line
        for part in parts(result)
    ]
    text = "\n".join(told)
    if result.is_error:
        return {"error": text}
    if result.structured is not None and len(told) == 1:
        return {"output": result.structured}
    return {"output": text}


def _shown(reply: Reply) -> list[Blob]:
    found = (part for part in parts(reply.result) if isinstance(part, Blob))
    return [blob for blob in found if blob.data and blob.type in _MEDIA]


def _inline(blob: Blob) -> JsonObject:
    return {"inlineData": {"mimeType": blob.type, "data": blob.data}}
