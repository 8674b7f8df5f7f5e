"""The manifest of requirements: one sentence per id, and the known gaps.

A test names the requirement that it covers: `@requirement("ACT-2")`. Another test reads all of
them and fails when a requirement has no test, or when a test names an unknown id.
"""

from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement of the specification."""

    sentence: str
    gap: str = ""
    """The part that is not implemented yet."""
    is_open: bool = False
    """Nothing of it is implemented yet, so it needs no test."""


def requirement(name: str) -> pytest.MarkDecorator:
    """Mark a test as covering the requirement `name`."""
    if name not in REQUIREMENTS:
        raise KeyError(f"{name} is not a requirement; the manifest is tests/requirements.py")
    return pytest.mark.requirement(name)


# fmt: off
REQUIREMENTS = {
    "TOOL-1": Requirement("A tool goes in and out in MCP's, OpenAI's and Anthropic's shape, whole."),
    "TOOL-2": Requirement("A server's tool is mcp_{server}_{tool}: fitting, stable, never shared."),
    "TOOL-3": Requirement("Describe and call take other notations; replies use the real name."),
    "TOOL-4": Requirement("Registry changes bump the generation and are never half visible."),
    "SCOPE-1": Requirement("A session sees what its scope admits: toolsets, then globs, deny first."),
    "SCOPE-2": Requirement("No output of a session has the name of a tool outside its scope."),
    "SCOPE-3": Requirement("The dispatcher itself refuses what is out of scope, as if unknown."),
    "SCOPE-4": Requirement("A child's scope is an intersection; no session changes another."),
    "SCOPE-5": Requirement("Scope belongs to the principal, not to a connection."),
    "SCOPE-6": Requirement("One admission check covers everything that a server offers."),
    "SCOPE-7": Requirement("Patterns match server and tool names separately, whole, without case."),
    "ACT-1": Requirement("off passes through, on is active with anything deferrable, auto by cost."),
    "ACT-2": Requirement("Inactive is pass-through: same objects, order and bytes."),
    "ACT-3": Requirement("Every assembly decides anew from the live registry."),
    "ACT-4": Requirement("MCP and non-core plugin tools are deferrable; core and pinned are not."),
    "ACT-5": Requirement("Assembling is idempotent; direct tools keep their order, bridge last."),
    "ACT-6": Requirement("An unknown or non-positive context length counts as 200,000."),
    "ACT-7": Requirement("The decision can be explained."),
    "ACT-8": Requirement("Tokens are exact with the optional tokenizer, else within 3 percent."),
    "ACT-9": Requirement("benefit is active when a session costs less with the bridge."),
    "ACT-10": Requirement("threshold_max_tokens caps the auto threshold.", is_open=True),
    "BR-1": Requirement("Three tools, together at most 300 o200k tokens."),
    "BR-2": Requirement("The bridge's bytes depend on settings only."),
    "BR-3": Requirement("tool_search names the toolsets of the scope, sorted and bounded."),
    "BR-4": Requirement("Wire names can be changed; a real tool of such a name is an error."),
    "BR-5": Requirement("Sloppy envelopes are understood; no JSON crashes it."),
    "BR-6": Requirement("Bridge or direct is one door; nesting is unwrapped once."),
    "BR-7": Requirement("A search reply has signatures and stays within its budget."),
    "BR-8": Requirement("A describe reply has the full schema; an unknown name the nearest ones."),
    "BR-9": Requirement("When nothing fits, search says so and does not pad."),
    "BR-10": Requirement("limit has a default and is clamped."),
    "BR-11": Requirement("Repeated searching is limited by turns, and never locks a session."),
    "BR-12": Requirement("tool_call accepts a list of calls.", is_open=True),
    "SEARCH-1": Requirement("BM25 over name, server, description, parameters; else substrings."),
    "SEARCH-2": Requirement("An exact name in any notation is first."),
    "SEARCH-3": Requirement("Meaning counts: a dense index ships in the package."),
    "SEARCH-4": Requirement("Same catalog, same query, same order; ties by name."),
    "SEARCH-5": Requirement("Typos, forms, partial names and other languages find the tool."),
    "SEARCH-6": Requirement("Indexes are cached by content, shared, and grown for new tools only."),
    "SEARCH-7": Requirement(
        "Uncertainty is reported; only input without meaning gets an empty reply.",
        gap="weak matches are not marked and hits have no calibrated confidence; by words alone, a "
        "request that shares no word with any tool is empty",
    ),
    "SEARCH-8": Requirement("Searches are safe in parallel from the first moment; failures are text."),
    "SEARCH-9": Requirement("While tools load, a reply states what was searched and what is missing."),
    "DSP-1": Requirement("One function, one order, for direct and bridged calls."),
    "DSP-2": Requirement("Everyone around a call sees the real tool, never tool_call."),
    "DSP-3": Requirement("A result comes back as the tool gave it."),
    "DSP-4": Requirement("Arguments are checked and safely repaired, within bounds."),
    "DSP-5": Requirement("Guardrails allow, deny or ask; the strictest wins."),
    "DSP-6": Requirement("Approvals show the exact call, are remembered as said, and default to no."),
    "DSP-7": Requirement("A turn's calls run concurrently or in turn; the order is kept."),
    "DSP-8": Requirement("Time limits, cancellation and result limits with a way to read on."),
    "DSP-9": Requirement("A refusal tells the model its next step."),
    "DSP-10": Requirement("Evaluating untrusted input is bounded in advance.", gap="a message of up to 64 MB and 1,000,000 values is parsed whole on the event loop, which takes up to half a second"),
    "DSP-11": Requirement("Timeout messages state accurately whether the work stopped."),
    "DSP-12": Requirement("Grants belong to the principal and scope that were asked."),
    "AF-1": Requirement("A closed set of events with time, session, scope, tool, duration, tokens."),
    "AF-2": Requirement("Terminal and gateway feeds show the underlying tool."),
    "AF-3": Requirement(
        "Sinks get masked events; a slow or broken one harms no call.",
        gap="memory, JSON lines, subscriptions and server-sent events; telemetry and the store "
        "come with the dashboard issue",
    ),
    "AF-4": Requirement("Search quality in the wild is measured."),
    "LED-1": Requirement("The ledger nets what stayed out against its cost, in tokens and money."),
    "CFG-1": Requirement("tool_search: true means auto, false means off."),
    "CFG-2": Requirement("Every mistake at once with file, line, key, found, expected; hot reload."),
    "CFG-3": Requirement("mcpServers JSON files are read; import and connect."),
    "CFG-4": Requirement("${NAME} is filled; a missing one disables its server; secrets are not printed."),
    "CFG-5": Requirement("Configuration found in a folder starts nothing that is not trusted."),
    "CACHE-1": Requirement("Same settings and scope, same bytes, in every process."),
    "CACHE-2": Requirement("While active, nothing that comes and goes changes a byte."),
    "CACHE-3": Requirement("Nothing in the conversation is rewritten."),
    "SET-1": Requirement("import and connect --replace give a working client, or change nothing."),
    "SET-2": Requirement("doctor checks everything; init, add, remove, enable, disable, logs.", is_open=True),
    "SET-3": Requirement("Secrets come from the environment, the keyring or an encrypted file.", is_open=True),
    "SET-4": Requirement("login signs in to remote servers with OAuth 2.1.", is_open=True),
    "SET-5": Requirement("One background gateway serves all clients of a user.", is_open=True),
    "GW-1": Requirement("Restarts lose no acknowledged call; a bad server barely slows others.", is_open=True),
    "GW-2": Requirement("Quotas per principal, keyed by token or process."),
    "GW-3": Requirement("Slow and excess connections are limited."),
    "GW-4": Requirement("expose: by-effect splits tool_call by effect.", is_open=True),
    "TRUST-1": Requirement("Tool definitions are pinned; changes are quarantined.", is_open=True),
    "TRUST-2": Requirement("Server text is data: cleaned and scanned.", is_open=True),
    "TRUST-3": Requirement(
        "approvals.by decides who can answer; the approver sees everything.",
        gap="approvals.by and the dashboard's approver role do not exist; approve needs a terminal.",
    ),
    "TRUST-4": Requirement("No telemetry, neither ours nor a dependency's."),
    "TRUST-5": Requirement(
        "Locked dependencies, verified weights, SBOM, audit.",
        gap="weights are verified; locks, SBOM and audit are missing",
    ),
    "STORE-1": Requirement("One store protocol: SQLite and PostgreSQL.", is_open=True),
    "STORE-2": Requirement("The audit log is append-only with a hash chain.", is_open=True),
    "FLEET-1": Requirement("Any number of gateways without sticky sessions.", is_open=True),
    "FLEET-2": Requirement("Huge catalogs use a distributed engine.", is_open=True),
    "UI-1": Requirement("One dashboard page served by the gateway.", is_open=True),
    "UI-2": Requirement("The dashboard starts no command; text is inert; roles.", is_open=True),
}
# fmt: on
