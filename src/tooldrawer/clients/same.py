"""Whether two entries are one server."""

import re

from tooldrawer.config.server_names import server_names
from tooldrawer.upstream.spec import UpstreamSpec

_PLACE = re.compile(r"\$\$|\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\}")


def same_server(one: UpstreamSpec, other: UpstreamSpec) -> bool:
    """Whether both reach one server, with texts as our own file has them.

    Under one name it is enough that they can be alike: what is a key in one list is a variable in
    another. Under two names all has to be the same, since it may be one program for two accounts.
    """
    if not (one.command or one.url):
        return False
    if _name(one) != _name(other):
        return _all(one) == _all(other)
    mine, theirs = _reach(one), _reach(other)
    return len(mine) == len(theirs) and all(map(_can_be_alike, mine, theirs))


def _name(spec: UpstreamSpec) -> str:
    return server_names([spec.name])[spec.name]


def _reach(spec: UpstreamSpec) -> tuple[str, ...]:
    return spec.command, spec.url, *spec.args


def _all(spec: UpstreamSpec) -> tuple[object, ...]:
    return *_reach(spec), dict(spec.env), dict(spec.headers), spec.cwd


def _can_be_alike(one: str, other: str) -> bool:
    return one == other or _fits(one, other) or _fits(other, one)


def _fits(pattern: str, text: str) -> bool:
    """Whether the places of `pattern` can be filled so that it becomes `text`."""
    parts = [re.escape(part) for part in _PLACE.split(pattern)]
    return len(parts) > 1 and re.fullmatch(".+".join(parts), text, re.DOTALL) is not None
