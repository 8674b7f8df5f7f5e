"""Which model, and how to reach it. Plain data, so it can be made anywhere and compared."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from tooldrawer.ledger import Prices

WireName: TypeAlias = Literal["chat", "responses", "anthropic"]
BridgeKind: TypeAlias = Literal["auto", "native", "portable"]

PATIENCE = 300.0
"""Seconds without a sign of life; a large local model reads a long prompt for minutes."""
_DEFAULT_HOSTS = {
    "chat": "api.openai.com",
    "responses": "api.openai.com",
    "anthropic": "api.anthropic.com",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model by its name at an endpoint, with what is known about it."""

    name: str
    """As the endpoint calls it."""
    wire: WireName
    base_url: str = field(default="", repr=False)
    """Up to where the wire's own path begins; the provider's own address when empty."""
    api_key: str = field(default="", repr=False)
    key_name: str = ""
    """The environment variable that a person sets to give another key."""
    context_length: int | None = None
    """Tokens that it reads; nobody knows when None."""
    max_output: int | None = None
    """Tokens that it may write in one answer."""
    bridge: BridgeKind = "auto"
    defers: bool = False
    """Whether it is known to keep tools out of the prompt by itself."""
    prices: Prices | None = None
    timeout: float = PATIENCE
    """Seconds without a sign of life until it is given up."""

    @property
    def native(self) -> bool:
        """Whether to begin with the provider's own deferral."""
        return self.bridge == "native" or (self.bridge == "auto" and self.defers)

    @property
    def host(self) -> str:
        """Host and port: what of the address may be shown."""
        if not self.base_url:
            return _DEFAULT_HOSTS[self.wire]
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    def mistakes(self) -> Iterator[str]:
        """Each thing that cannot be used, in words that do not repeat it."""
        if self.base_url and not is_address(self.base_url):
            yield (
                "The base URL is not an http:// or https:// address, or one with a user, a ? or "
                "a #; expected one such as http://localhost:11434/v1."
            )
        if not _is_one_word(self.api_key):
            # Python's own complaint about such a header repeats it.
            where = self.key_name or "The key"
            yield f"{where} has spaces or other characters that cannot stand in a key."


def is_local(url: str) -> bool:
    """Whether an address is on this machine or in a private network."""
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        # A name without a dot is a container or a machine next door.
        return bool(host) and ("." not in host or host.endswith((".localhost", ".local")))
    return address.is_private or address.is_loopback


def is_address(url: str) -> bool:
    """Whether a text can be asked by HTTP, and holds nothing that is secret or cut off."""
    if not url.startswith(("http://", "https://")) or not _is_one_word(url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # a bracket that is not closed, a port that is none
        return False
    return bool(parts.hostname) and port != 0 and not any(mark in url for mark in "@?#")


def _is_one_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text
