"""What the configurations of these tests name as `tests.config.parts:NAME`."""

from tooldrawer import FunctionToolset, ToolCall, Verdict

NUMBER = 5


def water(plant: str) -> str:
    """Water one plant."""
    return f"watered {plant}"


def lend(book: str) -> str:
    """Lend a book."""
    return f"lent {book}"
