"""The loop: ask the model, run what it calls, tell it what came of it, until it is done."""

from collections.abc import Sequence
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
    "Interrupted by the user before it came to an end; what it had done by then is not known. "
    "Wait for what the user says."
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
        await self.conversation.keep(Said(text=text))
        answer = Answered()
        for turn in range(1, self._max_turns + 1):
            answer = await self._answer()
            if not answer.calls:
                return Outcome(text=answer.text, ending=_ending(answer), turns=turn)
            await self._call(answer.calls)
        return Outcome(text=answer.text, ending="turns", turns=self._max_turns)

    async def _answer(self) -> Answered:
        """The model's next answer, kept in the conversation."""
        if self._compaction.needed(self.used, self.session.context_length):
            await self._compact()
        answer = await self._asked()
        usage = answer.usage
        self.used = usage.input + usage.output
        if answer.calls and all(call.name in self._for_looking for call in answer.calls):
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
                return await self.model.answer(request, self._listener.said)
            except NativeRefused as error:
                if not self.session.native or self.model.spec.bridge == "native":
                    raise
                self.session.native = False
                self._listener.noticed(f"{error} Going on with the portable bridge.")
            except ContextFull:
                if not await self._compact(everything=full):
                    raise
                full = True
            except AnswerCut as error:
                cuts += 1
                if cuts > _MOST_CUTS:
                    await self._keep_part(error.text)
                    raise
                self._listener.noticed(f"{error} Asking again ({cuts} of {_MOST_CUTS}).")

    async def _keep_part(self, text: str) -> None:
        if text:
            await self.conversation.keep(Answered(text=text, complete=False))

    async def _request(self) -> Request:
        assembly = await self.session.tools()
        tools = assembly.tools
        if tools and (self.session.native or not assembly.active):
            # Without `tool_call` in the array, a result that was cut is read on by this.
            tools = (*tools, _READ_REST)
        return Request(
            model=self.model.spec.name,
            system=self._system,
            tools=tools,
            messages=tuple(self.conversation.messages),
            native=self.session.native and assembly.active,
            search=self._names.search,
            max_output=self.model.spec.max_output,
        )

    async def _call(self, calls: tuple[Asked, ...]) -> None:
        """Run the calls and keep what came of each, also of those that were interrupted."""
        results = [ToolResult.of_text(_INTERRUPTED, is_error=True) for _ in calls]
        try:
            await self.session.call_all(
                [self._meant(call) for call in calls],
                concurrency=self._concurrency,
                each=results.__setitem__,
            )
        finally:
            replies = tuple(
                Reply(call=call, result=replace(result, call_id=call.id, cause=None))
                for call, result in zip(calls, results, strict=True)
            )
            with anyio.CancelScope(shield=True):
                await self.conversation.keep(Returned(replies=replies))

    def _meant(self, call: Asked) -> Asked:
        """A provider's own kind of search is the bridge's, whatever that is called here."""
        return replace(call, name=self._names.search) if call.native else call

    @property
    def _for_looking(self) -> tuple[str, ...]:
        return (self._names.search, self._names.describe)

    async def _compact(self, *, everything: bool = False) -> bool:
        """Sum up the older messages, or all where that was not enough; whether it helps."""
        messages = self.conversation.messages
        older, _ = self._compaction.split(messages)
        if everything:  # one call or result can be longer than the model reads
            older = tuple(messages)
        if not older or all(isinstance(message, Summary) for message in older):
            return False
        self._listener.noticed(
            f"The context fills up: {len(older)} older messages are being summed up."
        )
        text = await self._compaction.summed_up(older, self.model)
        summary = self._compaction.summary(text, older, called=self._known(older))
        await self.conversation.compact(summary, replaces=len(older))
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
