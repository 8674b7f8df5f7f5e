"""Tools and settings in, one turn's array out. Pure: same input, same bytes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, assert_never

from tooldrawer.assembly import listing
from tooldrawer.assembly.policy import AssemblyPolicy, known_context_length
from tooldrawer.bridge import BRIDGE, bridge_tools, native_search
from tooldrawer.naming import gave_way
from tooldrawer.patterns import tool_matches
from tooldrawer.tokens import SchemaCosts
from tooldrawer.tool import Json, Tool
from tooldrawer.wire import anthropic_tool, mcp, openai

Why = Literal["core", "pinned", "inactive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """One turn's tools array, and the facts behind it."""

    tools: tuple[Tool, ...]
    """What the model sees: the direct tools in their order, then the bridge when it is active."""
    active: bool
    """Whether the bridge replaces the deferrable tools."""
    direct: tuple[Tool, ...]
    deferred: tuple[Tool, ...]
    """In the drawer; empty when inactive."""
    deferrable_tokens: int
    """What the schemas that can be deferred cost."""
    threshold_tokens: float
    context_length: int
    array_tokens: int
    """What the array costs now."""
    bridge_tokens: int
    """What the bridge costs in it, listing included."""
    listing: str
    """What the bridge says is in the drawer."""
    reason: str
    """Why tool search is active or inactive, for people."""
    why_direct: tuple[Why, ...]
    """For each of `direct`."""

    @property
    def explanation(self) -> str:
        """Whether tool search is active, and why, in a sentence."""
        return f"Tool search is {'active' if self.active else 'inactive'}: {self.reason}."

    @property
    def saved_tokens(self) -> int:
        """Tokens kept out of this turn's prompt: schemas in the drawer minus the bridge."""
        return self.deferrable_tokens - self.bridge_tokens if self.active else 0

    def openai(self) -> list[dict[str, Json]]:
        """The array for OpenAI chat completions, and everything that imitates it."""
        return [openai.render(tool) for tool in self.tools]

    def anthropic(self) -> list[dict[str, Json]]:
        """The array for Anthropic's Messages API."""
        return [anthropic_tool.render(tool) for tool in self.tools]

    def mcp(self) -> list[dict[str, Json]]:
        """The array as an MCP server lists it."""
        return [mcp.render(tool) for tool in self.tools]


def assemble(
    tools: Iterable[Tool],
    policy: AssemblyPolicy,
    *,
    context_length: int | None = None,
    costs: SchemaCosts,
    toolsets: Sequence[str] | None = None,
    listed: str | None = None,
    closed: str = "",
    native: bool = False,
) -> Assembly:
    """Everything when it is little; the direct tools and the bridge when it is much.

    `toolsets` are those of the scope, connected or not, by default those of the tools; `listed` is
    a listing that was already given to this conversation and must stay as it is; `closed` is a
    reason to close the drawer whatever the settings say; `native` is a provider that loads found
    tools itself, so that searching is all of the bridge that the model needs.
    """
    found = tuple(tools)
    if policy.enabled != "off" and any(_is_bridge(tool, policy) for tool in found):
        found = tuple(tool for tool in found if not _is_bridge(tool, policy))
    reasons: list[Why | None] = [why_direct(tool, policy) for tool in found]
    deferrable = tuple(tool for tool, why in zip(found, reasons, strict=True) if why is None)
    context = known_context_length(context_length)
    if listed is None:
        listed = listing.render(
            policy.listing,
            toolsets=_in_the_drawer(toolsets or (), found, deferrable),
            deferred=deferrable,
            max_tokens=policy.listing_max_tokens,
        )
    bridge = _bridge(policy, listed, native=native)
    tokens, bridge_tokens = costs.total(deferrable), costs.total(bridge)
    active, reason = bool(closed), closed or "no tool can be deferred"
    if not closed and (deferrable or policy.enabled == "off"):
        active, reason = _decided(policy, tokens, bridge_tokens, context)
    shown: list[tuple[Tool, Why]] = [
        (tool, why or "inactive")
        for tool, why in zip(found, reasons, strict=True)
        if why or not active
    ]
    direct = tuple(tool for tool, _ in shown)
    return Assembly(
        tools=(*direct, *bridge) if active else direct,
        active=active,
        direct=direct,
        deferred=deferrable if active else (),
        deferrable_tokens=tokens,
        threshold_tokens=float(policy.threshold(context)),
        context_length=context,
        array_tokens=costs.total(direct) + (bridge_tokens if active else 0),
        listing=listed if active else "",
        reason=reason,
        why_direct=tuple(why for _, why in shown),
        bridge_tokens=bridge_tokens if active else 0,
    )


def _bridge(policy: AssemblyPolicy, listed: str, *, native: bool) -> tuple[Tool, ...]:
    if native:
        return (native_search(policy.names, listing=listed),)
    return bridge_tools(policy.names, listing=listed)


def why_direct(tool: Tool, policy: AssemblyPolicy) -> Literal["core", "pinned"] | None:
    """Why `tool` is never deferred; nothing when it can be."""
    if _is_named(tool, policy.core):
        return "core"
    return "pinned" if _is_named(tool, policy.pinned) else None


def _is_named(tool: Tool, patterns: Sequence[str]) -> bool:
    # A tool that had to give way to another of its name must not take that one's place here, and
    # one that kept its name keeps its place, whatever servers come later.
    return tool.name in patterns or tool_matches(tool, patterns, only_visible=gave_way(tool))


def _in_the_drawer(
    toolsets: Iterable[str], tools: Sequence[Tool], deferrable: Sequence[Tool]
) -> set[str]:
    """The toolsets to name: all but those of this process whose tools are all direct.

    A server is named whatever it lists at the moment, or bytes would depend on when it connects.
    """
    sources = {tool.source for tool in deferrable}
    shown = {tool.source for tool in tools if not tool.is_upstream} - sources
    return {*sources, *toolsets} - shown - {""}


def _is_bridge(tool: Tool, policy: AssemblyPolicy) -> bool:
    """Ours, or an earlier array's that came back through a provider's shape without its source."""
    return tool.source in (BRIDGE, "") and tool.name in tuple(policy.names)


def _decided(
    policy: AssemblyPolicy, tokens: int, bridge_tokens: int, context: int
) -> tuple[bool, str]:
    match policy.enabled:
        case "off":
            return False, "it is switched off"
        case "on":
            return True, "it is switched on"
        case "auto":
            threshold = policy.threshold(context)
            active = tokens >= threshold
            # Rounded up: whole tokens are below the threshold exactly if they are below that.
            return active, (
                f"{tokens:,} tokens of deferrable schemas {'≥' if active else '<'} threshold "
                f"{ceil(threshold):,} ({policy.threshold_pct:g} % of {context:,})"
            )
        case "benefit":
            model = policy.benefit
            active = model.pays(schema_tokens=tokens, bridge_tokens=bridge_tokens)
            bridged, plain = model.with_bridge(bridge_tokens), model.without_bridge(tokens)
            relation = "less" if active else "not less"
            return active, (
                f"a session costs {bridged:,.0f} token equivalents with the bridge, "
                f"{relation} than {plain:,.0f} without"
            )
        case _:
            assert_never(policy.enabled)
