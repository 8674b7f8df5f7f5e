"""The settings of searching."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPolicy:
    """How much a search gives, and how often one may search without calling anything."""

    default_limit: int = 5
    max_limit: int = 20
    reply_max_tokens: int = 1_200
    most_in_a_row: int = 8
    """Searches without a call before there are no more results."""

    def limit(self, asked: int | None) -> int:
        """The number of matches to give."""
        return max(1, min(self.default_limit if asked is None else asked, self.max_limit))

    def advice(self, in_a_row: int) -> str:
        """What to tell a model that searches again and again; nothing at first."""
        if in_a_row * 2 <= self.most_in_a_row:
            return ""
        left = self.most_in_a_row - in_a_row
        return (
            f"{in_a_row} searches without a call. Call one of the tools found, or tell the user "
            f"that none fits; {left} more searches are answered before a call."
        )
