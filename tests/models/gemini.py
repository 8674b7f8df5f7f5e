"""Gemini's generateContent and streamGenerateContent."""

import base64
import hashlib
import json
import re
from typing import Any

from tests.models.request import (
    JsonObject,
    Options,
    Refused,
    Request,
    Result,
    Seen,
    compact,
    is_object,
    objects,
    text_of,
)
from tests.models.script import Call, Fail, Turn, as_call
from tests.models.stream import Reply, pieces
from tests.models.usage import Usage, prompt

# Read from google-genai's own conversions (google/genai/models.py) rather than imported: the
# package takes seconds to load, and has the fields of the wire only inside functions.
_FIELDS = (
    "contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig",
    "cachedContent", "labels", "serviceTier", "store", "model",
)  # fmt: skip
_DECLARATION = (
    "name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema",
    "behavior",
)  # fmt: skip
_PARTS = (
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
    "codeExecutionResult", "thought", "thoughtSignature", "videoMetadata", "mediaResolution",
)  # fmt: skip
# What Google documents for calls that Gemini did not make itself.
_UNSIGNED = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class GeminiWire:
    """Reads and answers /v1beta (or v1) /models/{model}:generateContent, streamed or not."""

    name = "gemini"

    def read(self, request: Request, options: Options) -> Seen:
        """What a model sees, if the API would take the request."""
        model, method = _target(request)
        _check_door(request, model, options)
        body = _camel(request.json)
        _check_fields(body, _FIELDS, "")
        declared = _declared(body)
        contents = _checked_contents(body)
        _check_pairs(contents)
        _check_signed(contents, model)
        answers = [
            part["functionResponse"] for part in _parts(contents) if "functionResponse" in part
        ]
        return Seen(
            request=request,
            model=model,
            streamed=method == "streamGenerateContent",
            names=frozenset(one["name"] for one in declared),
            results=tuple(_result(one) for one in answers),
            users=tuple(filter(None, (_said(content) for content in contents))),
            prompt=prompt([body.get("tools"), body.get("systemInstruction")], contents),
            namespaces={},
        )

    def answer(self, turn: Turn, seen: Seen, usage: Usage, number: int) -> Reply:
        """The turn as one response and as a row of them."""
        calls = [as_call(call) for call in turn.calls]
        parts = [*_thought(turn), *([{"text": turn.text}] if turn.text else ())]
        finish = "MAX_TOKENS" if turn.truncated else "STOP"
        if any(_object(call) is None for call in calls):
            finish = "MALFORMED_FUNCTION_CALL"  # the API keeps such a call for itself
        else:
            parts += [_called(call, number, index) for index, call in enumerate(calls)]
        head = {
            "modelVersion": seen.model,
            "responseId": f"response-{number}",
            "usageMetadata": _usage(usage),
        }
        whole = {**head, "candidates": [_candidate(parts, finish)]}
        return Reply(whole=whole, **_chunks(head, turn, parts, finish))

    def fail(self, fail: Fail) -> JsonObject:
        """The body of an error."""
        status = fail.type or _STATUS.get(fail.status, "UNKNOWN")
        error: JsonObject = {"code": fail.status, "message": fail.message, "status": status}
        return {"error": error}

    def fail_event(self, fail: Fail) -> bytes:
        """An error in the middle of a stream."""
        return _event(self.fail(fail))


def thought_signature(thought: str) -> str:
    """What proves that a thought comes back as it was given."""
    return base64.b64encode(hashlib.sha256(thought.encode()).digest()).decode()


def _camel(found: JsonObject) -> JsonObject:
    """Fields in camel case; the API takes both spellings, and the client library mixes them."""
    return {
        re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name): value
        for name, value in found.items()
    }


def _camels(found: object) -> list[JsonObject]:
    return [_camel(one) for one in objects(found)]


def _target(request: Request) -> tuple[str, str]:
    model, _, method = request.path.partition("/models/")[2].partition(":")
    if method not in {"generateContent", "streamGenerateContent"}:
        raise Refused(f"Unknown method {method!r}", status=404)
    if method == "streamGenerateContent" and request.query.get("alt") != "sse":
        raise Refused("the scripted server streams with ?alt=sse only")
    return model, method


def _check_door(request: Request, model: str, options: Options) -> None:
    key = request.headers.get("x-goog-api-key") or request.query.get("key")
    if options.auth and not key:
        raise Refused(
            "Request is missing required authentication credential. Expected an API key.",
            status=401,
        )
    if key == "wrong":
        raise Refused("API key not valid. Please pass a valid API key.", status=401)
    if options.known_models is not None and model not in options.known_models:
        raise Refused(
            f"models/{model} is not found for API version v1beta, or is not supported for"
            " generateContent.",
            status=404,
        )


def _check_fields(found: JsonObject, known: tuple[str, ...], where: str) -> None:
    for name in found:
        if name not in known:
            at = f" at '{where}'" if where else ""
            raise Refused(
                f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
            )


def _declared(body: JsonObject) -> list[JsonObject]:
    declared: list[JsonObject] = []
    for index, tool in enumerate(_camels(body.get("tools"))):
        for at, one in enumerate(_camels(tool.get("functionDeclarations"))):
            where = f"tools[{index}].function_declarations[{at}]"
            _check_fields(one, _DECLARATION, where)
            _check_name(one.get("name"), f"{where}.name")
            declared.append(one)
    names = [one["name"] for one in declared]
    for name in names:
        if names.count(name) > 1:
            raise Refused(f"Duplicate function declaration found: {name}")
    return declared


