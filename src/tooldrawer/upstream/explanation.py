"""Why something went wrong with a server, in words: the SDK raises groups of anything."""

from http import HTTPStatus

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED

from tooldrawer.exception_groups import leaves
from tooldrawer.upstream.unreachable import Unreachable

_CLOSED = "it closed the connection"
_NOT_MCP = "it does not answer as an MCP server; its url must be that of the MCP endpoint"
_SDK_PARSE_ERRORS = ("Failed to parse JSON response: ", "Failed to parse SSE message: ")
"""How the SDK's errors about an invalid body begin; the rest is a dump of its models."""
_SDK_CONTENT_TYPE_ERROR = "Unexpected content type: "


def gone(*, dislikes_discover: bool = False) -> Unreachable:
    """The server ended the connection."""
    return Unreachable(_CLOSED, is_gone=True, dislikes_discover=dislikes_discover)


def is_closed(error: MCPError) -> bool:
    """Whether the connection ended. Servers answer with the same code, and with their own words."""
    return error.code == CONNECTION_CLOSED and error.message == "Connection closed"


def is_gone(error: BaseException) -> bool:
    """Whether it was the server that ended the connection."""
    return any(
        (isinstance(each, Unreachable) and each.is_gone)
        or (isinstance(each, MCPError) and is_closed(each))
        for each in leaves(error)
    )


def explained(error: BaseException) -> str:
    """The end of a sentence that begins with the server: `it ...`."""
    first = next((each for each in leaves(error) if isinstance(each, Exception)), error)
    said = _one_line(str(first))
    match first:
        case Unreachable():
            return str(first)
        case MCPError():
            return _explain_mcp_error(first)
        case httpx2.ConnectError():
            return f"nobody answers at its address ({said})"
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
            return f"its url is not valid ({said.rstrip('.')})"
        case httpx2.TimeoutException() | TimeoutError():
            return "it did not answer in time"
        case _:
            return f"{type(first).__name__}: {said}" if said else type(first).__name__


def _explain_mcp_error(error: MCPError) -> str:
    if is_closed(error):
        return _CLOSED
    if error.message.startswith(_SDK_PARSE_ERRORS):
        return _NOT_MCP
    if error.message.startswith(_SDK_CONTENT_TYPE_ERROR):
        content_type = error.message.removeprefix(_SDK_CONTENT_TYPE_ERROR)[:80]
        return f"{_NOT_MCP} (it sent {content_type or 'no content type'})"
    return f"it answered with the error {error.code}: {_one_line(str(error))}"


def _one_line(text: str) -> str:
    """The beginning of a text; a server may send one of 60 MB."""
    return " ".join(text[:3_000].split())[:300]


def http_complaint(status: int) -> str:
    """What an HTTP status means to a person who configured the server."""
    try:
        name = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        name = str(status)
    if status in {401, 403}:
        return f"it answered HTTP {name}: check the headers, such as Authorization, that it is sent"
    if status in {404, 405, 406, 415}:
        return f"it answered HTTP {name}: check its url, which must be that of the MCP endpoint"
    return f"it answered HTTP {name}"
