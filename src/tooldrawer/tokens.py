"""What text costs in a prompt."""

import json
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import Protocol

from tooldrawer.tool import Json, Tool

# Measured over 2,367 tools of 89 real servers: 3,435,832 characters of compact JSON are 760,861
# o200k tokens, 4.516 characters a token; characters/4 would be 13 % high.
_CHARACTERS_PER_TOKEN = 4.5
_MOST_KNOWN = 500_000


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str) -> int:
        """How many tokens `text` is."""
        ...


class Estimate:
    """Characters divided by what a token of JSON schema has on average. Needs nothing installed."""

    def count(self, text: str) -> int:
        """The estimate, rounded up."""
        return -int(-len(text) // _CHARACTERS_PER_TOKEN)


class O200k:
    """The exact count of OpenAI's o200k encoding; needs the extra `tooldrawer[tokens]`."""

    def __init__(self) -> None:
        import splintr  # noqa: PLC0415  37 MB of vocabularies that most users do not install

        self._tokenizer = splintr.Tokenizer.from_pretrained("o200k_base")

    def count(self, text: str) -> int:
        """The exact number."""
        return len(self._tokenizer.encode(text.encode(errors="replace").decode()))


@cache
def default_counter() -> TokenCounter:
    """Exact when the optional tokenizer is installed, else the estimate."""
    return O200k() if find_spec("splintr") else Estimate()


class SchemaCosts:
    """What each tool's schema costs in the array, counted once for each content."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}

    def of(self, tool: Tool) -> int:
        """Tokens of one schema."""
        cost = self._known.get(tool.fingerprint)
        if cost is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()  # tools that come and go must not fill the memory
            cost = self._known[tool.fingerprint] = self._counter.count(schema_text(tool))
        return cost

    def total(self, tools: Iterable[Tool]) -> int:
        """Tokens of several schemas."""
        return sum(map(self.of, tools))

    def fitting(self, tools: Iterable[Tool], most: int) -> tuple[Tool, ...]:
        """The first tools that cost at most so much together, and at least one."""
        kept: list[Tool] = []
        for tool in tools:
            if kept and self.total((*kept, tool)) > most:
                break
            kept.append(tool)
        return tuple(kept)


def schema_text(tool: Tool) -> str:
    """The part of a tool that a provider puts into the prompt, as compact JSON."""
    return compact(
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    )


def compact(value: Json) -> str:
    """JSON without a superfluous byte, keys in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
