"""The one door. Direct calls and bridged calls come through it alike."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter, time
from typing import assert_never, cast

import anyio

from tooldrawer.activity import CallFailed, CallFinished, CallRefused, CallStarted, Emit, Stamp
from tooldrawer.call import ToolCall, ToolResult, freeze, thawed
from tooldrawer.catalog import Catalog
from tooldrawer.dispatch.guardrails import Allow, Ask, Deny, Guardrail, judge
from tooldrawer.dispatch.hooks import Hook, chain
from tooldrawer.dispatch.limits import Limits
from tooldrawer.dispatch.permission import Permission
from tooldrawer.dispatch.validation import Checked, Validation
from tooldrawer.errors import CallDenied, CallRejected, ToolFailed, ToolTimedOut, UnknownTool
from tooldrawer.registry import Snapshot
from tooldrawer.tokens import Estimate, compact
from tooldrawer.tool import JsonObject, Tool

_logger = logging.getLogger(__name__)
_tokens = Estimate().count


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What exists for a session at one moment."""

    catalog: Catalog
    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The session behind a call."""

    session: str
    scope: str
    view: Callable[[], View]
    """What exists for it now; asked again after a person was, because that takes time."""
    granted: set[str] = field(default_factory=set[str])
    """Fingerprints of tools that a person granted for the whole session."""

    def stamp(self) -> Stamp:
        """For an event of this session."""
        return Stamp(at=time(), session=self.session, scope=self.scope)


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
    ) -> None:
        self._emit = emit
        self._permission = permission
        self._hooks = tuple(hooks)
        self._guardrails = tuple(guardrails)
        self._limits = limits or Limits()
        self._validation = Validation(max_bytes=self._limits.arguments_max_bytes)

    async def run(
        self, name: str, arguments: JsonObject, *, caller: Caller, call_id: str = ""
    ) -> ToolResult:
        """Run one call.

        Raises:
            CallRejected: The tool was not run.
            ToolFailed: It was, and it broke.
        """
        started = perf_counter()
        try:
            tool = caller.view().catalog.get(name)
        except UnknownTool as error:
            self._refused(caller, None, error, started)
            raise
        frozen = cast("JsonObject", freeze(arguments))
        call = ToolCall(name=tool.name, arguments=frozen, id=call_id, session=caller.session)
        self._emit(
            CallStarted(
                **caller.stamp(),
                tool=tool.name,
                toolset=tool.source,
                arguments=frozen,
                argument_tokens=_tokens(compact(frozen)),
            )
        )
        return await self._reported(tool, call, caller, started)

    async def _reported(
        self, tool: Tool, call: ToolCall, caller: Caller, started: float
    ) -> ToolResult:
        checks: list[Checked] = []

        async def rest(final: ToolCall) -> ToolResult:
            return await self._run(tool, final, caller, checks)

        try:
            result = await chain(self._hooks, rest)(call)
        except CallRejected as error:
            self._refused(caller, tool.name, error, started)
            raise
        except ToolFailed as error:
            self._failed(caller, tool.name, str(error), started)
            raise
        except anyio.get_cancelled_exc_class():
            self._failed(caller, tool.name, "cancelled", started)
            raise
        except Exception as error:  # the boundary to hooks that anyone may have written
            _logger.exception("A hook around %r failed.", tool.name)
            text = f"{tool.name!r} failed in a hook: {error}. Tell the user; do not try again."
            self._failed(caller, tool.name, text, started)
            raise ToolFailed(text) from error
        last = checks[-1] if checks else Checked(arguments={})
        self._emit(
            CallFinished(
                **caller.stamp(),
                tool=tool.name,
                duration=perf_counter() - started,
                result_tokens=_tokens(result.text),
                is_error=result.is_error,
                repairs=tuple(map(str, last.repairs)),
                warning=last.warning,
            )
        )
        return result

    async def _run(
        self, tool: Tool, call: ToolCall, caller: Caller, checks: list[Checked]
    ) -> ToolResult:
        if call.name != tool.name:
            raise ToolFailed(
                f"A hook changed the call of {tool.name!r} into one of {call.name!r}, which would "
                "go past the scope. Tell the user; do not try again."
            )
        checked = self._validation.check(tool, call.arguments)
        checks.append(checked)
        final = call.with_arguments(checked.arguments)
        await self._permit(tool, final, caller)
        result = await self._execute(_unchanged(tool, caller), final, caller)
        if not checked.repairs:
            return result
        made = "; ".join(map(str, checked.repairs))
        return result.with_note(f"[The arguments were repaired before the call: {made}.]")

    async def _permit(self, tool: Tool, call: ToolCall, caller: Caller) -> None:
        verdict = await judge(self._guardrails, tool, call)
        match verdict:
            case Allow():
                return
            case Deny(reason):
                raise CallDenied(reason)
            case Ask(question):
                await self._permission.obtain(question, tool, call, caller.stamp, caller.granted)
            case _:
                assert_never(verdict)

    async def _execute(self, tool: Tool, call: ToolCall, caller: Caller) -> ToolResult:
        toolset = caller.view().snapshot.owner(tool)
        limit = self._limits.call_timeout
        with anyio.move_on_after(limit) as scope:
            try:
                return await toolset.run(tool, replace(call, arguments=thawed(call.arguments)))
            except (CallRejected, ToolFailed):
                raise
            except Exception as error:  # the boundary to a tool that anyone may have written
                _logger.debug("%r raised.", tool.name, exc_info=True)
                said = str(error) or type(error).__name__
                raise ToolFailed(f"{tool.name!r} failed: {said}") from error
        assert scope.cancelled_caught
        raise ToolTimedOut(
            f"{tool.name!r} did not finish within {limit:g} s and was stopped. "
            "Ask for less at once, or tell the user."
        )

    def _refused(
        self, caller: Caller, tool: str | None, error: CallRejected, started: float
    ) -> None:
        spent = perf_counter() - started
        self._emit(CallRefused(**caller.stamp(), tool=tool, reason=str(error), duration=spent))

    def _failed(self, caller: Caller, tool: str, error: str, started: float) -> None:
        spent = perf_counter() - started
        self._emit(CallFailed(**caller.stamp(), tool=tool, error=error, duration=spent))


def _unchanged(tool: Tool, caller: Caller) -> Tool:
    """The tool as it is now, after hooks and a person took their time; it must be the same."""
    now = caller.view().catalog.get(tool.name)
    if now.fingerprint != tool.fingerprint:
        raise CallDenied(
            f"{tool.name!r} changed while the call was being checked, so it was not run. "
            "Look at it again, then call it as it is now."
        )
    return now
