"""The providers' words, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire import anthropic, chat, gemini, responses
from tooldrawer.wire.message import Answered, Request, Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One provider's words, both ways."""

    name: str
    body: Callable[[Request], dict[str, Json]]
    """The request as the provider takes it: same request, same bytes, and it only ever grows."""
    read: Callable[[JsonObject], Answered]
    """A whole response, however odd."""
    stream: Callable[[], Stream]
    """A response that arrives in events."""
    defers: bool = False
    """Whether the provider can keep tools out of the prompt by itself."""


WIRES: Mapping[str, Wire] = {
    wire.name: wire
    for wire in (
        Wire(name="chat", body=chat.body, read=chat.read, stream=chat.ChatStream),
        Wire(
            name="responses",
            body=responses.body,
            read=responses.read,
            stream=responses.ResponsesStream,
            defers=True,
        ),
        Wire(
            name="anthropic",
            body=anthropic.body,
            read=anthropic.read,
            stream=anthropic.AnthropicStream,
            defers=True,
        ),
        Wire(name="gemini", body=gemini.body, read=gemini.read, stream=gemini.GeminiStream),
    )
}
