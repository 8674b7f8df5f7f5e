"""A conversation in nobody's words: what a person, a model and the tools said, in order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from tooldrawer.call import ToolResult
from tooldrawer.tool import Json, JsonObject, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call as a model wrote it, the bridge's own included."""

    name: str
    """As written; may be empty, or nobody's."""
    arguments: Json = None
    """A JSON value, or the text itself when it is none."""
    id: str = ""
    """The provider's id of the call, or one made here where it gave none."""
    native: bool = False
    """Whether it came as the provider's own kind of search, and is answered as that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one answer cost, as the provider counted."""

    input: int = 0
    """Tokens of the prompt, those read from the cache and written to it included."""
    cached: int = 0
    """Of these, read from the cache."""
    written: int = 0
    """Of these, written to the cache at a price of its own."""
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the person wrote."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the model wrote: text, calls, or both."""

    text: str = ""
    calls: tuple[Asked, ...] = ()
    wire: str = ""
    """Whose words `raw` is in."""
    raw: tuple[JsonObject, ...] = ()
    """As it came, to be sent back unchanged: signatures and reasoning break when rewritten."""
    usage: Usage = field(default_factory=Usage)
    complete: bool = True
    """Whether the model came to an end by itself; not when its length ran out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of one call."""

    call: Asked
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The answers to all calls of the message before, in their order."""

    replies: tuple[Reply, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What stands in place of older messages, with the tools that were learned in them."""

    text: str
    tools: tuple[Tool, ...] = ()


Message: TypeAlias = Said | Answered | Returned | Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything a model is sent for its next answer."""

    model: str
    system: str = ""
    tools: Sequence[Tool] = ()
    """As assembled: the direct tools, then the bridge."""
    messages: Sequence[Message] = ()
    native: bool = False
    """Whether the provider's own deferral is used: found tools are loaded, not described."""
    search: str = "tool_search"
    """The bridge's name for searching."""
    max_output: int | None = None

    @property
    def learned(self) -> tuple[Tool, ...]:
        """The tools that searches loaded and that no summary carries, in the order they came."""
        carried = {tool.name for tool in self.carried}
        return tuple(tool for tool in _found(self.messages) if tool.name not in carried)

    @property
    def carried(self) -> tuple[Tool, ...]:
        """The tools that a summary carries."""
        given = (message for message in self.messages if isinstance(message, Summary))
        return _once(tool for message in given for tool in message.tools)


class Stream(Protocol):
    """One answer while it arrives, event by event."""

    def feed(self, event: JsonObject) -> str:
        """Take in one event; the text for the person that came with it."""
        ...

    def answer(self) -> Answered:
        """The whole answer.

        Raises:
            AnswerCut: The stream ended before the answer did.
        """
        ...


def learned(messages: Iterable[Message]) -> tuple[Tool, ...]:
    """Every tool that a search or a summary of the conversation brought, first come first."""
    found: list[Tool] = []
    for message in messages:
        found += message.tools if isinstance(message, Summary) else _found((message,))
    return _once(found)


def _found(messages: Iterable[Message]) -> tuple[Tool, ...]:
    returned = (message for message in messages if isinstance(message, Returned))
    replies = (reply for message in returned for reply in message.replies)
    return _once(tool for reply in replies for tool in reply.result.tools)


def _once(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    kept: dict[str, Tool] = {}
    for tool in tools:
        kept.setdefault(tool.name, tool)
    return tuple(kept.values())
