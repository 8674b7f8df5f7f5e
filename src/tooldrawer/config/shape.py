"""What may stand in `tooldrawer.yaml`: each key, its type, and the words for what is expected."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, Len

from tooldrawer.assembly import CORE, AssemblyPolicy, BenefitModel, Enabled, Listing
from tooldrawer.bridge import BridgeNames, SearchPolicy
from tooldrawer.config.settings import (
    AgentOptions,
    ConnectionOptions,
    GatewayOptions,
    ModelOptions,
    QuotaOptions,
)
from tooldrawer.dispatch import Limits
from tooldrawer.naming import DEFAULT_TEMPLATE
from tooldrawer.search.spec import EndpointSpec
from tooldrawer.upstream.spec import UpstreamSpec

_policy, _search, _limits = AssemblyPolicy(), SearchPolicy(), Limits()
_names, _benefit, _server = BridgeNames(), BenefitModel(), UpstreamSpec(name="")
_endpoint, _gateway = EndpointSpec(url="", model=""), GatewayOptions()
_model, _agent, _connections = ModelOptions(), AgentOptions(), ConnectionOptions()
_quotas = QuotaOptions()


@dataclass(frozen=True, slots=True)
class Expected:
    """The words for what a key takes."""

    words: str


TEMPLATE = "a text with {tool}, perhaps {server}, and no other braces"
APPROVER = "'terminal' or 'package.module:name'"
EMBEDDINGS = ("tools", "tool_search", "embeddings")

Text = Annotated[str, Len(min_length=1), Expected("a text")]
Texts = Annotated[tuple[Text, ...], Expected("a list of texts")]
Patterns = Annotated[tuple[Text, ...], Expected("a list of patterns such as 'mcp_github_*'")]
Dotted = Annotated[
    tuple[Annotated[Text, Expected("'package.module:name'")], ...],
    Expected("a list of 'package.module:name'"),
]
Values = Annotated[
    dict[str, Annotated[str, Expected("a text in quotes")]],
    Expected("texts by name, such as {NAME: text}"),
]
Flag = Annotated[bool, Expected("true or false")]
Seconds = Annotated[float, Gt(0), Expected("a number of seconds above 0")]
Wait = Annotated[float, Interval(ge=0, le=86_400), Expected("a number of seconds from 0 to 86400")]
Count = Annotated[int, Ge(1), Expected("a whole number from 1")]
Amount = Annotated[int, Ge(0), Expected("a whole number from 0")]
Tokens = Annotated[int, Ge(0), Expected("a whole number of tokens from 0")]
Price = Annotated[float, Ge(0), Expected("a number from 0")]
Choice = Annotated[Literal["allow", "ask", "deny"], Expected("allow, ask or deny")]
FORBID = {"extra": "forbid"}


@dataclass(frozen=True)
class NamesSection:
    """`tools.tool_search.names`."""

    __pydantic_config__ = FORBID
    search: Text = _names.search
    describe: Text = _names.describe
    call: Text = _names.call


@dataclass(frozen=True)
class BenefitSection:
    """`tools.tool_search.benefit`: what a session is expected to look like."""

    __pydantic_config__ = FORBID
    turns: Count = _benefit.turns
    tools_used: Amount = _benefit.tools_used
    reply_tokens: Tokens = _benefit.reply_tokens
    request_tokens: Tokens = _benefit.request_tokens
    conversation_tokens: Tokens = _benefit.conversation_tokens
    cache_write: Price = _benefit.cache_write
    cache_read: Price = _benefit.cache_read
    output: Price = _benefit.output


@dataclass(frozen=True)
class EmbeddingsSection:
    """`tools.tool_search.embeddings`."""

    __pydantic_config__ = FORBID
    url: Text | None = None
    model: Text | None = None
    api_key: Annotated[str, Expected("a text")] = _endpoint.api_key
    query_prefix: Annotated[str, Expected("a text")] = _endpoint.query_prefix
    tool_prefix: Annotated[str, Expected("a text")] = _endpoint.tool_prefix
    dimensions: Annotated[int | None, Ge(1), Expected("a whole number from 1")] = None
    timeout: Annotated[
        float, Interval(gt=0, le=600), Expected("a number of seconds above 0, at most 600")
    ] = _endpoint.timeout


@dataclass(frozen=True)
class ToolSearchSection:
    """`tools.tool_search`."""

    __pydantic_config__ = FORBID
    enabled: Annotated[Enabled, Expected("auto, on, off or benefit")] = _policy.enabled
    threshold_pct: Annotated[float, Interval(ge=0, le=100), Expected("a number from 0 to 100")] = (
        _policy.threshold_pct
    )
    search_default_limit: Annotated[
        int | None, Interval(ge=1, le=50), Expected("a whole number from 1 to 50")
    ] = None
    max_search_limit: Annotated[
        int, Interval(ge=1, le=50), Expected("a whole number from 1 to 50")
    ] = _search.max_limit
    search_reply_max_tokens: Annotated[
        int, Ge(200), Expected("a whole number of tokens from 200")
    ] = _search.reply_max_tokens
    max_searches_in_a_row: Count = _search.most_in_a_row
    listing: Annotated[Listing, Expected("off, toolsets, names or full")] = _policy.listing
    listing_max_tokens: Tokens = _policy.listing_max_tokens
    names: Annotated[NamesSection, Expected("names for search, describe and call")] = field(
        default_factory=NamesSection
    )
    benefit: Annotated[BenefitSection, Expected("settings of the cost model")] = field(
        default_factory=BenefitSection
    )
    search: Annotated[Literal["hybrid", "lexical"], Expected("hybrid or lexical")] = "hybrid"
    embeddings: Annotated[EmbeddingsSection | None, Expected("settings with url and model")] = None


@dataclass(frozen=True)
class CoreSection:
    """`tools.core`: a list replaces the default one, `{add: [...]}` extends it."""

    __pydantic_config__ = FORBID
    replace: Patterns = CORE
    add: Patterns = ()


@dataclass(frozen=True)
class ToolsSection:
    """`tools`."""

    __pydantic_config__ = FORBID
    tool_search: Annotated[
        ToolSearchSection, Expected("true, false or settings such as {enabled: auto}")
    ] = field(default_factory=ToolSearchSection)
    core: Annotated[CoreSection, Expected("a list of patterns, or {add: [...]}")] = field(
        default_factory=CoreSection
    )
    pinned: Patterns = ()
    name_template: Annotated[Text, Expected(TEMPLATE)] = DEFAULT_TEMPLATE


@dataclass(frozen=True)
class PricesSection:
    """`model.prices`: US dollars for a million tokens."""

    __pydantic_config__ = FORBID
    input: Price | None = None
    output: Price | None = None
    cached: Price | None = None
    written: Price | None = None


@dataclass(frozen=True)
class ModelSection:
    """`model`."""

    __pydantic_config__ = FORBID
    name: Text | None = None
    wire: Annotated[
        Literal["chat", "responses", "anthropic"] | None, Expected("chat, responses or anthropic")
    ] = None
    base_url: Text | None = None
    api_key: Text | None = None
    max_output: Annotated[int | None, Ge(1), Expected("a whole number of tokens from 1")] = None
    bridge: Annotated[
        Literal["auto", "native", "portable"], Expected("auto, native or portable")
    ] = _model.bridge
    prices: Annotated[PricesSection | None, Expected("prices such as {input: 3, output: 15}")] = (
        None
    )
    context_length: Annotated[int | None, Ge(1), Expected("a whole number of tokens from 1")] = None


@dataclass(frozen=True)
class ServerSection:
    """One of `mcp_servers`."""

    __pydantic_config__ = FORBID
    command: Text | None = None
    args: Texts = ()
    env: Values = field(default_factory=dict[str, str])
    cwd: Text | None = None
    url: Text | None = None
    headers: Values = field(default_factory=dict[str, str])
    enabled: Flag = _server.enabled
    timeout: Seconds = _server.timeout
    allow: Patterns = _server.allow
    deny: Patterns = ()
    trusted: Flag = _server.trusted
    lazy: Flag = _server.lazy


@dataclass(frozen=True)
class ScopeSection:
    """One of `scopes`."""

    __pydantic_config__ = FORBID
    toolsets: Patterns = ("*",)
    disabled_toolsets: Patterns = ()
    allow: Patterns = ("*",)
    deny: Patterns = ()


@dataclass(frozen=True)
class ApprovalsSection:
    """`approvals`."""

    __pydantic_config__ = FORBID
    allow: Patterns = ()
    ask: Patterns = ()
    deny: Patterns = ()
    destructive: Choice = "allow"
    writing: Choice = "allow"
    read_only: Flag = False
    timeout: Seconds = _limits.approval_timeout
    approver: Annotated[Text | None, Expected(APPROVER)] = None
    unattended: Flag = _gateway.unattended_approvals


@dataclass(frozen=True)
class RateSection:
    """`limits.rate`."""

    __pydantic_config__ = FORBID
    calls: Count = 60
    seconds: Seconds = 60.0


@dataclass(frozen=True)
class LimitsSection:
    """`limits`."""

    __pydantic_config__ = FORBID
    call_timeout: Seconds = _limits.call_timeout
    result_max_chars: Annotated[int, Ge(1000), Expected("a whole number from 1000")] = (
        _limits.result_max_chars
    )
    arguments_max_bytes: Count = _limits.arguments_max_bytes
    concurrency: Count = _limits.concurrency
    repeats: Annotated[int | None, Ge(1), Expected("a whole number from 1")] = None
    rate: Annotated[RateSection | None, Expected("settings such as {calls: 60, seconds: 60}")] = (
        None
    )


@dataclass(frozen=True)
class ActivitySection:
    """`activity`."""

    __pydantic_config__ = FORBID
    keep: Count = 1000
    jsonl: Annotated[Text | None, Expected("a file's path")] = None
    mask: Annotated[tuple[Text, ...], Expected("a list of regular expressions")] = ()


@dataclass(frozen=True)
class ConnectionsSection:
    """`gateway.connections`."""

    __pydantic_config__ = FORBID
    max_open: Count = _connections.max_open
    max_incomplete: Count = _connections.max_incomplete
    header_timeout: Seconds = _connections.header_timeout
    body_timeout: Seconds = _connections.body_timeout
    write_timeout: Seconds = _connections.write_timeout
    request_max_bytes: Annotated[int, Ge(1000), Expected("a whole number from 1000")] = (
        _connections.request_max_bytes
    )


@dataclass(frozen=True)
class QuotasSection:
    """`gateway.quotas`: for each principal."""

    __pydantic_config__ = FORBID
    sessions: Count = _quotas.sessions
    suspended_calls: Count = _quotas.suspended_calls
    calls_in_flight: Count = _quotas.calls_in_flight
    searches_per_minute: Count = _quotas.searches_per_minute
    calls_per_minute: Count = _quotas.calls_per_minute
    subscriptions: Count = _quotas.subscriptions


@dataclass(frozen=True)
class GatewaySection:
    """`gateway`."""

    __pydantic_config__ = FORBID
    mode: Annotated[Literal["bridge", "passthrough"], Expected("bridge or passthrough")] = (
        _gateway.mode
    )
    host: Text = _gateway.host
    port: Annotated[int, Interval(ge=0, le=65_535), Expected("a whole number from 0 to 65535")] = (
        _gateway.port
    )
    allowed_hosts: Annotated[Texts, Expected("a list of host names")] = _gateway.allowed_hosts
    allowed_origins: Annotated[
        Texts, Expected("a list of origins such as 'https://example.com'")
    ] = _gateway.allowed_origins
    authorization_servers: Annotated[Texts, Expected("a list of urls")] = (
        _gateway.authorization_servers
    )
    first_search_wait: Wait = _gateway.first_search_wait
    drain: Wait = _gateway.drain
    instructions_max_chars: Amount = _gateway.instructions_max_chars
    connections: Annotated[
        ConnectionsSection, Expected("settings such as {max_open: 4000, header_timeout: 10}")
    ] = field(default_factory=ConnectionsSection)
    quotas: Annotated[
        QuotasSection, Expected("settings such as {sessions: 1000, calls_per_minute: 6000}")
    ] = field(default_factory=QuotasSection)


@dataclass(frozen=True)
class AgentSection:
    """`agent`."""

    __pydantic_config__ = FORBID
    max_turns: Count = _agent.max_turns
    subagent_turns: Count = _agent.subagent_turns
    allow_dirs: Annotated[Texts, Expected("a list of folders")] = _agent.allow_dirs
    store: Flag = _agent.store


@dataclass(frozen=True)
class FileShape:
    """The whole file."""

    __pydantic_config__ = FORBID
    tools: Annotated[ToolsSection, Expected("settings by name")] = field(
        default_factory=ToolsSection
    )
    model: Annotated[ModelSection, Expected("settings by name")] = field(
        default_factory=ModelSection
    )
    mcp_servers: Annotated[
        dict[str, Annotated[ServerSection, Expected("settings with a command or a url")]],
        Expected("servers by name"),
    ] = field(default_factory=dict[str, ServerSection])
    toolsets: Dotted = ()
    scopes: Annotated[
        dict[str, Annotated[ScopeSection, Expected("settings such as toolsets, allow and deny")]],
        Expected("scopes by name"),
    ] = field(default_factory=dict[str, ScopeSection])
    approvals: Annotated[ApprovalsSection, Expected("settings by name")] = field(
        default_factory=ApprovalsSection
    )
    limits: Annotated[LimitsSection, Expected("settings by name")] = field(
        default_factory=LimitsSection
    )
    hooks: Dotted = ()
    guardrails: Dotted = ()
    activity: Annotated[ActivitySection, Expected("settings by name")] = field(
        default_factory=ActivitySection
    )
    gateway: Annotated[GatewaySection, Expected("settings by name")] = field(
        default_factory=GatewaySection
    )
    agent: Annotated[AgentSection, Expected("settings by name")] = field(
        default_factory=AgentSection
    )
