"""Who listens to an agent: a screen, or a program that reads JSON."""

import json
import sys

from tooldrawer.activity import Event, Masker
from tooldrawer.activity.sinks import as_json
from tooldrawer.agent.agent import Outcome
from tooldrawer.cli.call_row import counted
from tooldrawer.cli.live_feed import LiveFeed
from tooldrawer.cli.screen import Screen
from tooldrawer.tool import Json
from tooldrawer.wire.message import Answered


class Narrator:
    """A `Listener` that shows the model's words as they come."""

    def __init__(self, screen: Screen, feed: LiveFeed) -> None:
        self._screen, self._feed = screen, feed

    def said(self, text: str) -> None:
        """Show it at once."""
        self._feed.heard()
        self._screen.say(text)

    def answered(self, answer: Answered) -> None:
        """End the line."""
        del answer
        self._screen.end_line()

    def noticed(self, text: str) -> None:
        """Give it a line of its own; what was being said is not continued."""
        self._screen.end_line()
        self._screen.notice(text)


class Worker:
    """A `Listener` for a task: only its last words are an answer, those between are remarks."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def said(self, text: str) -> None:
        """Wait until it is whole."""

    def answered(self, answer: Answered) -> None:
        """Show what the model says beside its calls."""
        if answer.calls and answer.text.strip():
            self._screen.notice(answer.text.strip())

    def noticed(self, text: str) -> None:
        """Give it a line of its own."""
        self._screen.notice(text)


class JsonLines:
    """A `Listener` and a reader of events: each is one line of JSON on standard output.

    Secrets in arguments are masked, as they are in events.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker

    def said(self, text: str) -> None:
        """A piece of what the model says."""
        self.write("Said", text=text)

    def answered(self, answer: Answered) -> None:
        """A whole answer."""
        calls: list[Json] = [
            {"name": call.name, "arguments": self._masker.masked(call.arguments), "id": call.id}
            for call in answer.calls
        ]
        usage: dict[str, Json] = {
            "input": answer.usage.input,
            "cached": answer.usage.cached,
            "written": answer.usage.written,
            "output": answer.usage.output,
        }
        self.write("Answered", text=answer.text, calls=calls, usage=usage)

    def noticed(self, text: str) -> None:
        """A notice for the person."""
        self.write("Notice", text=text)

    def take(self, event: Event) -> None:
        """An event of the activity."""
        self._line(as_json(event))

    def write(self, event: str, **fields: Json) -> None:
        """Anything else, under a name of the same kind."""
        self._line(json.dumps({"event": event, **fields}, default=str))

    def _line(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def unfinished(outcome: Outcome) -> str:
    """Why a task did not come to its end, for the person."""
    match outcome.ending:
        case "turns":
            return (
                f"Not finished after {counted(outcome.turns, 'turn')}; "
                "allow more with --max-turns, or tell it to go on."
            )
        case "length":
            return "The answer was cut off: it was longer than the model may write at once."
        case _:
            return "The model ended without a word; ask again, or in other words."