def _check_name(name: object, where: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refused(
            f"* GenerateContentRequest.{where}: Invalid function name. Must start with a letter or"
            " an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.),"
            " colons (:) or dashes (-), with a maximum length of 128."
        )


def _checked_contents(body: JsonObject) -> list[JsonObject]:
    contents = objects(body.get("contents"))
    if not contents:
        raise Refused("* GenerateContentRequest.contents: contents is not specified")
    for index, content in enumerate(contents):
        if content.get("role", "user") not in {"user", "model", "function"}:
            raise Refused("Please use a valid role: user, model.")
        if not objects(content.get("parts")):
            raise Refused(
                f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be"
                " empty."
            )
        for at, part in enumerate(_camels(content["parts"])):
            _check_part(part, f"contents[{index}].parts[{at}]")
    return contents


def _check_part(part: JsonObject, where: str) -> None:
    _check_fields(part, _PARTS, where)
    for kind in ("functionCall", "functionResponse"):
        if kind in part:
            _check_name(part[kind].get("name"), f"{where}.{kind}.name")
    if "functionResponse" in part and not isinstance(
        part["functionResponse"].get("response"), dict
    ):
        raise Refused(
            f"* GenerateContentRequest.{where}.function_response.response: must be an object."
        )
    _check_signature(part)


def _check_signature(part: JsonObject) -> None:
    if "thoughtSignature" not in part or part["thoughtSignature"] in _UNSIGNED:
        return
    # The client library sends the URL-safe alphabet.
    given = str(part["thoughtSignature"]).replace("-", "+").replace("_", "/")
    expected = thought_signature(str(part.get("text")))
    if "functionCall" in part:
        expected = _signed(part["functionCall"])
    if given != expected:
        raise Refused("Thought signature is not valid.")


def _check_signed(contents: list[JsonObject], model: str) -> None:
    """Since Gemini 3, the calls of the current turn are signed."""
    if not model.startswith("gemini-3"):
        return
    for content in reversed(contents):
        if _said(content):
            return
        calls = [part for part in _camels(content["parts"]) if "functionCall" in part]
        if calls and "thoughtSignature" not in calls[0]:
            raise Refused(
                "Function call is missing a thought_signature in functionCall parts. This is"
                " required for tools to work correctly."
            )


def _check_pairs(contents: list[JsonObject]) -> None:
    """As many responses as calls, in the content right after them."""
    waiting: list[str] = []
    for content in contents:
        parts = _camels(content["parts"])
        answers = [p["functionResponse"]["name"] for p in parts if "functionResponse" in p]
        if sorted(answers) != sorted(waiting):
            raise Refused(
                "Please ensure that the number of function response parts is equal to the number"
                " of function call parts of the function call turn."
            )
        waiting = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    if waiting:
        raise Refused("Please ensure that function call turn is followed by a function response.")


def _parts(contents: list[JsonObject]) -> list[JsonObject]:
    return [part for content in contents for part in _camels(content["parts"])]


def _result(answer: JsonObject) -> Result:
    response = answer["response"]
    text = response.get("output", response.get("result", response.get("error", response)))
    told = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return Result(
        call_id=answer.get("id") or answer["name"], text=told, is_error="error" in response
    )


def _said(content: JsonObject) -> str:
    return text_of(content["parts"]) if content.get("role", "user") == "user" else ""


def _object(call: Call) -> JsonObject | None:
    try:
        found: Any = json.loads(call.text)
    except ValueError:
        return None
    return found if is_object(found) else None


def _thought(turn: Turn) -> list[JsonObject]:
    if not turn.reasoning:
        return []
    return [
        {
            "text": turn.reasoning,
            "thought": True,
            "thoughtSignature": thought_signature(turn.reasoning),
        }
    ]


def _called(call: Call, number: int, index: int) -> JsonObject:
    told: JsonObject = {} if call.name is None else {"name": call.name}
    told |= {"args": _object(call), "id": call.id or f"call_{number}_{index}"}
    # Of calls that are made together, the first one is signed.
    return {"functionCall": told} | ({"thoughtSignature": _signed(told)} if not index else {})


def _signed(call: JsonObject) -> str:
    return thought_signature(compact([call.get("name"), call.get("args")]).decode())


def _candidate(parts: list[JsonObject], finish: str | None) -> JsonObject:
    content: JsonObject = {"role": "model"} | ({"parts": parts} if parts else {})
    return {"content": content, "index": 0} | ({"finishReason": finish} if finish else {})


def _usage(usage: Usage) -> JsonObject:
    return {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    }


def _event(data: JsonObject) -> bytes:
    return b"data: " + compact(data) + b"\r\n\r\n"


def _chunks(
    head: JsonObject, turn: Turn, parts: list[JsonObject], finish: str
) -> dict[str, list[bytes]]:
    def chunk(parts: list[JsonObject], finish: str | None = None) -> bytes:
        return _event({**head, "candidates": [_candidate(parts, finish)]})

    # Calls are not cut into pieces on this wire: arguments are objects, not text.
    calls = [part for part in parts if "functionCall" in part]
    return {
        "opening": [chunk([part]) for part in parts if part.get("thought")],
        "words": [chunk([{"text": piece}]) for piece in pieces(turn.text)],
        "closing": [*(chunk([part]) for part in calls), chunk([], finish)],
    }
