"""The loop: ask the model, run what it calls, tell it what came of it, until it is done."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import anyio

from tooldrawer.agent.compaction import Compaction
from tooldrawer.agent.conversation import Conversation
from tooldrawer.agent.listener import Listener, Nobody
from tooldrawer.agent.model import Model
from tooldrawer.bridge import BridgeNames
from tooldrawer.call import ToolResult
from tooldrawer.dispatch.limits import READ_REST
from tooldrawer.errors import AnswerCut, ContextFull, NativeRefused, UnknownTool
from tooldrawer.session import Session
from tooldrawer.tool import Tool
from tooldrawer.wire.message import (
    Answered,
    Asked,
    Message,
    Reply,
    Request,
    Returned,
    Said,
    Summary,
)

_INTERRUPTED = (
    "Interrupted by the user before it came to an end. It may still be running, or have taken "
    "effect; do not repeat blindly. Wait for what the user says."
)
_TOO_MANY = (
    "Not run: there were too many calls in one answer. Make at most {most} at once, and the others "
    "when you have read what came of these."
)
_MOST_CALLS = 128
"""Of one answer that are run. An answer has room for a hundred thousand, each with its result."""
_CUT = (
    "Your answer broke off before this call was whole, so it was not run. Make the call again, in "
    "a shorter answer."
)
_MOST_CUTS = 2
"""So often an answer that broke off is asked for again."""

_READ_REST = Tool(
    name=READ_REST,
    description="The next part of a result that was cut, as its last line says.",
    parameters={
        "type": "object",
        "properties": {"id": {"type": "string"}, "offset": {"type": "integer"}},
        "required": ["id", "offset"],
    },
    annotations={"readOnlyHint": True},
    trusted=True,
)

Ending = Literal["done", "silent", "turns", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one task."""

    text: str
    """The model's last words."""
    ending: Ending
    """`done`, or why not: it said nothing, had no turns left, or its answer was too long."""
    turns: int

    @property
    def is_success(self) -> bool:
        """Whether the model came to an end by itself and said something."""
        return self.ending == "done"


