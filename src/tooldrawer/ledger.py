"""What a session saved, minus what that cost."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tooldrawer.wire.message import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a million tokens cost, in US dollars."""

    input: float
    output: float
    cached: float | None = None
    """Read from the prompt cache; the price of `input` where there is none."""
    written: float | None = None
    """Written to the prompt cache, likewise."""

    @property
    def read(self) -> float:
        """A million tokens that the cache has."""
        return self.input if self.cached is None else self.cached

    @property
    def write(self) -> float:
        """A million tokens that the cache takes in."""
        return self.input if self.written is None else self.written

    def cost(self, usage: "Usage") -> float:
        """What one answer cost, in US dollars."""
        plain = max(usage.input - usage.cached - usage.written, 0)
        tokens = plain * self.input + usage.cached * self.read + usage.written * self.write
        return (tokens + usage.output * self.output) / _MILLION


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Tokens of one session's prompts.

    A reply of the bridge rides along in every prompt after it, so it is charged on each later turn,
    as the schemas in the drawer would have been.
    """

    turns: int = 0
    kept_out: int = 0
    """Schemas that stayed in the drawer, added up over the turns."""
    bridge: int = 0
    """The bridge's own schemas and listing, over the turns."""
    carried: int = 0
    """Replies of the bridge, over the turns they were in the prompt."""
    searches: int = 0
    describes: int = 0
    retries: int = 0
    """Calls that came back without having run."""
    hops: int = 0
    """Requests to the model that were there for the bridge alone."""
    hop_input: int = 0
    """Tokens of the prompt that those sent, as the provider counted."""
    hop_cached: int = 0
    """Of these, read from the cache."""
    hop_output: int = 0
    """Tokens that the model wrote in them."""
    _entered: int = 0
    _in_conversation: int = 0
    _not_yet_carried: int = 0
    _last_kept_out: int = 0
    _last_bridge: int = 0
    _kept_out_written: int = 0
    _bridge_written: int = 0

    def turn(self, *, kept_out: int, bridge: int) -> None:
        """One prompt was sent."""
        self.turns += 1
        self.kept_out += kept_out
        self.bridge += bridge
        self.carried += self._in_conversation
        self._not_yet_carried = 0
        # A provider caches what did not change. Schemas in the prompt would have been read from
        # the cache while they stayed the same, and written again after every change.
        if kept_out != self._last_kept_out:
            self._kept_out_written += kept_out
        if bridge != self._last_bridge:
            self._bridge_written += bridge
        self._last_kept_out, self._last_bridge = kept_out, bridge

    def unsent(self) -> None:
        """The prompt of the last turn was refused, so it neither saved nor cost anything."""
        self.turns -= 1
        self.kept_out -= self._last_kept_out
        self.bridge -= self._last_bridge
        self.carried -= self._in_conversation
        if not self.turns:
            self._last_kept_out = self._last_bridge = 0
            self._kept_out_written = self._bridge_written = 0

    def searched(self, tokens: int) -> None:
        """A search and its reply entered the conversation."""
        self.searches += 1
        self._enter(tokens)

    def described(self, tokens: int) -> None:
        """A describe and its reply entered the conversation."""
        self.describes += 1
        self._enter(tokens)

    def retried(self, tokens: int) -> None:
        """A call that did not run, and the answer to it, entered the conversation."""
        self.retries += 1
        if self._last_bridge or not self.turns:  # with the drawer open it is not the bridge's doing
            self._enter(tokens)

    def summed_up(self, tokens: int) -> None:
        """A summary with so many tokens for tools took the place of what had entered before."""
        self._entered += tokens
        self._in_conversation = tokens
        self._not_yet_carried = tokens

    def hopped(self, *, input: int, cached: int, output: int) -> None:  # noqa: A002  the provider's word
        """The model was asked once more than it would have been, to read what the bridge said."""
        self.hops += 1
        self.hop_input += input
        self.hop_cached += cached
        self.hop_output += output

    @property
    def replies(self) -> int:
        """What the bridge's replies cost so far; those of this turn at least once."""
        return self.carried + self._not_yet_carried

    @property
    def net(self) -> int:
        """Tokens saved; below zero when the bridge cost more than it kept out."""
        return self.kept_out - self.bridge - self.replies

    @property
    def why(self) -> str:
        """Why nothing was saved; nothing when something was."""
        if self.net > 0:
            return ""
        if not self.bridge:
            return "the drawer stayed open: the tools were few enough to show"
        if self.bridge >= self.kept_out:
            return "the bridge costs more than the few schemas that it keeps out"
        return (
            f"{self.searches} searches, {self.describes} describes and {self.retries} retries in "
            f"{self.turns} turns cost more than the schemas would have"
        )

    def money(self, prices: Prices) -> float:
        """US dollars saved, cache reads and the extra requests counted; may be below zero."""
        entered = self._entered
        saved = _cost(self.kept_out, self._kept_out_written, prices)
        spent = _cost(self.bridge, self._bridge_written, prices)
        spent += _cost(max(self.replies, entered), entered, prices)
        hops = (self.hop_input - self.hop_cached) * prices.input + self.hop_cached * prices.read
        return (saved - spent - hops - self.hop_output * prices.output) / _MILLION

    def __str__(self) -> str:
        verb = "saved" if self.net >= 0 else "lost"
        return (
            f"{verb} {abs(self.net):,} tokens over the turns so far ({self.turns}): kept "
            f"{self.kept_out:,} out of the prompt, bridge {self.bridge:,}, "
            f"replies {self.replies:,} (searches {self.searches}, "
            f"describes {self.describes}, retries {self.retries})"
        )

    def _enter(self, tokens: int) -> None:
        self._entered += tokens
        self._in_conversation += tokens
        self._not_yet_carried += tokens


def _cost(tokens: int, written: int, prices: Prices) -> float:
    """Tokens over the turns, of which some were written to the cache and the rest read from it."""
    return written * prices.write + (tokens - written) * prices.read
