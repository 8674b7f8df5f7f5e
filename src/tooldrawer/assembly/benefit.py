"""Whether the bridge is cheaper over a whole session, prompt-cache prices included.

Everything is in *input-token equivalents*: one uncached input token costs 1. The array is written
to the cache on the first turn and read from it on every later one. Behind the bridge the array is
small, but each tool that is used costs a search: the reply stays in the conversation, and the
extra round trip reads the conversation so far once more. `docs/benefit.md` has the formula.
"""

from dataclasses import dataclass

from tooldrawer.option_checks import number, require_fields, whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class BenefitModel:
    """What a session is expected to look like, and what tokens cost in it."""

    turns: int = 20
    """Requests to the model in a session, without the extra ones."""
    tools_used: int = 3
    """Different tools taken out of the drawer in a session."""
    reply_tokens: int = 500
    """What one search (and now and then a describe) leaves in the conversation."""
    request_tokens: int = 40
    """What the model writes to ask for it."""
    conversation_tokens: int = 8_000
    """The conversation that an extra round trip reads again, on average."""
    cache_write: float = 1.25
    """Price of writing an input token to the cache."""
    cache_read: float = 0.1
    """Price of reading one from it. 1 where a provider has no cache."""
    output: float = 5.0
    """Price of an output token."""

    def __post_init__(self) -> None:
        require_fields(
            self,
            turns=whole_number(1),
            tools_used=whole_number(0),
            reply_tokens=whole_number(0),
            request_tokens=whole_number(0),
            conversation_tokens=whole_number(0),
            cache_write=number(0),
            cache_read=number(0),
            output=number(0),
        )

    def without_bridge(self, schema_tokens: int) -> float:
        """The session's cost of showing every schema in full."""
        return schema_tokens * self._carried(self.turns)

    def with_bridge(self, bridge_tokens: int) -> float:
        """The session's cost of the bridge and of taking `tools_used` tools out of the drawer."""
        later = self._carried(max(self.turns // 2, 1))
        again = (bridge_tokens + self.conversation_tokens) * self.cache_read
        written = self.request_tokens * self.output
        each = self.reply_tokens * later + again + written
        return bridge_tokens * self._carried(self.turns) + self.tools_used * each

    def pays(self, *, schema_tokens: int, bridge_tokens: int) -> bool:
        """Whether the bridge costs less; at equality it does not."""
        return self.with_bridge(bridge_tokens) < self.without_bridge(schema_tokens)

    def _carried(self, turns: int) -> float:
        """A token that stays in the prompt for `turns` requests: written once, then read."""
        return self.cache_write + (turns - 1) * self.cache_read
