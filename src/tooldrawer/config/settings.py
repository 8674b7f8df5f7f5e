"""Everything a drawer can be told, as the options that each part already defines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tooldrawer.assembly import AssemblyPolicy
from tooldrawer.bounds.backtracking import LONG_BACKTRACKING, may_backtrack_long
from tooldrawer.bridge import SearchPolicy
from tooldrawer.dispatch import Approver, Guardrail, Hook, Limits
from tooldrawer.errors import ConfigError
from tooldrawer.ledger import Prices
from tooldrawer.naming import DEFAULT_TEMPLATE
from tooldrawer.option_checks import (
    TEXT,
    TEXTS,
    Expected,
    find_pattern_mistake,
    freeze_lists,
    require_fields,
    whole_number,
)
from tooldrawer.scope import Scope
from tooldrawer.search import EVERYTHING, Recipe
from tooldrawer.search.spec import EndpointSpec
from tooldrawer.toolset import Toolset
from tooldrawer.upstream.spec import UpstreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityOptions:
    """Where events go.

    Raises:
        ConfigError: A value is out of its range, or a mask is not a regular expression.
    """

    keep: int = 1000
    jsonl: str = field(default="", repr=False)
    """A file to append every event to."""
    mask: tuple[str, ...] = field(default=(), repr=False)
    """Regular expressions of further secrets."""

    def __post_init__(self) -> None:
        freeze_lists(self, "mask")
        require_fields(
            self,
            keep=whole_number(0),
            jsonl=TEXT,
            mask=Expected("a list of regular expressions", TEXTS.accepts),
        )
        mistakes = [
            # Not the pattern itself, which may be the secret.
            f"ActivityOptions.mask[{position}] is not a regular expression: {mistake}."
            for position, pattern in enumerate(self.mask)
            if (mistake := find_pattern_mistake(pattern))
        ] or [
            f"ActivityOptions.mask[{position}] {LONG_BACKTRACKING}."
            for position, pattern in enumerate(self.mask)
            if may_backtrack_long(pattern)
        ]
        if mistakes:
            raise ConfigError(*mistakes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """How many HTTP connections there may be, and how long a request may take to arrive."""

    max_open: int = 4000
    """Together; fewer where the system allows fewer open files."""
    max_incomplete: int = 500
    """Those that have not sent a complete request."""
    header_timeout: float = 10.0
    """Seconds."""
    body_timeout: float = 60.0
    """Seconds."""
    write_timeout: float = 60.0
    """Seconds that a client may read nothing of its answer."""
    request_max_bytes: int = 4_000_000
    """Reading a request keeps all others waiting: 25 ms for each megabyte of small values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaOptions:
    """What one principal may use of the gateway."""

    sessions: int = 1000
    """Of the handshake era; the one that was idle longest makes room."""
    suspended_calls: int = 100
    """Calls that wait for a person's answer; the oldest makes room."""
    calls_in_flight: int = 250
    """More of them wait."""
    searches_per_minute: int = 3000
    calls_per_minute: int = 6000
    subscriptions: int = 1000
    """To resources; one more is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    """How the drawer is served to other programs."""

    mode: Literal["bridge", "passthrough"] = "bridge"
    """Three bridge tools, or every tool under its own name."""
    host: str = "127.0.0.1"
    port: int = 8765
    """0 is any free one."""
    allowed_hosts: tuple[str, ...] = field(default=(), repr=False)
    """Further names that a request may call this machine by."""
    allowed_origins: tuple[str, ...] = field(default=(), repr=False)
    """Web pages that may send requests."""
    authorization_servers: tuple[str, ...] = field(default=(), repr=False)
    """Who gives out tokens, for clients that have none."""
    first_search_wait: float = 5.0
    """Seconds that the first search waits for servers that are still connecting."""
    drain: float = 10.0
    """Seconds that running calls are given when the gateway stops."""
    instructions_max_chars: int = 2000
    """Of what the servers say about themselves, so much is passed on."""
    connections: ConnectionOptions = field(default_factory=ConnectionOptions)
    quotas: QuotaOptions = field(default_factory=QuotaOptions)
    unattended_approvals: bool = False
    """Whether a process without a person at its terminal may approve calls that wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which model the agent talks to, as far as the file says."""

    name: str = ""
    wire: Literal["chat", "responses", "anthropic"] | None = None
    """Whose words the endpoint speaks; by the model's name when nothing is said."""
    base_url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    max_output: int | None = None
    """Tokens of one answer, at most."""
    bridge: Literal["auto", "native", "portable"] = "auto"
    """Whether the provider's own deferral is used where there is one."""
    prices: Prices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """How the agent works."""

    max_turns: int = 50
    """Requests to the model for one task."""
    subagent_turns: int = 20
    allow_dirs: tuple[str, ...] = field(default=(), repr=False)
    """Folders besides the working directory that it may write to and run commands in."""
    store: bool = True
    """Whether conversations are kept."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config:
    """Everything `Drawer` needs, already checked.

    Any text in it may have come from the environment, so `repr` has only what cannot have.
    """

    assembly: AssemblyPolicy = field(default_factory=AssemblyPolicy)
    search: SearchPolicy = field(default_factory=SearchPolicy)
    recipe: Recipe = EVERYTHING
    embeddings: EndpointSpec | None = None
    """Where vectors come from; by default the model in the package makes them."""
    limits: Limits = field(default_factory=Limits)
    context_length: int | None = None
    name_template: str = DEFAULT_TEMPLATE
    scopes: Mapping[str, Scope] = field(default_factory=dict[str, Scope])
    servers: tuple[UpstreamSpec, ...] = ()
    toolsets: tuple[Toolset, ...] = ()
    hooks: tuple[Hook, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()
    approver: Approver | None = None
    activity: ActivityOptions = field(default_factory=ActivityOptions)
    gateway: GatewayOptions = field(default_factory=GatewayOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    agent: AgentOptions = field(default_factory=AgentOptions)
    notes: tuple[str, ...] = ()
    """What a person should know about how the files were read; nothing in it is wrong."""

    @property
    def disabled(self) -> tuple[UpstreamSpec, ...]:
        """The servers that cannot start; the `problem` of each has the reason."""
        return tuple(spec for spec in self.servers if spec.enabled and spec.problem)

    @property
    def server_mistakes(self) -> tuple[str, ...]:
        """Everything that is wrong with single servers: file, line, key, found, expected."""
        problems = (spec.problem for spec in self.servers)
        return tuple(line for problem in problems if problem for line in problem.details)

    def __repr__(self) -> str:
        servers = [server.name for server in self.servers]
        return (
            f"Config(tool_search={self.assembly.enabled!r}, servers={servers}, "
            f"scopes={list(self.scopes)}, toolsets={len(self.toolsets)}, hooks={len(self.hooks)}, "
            f"guardrails={len(self.guardrails)})"
        )
