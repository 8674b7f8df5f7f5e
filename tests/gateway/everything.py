"""A real MCP server with one of everything that a gateway has to pass on.

`python -m tests.gateway.everything [legacy]`: over stdio, in both eras or in the handshake's only.
"""

import base64
import sys
from typing import Any, get_args

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context = ServerRequestContext[Any, Any]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(32)).decode()
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
NUMBERS: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
CITY = types.ElicitRequestFormParams(
    message="Which city?",
    requested_schema={"type": "object", "properties": {"city": {"type": "string"}}},
)
TOOLS = {
    "add": ("Add two numbers", NUMBERS),
    "slow": ("Count to n with progress, a tenth of a second each", NOTHING),
    "image": ("Draw a small picture", NOTHING),
    "mixed": ("Give audio, a link and an embedded resource", NOTHING),
    "ask": ("Ask the person for a city", NOTHING),
    "think": ("Let the client's model think", NOTHING),
    "fail": ("Answer with an error", NOTHING),
    "boom": ("Answer with a protocol error", NOTHING),
    "grow": ("Get one more tool", NOTHING),
    "cancelled": ("Say which calls were cancelled", NOTHING),
    "delete_all": ("Delete everything", NOTHING),
    "say": ("Log two lines, one of them an error", NOTHING),
    "meta": ("Tell what came along with the call", NOTHING),
    "root": ("Name the folders of the client", NOTHING),
}
bus = InMemorySubscriptionBus()
grown: list[str] = []
given_up: list[str] = []
LEVELS = get_args(types.LoggingLevel)
level: list[types.LoggingLevel] = ["debug"]


def text(said: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)], **more)


async def list_tools(
    _: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    everything = [
        types.Tool(name=name, description=description, input_schema=schema)
        for name, (description, schema) in {
            **TOOLS,
            **dict.fromkeys(grown, ("A tool that grew", NOTHING)),
        }.items()
    ]
    start = int(params.cursor) if params and params.cursor else 0
    following = str(start + 5) if start + 5 < len(everything) else None
    return types.ListToolsResult(tools=everything[start : start + 5], next_cursor=following)


async def call_tool(  # noqa: C901  one branch for each tool
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "add":
            total = given["a"] + given["b"]
            return text(str(total), structured_content={"sum": total})
        case "slow":
            return await _slow(ctx, int(given.get("n", 3)), str(given.get("label")))
        case "image":
            picture = types.ImageContent(type="image", data=PNG, mime_type="image/png")
            return types.CallToolResult(content=[picture])
        case "mixed":
            return _mixed()
        case "ask":
            return await _ask(ctx, params)
        case "think":
            return await _think(ctx, params)
        case "fail":
            return text("the tool said no", is_error=True)
        case "boom":
            raise MCPError(-32042, "a protocol error", {"why": "test"})
        case "grow":
            grown.append(f"grown{len(grown)}")
            await bus.publish(ToolsListChanged())
            await ctx.session.send_notification(types.ToolListChangedNotification())
            return text("grown")
        case "cancelled":
            return text(",".join(given_up))
        case "delete_all":
            return text("everything is gone")
        case "say":
            return await _say(ctx)
        case "meta":
            return text("meta", structured_content=dict((ctx.params or {}).get("_meta") or {}))
        case "root":
            return await _root(ctx, params)
        case _:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")


async def _slow(ctx: Context, count: int, label: str) -> types.CallToolResult:
    try:
        for step in range(count):
            await ctx.session.report_progress(step + 1, count, f"step {step + 1}")
            await anyio.sleep(0.1)
    except anyio.get_cancelled_exc_class():
        given_up.append(label)
        raise
    return text("done")


async def _say(ctx: Context) -> types.CallToolResult:
    allowed = allowed_log_levels(ctx.protocol_version, ctx.meta)
    least = LEVELS.index(level[0]) if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS else 0
    for each in ("info", "error"):
        if each in allowed and LEVELS.index(each) >= least:
            line = types.LoggingMessageNotificationParams(level=each, data="a line", logger="own")
            await ctx.session.send_notification(
                types.LoggingMessageNotification(params=line), related_request_id=ctx.request_id
            )
    return text("said")


async def set_level(_: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    level[0] = params.level
    return types.EmptyResult()


def _mixed() -> types.CallToolResult:
    resource = types.TextResourceContents(uri="note://1", mime_type="text/plain", text="a note")
    return types.CallToolResult(
        content=[
            types.AudioContent(type="audio", data=PNG, mime_type="audio/wav"),
            types.ResourceLink(type="resource_link", uri="note://1", name="a note"),
            types.EmbeddedResource(type="resource", resource=resource),
        ],
        structured_content={"kinds": 3},
        _meta={"example/kept": True},
    )


async def _ask(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer = (params.input_responses or {}).get("city")
        if answer is None:
            return types.InputRequiredResult(
                input_requests={"city": types.ElicitRequest(params=CITY)}, request_state="mine"
            )
        assert params.request_state == "mine"
    else:
        answer = await ctx.session.elicit_form(
            CITY.message, CITY.requested_schema, related_request_id=ctx.request_id
        )
    assert isinstance(answer, types.ElicitResult)
    return text(f"{answer.action}:{(answer.content or {}).get('city')}")


THOUGHT = types.CreateMessageRequestParams(
    messages=[
        types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Think."))
    ],
    max_tokens=10,
)


async def _think(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer = (params.input_responses or {}).get("thought")
        if answer is None:
            return types.InputRequiredResult(
                input_requests={"thought": types.CreateMessageRequest(params=THOUGHT)},
                request_state="thinking",
            )
    else:
        answer = await ctx.session.send_request(
            types.CreateMessageRequest(params=THOUGHT), types.CreateMessageResult
        )
    assert isinstance(answer, types.CreateMessageResult)
    assert isinstance(answer.content, types.TextContent)
    return text(answer.content.text)


async def _root(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer = (params.input_responses or {}).get("folders")
        if answer is None:
            return types.InputRequiredResult(
                input_requests={"folders": types.ListRootsRequest()}, request_state="looking"
            )
    else:
        answer = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    assert isinstance(answer, types.ListRootsResult)
    return text(" ".join(str(root.uri) for root in answer.roots))


async def list_prompts(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    prompt = types.Prompt(name="review", arguments=[types.PromptArgument(name="of")])
    return types.ListPromptsResult(prompts=[prompt])


async def get_prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    said = types.TextContent(type="text", text=f"Review {(params.arguments or {}).get('of')}.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])


async def list_resources(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(uri="note://1", name="a note")])


async def list_templates(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="note://{number}", name="notes")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(
    _: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    found = types.TextResourceContents(uri=params.uri, text=f"the text of {params.uri}")
    return types.ReadResourceResult(contents=[found])


async def complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [f"{params.argument.value}…"]
    return types.CompleteResult(completion=types.Completion(values=values))


server = Server(
    "everything",
    version="1.0",
    instructions="Use add for sums.",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_completion=complete,
    on_subscriptions_listen=ListenHandler(bus),
)
# As a constructor argument it would warn that the stateless era has no logging.
server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)


async def main(*, legacy: bool) -> None:
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (reading, writing):
        if legacy:
            await serve_loop(server, reading, writing, lifespan_state={}, init_options=options)
        else:
            await server.run(reading, writing, options)


if __name__ == "__main__":
    anyio.run(lambda: main(legacy="legacy" in sys.argv))
