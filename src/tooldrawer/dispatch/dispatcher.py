"""The one door. Direct calls and bridged calls come through it alike."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from operator import is_
from time import perf_counter, time
from typing import cast

import anyio
import anyio.lowlevel

from tooldrawer.activity import (
    CANCELLED,
    CANCELLED_RUNNING,
    CallFailed,
    CallFinished,
    CallRefused,
    CallStarted,
    Emit,
    Stamp,
)
from tooldrawer.admission import Admission
from tooldrawer.bounds.server_error import bound_refusal, cut_message
from tooldrawer.bounds.size import Size
from tooldrawer.bridge import BridgeNames
from tooldrawer.call import ToolCall, ToolResult, freeze
from tooldrawer.catalog import Catalog
from tooldrawer.dispatch.arguments import MAX_VALUES_AT_ONCE, require_size
from tooldrawer.dispatch.cancellation import is_stray
from tooldrawer.dispatch.error_text import describe_error, error_message
from tooldrawer.dispatch.grants import Grantee
from tooldrawer.dispatch.guardrails import Deny, Guardrail, judge
from tooldrawer.dispatch.hooks import Hook, chain
from tooldrawer.dispatch.incomplete_calls import IncompleteCalls
from tooldrawer.dispatch.limits import Limits
from tooldrawer.dispatch.permission import Holder, Permission
from tooldrawer.dispatch.validation import Checked, Validation
from tooldrawer.errors import (
    CallDenied,
    CallRejected,
    InvalidArguments,
    MissingArguments,
    ServerRefused,
    ToolFailed,
    ToolTimedOut,
)
from tooldrawer.json_values import is_deeper
from tooldrawer.registry import Snapshot
from tooldrawer.scope import Scope
from tooldrawer.surrogates import replace_half_pairs_in
from tooldrawer.tokens import Estimate, compact
from tooldrawer.tool import JsonObject, Tool
from tooldrawer.toolset import Toolset, keeps_time, stops_when_cancelled

_logger = logging.getLogger(__name__)
_tokens = Estimate().count
_MOST_ERROR = 500
"""Characters of a tool's own error in the activity."""
_MOST_RESULT_LEVELS = 200
"""As deep as parsers of JSON go that bound it. A result of a thousand levels could be read and not
written again, which ended the conversation that it came into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What exists for a session at one moment."""

    catalog: Catalog
    snapshot: Snapshot

    def admission(self, scope: Scope) -> Admission:
        """What else than tools a session of this scope may be shown."""
        return Admission(scope=scope, snapshot=self.snapshot, catalog=self.catalog)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The session behind a call."""

    session: str
    scope: Callable[[], Scope]
    """What the session may see now."""
    view: Callable[[], View]
    """What exists for it now; asked again after a person was, because that takes time."""
    granted: set[str] = field(default_factory=set[str])
    """What a person granted for the whole session."""
    incomplete: IncompleteCalls = field(default_factory=IncompleteCalls)
    """The session's calls that were refused for missing arguments."""
    principal: str = ""
    """On whose behalf it calls; empty for the process itself."""
    has_conversation: bool = True
    """Whether its calls are one conversation; otherwise it remembers no grants."""

    def stamp(self) -> Stamp:
        """For an event of this session."""
        return Stamp(at=time(), session=self.session, scope=self.scope().name)

    def holder(self) -> Holder:
        """Whose grants count."""
        grantee = Grantee.of(self.principal, self.scope())
        granted = self.granted if self.has_conversation else set[str]()
        return Holder(grantee=grantee, session=granted)


@dataclass(slots=True)
class _Progress:
    """How far a call has come."""

    arguments: JsonObject
    """As they were when the call came in; nothing can change them."""
    size: Size
    checked: Checked = field(default_factory=lambda: Checked(arguments={}))
    may_run_on: bool = False
    """Whether a tool is at work that does not end with the call."""
    has_run: bool = False
    """Whether the tool ran to an end of its own, good or bad."""


