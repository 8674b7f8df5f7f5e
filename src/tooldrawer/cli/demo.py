"""`demo`: the drawer at work, with a scripted model."""

import json
from functools import partial
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.text import Text

from tooldrawer.assembly import Assembly
from tooldrawer.call import ToolResult
from tooldrawer.cli.feed import format_line
from tooldrawer.cli.output import console
from tooldrawer.demo.desk import desk
from tooldrawer.demo.story import TOGETHER, Stage, Step, play
from tooldrawer.dispatch import Answer, ApprovalRequest, Approver, TerminalApprover
from tooldrawer.dispatch.terminal import rendered
from tooldrawer.drawer import Drawer
from tooldrawer.ledger import Ledger

_MOST = 300


def demo(
    ask: Annotated[bool, typer.Option("--ask", help="Answer the approval yourself.")] = False,  # noqa: FBT002  typer's way to write a flag
) -> None:
    """Show the drawer at work: 80 local tools, and a scripted model that uses some."""
    approver: Approver = TerminalApprover() if ask else _says_yes
    with desk(approver) as drawer:
        anyio.run(partial(play, drawer, _Telling(drawer).stage))


async def _says_yes(request: ApprovalRequest) -> Answer:
    """A person who is not there: shows what they would see, and answers."""
    question = rendered(request).rstrip()
    console().print(
        Text(f"{question}\n  answer:    yes, once (scripted; try --ask)"), soft_wrap=True
    )
    return Answer.ONCE


class _Telling:
    """Prints the conversation on the left and, indented, the activity behind each step."""

    def __init__(self, drawer: Drawer) -> None:
        self._drawer = drawer
        self._shown = 0
        self._console: Console = console()
        self.stage = Stage(
            opened=self._opened,
            asks=self._asks,
            reads=self._reads,
            together=self._together,
            closed=self._closed,
        )

    def _opened(self, assembly: Assembly) -> None:
        shown = ", ".join(tool.name for tool in assembly.tools)
        self._say("Tool search is active", f"{assembly.reason}.", "bold")
        self._say(
            "The model sees",
            f"{shown}: {assembly.array_tokens:,} tokens instead of "
            f"{assembly.array_tokens + assembly.saved_tokens:,}.\n",
        )
        self._feed()

    def _asks(self, step: Step) -> None:
        self._feed()
        if step.says:
            self._say("\nmodel", step.says, "bold cyan")
        self._say("  calls", f"{step.name} {json.dumps(step.arguments)}")

    def _reads(self, result: ToolResult) -> None:
        self._feed()
        self._answer(result)

    def _together(self, results: list[ToolResult]) -> None:
        self._say("\nmodel", "Two calls in one turn; the results keep their order.", "bold cyan")
        for name, arguments in TOGETHER:
            self._say("  calls", f"{name} {json.dumps(arguments)}")
        self._feed()
        for result in results:
            self._answer(result)

    def _closed(self, ledger: Ledger) -> None:
        self._say("\nLedger", f"{ledger}.", "bold")

    def _answer(self, result: ToolResult) -> None:
        text = result.text if len(result.text) <= _MOST else f"{result.text[: _MOST - 1]}…"
        style = "red" if result.is_error else "green"
        self._say("  reads", text.replace("\n", "\n        "), style)

    def _feed(self) -> None:
        events = list(self._drawer.activity)
        for event in events[self._shown :]:
            self._console.print(Text(f"    │ {format_line(event)}", style="dim"), soft_wrap=True)
        self._shown = len(events)

    def _say(self, who: str, what: str, style: str = "") -> None:
        self._console.print(Text.assemble((who, style), f": {what}"), soft_wrap=True)