class Agent:
    """A model with a session's tools. One task at a time."""

    def __init__(
        self,
        *,
        model: Model,
        session: Session,
        conversation: Conversation | None = None,
        system: str = "",
        listener: Listener | None = None,
        names: BridgeNames | None = None,
        compaction: Compaction | None = None,
        max_turns: int = 50,
        concurrency: int | None = None,
    ) -> None:
        self.model = model
        self.session = session
        self.conversation = conversation or Conversation()
        self.used = 0
        """Tokens of the prompt, as the provider last counted."""
        self.tasks = 0
        """How many it was given."""
        self._system = system
        self._listener = listener or Nobody()
        self._names = names or BridgeNames()
        self._compaction = compaction or Compaction(names=self._names)
        self._max_turns = max_turns
        self._concurrency = concurrency
        session.native = model.spec.native
        session.context_length = model.spec.context_length or session.context_length

    async def run(self, text: str) -> Outcome:
        """Work on what the person wrote until the model is done.

        Whatever happens, the conversation can go on after it: each call of the model is answered.

        Raises:
            ModelFailed: The model gave no answer.
        """
        self.tasks += 1
        self.session.note_user_message()
        await self._close()
        await self.conversation.keep(Said(text=text))
        answer = Answered()
        for turn in range(1, self._max_turns + 1):
            answer = await self._answer()
            if not answer.calls:
                return Outcome(text=answer.text, ending=_ending(answer), turns=turn)
            await self._call(answer)
        return Outcome(text=answer.text, ending="turns", turns=self._max_turns)

    async def _close(self) -> None:
        """Answer calls that something ended before it could: a listener that broke, a signal."""
        last = self.conversation.messages[-1:]
        if last and isinstance(last[0], Answered) and last[0].calls:
            await self._keep_replies(last[0].calls, [_interrupted() for _ in last[0].calls])

    async def _answer(self) -> Answered:
        """The model's next answer, kept in the conversation."""
        if self._compaction.needed(self.used, self.session.context_length):
            await self._compact()
        answer = await self._asked()
        usage = answer.usage
        self.used = usage.input + usage.output
        if answer.calls and all(self._is_looking(call) for call in answer.calls):
            self.session.ledger.hopped(input=usage.input, cached=usage.cached, output=usage.output)
        await self.conversation.keep(answer)
        self._listener.answered(answer)
        return answer

    async def _asked(self) -> Answered:
        """The model's answer to the conversation as it is, by whatever way is left."""
        cuts, full = 0, False
        while True:
            request = await self._request()
            try:
                return await self._heard(request)
            except NativeRefused as error:
                if not self.session.native or self.model.spec.bridge == "native":
                    raise
                self.session.native = False
                self._listener.noticed(f"{error} Going on with the portable bridge.")
            except ContextFull:
                helps = not full and await self._compact()
                # Where only a summary is older, or that was not enough, one message is too long.
                if not helps and not await self._compact(everything=True):
                    raise
                full = True
            except AnswerCut as error:
                cuts += 1
                if cuts > _MOST_CUTS:
                    await self._keep_part(error.text)
                    raise
                self._listener.noticed(f"{error} Asking again ({cuts} of {_MOST_CUTS}).")

    async def _heard(self, request: Request) -> Answered:
        """The model's answer; of one that is interrupted, what the person saw is kept."""
        pieces: list[str] = []

        def said(text: str) -> None:
            pieces.append(text)
            self._listener.said(text)

        try:
            return await self.model.answer(request, said)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._keep_part("".join(pieces))
            raise
        except (NativeRefused, ContextFull):
            self.session.ledger.unsent()
            raise

    async def _keep_part(self, text: str) -> None:
        if text:
            await self.conversation.keep(Answered(text=text, complete=False))

    async def _request(self) -> Request:
        assembly = await self.session.tools()
        tools = assembly.tools
        if tools and (self.session.native or not assembly.active):
            # Without `tool_call` in the array, a result that was cut is read on by this. A real
            # tool of that name comes first; two of one name are refused.
            is_taken = any(tool.name == READ_REST for tool in tools)
            tools = tools if is_taken else (*tools, _READ_REST)
        return Request(
            model=self.model.spec.name,
            system=self._system,
            tools=tools,
            messages=tuple(self.conversation.messages),
            native=self.session.native and assembly.active,
            search=self._names.search,
            max_output=self.model.spec.max_output,
        )

    async def _call(self, answer: Answered) -> None:
        """Run the calls and keep what came of each, also of those that were interrupted."""
        calls = answer.calls
        few = calls[:_MOST_CALLS]
        results = [_interrupted() for _ in few] + [_too_many() for _ in calls[_MOST_CALLS:]]
        if not answer.complete and _is_cut(calls[-1]):
            few, results[-1] = few[: len(calls) - 1], ToolResult.of_text(_CUT, is_error=True)
        try:
            await self.session.call_all(
                [self._meant(call) for call in few],
                concurrency=self._concurrency,
                each=results.__setitem__,
            )
        finally:
            with anyio.CancelScope(shield=True):
                await self._keep_replies(calls, results)

    async def _keep_replies(self, calls: Sequence[Asked], results: Sequence[ToolResult]) -> None:
        replies = tuple(
            Reply(call=call, result=replace(result, call_id=call.id, cause=None))
            for call, result in zip(calls, results, strict=True)
        )
        await self.conversation.keep(Returned(replies=replies))

    def _meant(self, call: Asked) -> Asked:
        """A provider's own kind of search is the bridge's, whatever that is called here."""
        return replace(call, name=self._names.search) if call.native else call

    def _is_looking(self, call: Asked) -> bool:
        return self._meant(call).name in (self._names.search, self._names.describe)

    async def _compact(self, *, everything: bool = False) -> bool:
        """Sum up the older messages, or all where that was not enough; whether it helps."""
        messages = self.conversation.messages
        older, _ = self._compaction.split(messages)
        if everything:  # one call or result can be longer than the model reads
            older = tuple(messages)
        if not older or all(isinstance(message, Summary) for message in older):
            return False
        self._listener.noticed(
            f"The context fills up: older messages ({len(older)}) are being summed up."
        )
        text = await self._compaction.summed_up(older, self.model)
        summary = self._compaction.summary(text, older, called=self._known(older))
        await self.conversation.compact(summary, replaces=len(older))
        tokens = self._compaction.cost_of_tools(summary, native=self.session.native)
        self.session.ledger.summed_up(tokens)
        self.used = 0
        return True

    def _known(self, messages: Sequence[Message]) -> list[Tool]:
        """The tools that these messages used or found and that exist still, once each."""
        catalog, found = self.session.catalog, dict[str, Tool]()
        for name in self._compaction.mentioned(messages):
            with suppress(UnknownTool):
                tool = catalog.get(name)
                found.setdefault(tool.name, tool)
        return list(found.values())


def _ending(answer: Answered) -> Ending:
    if not answer.complete:
        return "length"
    return "done" if answer.text.strip() else "silent"


def _interrupted() -> ToolResult:
    return ToolResult.of_text(_INTERRUPTED, is_error=True)


def _too_many() -> ToolResult:
    return ToolResult.of_text(_TOO_MANY.format(most=_MOST_CALLS), is_error=True)


def _is_cut(call: Asked) -> bool:
    """Whether its arguments may have been going on: only an object with something in it is whole.

    None at all would pass for a call of a tool that needs none.
    """
    return not (isinstance(call.arguments, Mapping) and call.arguments)
