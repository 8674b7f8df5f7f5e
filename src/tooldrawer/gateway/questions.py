"""What may be asked of a client, in MCP's words."""

from collections.abc import Mapping

from tooldrawer.tool import Json, JsonObject

CANCELLED: JsonObject = {"action": "cancel"}
"""An elicitation that nobody answered."""


def can_answer(capabilities: JsonObject, question: JsonObject) -> bool:
    """Whether a client that declared `capabilities` may be put `question`."""
    params = _object(question.get("params"))
    match question.get("method"):
        case "elicitation/create":
            return can_elicit(capabilities, url=params.get("mode") == "url")
        case "sampling/createMessage":
            declared = capabilities.get("sampling")
            wants_tools = bool(params.get("tools"))
            return declared is not None and (not wants_tools or "tools" in _object(declared))
        case "roots/list":
            return capabilities.get("roots") is not None
        case _:
            return False


def can_elicit(capabilities: JsonObject, *, url: bool = False) -> bool:
    """Whether a person can be asked through the client; an empty declaration means forms."""
    declared = capabilities.get("elicitation")
    if declared is None:
        return False
    modes = _object(declared)
    return "url" in modes if url else not modes or "form" in modes


def can_be_asked(capabilities: JsonObject) -> bool:
    """Whether anything at all can be asked."""
    return any(capabilities.get(kind) is not None for kind in ("elicitation", "sampling", "roots"))


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
