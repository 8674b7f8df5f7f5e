"""Every exception the package raises.

    ToolDrawerError
    ├── ConfigError            the settings are wrong; the message names the file, line and key
    ├── CatalogFileError       a recorded tool list cannot be read
    ├── ToolsetTaken           two toolsets want one name
    ├── ToolsetUnknown         there is no toolset of that name
    ├── ToolsetBroken          a toolset cannot list its tools
    ├── UnsupportedFunction    a function that a model cannot call
    ├── UnsupportedSchema      a tool whose schema is nested too deep
    ├── BridgeNameTaken        a real tool is called like a bridge tool
    ├── EndpointFailed         the server for embeddings gave no vectors
    ├── ModelFileChanged       a file of the packaged model differs from its checksum
    ├── SessionClosed          the session was left
    ├── ModelFailed            the model gave no answer; its text is written for the person
    │   ├── ModelUnreachable   nothing answered at the endpoint
    │   ├── ModelOverloaded    too many requests, or trouble on the other side; worth another try
    │   ├── KeyRefused
    │   ├── ModelUnknown       the endpoint has no model of that name
    │   ├── NativeRefused      the endpoint does not defer tools by itself
    │   ├── ContextFull        the conversation is longer than the model reads
    │   ├── RequestRefused     any other refusal
    │   └── AnswerCut          the answer broke off
    ├── ToolFailed             the tool ran, and broke; its text is written for the model
    │   ├── ToolTimedOut
    │   └── ServerRefused      an MCP server answered with a protocol error
    └── CallRejected           the tool did not run; its text is written for the model
        ├── UnknownTool
        ├── InvalidArguments
        │   └── MissingArguments   they fit, except that required ones are missing
        └── CallDenied

`ToolFailed` and `CallRejected` never leave `Session.call`: they become error results there,
in one place.
"""

from typing import Self


class ToolDrawerError(Exception):
    """Base of everything raised on purpose."""


class ConfigError(ToolDrawerError):
    """The configuration cannot be used as written; `mistakes` has one sentence for each."""

    def __init__(self, *mistakes: str) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


class CatalogFileError(ToolDrawerError):
    """A file is not a recorded answer to `tools/list`."""


class ToolsetTaken(ToolDrawerError):
    """A toolset of that name is registered already."""


class ToolsetUnknown(ToolDrawerError):
    """No toolset of that name is registered."""


class ToolsetBroken(ToolDrawerError):
    """A toolset cannot list its tools, so it cannot be registered."""


class UnsupportedFunction(ToolDrawerError, TypeError):
    """A function cannot be a tool; the text names it, and the parameter that is in the way."""


class UnsupportedSchema(ToolDrawerError, ValueError):
    """A tool's definition is nested too deep to be copied, compared or written as JSON."""


class BridgeNameTaken(ConfigError):
    """A real tool has the name of a bridge tool, so calls to it could not be told apart."""

    def __init__(self, name: str, *, toolset: str) -> None:
        super().__init__(
            f"The toolset {toolset!r} has a tool named {name!r}, which is the name of a bridge "
            "tool. Rename the tool, or rename the bridge with tools.tool_search.names."
        )


class EndpointFailed(ToolDrawerError):
    """The server for embeddings cannot be reached, or what it gave are no vectors."""


class ModelFileChanged(ToolDrawerError):
    """A file of the packaged model is missing or differs from its checksum; it is not loaded."""


class SessionClosed(ToolDrawerError):
    """The session was left; open a new one."""


class ModelFailed(ToolDrawerError):
    """The model gave no answer. `str(error)` tells the person what happened and what to do."""


class ModelUnreachable(ModelFailed):
    """Nothing answered at the endpoint."""


class ModelOverloaded(ModelFailed):
    """The endpoint has too much to do, or is in trouble; the same request may succeed later."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the endpoint asks to wait."""


class KeyRefused(ModelFailed):
    """The endpoint does not take the key."""


class ModelUnknown(ModelFailed):
    """The endpoint has no model of that name."""


class NativeRefused(ModelFailed):
    """The endpoint does not defer tools by itself; the bridge works there all the same."""


class ContextFull(ModelFailed):
    """The conversation is longer than the model reads."""


class RequestRefused(ModelFailed):
    """The endpoint refused the request for another reason."""


class AnswerCut(ModelFailed):
    """The answer broke off; `text` is what had come."""

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class ToolFailed(ToolDrawerError):
    """The tool ran and did not come to a result."""


class ToolTimedOut(ToolFailed):
    """The tool did not finish within its time limit."""

    @classmethod
    def after(cls, seconds: float, tool: str, *, is_stopped: bool) -> Self:
        """The error for a tool that was cancelled at its limit; `is_stopped` if its work ended."""
        late = f"{tool!r} did not finish within {seconds:g} s"
        if is_stopped:
            return cls(f"{late} and was stopped. Ask for less at once, or tell the user.")
        return cls(
            f"{late}. It may still be running; do not repeat blindly. Check what it has done, or "
            "tell the user."
        )


class ServerRefused(ToolFailed):
    """An MCP server answered the call with a protocol error, which has a code and may have data."""

    def __init__(self, message: str, *, code: int, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class CallRejected(ToolDrawerError):
    """The call was not made. `str(error)` tells the model what to do instead."""


class UnknownTool(CallRejected):
    """No tool of that name is in this session's catalog.

    The text does not repeat the name that was asked for: a tool outside the scope and a tool that
    does not exist must give the same words.
    """

    def __init__(self, *, near: tuple[str, ...] = (), asked: str = "") -> None:
        hint = f" The nearest names are {', '.join(map(repr, near))}." if near else ""
        super().__init__(
            f"There is no tool of that name.{hint} Use a name from your list of tools, or search "
            "for what you need to do and use a name exactly as the search gave it."
        )
        self.near = near
        self.asked = asked
        """The name that was asked for."""


class InvalidArguments(CallRejected):
    """The arguments do not fit; the tool was not run."""


class MissingArguments(InvalidArguments):
    """The arguments fit, except that required ones are missing; the tool was not run."""


class CallDenied(CallRejected):
    """A guardrail or a person said no."""
