"""For every key of the configuration, whether a folder's file may set it before it is trusted.

A file that came with a repository must not run code, send data, open the network, loosen a rule or
a limit, or hang the process. What only changes how tools are found and shown is free. A key without
a decision fails a test.
"""

from collections.abc import Mapping

KeyPath = tuple[str, ...]
ANY_NAME = "*"
"""In a path: each server."""
SERVERS_KEY = "mcp_servers"
_SEARCH = ("tools", "tool_search")

NEEDS_TRUST: Mapping[KeyPath, str] = {
    ("toolsets",): "Python code",
    ("hooks",): "Python code",
    ("guardrails",): "Python code",
    (*_SEARCH, "embeddings"): "gets the tools' descriptions, the queries and a key",
    (*_SEARCH, "names"): "the model sees them, and a variable may be in them",
    ("tools", "name_template"): "patterns of approvals and scopes match the names it makes",
    ("model", "name"): "chooses the service that gets the conversation and the key",
    ("model", "wire"): "how the service is asked",
    ("model", "base_url"): "gets the conversation and the key",
    ("model", "api_key"): "may name any variable",
    ("scopes",): "what a token may reach",
    ("approvals",): "which calls need a person, and who that is",
    ("limits",): "what one call may use",
    ("activity",): "where events are written, how many are kept, what is masked in them",
    ("gateway",): "who can reach it, and what they may use",
    ("agent",): "where it may write, how long it goes on, what is kept of it",
    (SERVERS_KEY, ANY_NAME, "command"): "runs",
    (SERVERS_KEY, ANY_NAME, "args"): "runs",
    (SERVERS_KEY, ANY_NAME, "env"): "runs: LD_PRELOAD, PYTHONPATH; may name any variable",
    (SERVERS_KEY, ANY_NAME, "cwd"): "where a relative command is looked for",
    (SERVERS_KEY, ANY_NAME, "url"): "gets arguments and headers",
    (SERVERS_KEY, ANY_NAME, "headers"): "may name any variable",
    (SERVERS_KEY, ANY_NAME, "trusted"): "its annotations loosen rules",
    (SERVERS_KEY, ANY_NAME, "allow"): "which of its tools exist",
    (SERVERS_KEY, ANY_NAME, "deny"): "which of its tools exist",
}
"""A path stands for all that is below it."""

FREE: Mapping[KeyPath, str] = {
    **dict.fromkeys(
        (
            *(
                (*_SEARCH, key)
                for key in (
                    "enabled", "threshold_pct", "search_default_limit", "max_search_limit",
                    "search_reply_max_tokens", "max_searches_in_a_row", "listing",
                    "listing_max_tokens", "search",
                )
            ),
            ("tools", "core", "replace"),
            ("tools", "core", "add"),
            ("tools", "pinned"),
        ),
        "how tools are found and shown; calls pass the same rules",
    ),
    **dict.fromkeys(
        (
            (*_SEARCH, "benefit", key)
            for key in (
                "turns", "tools_used", "reply_tokens", "request_tokens", "conversation_tokens",
                "cache_write", "cache_read", "output",
            )
        ),
        "figures of the cost model",
    ),
    **dict.fromkeys(
        (("model", "prices", key) for key in ("input", "output", "cached", "written")),
        "only shown",
    ),
    ("model", "max_output"): "the service has its own limit",
    ("model", "bridge"): "how tools are offered",
    ("model", "context_length"): "when tools are deferred and conversations shortened",
    (SERVERS_KEY, ANY_NAME, "enabled"): "a server that is switched on needs trust as a whole",
    (SERVERS_KEY, ANY_NAME, "timeout"): "of a server that is trusted",
    (SERVERS_KEY, ANY_NAME, "lazy"): "when it is started",
}  # fmt: skip
"""Each key by itself, so that a new one beside it is decided about too."""

TRUSTED_SETTINGS: tuple[KeyPath, ...] = tuple(
    path for path in NEEDS_TRUST if path[0] != SERVERS_KEY
)
SERVER_KEYS: tuple[str, ...] = (
    *(path[2] for path in NEEDS_TRUST if path[0] == SERVERS_KEY),
    # What other programs call the same.
    "httpUrl", "serverUrl", "type", "includeTools", "enabledTools", "excludeTools",
    "disabledTools",
)  # fmt: skip