class Dispatcher:
    """Scope, hooks, schema, guardrails, approval, tool: in that order, always.

    Hooks come first because they may change the arguments; nothing changes them after the schema,
    the guardrails and the person have seen them.
    """

    def __init__(
        self,
        *,
        emit: Emit,
        permission: Permission,
        hooks: Sequence[Hook] = (),
        guardrails: Sequence[Guardrail] = (),
        limits: Limits | None = None,
        describe: str = BridgeNames().describe,
    ) -> None:
        """`describe` is the bridge's name for showing a tool's whole schema."""
        self._emit = emit
        self._permission = permission
        self._hooks = tuple(hooks)
        self._guardrails = tuple(guardrails)
        self._limits = limits or Limits()
        self._validation = Validation(max_bytes=self._limits.arguments_max_bytes, describe=describe)

    async def run(
        self, name: str, arguments: JsonObject, *, caller: Caller, call_id: str = ""
    ) -> ToolResult:
        """Run one call.

        Raises:
            CallRejected: The tool was not run.
            ToolFailed: It was, and it broke.
        """
        started = perf_counter()
        tool: Tool | None = None
        try:
            tool = caller.view().catalog.get(name)
            size = require_size(
                arguments, tool=tool.name, max_bytes=self._limits.arguments_max_bytes
            )
            frozen, tokens = _frozen(tool, arguments)
        except CallRejected as error:
            self._refused(caller, tool and tool.name, error, started, call_id)
            raise
        call = ToolCall(
            name=tool.name,
            arguments=frozen,
            id=call_id,
            session=caller.session,
            principal=caller.principal,
            has_conversation=caller.has_conversation,
            kind=tool.kind,
        )
        self._emit(
            CallStarted(
                **caller.stamp(),
                tool=tool.name,
                toolset=tool.source,
                arguments=frozen,
                argument_tokens=tokens,
                call=call_id,
                kind=tool.kind,
            )
        )
        progress = _Progress(arguments=frozen, size=size)
        return await self._reported(tool, call, caller, started, progress)

    async def _reported(
        self, tool: Tool, call: ToolCall, caller: Caller, started: float, progress: _Progress
    ) -> ToolResult:
        async def rest(final: ToolCall) -> ToolResult:
            return await self._run(tool, final, caller, progress)

        try:
            result = _sound(await chain(self._hooks, rest)(call), f"A hook around {tool.name!r}")
            _require_flat(result, tool)
            result = _replace_half_pairs(result)
        except CallRejected as error:
            self._refused(caller, tool.name, error, started, call.id)
            raise
        except ToolFailed as error:
            warning = progress.checked.warning
            self._failed(caller, tool.name, str(error), started, call.id, warning=warning)
            raise
        except anyio.get_cancelled_exc_class() as error:
            if not is_stray():
                reason = CANCELLED_RUNNING if progress.may_run_on else CANCELLED
                self._failed(caller, tool.name, reason, started, call.id)
                raise
            text = f"{tool.name!r} was cancelled by something inside it. Tell the user."
            self._failed(caller, tool.name, text, started, call.id)
            raise ToolFailed(text) from error
        except Exception as error:  # the boundary to hooks that anyone may have written
            _logger.exception("A hook around %r failed.", tool.name)
            how = "ran, and after that a hook failed" if progress.has_run else "failed in a hook"
            text = f"{tool.name!r} {how}: {error_message(error)}. Tell the user; do not try again."
            self._failed(caller, tool.name, text, started, call.id)
            raise ToolFailed(text) from error
        self._emit(
            CallFinished(
                **caller.stamp(),
                tool=tool.name,
                duration=perf_counter() - started,
                result_tokens=_tokens(result.text),
                is_error=result.is_error,
                error=result.text[:_MOST_ERROR] if result.is_error else "",
                repairs=tuple(map(str, progress.checked.repairs)),
                warning=progress.checked.warning,
                call=call.id,
            )
        )
        return result

    async def _run(
        self, tool: Tool, call: ToolCall, caller: Caller, progress: _Progress
    ) -> ToolResult:
        if call.name != tool.name:
            raise ToolFailed(
                f"A hook changed the call of {tool.name!r} into one of another tool, which would "
                "go past the scope. Tell the user; do not try again."
            )
        if progress.size.values > MAX_VALUES_AT_ONCE:
            await anyio.lowlevel.checkpoint()
        is_same = call.arguments is progress.arguments
        size = progress.size if is_same else None
        checked = progress.checked = self._check(tool, call.arguments, caller, size)
        final = call if is_same and not checked.repairs else call.with_arguments(checked.arguments)
        await self._permit(tool, final, caller)
        # Nothing else has these: the tool may change them.
        own = replace(final, arguments=checked.arguments)
        result = await self._execute(*_unchanged(tool, caller), own, progress)
        if not checked.repairs:
            return result
        made = "; ".join(map(str, checked.repairs))
        return result.with_note(f"[The arguments were repaired before the call: {made}.]")

    def _check(
        self, tool: Tool, arguments: JsonObject, caller: Caller, size: Size | None
    ) -> Checked:
        """The arguments as they are passed on.

        A server may fill in arguments that its schema requires, so it decides about a call that is
        repeated unchanged. A function of this process cannot be called without them.
        """
        try:
            return self._validation.check(tool, arguments, size=size)
        except MissingArguments:
            if not tool.is_upstream or not caller.incomplete.is_repeated(tool, arguments):
                raise
            return self._validation.check(tool, arguments, size=size, allow_missing=True)

    async def _permit(self, tool: Tool, call: ToolCall, caller: Caller) -> None:
        verdict = await judge(self._guardrails, tool, call)
        if isinstance(verdict, Deny):
            raise CallDenied(verdict.reason)
        if verdict:
            await self._permission.obtain(verdict, tool, call, caller.stamp, caller.holder())

    async def _execute(
        self, tool: Tool, toolset: Toolset, call: ToolCall, progress: _Progress
    ) -> ToolResult:
        limit = inf if keeps_time(toolset) else self._limits.call_timeout
        is_stopped = stops_when_cancelled(toolset, tool)
        progress.may_run_on = not is_stopped
        with anyio.move_on_after(limit) as scope:
            try:
                result = await toolset.run(tool, call)
            except ServerRefused as error:
                raise bound_refusal(error, self._limits.result_max_chars) from None
            except (CallRejected, ToolFailed):
                raise
            except (Exception, SystemExit) as error:  # the boundary to a tool of anyone's
                progress.has_run = True
                _logger.debug("%r raised.", tool.name, exc_info=True)
                said = cut_message(describe_error(error), self._limits.result_max_chars)
                raise ToolFailed(f"{tool.name!r} failed: {said}") from error
            progress.may_run_on, progress.has_run = False, True
            return _sound(result, repr(tool.name))
        assert scope.cancelled_caught
        raise ToolTimedOut.after(limit, tool.name, is_stopped=is_stopped)

    def _refused(
        self, caller: Caller, tool: str | None, error: CallRejected, started: float, call: str
    ) -> None:
        spent, reason = perf_counter() - started, str(error)
        self._emit(
            CallRefused(**caller.stamp(), tool=tool, reason=reason, duration=spent, call=call)
        )

    def _failed(
        self,
        caller: Caller,
        tool: str,
        error: str,
        started: float,
        call: str,
        *,
        warning: str = "",
    ) -> None:
        self._emit(
            CallFailed(
                **caller.stamp(),
                tool=tool,
                error=error,
                duration=perf_counter() - started,
                warning=warning,
                call=call,
            )
        )


