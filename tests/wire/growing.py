"""Conversations that grow, and what must stay the same in them while they do."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.properties.strategies import any_text, json_objects, json_values
from tooldrawer.bridge.schemas import BridgeNames, bridge_tools, native_search
from tooldrawer.call import ToolResult
from tooldrawer.tool import Json, JsonObject, Tool
from tooldrawer.wire.message import Answered, Asked, Message, Reply, Request, Returned, Said

Respond = Callable[[str, Sequence[Asked]], JsonObject]
"""How a provider would write an answer of this text and these calls."""

DIRECT = Tool(name="look", description="Look at it.")
FOUND = tuple(Tool(name=f"found_{number}", description="Found.") for number in range(6))


@dataclass(frozen=True, slots=True)
class _Step:
    text: str
    is_own: bool
    """Whether the answer came over the wire that is tried."""
    calls: tuple[tuple[str, Json], ...]
    results: tuple[ToolResult, ...]
    said: str


def blocks() -> SearchStrategy[JsonObject]:
    """Content of results, most of it wrong."""
    kinds = st.sampled_from(("text", "image", "audio", "resource", "resource_link", "?"))
    known = st.fixed_dictionaries(
        {"type": kinds},
        optional={
            "text": any_text,
            "data": st.sampled_from(("AAAA", "no base64", "")),
            "mimeType": st.sampled_from(("image/png", "image/tiff", "application/pdf")),
            "resource": json_objects() | st.just({"uri": "file:///a", "text": "a"}),
        },
    )
    return known | json_objects()


def results() -> SearchStrategy[ToolResult]:
    return st.builds(
        ToolResult,
        content=st.lists(blocks(), max_size=3).map(tuple),
        structured=st.none() | json_values(leaves=3),
        is_error=st.booleans(),
        tools=st.lists(st.sampled_from(FOUND), max_size=3).map(tuple),
    )


def steps() -> SearchStrategy[list[_Step]]:
    names = st.sampled_from(("tool_search", "look", "", "no such!")) | any_text
    calls = st.lists(st.tuples(names, json_values(leaves=4)), max_size=3).map(tuple)

    def step(made: tuple[tuple[str, Json], ...]) -> SearchStrategy[_Step]:
        given = st.tuples(*(results() for _ in made))
        return st.builds(_Step, any_text, st.booleans(), st.just(made), given, any_text)

    return st.lists(calls.flatmap(step), min_size=1, max_size=4)


def conversation(
    done: Sequence[_Step], respond: Respond, read: Callable[[JsonObject], Answered]
) -> list[list[Message]]:
    """The messages of each request, one after the other."""
    messages: list[Message] = [Said(text="Hello")]
    sent = [list(messages)]
    for number, step in enumerate(done):
        asked = tuple(
            Asked(name=name, arguments=arguments, id=f"call_{number}_{position}")
            for position, (name, arguments) in enumerate(step.calls)
        )
        answer = Answered(text=step.text, calls=asked)
        if step.is_own:
            answer = read(respond(step.text, asked))
        messages.append(answer)
        if answer.calls:
            replies = zip(answer.calls, step.results, strict=True)
            messages.append(Returned(replies=tuple(Reply(call=a, result=b) for a, b in replies)))
        else:
            messages.append(Said(text=step.said))
        sent.append(list(messages))
    return sent


def request(messages: Sequence[Message], *, native: bool = False) -> Request:
    names = BridgeNames()
    bridge = (native_search(names),) if native else bridge_tools(names)
    return Request(
        model="model-1",
        system="Be brief.",
        tools=(DIRECT, *bridge),
        messages=messages,
        native=native,
    )


def odd(keys: Sequence[str], *texts: str) -> SearchStrategy[JsonObject]:
    """Objects with the right keys and everything else wrong, three levels deep."""
    names: SearchStrategy[str] = st.sampled_from(keys)
    values: SearchStrategy[Json] = json_values(*texts, leaves=4)
    found: SearchStrategy[JsonObject] = st.dictionaries(names, values, max_size=5)
    for _ in range(3):
        inner: SearchStrategy[Json] = values | found | st.lists(found, max_size=3)
        found = st.dictionaries(names, inner, max_size=5)
    return found


def as_bytes(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=True).encode()


def grows(earlier: Json, later: Json) -> bool:
    """Whether the one is what the other begins with, up to the brackets at its end."""
    return as_bytes(later).startswith(as_bytes(earlier).removesuffix(b"]}").removesuffix(b"]"))
