"""Which texts in a list of servers are likely to be secrets."""

import re
from urllib.parse import parse_qsl, urlsplit

from tooldrawer.activity import Masker, names_secret

_masker = Masker()
_KEY_WORDS = re.compile(
    r"(?:^|[_\-.])(?:key|pat|dsn|sid|license|licence)(?:$|[_\-.])", re.IGNORECASE
)
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+=_\-]{24,}")
"""Nobody writes so many letters and digits without a space or a slash by hand."""
_PLAIN_HEADERS = ("accept", "accept-language", "content-type", "user-agent", "mcp-protocol-version")
_PLACE = re.compile(r"(?<!\$)(?:\$\$)*\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\}")

_REFERENCE = re.compile(
    r"(?:Bearer |Basic |[Tt]oken )?"
    r"(?:\$[A-Za-z_]\w*|\$\{(?:env:)?[A-Za-z_]\w*\}|\{env:[A-Za-z_]\w*\})"
)
"""How clients write a variable: `$NAME`, `${NAME}`, `${env:NAME}`, `{env:NAME}`."""
_PATH_NAME = re.compile(r"(?:^|_)(?:path|dir|directory|file|folder|home)$", re.IGNORECASE)
_PATH_TEXT = re.compile(r"(?:~|\.\.?)?/[^:]*|[A-Za-z]:\\.*")


def is_reference(text: str) -> bool:
    """Whether the text only names a variable, so that nothing secret is in it."""
    return _REFERENCE.fullmatch(text) is not None


def is_plain_path(name: str, text: str) -> bool:
    """Whether a variable holds the path of a file or folder, by its name and its value."""
    is_path = _PATH_NAME.search(name) is not None and _PATH_TEXT.fullmatch(text) is not None
    return is_path and not is_secret_name(name) and not is_secret_text(text)


def has_place(text: str) -> bool:
    """Whether the environment fills a part of the text: then what is secret is not in it."""
    return _PLACE.search(text) is not None


def is_secret_name(key: str) -> bool:
    """Whether the value of a variable or an option of that name is likely to be a secret."""
    return names_secret(key) or _KEY_WORDS.search(key) is not None


def is_secret_text(text: str) -> bool:
    """Whether the text itself looks like a secret, or has one in it."""
    return (
        _masker.masked(text) != text
        or _RANDOM.fullmatch(text) is not None
        or ("://" in text and is_secret_url(text))
    )


def is_secret_header(name: str) -> bool:
    """Whether a header's value is likely to be a secret: most are there to let someone in."""
    return name.lower() not in _PLAIN_HEADERS


def is_secret_url(url: str) -> bool:
    """Whether an address has a password or a key in it."""
    try:
        found = urlsplit(url)
        keys = [key for key, value in parse_qsl(found.query) if value]
    except ValueError:
        return True
    parts = found.path.split("/")
    return (
        found.password is not None
        or any(map(is_secret_name, keys))
        or any(_RANDOM.fullmatch(part) is not None for part in parts)
    )


def is_secret_argument(before: str, text: str) -> bool:
    """Whether a command's argument is likely to be a secret, or to have one behind its `=`."""
    option, equals, value = text.partition("=")
    if equals and option.startswith("-") and value:
        return is_secret_name(option) or is_secret_text(value)
    is_value = before.startswith("-") and "=" not in before and not text.startswith("-")
    return (is_value and is_secret_name(before)) or is_secret_text(text)
