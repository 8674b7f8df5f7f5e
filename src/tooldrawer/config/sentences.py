"""Mistakes as sentences: file, line, key, what was found and what was expected."""

import re
from collections.abc import Callable, Iterable

from tooldrawer.config.document import Mistake, Path
from tooldrawer.config.shape import EMBEDDINGS
from tooldrawer.config.words import quoted

_DEPTH_OF_ENV = 3
_SERVERS = ("mcp_servers", "mcpServers", "servers")
_PLAIN_KEY = re.compile(r"[\w*/-]{1,60}")


def sentences(mistakes: Iterable[Mistake], line_of: Callable[[Path], int], name: str) -> list[str]:
    """One sentence for each mistake in the file `name`, in the order of the lines."""

    def line(mistake: Mistake) -> int:
        return mistake.line or line_of(mistake.path)

    return [
        f"{name}:{line(mistake)}: {key_shown(mistake.path)} {mistake.text}"
        + ("" if mistake.text.endswith("?") else ".")
        for mistake in sorted(mistakes, key=line)
    ]


def key_shown(path: Path) -> str:
    """A key as a message names it."""
    text = ""
    for at, step in enumerate(path):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            own = step if _PLAIN_KEY.fullmatch(step) else quoted(step)
            # `env: {TOKEN=secret}` is a key without a value.
            is_hidden = own != step and at >= _DEPTH_OF_ENV and _may_have_secrets(path)
            text += ("." if text else "") + ("(a key that is not shown)" if is_hidden else own)
    return text or "the file"


def _may_have_secrets(path: Path) -> bool:
    return path[0] in _SERVERS or path[:3] == EMBEDDINGS
