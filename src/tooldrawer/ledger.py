"""What a session saved, minus what that cost."""

from dataclasses import dataclass


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
    _in_conversation: int = 0
    _not_yet_carried: int = 0

    def turn(self, *, kept_out: int, bridge: int) -> None:
        """One prompt was sent."""
        self.turns += 1
        self.kept_out += kept_out
        self.bridge += bridge
        self.carried += self._in_conversation
        self._not_yet_carried = 0

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
        self._enter(tokens)

    @property
    def replies(self) -> int:
        """What the bridge's replies cost so far; those of this turn at least once."""
        return self.carried + self._not_yet_carried

    @property
    def net(self) -> int:
        """Tokens saved; below zero when the bridge cost more than it kept out."""
        return self.kept_out - self.bridge - self.replies

    def __str__(self) -> str:
        verb = "saved" if self.net >= 0 else "lost"
        return (
            f"{verb} {abs(self.net):,} tokens over the turns so far ({self.turns}): kept "
            f"{self.kept_out:,} out of the prompt, bridge {self.bridge:,}, "
            f"replies {self.replies:,} (searches {self.searches}, "
            f"describes {self.describes}, retries {self.retries})"
        )

    def _enter(self, tokens: int) -> None:
        self._in_conversation += tokens
        self._not_yet_carried += tokens
