"""The three tools a model sees in place of the drawer's contents."""

from tooldrawer.bridge.policy import SearchPolicy
from tooldrawer.bridge.requests import (
    CallTool,
    DescribeTools,
    Request,
    SearchTools,
    depends_on_all_tools,
    parse,
    unnested,
)
from tooldrawer.bridge.schemas import BRIDGE, BridgeNames, bridge_tools, native_search
from tooldrawer.bridge.search_limit import SearchLimit
from tooldrawer.bridge.signature import short_signature, signature

__all__ = [
    "BRIDGE",
    "BridgeNames",
    "CallTool",
    "DescribeTools",
    "Request",
    "SearchLimit",
    "SearchPolicy",
    "SearchTools",
    "bridge_tools",
    "depends_on_all_tools",
    "native_search",
    "parse",
    "short_signature",
    "signature",
    "unnested",
]
