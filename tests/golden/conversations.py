"""One conversation that has everything a wire must say, and the bodies it gives.

Nothing in it is read from a response, so its answers are of no wire and each one renders them from
text and calls; what a wire reads itself is added at the end with `more`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tooldrawer.bridge.schemas import BridgeNames, bridge_tools, native_search
from tooldrawer.call import ToolResult, text_block
from tooldrawer.tool import Json, JsonObject, Tool
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

FOLDER = Path(__file__).parent
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""
NAMES = BridgeNames()


def _tool(name: str, description: str, **properties: Json) -> Tool:
    parameters: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": list(properties)[:1],
    }
    definition: JsonObject = {
        "name": name,
        "description": description,
        "inputSchema": parameters,
        "annotations": {"readOnlyHint": True},
    }
    return Tool.from_mcp(definition, source="mcp-town")


LOOK = _tool("look", "Take a picture of a place.", place={"type": "string"})
MAP = _tool(
    "mcp_town_map", "The map of a town.", town={"type": "string", "description": "“Zürich”"}
)
TRAMS = _tool(
    "mcp_town_trams", "When trams leave.", stop={"type": "string"}, most={"type": "integer"}
)
WEATHER = _tool(
    "mcp_town_weather", "The weather.", place={"type": "string"}, days={"type": "integer"}
)

SEARCH = Asked(name=NAMES.search, arguments={"query": "trams"}, id="call_search")
NOTHING = Asked(name=NAMES.search, arguments={"query": "submarines"}, id="call_nothing")
PICTURE = Asked(name="look", arguments={"place": "Zürich HB"}, id="call_look")
FIGURES = Asked(name="mcp_town_weather", arguments={"place": "Zürich"}, id="call_weather")
FAILING = Asked(name="mcp_town_trams", arguments={"stop": "Nowhere"}, id="call_trams")


def messages(*, native: bool) -> tuple[Message, ...]:
    """A summary, a question, two turns of parallel calls, and an answer."""
    found = (TRAMS, MAP) if native else ()
    nothing = replace(NOTHING, native=native)
    return (
        Summary(text="Until now: the user is in Zürich 🏔.", tools=(WEATHER,)),
        Said(text='When does the next tram leave? "Soon"?'),
        Answered(text="Let me look.", calls=(SEARCH, PICTURE, FIGURES)),
        Returned(
            replies=(
                Reply(
                    call=SEARCH,
                    result=ToolResult(
                        content=(text_block('{"matches":[{"name":"mcp_town_trams"}]}'),),
                        tools=found,
                    ),
                ),
                Reply(call=PICTURE, result=ToolResult(content=(text_block("One:"), _picture()))),
                Reply(call=FIGURES, result=ToolResult(structured={"°C": 21.5, "sun": True})),
            )
        ),
        Answered(calls=(FAILING, nothing)),
        Returned(
            replies=(
                Reply(call=FAILING, result=ToolResult.of_text("No such stop.", is_error=True)),
                Reply(call=nothing, result=ToolResult.of_text('{"matches":[],"hint":"Ask anew."}')),
            )
        ),
        Answered(text="There is no such stop."),
        Said(text="Thanks."),
    )


def request(*, native: bool = False, more: Sequence[Message] = ()) -> Request:
    """The conversation as it is sent, with what a wire itself has read at its end."""
    bridge = (native_search(NAMES),) if native else bridge_tools(NAMES)
    return Request(
        model="model-1",
        system="You help.",
        tools=(LOOK, *bridge),
        messages=(*messages(native=native), *more),
        native=native,
        search=NAMES.search,
        max_output=1000,
    )


def file(name: str) -> Path:
    """Where the bytes of a body are kept; `name` is `chat`, `responses-native`..."""
    return FOLDER / f"conversation.{name}.json"


def written(body: Callable[[Request], JsonObject], *, native: bool = False) -> bytes:
    """The bytes of a body, as they are now."""
    sent = body(request(native=native))
    return json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode()


def _picture() -> JsonObject:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}
