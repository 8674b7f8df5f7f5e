"""Every promise of the contract, in a sentence, and what of it is not kept yet.

A test carries the id of the promise that it shows: `@requirement("ACT-2")`. Another test reads all
of them and fails when a promise has no test, or a test a promise that nobody made.
"""

from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise."""

    sentence: str
    gap: str = ""
    """What of it is not kept yet, and where it will be. A whole gap needs no test."""
    is_open: bool = False
    """Nothing of it is kept yet."""


def requirement(name: str) -> pytest.MarkDecorator:
    """Mark a test as showing the promise `name`."""
    if name not in PROMISES:
        raise KeyError(f"{name} is nobody's promise; the manifest is tests/requirements.py")
    return pytest.mark.requirement(name)


PROMISES = {
    "TOOL-1": Promise("A tool goes in and out in MCP's, OpenAI's and Anthropic's shape, whole."),
    "TOOL-2": Promise("A server's tool is mcp_{server}_{tool}: fitting, stable, never shared."),
    "TOOL-3": Promise("Describe and call take other notations; replies use the real name."),
    "TOOL-4": Promise("Registry changes bump the generation and are never half visible."),
    "SCOPE-1": Promise("A session sees what its scope admits: toolsets, then globs, deny first."),
    "SCOPE-2": Promise("No output of a session has the name of a tool outside its scope."),
    "SCOPE-3": Promise("The dispatcher itself refuses what is out of scope, as if unknown."),
    "SCOPE-4": Promise("A child's scope is an intersection; no session changes another."),
    "SCOPE-5": Promise("Scope belongs to the principal, not to a connection."),
    "ACT-1": Promise("off passes through, on is active with anything deferrable, auto by cost."),
    "ACT-2": Promise("Inactive is pass-through: same objects, order and bytes."),
    "ACT-3": Promise("Every assembly decides anew from the live registry."),
    "ACT-4": Promise("MCP and non-core plugin tools are deferrable; core and pinned are not."),
    "ACT-5": Promise("Assembling is idempotent; direct tools keep their order, bridge last."),
    "ACT-6": Promise("An unknown or non-positive context length counts as 200,000."),
    "ACT-7": Promise("The decision can be explained."),
    "ACT-8": Promise("Tokens are exact with the optional tokenizer, else within 3 percent."),
    "ACT-9": Promise("benefit is active when a session costs less with the bridge."),
    "BR-1": Promise("Three tools, together at most 300 o200k tokens."),
    "BR-2": Promise("The bridge's bytes depend on settings only."),
    "BR-3": Promise("tool_search names the toolsets of the scope, sorted and bounded."),
    "BR-4": Promise("Wire names can be changed; a real tool of such a name is an error."),
    "BR-5": Promise("Sloppy envelopes are understood; no JSON crashes it."),
    "BR-6": Promise("Bridge or direct is one door; nesting is unwrapped once."),
    "BR-7": Promise("A search reply has signatures and stays within its budget."),
    "BR-8": Promise("A describe reply has the full schema; an unknown name the nearest ones."),
    "BR-9": Promise("When nothing fits, search says so and does not pad."),
    "BR-10": Promise("limit has a default and is clamped."),
    "BR-11": Promise("Searching in a row without calling is stopped."),
    "SEARCH-1": Promise("BM25 over name, server, description, parameters; else substrings."),
    "SEARCH-2": Promise("An exact name in any notation is first."),
    "SEARCH-3": Promise("Meaning counts: a dense index ships in the package."),
    "SEARCH-4": Promise("Same catalog, same query, same order; ties by name."),
    "SEARCH-5": Promise("Typos, forms, partial names and other languages find the tool."),
    "SEARCH-6": Promise("Indexes are cached by content, shared, and grown for new tools only."),
    "SEARCH-7": Promise(
        "Abstention is calibrated and its rates are reported.",
        gap="only rubbish and far-away requests meet silence; near misses are all answered",
    ),
    "DSP-1": Promise("One function, one order, for direct and bridged calls."),
    "DSP-2": Promise("Everyone around a call sees the real tool, never tool_call."),
    "DSP-3": Promise("A result comes back as the tool gave it."),
    "DSP-4": Promise("Arguments are checked and safely repaired, within bounds."),
    "DSP-5": Promise("Guardrails allow, deny or ask; the strictest wins."),
    "DSP-6": Promise("Approvals show the exact call, are remembered as said, and default to no."),
    "DSP-7": Promise("A turn's calls run concurrently or in turn; the order is kept."),
    "DSP-8": Promise("Time limits, cancellation and result limits with a way to read on."),
    "DSP-9": Promise("A refusal tells the model its next step."),
    "AF-1": Promise("A closed set of events with time, session, scope, tool, duration, tokens."),
    "AF-2": Promise("Terminal and gateway feeds show the underlying tool."),
    "AF-3": Promise(
        "Sinks get masked events; a slow or broken one harms no call.",
        gap="memory, JSON lines, subscriptions and server-sent events; telemetry and the store "
        "come with the dashboard issue",
    ),
    "AF-4": Promise("Search quality in the wild is measured."),
    "LED-1": Promise("The ledger nets what stayed out against its cost, in tokens and money."),
    "CFG-1": Promise("tool_search: true means auto, false means off."),
    "CFG-2": Promise("Every mistake at once with file, line, key, found, expected; hot reload."),
    "CFG-3": Promise("mcpServers JSON files are read; import and connect."),
    "CFG-4": Promise("${NAME} is filled; a missing one is an error; secrets are not printed."),
    "CACHE-1": Promise("Same settings and scope, same bytes, in every process."),
    "CACHE-2": Promise("While active, nothing that comes and goes changes a byte."),
    "CACHE-3": Promise("Nothing in the conversation is rewritten."),
}  # fmt: skip
