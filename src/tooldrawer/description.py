"""Answer `tool_describe` for a session."""

from collections.abc import Callable
from time import perf_counter

from tooldrawer.activity import Described
from tooldrawer.bridge import DescribeTools
from tooldrawer.bridge.replies import describe_reply
from tooldrawer.call import ToolResult
from tooldrawer.catalog import Catalog
from tooldrawer.dispatch import Caller
from tooldrawer.errors import UnknownTool
from tooldrawer.ledger import Ledger
from tooldrawer.parts import Parts
from tooldrawer.tokens import compact
from tooldrawer.tool import Json


def describe_tools(
    request: DescribeTools,
    catalog: Catalog,
    parts: Parts,
    *,
    caller: Caller,
    ledger: Ledger,
    explain: Callable[[UnknownTool], str],
) -> ToolResult:
    """Give the full schemas of the tools asked for; `explain` is for those that are not there.

    Raises:
        UnknownTool: The only tool asked for is not in the catalog.
    """
    replies: list[Json] = []
    for name in request.names:
        started = perf_counter()
        try:
            tool = catalog.get(name)
        except UnknownTool as error:
            if not request.is_list:
                raise
            replies.append({"error": explain(error)})
            continue
        replies.append(describe_reply(tool))
        parts.emit(
            Described(
                **caller.stamp(),
                tool=tool.name,
                reply_tokens=parts.counter.count(compact(replies[-1])),
                duration=perf_counter() - started,
            )
        )
    reply: Json = {"results": replies} if request.is_list else replies[0]
    result = ToolResult.of_json(reply)
    ledger.described(parts.counter.count(result.text))
    return result
