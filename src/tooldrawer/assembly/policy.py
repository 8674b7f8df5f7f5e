"""The settings that decide what a model sees."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Literal, get_args

from tooldrawer.assembly.benefit import BenefitModel
from tooldrawer.assembly.listing import Listing
from tooldrawer.bridge import BridgeNames
from tooldrawer.bridge.policy import is_number
from tooldrawer.errors import ConfigError

Enabled = Literal["auto", "on", "off", "benefit"]

UNKNOWN_CONTEXT_LENGTH = 200_000
CORE = (
    "terminal",
    "read_file",
    "write_file",
    "patch",
    "search_files",
    "todo",
    "memory",
    "browser_*",
    "web_search",
    "web_extract",
    "clarify",
    "execute_code",
    "delegate_task",
    "session_search",
    "send_message",
)
"""Tools that are never deferred, by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyPolicy:
    """When tool search is active, and which tools are never deferred.

    Raises:
        ConfigError: A value is out of its range; the text has all of them.
    """

    enabled: Enabled = "auto"
    threshold_pct: float = 10
    """`auto`: active when deferrable schemas cost this part of the context, or more."""
    core: tuple[str, ...] = CORE
    pinned: tuple[str, ...] = ()
    """Globs of further tools that are shown in full."""
    names: BridgeNames = field(default_factory=BridgeNames)
    listing: Listing = "toolsets"
    listing_max_tokens: int = 150
    benefit: BenefitModel = field(default_factory=BenefitModel)

    def __post_init__(self) -> None:
        mistakes = [*self._wrong_choices(), *self._wrong_numbers(), *self._wrong_patterns()]
        if mistakes:
            raise ConfigError(*mistakes)

    def _wrong_choices(self) -> Iterator[str]:
        if self.enabled not in get_args(Enabled):
            yield f"AssemblyPolicy.enabled is {self.enabled!r}, expected auto, on, off or benefit."
        if self.listing not in get_args(Listing):
            yield (
                f"AssemblyPolicy.listing is {self.listing!r}, expected off, toolsets, names or "
                "full."
            )

    def _wrong_numbers(self) -> Iterator[str]:
        pct, most = self.threshold_pct, self.listing_max_tokens
        if not is_number(pct) or not (isfinite(pct) and 0 <= pct <= 100):
            yield f"AssemblyPolicy.threshold_pct is {pct!r}, expected a number from 0 to 100."
        if not is_number(most) or most < 0:
            yield f"AssemblyPolicy.listing_max_tokens is {most!r}, expected a number from 0."

    def _wrong_patterns(self) -> Iterator[str]:
        for name in ("core", "pinned"):
            patterns: object = getattr(self, name)
            if isinstance(patterns, str):  # its letters would be taken for patterns
                yield (
                    f"AssemblyPolicy.{name} is {patterns!r}, expected a tuple of names or "
                    f"patterns: ({patterns!r},)."
                )

    def threshold(self, context_length: int) -> Fraction:
        """The tokens at which `auto` makes tool search active, exactly."""
        return Fraction(str(self.threshold_pct)) * context_length / 100


def known_context_length(context_length: int | None) -> int:
    """Unknown or non-positive counts as 200,000."""
    return context_length if context_length and context_length > 0 else UNKNOWN_CONTEXT_LENGTH
