"""Who serves models: where they are, and which environment variables hold their keys."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from tooldrawer.agent.spec import WireName


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One service with a wire and keys of its own."""

    name: str
    """Written before a model's name and a slash, it chooses this service."""
    host: str
    keys: tuple[str, ...]
    """Environment variables, the first that is set counts."""
    wire: WireName = "chat"
    base_url: str = ""
    """Where the SDK of its wire would not go by itself."""
    address: str = ""
    """The environment variable with another base URL."""
    models: tuple[str, ...] = ()
    """Patterns of the names that nobody else has."""


ANTHROPIC = Provider(
    name="anthropic",
    host="api.anthropic.com",
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    wire="anthropic",
    address="ANTHROPIC_BASE_URL",
    models=("claude*",),
)
OPENAI = Provider(
    name="openai",
    host="api.openai.com",
    keys=("OPENAI_API_KEY",),
    wire="responses",
    address="OPENAI_BASE_URL",
    models=("gpt-[0-9]*", "chatgpt-*", "o[0-9]", "o[0-9]-*", "codex-*", "ft:gpt-*"),
)
_GEMINI = Provider(
    name="google",
    host="generativelanguage.googleapis.com",
    keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    base_url="https://generativelanguage.googleapis.com/v1beta/openai",
    models=("gemini-*",),
)
_OPENROUTER = Provider(
    name="openrouter",
    host="openrouter.ai",
    keys=("OPENROUTER_API_KEY",),
    base_url="https://openrouter.ai/api/v1",
)
# These are found by their address only. Their keys are their own, so that a person's
# OPENAI_API_KEY does not go to somebody else.
_BY_ADDRESS = tuple(
    Provider(name=name, host=host, keys=(f"{name.upper()}_API_KEY",))
    for name, host in (
        ("deepseek", "api.deepseek.com"),
        ("mistral", "api.mistral.ai"),
        ("groq", "api.groq.com"),
        ("together", "api.together.xyz"),
        ("fireworks", "api.fireworks.ai"),
        ("cerebras", "api.cerebras.ai"),
        ("xai", "api.x.ai"),
    )
)
_BY_NAME = (ANTHROPIC, OPENAI, _GEMINI, _OPENROUTER)


def chosen(model: str) -> tuple[Provider | None, str]:
    """The service that a name asks for, as in `openai/gpt-5.4`, and the name without it."""
    prefix, slash, rest = model.partition("/")
    for provider in _BY_NAME:
        if slash and rest and prefix == provider.name:
            return provider, rest
    return None, model


def serving(model: str) -> Provider | None:
    """The service whose models have such names."""
    name = model.lower()
    for provider in _BY_NAME:
        if any(fnmatchcase(name, pattern) for pattern in provider.models):
            return provider
    return None


def at(base_url: str) -> Provider | None:
    """The service behind an address."""
    host = urlsplit(base_url).hostname
    known = (*_BY_NAME, *_BY_ADDRESS)
    return next((provider for provider in known if provider.host == host), None)
