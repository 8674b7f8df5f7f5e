"""`prompts/get` and `resources/read`, run through the dispatcher as tools are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from tooldrawer.admission import Admission
from tooldrawer.call import ToolCall, ToolResult, text_block, thawed
from tooldrawer.catalog import Catalog
from tooldrawer.dispatch import View
from tooldrawer.errors import CallDenied, ToolFailed
from tooldrawer.gateway.items import Item, admits_item
from tooldrawer.gateway.lists import Raw
from tooldrawer.registry import Snapshot
from tooldrawer.session import Session
from tooldrawer.tool import Json, JsonObject, Tool


async def get_prompt(
    session: Session, item: Item, request: Raw, admission: Callable[[], Admission]
) -> Raw:
    """Get a prompt; hooks see its arguments, and each message's content as a block.

    Raises:
        CallRejected: A hook, a guardrail or a person refused it.
        ToolFailed: The server cannot be reached, or gave no prompt.
    """
    fetch = _Fetch(item, "prompts/get", request)
    arguments = cast("JsonObject", request.get("arguments") or {})
    result = await session.fetch(item.tool.name, arguments, _view(item, fetch, admission))
    messages = _objects(fetch.answer.get("messages"))
    blocks = list(map(thawed, result.content))
    if len(messages) != len(blocks):  # a hook or the limit on text made others of them
        messages = [{"role": "user"} for _ in blocks]
    changed = [
        {**message, "content": block} for message, block in zip(messages, blocks, strict=True)
    ]
    return {**fetch.answer, "messages": changed}


async def read_resource(
    session: Session, item: Item, request: Raw, admission: Callable[[], Admission]
) -> Raw:
    """Read a resource; hooks see its address as the argument `uri`, and its texts as text blocks.

    Raises:
        CallRejected: A hook, a guardrail or a person refused it.
        ToolFailed: The server cannot be reached, or gave no contents.
    """
    fetch = _Fetch(item, "resources/read", request)
    arguments: JsonObject = {"uri": item.address}
    result = await session.fetch(item.tool.name, arguments, _view(item, fetch, admission))
    contents = _objects(fetch.answer.get("contents"))
    blocks = list(map(thawed, result.content))
    if len(contents) != len(blocks):
        contents = [{"uri": item.address} for _ in blocks]
    changed = [_content(old, block) for old, block in zip(contents, blocks, strict=True)]
    return {**fetch.answer, "contents": changed}


class _Fetch:
    """A toolset of one item, which keeps the server's whole answer beside what hooks see of it."""

    keeps_time = True

    def __init__(self, item: Item, method: str, request: Raw) -> None:
        self.name = item.tool.source
        self.answer: Raw = {}
        self._item, self._method, self._request = item, method, request

    def tools(self) -> Sequence[Tool]:
        """The item alone."""
        return (self._item.tool,)

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Ask the server for it."""
        self.answer = await self._item.upstream.request(self._method, self._params(call))
        try:
            blocks = _message_blocks(self.answer) if tool.kind == "prompt" else _texts(self.answer)
        except (KeyError, TypeError) as error:
            raise ToolFailed(
                f"The server {tool.server!r} returned an invalid {tool.kind}. Tell the user; do "
                "not try again."
            ) from error
        return ToolResult(content=tuple(blocks))

    def _params(self, call: ToolCall) -> Raw:
        if self._method == "prompts/get":
            given = {"arguments": dict(call.arguments)} if call.arguments else {}
            return {**self._request, "name": self._item.address, **given}
        if call.arguments.get("uri") != self._item.address:
            # Another address may be out of scope, and nothing checked it.
            raise CallDenied(
                f"A hook changed the address of {call.name!r}, so it was not read. Tell the user; "
                "do not try again."
            )
        return {**self._request, "uri": self._item.address}


def _view(item: Item, fetch: _Fetch, admission: Callable[[], Admission]) -> Callable[[], View]:
    """The item while its scope admits it: hooks and a person may take their time."""
    snapshot = Snapshot(
        generation=0, toolsets={item.tool.source: fetch}, listed=((item.tool,),), tools=(item.tool,)
    )

    def view() -> View:
        is_admitted = admits_item(admission(), item)
        return View(catalog=Catalog((item.tool,) if is_admitted else ()), snapshot=snapshot)

    return view


def _message_blocks(answer: Raw) -> list[JsonObject]:
    return [_require_object(message["content"]) for message in _require_objects(answer, "messages")]


def _texts(answer: Raw) -> list[JsonObject]:
    return [
        text_block(content["text"])
        if isinstance(content.get("text"), str)
        else {"type": "resource", "resource": content}
        for content in _require_objects(answer, "contents")
    ]


def _content(old: Raw, block: dict[str, Json]) -> Raw:
    """One entry of `contents` from the block that hooks saw, and perhaps changed."""
    if block.get("type") == "text":
        return {**old, "text": block.get("text")}
    resource = block.get("resource")
    return dict(resource) if isinstance(resource, Mapping) else {**old, "text": str(block)}


def _require_objects(answer: Raw, key: str) -> list[Raw]:
    found = answer[key]
    if not isinstance(found, list):
        raise TypeError(key)
    return [cast("Raw", _require_object(each)) for each in cast("list[Any]", found)]


def _require_object(value: Any) -> JsonObject:
    if not isinstance(value, Mapping):
        raise TypeError(type(value).__name__)
    return cast("JsonObject", value)


def _objects(value: Any) -> list[Raw]:
    return [dict(each) for each in cast("list[Raw]", value or ())]
