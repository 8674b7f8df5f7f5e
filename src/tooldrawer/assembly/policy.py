"""The settings that decide what a model sees."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

from tooldrawer.assembly.benefit import BenefitModel
from tooldrawer.assembly.listing import Listing
from tooldrawer.bridge import BridgeNames
from tooldrawer.option_checks import (
    PATTERNS,
    freeze_lists,
    instance_of,
    number,
    one_of,
    require_fields,
    whole_number,
)

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
        freeze_lists(self, "core", "pinned")
        require_fields(
            self,
            enabled=one_of(get_args(Enabled)),
            threshold_pct=number(0, 100),
            core=PATTERNS,
            pinned=PATTERNS,
            names=instance_of(BridgeNames),
            listing=one_of(get_args(Listing)),
            listing_max_tokens=whole_number(0),
            benefit=instance_of(BenefitModel),
        )

    def threshold(self, context_length: int) -> Fraction:
        """The tokens at which `auto` makes tool search active, exactly."""
        return Fraction(str(self.threshold_pct)) * context_length / 100


def known_context_length(context_length: int | None) -> int:
    """Unknown or non-positive counts as 200,000."""
    return context_length if context_length and context_length > 0 else UNKNOWN_CONTEXT_LENGTH
