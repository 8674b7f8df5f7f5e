"""The settings of searching."""

from dataclasses import dataclass
from typing import TypeGuard

from tooldrawer.errors import ConfigError

_MAX_MATCHES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPolicy:
    """How much a search gives, and how often one may search without calling anything.

    Raises:
        ConfigError: A value is out of its range; the text has all of them.
    """

    default_limit: int = 5
    max_limit: int = 20
    reply_max_tokens: int = 1_200
    most_in_a_row: int = 8
    """Turns that contain only searches before one search is answered without matches."""

    def __post_init__(self) -> None:
        ranges: dict[str, tuple[int, int | None]] = {
            "default_limit": (1, _MAX_MATCHES),
            "max_limit": (1, _MAX_MATCHES),
            "reply_max_tokens": (1, None),
            "most_in_a_row": (1, None),
        }
        mistakes = [
            f"SearchPolicy.{name} is {value!r}, expected a whole number from {least}"
            f"{'' if most is None else f' to {most}'}."
            for name, (least, most) in ranges.items()
            if not _is_within(value := getattr(self, name), least, most)
        ]
        if mistakes:
            raise ConfigError(*mistakes)

    def limit(self, asked: int | None) -> int:
        """The number of matches to give."""
        return max(1, min(self.default_limit if asked is None else asked, self.max_limit))

    def advice(self, in_a_row: int) -> str:
        """What to tell a model that has only searched for more turns than allowed, else nothing."""
        if in_a_row <= self.most_in_a_row:
            return ""
        return (
            f"{in_a_row} searches in a row without a call. Call one of the tools found, or tell "
            "the user that no tool fits."
        )


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number; `True` and `False` are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_within(value: object, least: int, most: int | None) -> bool:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return least <= value and (most is None or value <= most)