def _frozen(tool: Tool, arguments: JsonObject) -> tuple[JsonObject, int]:
    """The arguments as nobody can change them, and their tokens."""
    frozen = cast("JsonObject", freeze(arguments))
    try:
        return frozen, _tokens(compact(frozen))
    except (TypeError, ValueError) as error:  # e.g. a number of more than 4,300 digits
        raise InvalidArguments(
            f"{tool.name!r} was not run: its arguments cannot be written as JSON ({error}). "
            "Call again with plain values."
        ) from error


def _unchanged(tool: Tool, caller: Caller) -> tuple[Tool, Toolset]:
    """The tool as it is now, after hooks and a person took their time; it must be the same."""
    view = caller.view()
    now = view.catalog.get(tool.name)
    if now.fingerprint != tool.fingerprint:
        raise CallDenied(
            f"{tool.name!r} changed while the call was being checked, so it was not run. "
            "Look at it again, then call it as it is now."
        )
    return now, view.snapshot.owner(now)


def _require_flat(result: ToolResult, tool: Tool) -> None:
    if is_deeper([*result.content, result.structured, result.meta], _MOST_RESULT_LEVELS):
        raise ToolFailed(
            f"{tool.name!r} ran, and gave a result that is nested more than {_MOST_RESULT_LEVELS} "
            "levels deep, which cannot be passed on. Ask it for less, or tell the user."
        )


def _replace_half_pairs(result: ToolResult) -> ToolResult:
    """The result with U+FFFD for halves of surrogate pairs, which no model or client can be sent.

    The tool has run, so one wrong character is better than no result.
    """
    content = tuple(cast("JsonObject", replace_half_pairs_in(block)) for block in result.content)
    structured = replace_half_pairs_in(result.structured)
    meta = cast("JsonObject", replace_half_pairs_in(result.meta))
    is_same = structured is result.structured and meta is result.meta
    if is_same and all(map(is_, content, result.content)):
        return result
    return replace(result, content=content, structured=structured, meta=meta)


def _sound(result: object, giver: str) -> ToolResult:
    """The result, if it is one: it comes from code that anyone may have written."""
    if isinstance(result, ToolResult):
        blocks = cast("tuple[object, ...]", result.content)
        if all(isinstance(block, Mapping) for block in blocks):
            return result
    raise ToolFailed(f"{giver} gave nothing that is a result. Tell the user; do not try again.")
