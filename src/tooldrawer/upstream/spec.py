"""How to reach one server. Plain data, so it can be read from a file and compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tooldrawer.tool import UPSTREAM_PREFIX

DEPTH = "TOOLDRAWER_DEPTH"
"""How many gateways are above a server: one that starts itself through an `.mcp.json` sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartProblem:
    """Why the configuration does not let a server start."""

    reason: str
    """What is the matter, without values of the file: a model may read it."""
    details: tuple[str, ...] = ()
    """Sentences for a person: file, line, key, what was found and what was expected."""
    variables: tuple[str, ...] = ()
    """The environment variables that are missing."""
    command: str = ""
    """The command with which a person lets it start, when it only waits for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSpec:
    """One entry of `mcp_servers`: a command to start, or an address to call."""

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    enabled: bool = True
    timeout: float = 60.0
    """Seconds for one call."""
    start_timeout: float = 60.0
    """Seconds from its start to its list of tools: the first `npx` of a package downloads it."""
    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    trusted: bool = False
    """Whether its annotations may loosen a rule."""
    lazy: bool = False
    """Whether it is started by the first call of one of its tools, when they are known already."""
    problem: StartProblem | None = None
    """Why it is not started; its other settings mean nothing then."""
    fingerprint: str = field(default="", repr=False, compare=False)
    """Under which it was trusted; nothing when its file as a whole is the user's."""

    @property
    def toolset(self) -> str:
        """The toolset that it becomes."""
        return f"{UPSTREAM_PREFIX}{self.name}"
