"""What a request costs, counted for real: a token is four bytes, the cache is a common prefix."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.models.request import compact

BYTES_PER_TOKEN = 4


def prompt(head: object, items: Iterable[object]) -> bytes:
    """A prompt without closing brackets, so that one which only grows is a prefix of the next."""
    return b"".join(compact(part) + b"\n" for part in (head, *items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request and its answer; `cached` is part of `input`."""

    input: int
    cached: int
    output: int
    reasoning: int = 0


class PromptCache:
    """Knows every prompt that came before, as a provider's cache would."""

    def __init__(self) -> None:
        self._prompts: dict[tuple[str, str], list[bytes]] = {}

    def count(
        self, key: tuple[str, str], prompt: bytes, *, output: bytes, reasoning: bytes
    ) -> Usage:
        """Figures of this prompt against all earlier ones of the same wire and model."""
        known = self._prompts.setdefault(key, [])
        cached = max((_common(prompt, other) for other in known), default=0)
        known.append(prompt)
        return Usage(
            input=max(1, len(prompt) // BYTES_PER_TOKEN),
            cached=cached // BYTES_PER_TOKEN,
            output=max(1, (len(output) + len(reasoning)) // BYTES_PER_TOKEN),
            reasoning=len(reasoning) // BYTES_PER_TOKEN,
        )


def _common(one: bytes, other: bytes) -> int:
    """The length of the common prefix; halving, because prompts are long and slices are quick."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
