"""What both wires of OpenAI share: the key, the model, the shape of an error."""

import re
from collections.abc import Iterable
from typing import Any

from tests.models.request import JsonObject, Options, Refused, Request
from tests.models.script import Fail

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST_TOOLS = 128

_TYPES = {429: "requests", 500: "server_error", 502: "server_error", 503: "server_error"}
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def failure(fail: Fail) -> JsonObject:
    """The body of an error."""
    return {
        "error": {
            "message": fail.message,
            "type": fail.type or _TYPES.get(fail.status, "invalid_request_error"),
            "param": fail.param,
            "code": fail.code or _CODES.get(fail.status),
        }
    }


def check_door(request: Request, options: Options) -> None:
    """The key is there, and the model is known."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    if options.auth and not key:
        raise Refused(
            "You didn't provide an API key. You need to provide your API key in an Authorization"
            " header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    if key == "wrong":
        raise Refused(f"Incorrect API key provided: {key}.", status=401)
    check_model(request.json.get("model"), options)


def check_model(model: object, options: Options) -> None:
    """The model is a known one."""
    if not isinstance(model, str) or not model:
        raise Refused("you must provide a model parameter", param="model")
    if options.known_models is not None and model not in options.known_models:
        raise Refused(
            f"The model `{model}` does not exist or you do not have access to it.",
            status=404,
            code="model_not_found",
        )


def check_fields(found: Iterable[str], known: Iterable[str], where: str = "") -> None:
    """Fields that the provider does not know are refused by name."""
    for name in found:
        if name not in known:
            raise unknown(f"{where}{name}")


def unknown(param: str) -> Refused:
    """The refusal of a field."""
    return Refused(f"Unknown parameter: '{param}'.", param=param, code="unknown_parameter")


def check_name(name: object, param: str) -> None:
    """A function's name is one that the API takes."""
    if not isinstance(name, str) or not name:
        raise Refused(
            f"Missing required parameter: '{param}'.",
            param=param,
            code="missing_required_parameter",
        )
    if len(name) > 64:
        raise Refused(
            f"Invalid '{param}': string too long. Expected a string with maximum length 64, but got"
            f" a string with length {len(name)} instead.",
            param=param,
            code="string_above_max_length",
        )
    if not NAME.fullmatch(name):
        raise Refused(
            f"Invalid '{param}': string does not match pattern. Expected a string that matches the"
            " pattern '^[a-zA-Z0-9_-]+$'.",
            param=param,
            code="invalid_value",
        )


def check_type(value: Any, kind: type | tuple[type, ...], param: str, word: str) -> None:
    """A field has the JSON type that it must have."""
    if not isinstance(value, kind):
        raise Refused(
            f"Invalid type for '{param}': expected {word}, but got {_word(value)} instead.",
            param=param,
            code="invalid_type",
        )


def _word(value: object) -> str:
    words: dict[type, str] = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a decimal",
    }
    return "null" if value is None else words.get(type(value), "something else")
