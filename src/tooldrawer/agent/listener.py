"""Who watches an agent at work."""

from typing import Protocol

from tooldrawer.wire.message import Answered


class Listener(Protocol):
    """Is told what a person wants to see; calls of tools are in the activity."""

    def said(self, text: str) -> None:
        """The next piece of what the model says."""
        ...

    def answered(self, answer: Answered) -> None:
        """The model's answer is whole."""
        ...

    def noticed(self, text: str) -> None:
        """Something worth a line: a wait, another way, older messages summed up."""
        ...


class Nobody:
    """Watches nothing."""

    def said(self, text: str) -> None:
        """Ignore it."""

    def answered(self, answer: Answered) -> None:
        """Ignore it."""

    def noticed(self, text: str) -> None:
        """Ignore it."""
