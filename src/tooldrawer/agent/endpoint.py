"""From what a person gave, and the environment, to the model that is meant."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from tooldrawer.agent.known_models import known
from tooldrawer.agent.providers import ANTHROPIC, OPENAI, Provider, at, chosen, serving
from tooldrawer.agent.spec import PATIENCE, BridgeKind, ModelSpec, WireName, is_address, is_local
from tooldrawer.errors import ConfigError
from tooldrawer.wire.wires import WIRES

MODEL_NAME = "TOOLDRAWER_MODEL"
API_KEY = "TOOLDRAWER_API_KEY"
"""The key for an address that a person gave, when it is nobody's we know."""
NO_KEY = "none"
"""Sent where nobody asks for a key: the SDKs do not work without one."""

_WAYS = "\n".join(
    (
        "One of these lines is enough:",
        "  export ANTHROPIC_API_KEY=...   then  tooldrawer chat --model claude-sonnet-4-5",
        "  export OPENAI_API_KEY=...      then  tooldrawer chat --model gpt-5.4",
        "  tooldrawer chat --base-url http://localhost:11434/v1 --model qwen3   "
        "(Ollama, vLLM, LM Studio: no key)",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person asked for; empty where nothing was said."""

    model: str = ""
    base_url: str = ""
    wire: WireName | None = None
    api_key: str = field(default="", repr=False)
    context_length: int | None = None
    max_output: int | None = None
    bridge: BridgeKind = "auto"
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """A name at an address, before its key is known."""

    name: str
    wire: WireName
    base_url: str = ""
    keys: tuple[str, ...] = ()


def model_spec(wanted: Wanted, environment: Mapping[str, str] | None = None) -> ModelSpec:
    """The model that is meant, with what is known about it.

    Raises:
        ConfigError: A name, an address or a key is missing or cannot be used; the text has the
            lines that help.
    """
    given = os.environ if environment is None else environment
    way = _way(wanted, given)
    facts = known(way.name)
    spec = ModelSpec(
        name=way.name,
        wire=way.wire,
        base_url=way.base_url.rstrip("/"),
        api_key=_key(wanted, way, given),
        key_name=way.keys[0] if way.keys else "",
        context_length=wanted.context_length or facts.context_length,
        max_output=wanted.max_output or facts.max_output,
        bridge=wanted.bridge,
        defers=facts.defers and WIRES[way.wire].defers,
        prices=facts.prices,
        timeout=wanted.timeout or PATIENCE,
    )
    if wrong := tuple(spec.mistakes()):
        raise ConfigError(*wrong)
    return spec


def _way(wanted: Wanted, given: Mapping[str, str]) -> _Way:
    model = (wanted.model or given.get(MODEL_NAME, "")).strip()
    if not model:
        raise ConfigError(f"No model was chosen: give --model, or set {MODEL_NAME}.\n{_WAYS}")
    if wanted.base_url:
        return _to_address(model, wanted)
    provider, name = chosen(model)
    provider = provider or _by_wire(wanted.wire) or serving(name)
    if provider in {None, ANTHROPIC} and _only_openai(provider, wanted, given):
        # A proxy in front of many models has them under names of its own.
        provider, name = OPENAI, model
    if provider is None:
        raise ConfigError(
            f"Nobody is known to serve a model named {model!r}: say where it is with --base-url, "
            f"or write the service before it, as in openai/{model}.\n{_WAYS}"
        )
    return _to_provider(name, provider, wanted, given)


def _to_address(model: str, wanted: Wanted) -> _Way:
    """Wherever the person says; the name goes there as it is."""
    if not is_address(wanted.base_url):
        raise ConfigError(
            "--base-url is not an http:// or https:// address, or one with a user, a ? or a #; "
            "expected one such as http://localhost:11434/v1."
        )
    provider = at(wanted.base_url)
    wire = wanted.wire or (provider.wire if provider else "chat")
    keys = provider.keys if provider else _keys(wire, wanted.base_url)
    return _Way(name=model, wire=wire, base_url=wanted.base_url, keys=keys)


def _keys(wire: WireName, base_url: str) -> tuple[str, ...]:
    if is_local(base_url):
        return (API_KEY,)  # whatever listens there is not whom the other keys are for
    return (API_KEY, *(ANTHROPIC if wire == "anthropic" else OPENAI).keys)


def _to_provider(name: str, provider: Provider, wanted: Wanted, given: Mapping[str, str]) -> _Way:
    elsewhere = given.get(provider.address, "").strip() if provider.address else ""
    wire = wanted.wire or provider.wire
    if (wire == "anthropic") != (provider is ANTHROPIC):
        # The SDK of that wire would take the key to its own provider.
        raise ConfigError(
            f"The wire {wire!r} is not spoken at {provider.host}, where {name!r} is: leave --wire "
            "out, or say with --base-url who speaks it."
        )
    if elsewhere and not wanted.wire and provider is OPENAI and at(elsewhere) is not OPENAI:
        wire = "chat"  # what imitates OpenAI seldom has more than that
    return _Way(name=name, wire=wire, base_url=elsewhere or provider.base_url, keys=provider.keys)


def _by_wire(wire: WireName | None) -> Provider | None:
    return ANTHROPIC if wire == "anthropic" else None


def _only_openai(provider: Provider | None, wanted: Wanted, given: Mapping[str, str]) -> bool:
    """Whether the one address that is known is that of something like OpenAI."""
    if not given.get(OPENAI.address) or wanted.wire == "anthropic":
        return False
    names = () if provider is None else (*provider.keys, provider.address)
    return not any(given.get(name) for name in names)


def _key(wanted: Wanted, way: _Way, given: Mapping[str, str]) -> str:
    if wanted.api_key:
        return wanted.api_key.strip()
    found = next((key for name in way.keys if (key := given.get(name, "").strip())), "")
    if found or is_local(way.base_url):
        return found or NO_KEY
    missing = f"{' and '.join(way.keys)} {'is' if len(way.keys) == 1 else 'are'} not set"
    said = f"There is no key for {way.name!r}: {missing}.\n"
    if way.keys[0] not in _WAYS:
        said += f"Set it:  export {way.keys[0]}=...   Or take another model.\n"
    raise ConfigError(said + _WAYS)
