"""How to reach a server for vectors. Plain data, so it can be read from a file and compared."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_EXPECTED = "expected one such as http://localhost:11434/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """`tools.tool_search.embeddings`: a server with OpenAI's `POST {url}/embeddings`."""

    url: str = field(repr=False)
    model: str
    api_key: str = field(default="", repr=False)
    query_prefix: str = ""
    """Put before what is searched for; many models are trained with one."""
    tool_prefix: str = ""
    """Put before what is known of a tool."""
    dimensions: int | None = None
    """Numbers in a vector, for models that can give fewer; by default what the model gives."""
    timeout: float = 20.0
    """Seconds for one request."""
    batch: int = 64
    """Texts in one request."""

    @property
    def origin(self) -> str:
        """Scheme, host and port: what of the address may be shown."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Each setting that cannot be used, and why, in words that do not repeat its value."""
        if not self.url.startswith(("http://", "https://")):
            yield "url", "is a text that does not begin with http:// or https://"
        elif not _is_address(self.url):
            yield "url", f"is no address, or one with a user, a ? or a #; {_EXPECTED}"
        if self.api_key and not _is_one_word(self.api_key):
            # Python's own complaint about such a header repeats it.
            yield "api_key", "has spaces or other characters that cannot stand in a key"


def _is_one_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _is_address(url: str) -> bool:
    if not _is_one_word(url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # a bracket that is not closed, a port that is none
        return False
    return bool(parts.hostname) and port != 0 and not any(mark in url for mark in "@?#")
