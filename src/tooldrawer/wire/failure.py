"""An error that OpenAI, or whoever imitates it, gave in place of an answer or in the middle."""

from collections.abc import Mapping
from typing import cast

from tooldrawer.errors import ContextFull, ModelFailed, ModelOverloaded, RequestRefused
from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.mended import whole

_BUSY = {
    "server_error", "rate_limit_exceeded", "overloaded", "overloaded_error", "internal_error",
    "internal_server_error", "timeout", "vector_store_timeout", "unavailable",
}  # fmt: skip
_BUSY_STATUS = {408, 409, 429}
_FULL = {"context_length_exceeded", "string_above_max_length"}
_WORST_STATUS = 500


def failure(error: Json) -> ModelFailed:
    """The error to raise for what an endpoint put under `error`."""
    told = cast("JsonObject", error) if isinstance(error, Mapping) else {"message": error}
    codes = [told.get("code"), told.get("type")]
    message = told.get("message")
    said = whole(message).strip() if isinstance(message, str) else ""
    said = said or next((str(code) for code in codes if code), "it gave no reason")
    said = said if said.endswith((".", "!", "?")) else f"{said}."
    if any(code in _FULL for code in codes if isinstance(code, str)):
        return ContextFull(
            f"The conversation is longer than the model reads: {said} "
            "Start a new conversation, or use a model with a longer context."
        )
    if any(_is_busy(code) for code in codes):
        return ModelOverloaded(
            f"The endpoint is in trouble: {said} The same request may work later."
        )
    return RequestRefused(
        f"The endpoint broke the answer off: {said} Change what was asked, or use another model."
    )


def raise_for(told: JsonObject) -> None:
    """Raise when a response, or an event of one, is an error instead.

    Raises:
        ModelFailed: It is one.
    """
    if told.get("error"):
        raise failure(told["error"])


def _is_busy(code: Json) -> bool:
    if isinstance(code, str):
        return code.lower() in _BUSY or (code.isdecimal() and _is_busy(int(code)))
    if isinstance(code, bool) or not isinstance(code, int):
        return False
    return code in _BUSY_STATUS or code >= _WORST_STATUS
