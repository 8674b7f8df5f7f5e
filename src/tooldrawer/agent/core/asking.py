"""The tool that asks the person."""

from collections.abc import Sequence
from typing import Protocol

from tooldrawer.call import ToolResult
from tooldrawer.errors import InvalidArguments


class Person(Protocol):
    """Whoever the agent works for."""

    async def ask(self, question: str, choices: Sequence[str]) -> str:
        """What they answer; not necessarily one of the choices.

        Raises:
            EOFError: Nobody is there.
        """
        ...


class Questions:
    """Questions of a model, put to a person."""

    def __init__(self, person: Person) -> None:
        self._person = person

    async def clarify(self, question: str, choices: list[str] | None = None) -> ToolResult:
        """Ask the user, when you cannot decide or find out yourself."""
        if not question.strip():
            raise InvalidArguments("There is no question. Give one in /question.")
        try:
            answer = await self._person.ask(question, tuple(choices or ()))
        except EOFError:
            return ToolResult.of_text(
                "Nobody is there to answer. Go on with your best guess, and say in your answer "
                "what you assumed.",
                is_error=True,
            )
        return ToolResult.of_text(answer.strip() or "[the user gave no answer]")
