"""The settings of searching."""

from dataclasses import dataclass

from tooldrawer.option_checks import require_fields, whole_number

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
        require_fields(
            self,
            default_limit=whole_number(1, _MAX_MATCHES),
            max_limit=whole_number(1, _MAX_MATCHES),
            reply_max_tokens=whole_number(1),
            most_in_a_row=whole_number(1),
        )

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
