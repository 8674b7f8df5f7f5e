"""Which values the variables of one server's entry have in another entry of the same server."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tooldrawer.clients.secrets import has_place
from tooldrawer.config.client_places import literal
from tooldrawer.upstream.spec import UpstreamSpec

_PLACE = re.compile(r"\$\$|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-[^{}]*)?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What is known from comparing a client's entry with the one that the gateway serves."""

    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Values of the served entry's variables."""
    differing: tuple[str, ...] = ()
    """Keys of the client's entry for which no values give the same text."""


def bind(client: UpstreamSpec, served: UpstreamSpec) -> Binding:
    """Compare two entries of one server, both with texts as `tooldrawer.yaml` has them."""
    values: dict[str, str] = {}
    differing: list[str] = []
    ours = dict(_texts(served))
    for key, text in _texts(client):
        found = _captured(ours.get(key), text)
        if found is None or any(values.get(name, one) != one for name, one in found.items()):
            differing.append(key)
        else:
            values |= found
    return Binding(values=values, differing=tuple(differing))


def fill_known(spec: UpstreamSpec, known: Mapping[str, str]) -> UpstreamSpec:
    """Put the values of known variables into an entry; its texts stay as our own file has them."""

    def fill(text: str) -> str:
        return _PLACE.sub(lambda place: _known_text(place, known), text)

    return replace(
        spec,
        command=fill(spec.command),
        args=tuple(map(fill, spec.args)),
        env={name: fill(text) for name, text in spec.env.items()},
        url=fill(spec.url),
        headers={name: fill(text) for name, text in spec.headers.items()},
    )


def plain_text(text: str) -> str:
    """Return a text of `tooldrawer.yaml` without places as it is after filling."""
    return text.replace("$$", "$")


def _known_text(place: re.Match[str], known: Mapping[str, str]) -> str:
    value = known.get(place["name"] or "")
    return literal(value) if value else place.group()


def _captured(pattern: str | None, text: str) -> dict[str, str] | None:
    """Return the values of the places in `pattern` that make it `text`; None if none do."""
    if pattern == text:
        return {}
    if pattern is None or has_place(text) or not has_place(pattern):
        return None
    parts, names, at = list[str](), list[str](), 0
    for place in _PLACE.finditer(pattern):
        parts.append(re.escape(pattern[at : place.start()]))
        name, at = place["name"], place.end()
        if name is None:
            parts.append(re.escape("$"))
        elif name in names:
            parts.append(f"(?P={name})")
        else:
            names.append(name)
            parts.append(f"(?P<{name}>.+)")
    parts.append(re.escape(pattern[at:]))
    found = re.fullmatch("".join(parts), plain_text(text), re.DOTALL)
    return found.groupdict() if found else None


def _texts(spec: UpstreamSpec) -> Iterator[tuple[str, str]]:
    """Return what decides how the server is reached and who it is for, by key."""
    yield "command", spec.command
    yield "url", spec.url
    yield from ((f"args.{at}", text) for at, text in enumerate(spec.args))
    yield from ((f"env.{name}", text) for name, text in spec.env.items())
    yield from ((f"headers.{name.lower()}", text) for name, text in spec.headers.items())
