"""Whether a server in a list is this gateway: it would start itself, again and again."""

import re
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

from tooldrawer.config.settings import GatewayOptions
from tooldrawer.upstream.spec import UpstreamSpec

_PROGRAM = re.compile(r"tooldrawer(?:\.exe|\.cmd)?(?:\[[\w,-]*\])?(?:[@=<>!~:].*)?", re.IGNORECASE)
"""Also as a package to run: `tooldrawer@latest`, `tooldrawer[tokens]==0.2`."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_gateway(spec: UpstreamSpec, options: GatewayOptions | None = None) -> bool:
    """Whether `spec` starts `tooldrawer serve`, or calls the address that `options` serve at."""
    if spec.url:
        return _is_address(spec.url, options or GatewayOptions())
    # Whoever starts it (python -m, uvx, pipx run, env, a shell's -c), these two words are there.
    words = [word for text in (spec.command, *spec.args) for word in (text, *text.split())]
    return any(_is_program(one) and other == "serve" for one, other in pairwise(words))


def _is_program(word: str) -> bool:
    return _PROGRAM.fullmatch(PureWindowsPath(PurePosixPath(word).name).name) is not None


def _is_address(url: str, options: GatewayOptions) -> bool:
    try:
        found = urlsplit(url)
        port = found.port
    except ValueError:
        return False
    hosts = {options.host, *_LOOPBACK}
    return found.scheme == "http" and found.hostname in hosts and port == options.port
