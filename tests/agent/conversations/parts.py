"""Messages to keep: a few that are easy to read, and all there can be."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.properties.strategies import any_text, json_objects, json_values
from tooldrawer import Tool, ToolResult
from tooldrawer.tool import Json
from tooldrawer.wire.message import Answered, Asked, Message, Reply, Returned, Said, Summary, Usage

ISSUE = Tool(
    name="mcp_github_create_issue",
    description="Create an issue.",
    parameters={
        "type": "object",
        "properties": {"title": {"type": "string"}, "labels": {"type": "array"}},
        "required": ["title"],
    },
    source="mcp-github",
)
PAGE = Tool(
    name="mcp_wiki_read_page",
    parameters={"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    source="mcp-wiki",
)


def call(name: str, arguments: Json = None, *, number: int = 1) -> Asked:
    return Asked(name=name, arguments=arguments, id=f"call_{number}")


def bridged(name: str, arguments: Json = None, *, number: int = 1) -> Asked:
    return call("tool_call", {"name": name, "arguments": arguments or {}}, number=number)


def returned(asked: Asked, text: str, *, is_error: bool = False) -> Returned:
    result = ToolResult.of_text(text, is_error=is_error, call_id=asked.id)
    return Returned(replies=(Reply(call=asked, result=result),))


def exchange(name: str, text: str, *, number: int = 1) -> tuple[Message, Message]:
    """A call and what came of it."""
    asked = call(name, {"path": "a"}, number=number)
    return Answered(calls=(asked,)), returned(asked, text)


def every_field() -> tuple[Message, ...]:
    """Messages in which no field is as it would be by itself."""
    tool = Tool(
        name="a",
        description="b",
        parameters={"type": "object", "properties": {"c": {}}},
        source="d",
        annotations={"readOnlyHint": True},
        trusted=True,
        origin_name="e",
        long_name="f",
        raw={"g": [1]},
        shape="anthropic",
    )
    asked = Asked(name="a", arguments={"h": None}, id="i", native=True)
    result = ToolResult(
        content=({"type": "text", "text": "j"},),
        structured=[1, 2.5],
        is_error=True,
        meta={"k": "l"},
        call_id="m",
        tools=(tool,),
    )
    return (
        Said(text="n"),
        Answered(
            text="o",
            calls=(asked,),
            wire="anthropic",
            raw=({"type": "thinking", "signature": "p"},),
            usage=Usage(input=1, cached=2, written=3, output=4),
            complete=False,
        ),
        Returned(replies=(Reply(call=asked, result=result),)),
        Summary(text="q", tools=(tool,)),
    )


def messages() -> SearchStrategy[Message]:
    """Any message at all."""
    counts = st.integers(min_value=0)
    asked = st.builds(
        Asked, name=any_text, arguments=json_values(), id=any_text, native=st.booleans()
    )
    tools = st.builds(
        Tool,
        name=any_text,
        description=any_text,
        parameters=json_objects(),
        source=any_text,
        annotations=json_objects(),
        trusted=st.booleans(),
        origin_name=any_text,
        long_name=any_text,
        raw=json_objects(),
        shape=st.sampled_from(("mcp", "openai", "anthropic")),
    )
    several = st.lists(tools, max_size=2).map(tuple)
    objects = st.lists(json_objects(leaves=5), max_size=2).map(tuple)
    results = st.builds(
        ToolResult,
        content=objects,
        structured=json_values(),
        is_error=st.booleans(),
        meta=json_objects(leaves=5),
        call_id=any_text,
        cause=st.none(),
        tools=several,
    )
    replies = st.builds(Reply, call=asked, result=results)
    usages = st.builds(Usage, input=counts, cached=counts, written=counts, output=counts)
    return st.one_of(
        st.builds(Said, text=any_text),
        st.builds(
            Answered,
            text=any_text,
            calls=st.lists(asked, max_size=2).map(tuple),
            wire=any_text,
            raw=objects,
            usage=usages,
            complete=st.booleans(),
        ),
        st.builds(Returned, replies=st.lists(replies, max_size=2).map(tuple)),
        st.builds(Summary, text=any_text, tools=several),
    )
