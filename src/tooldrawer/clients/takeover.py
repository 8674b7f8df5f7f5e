"""The servers of clients, made ready to be served by us: no doubles, no secrets in clear."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from tooldrawer.clients.binding import bind, fill_known, plain_text
from tooldrawer.clients.same import same_server
from tooldrawer.clients.secrets import (
    has_place,
    is_secret_argument,
    is_secret_header,
    is_secret_name,
    is_secret_text,
    is_secret_url,
)
from tooldrawer.clients.taken import Found
from tooldrawer.config.client_places import variable_name
from tooldrawer.config.server_names import server_names
from tooldrawer.upstream.spec import UpstreamSpec

_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^{}]*)?\}")
_SCHEME = re.compile(r"(?P<scheme>(?:Bearer|Basic|Token|token|bearer)\s+)?(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A server that is taken over, and where it was found."""

    spec: UpstreamSpec
    sources: tuple[Found, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """What is taken over, what is not, and what a person has to set first."""

    taken: tuple[Taken, ...]
    there: tuple[Taken, ...]
    """Served already, as our file has them."""
    left_out: tuple[Found, ...]
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of variables, and what each is for."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The values that `${NAME}` replaces in what is taken."""


def take_over(
    found: Iterable[Found],
    *,
    served: Iterable[UpstreamSpec] = (),
    with_secrets: bool = False,
    known: Mapping[str, str] | None = None,
) -> Takeover:
    """Decide on the servers that were found; `served` are those that our file has already.

    `known` are variables that have a value: a secret with another value gets another name.
    """
    usable, left_out = list[Found](), list[Found]()
    for one in found:
        (left_out if one.left_out else usable).append(one)
    ours, values = list(served), known or {}
    there, new = _divide(usable, ours, values)
    groups = _merged(new)
    names = _unique(groups, taken=[spec.name for spec in ours])
    asked = _needed(group[0].spec for group in groups)
    hiding = _Hiding(is_off=with_secrets, asked=asked, known=values)
    taken = tuple(
        Taken(spec=hiding.hidden(replace(group[0].spec, name=name)), sources=tuple(group))
        for name, group in zip(names, groups, strict=True)
    )
    pairs = [(source, one.spec) for one in taken for source in one.sources]
    pairs += [(source, one.spec) for one in there for source in one.sources]
    secrets = {} if with_secrets else {**_bound(pairs, values), **hiding.secrets}
    return Takeover(
        taken=taken,
        there=there,
        left_out=tuple(left_out),
        variables=_needed(one.spec for one in taken),
        secrets=secrets,
    )


def _divide(
    found: Iterable[Found], ours: list[UpstreamSpec], known: Mapping[str, str]
) -> tuple[tuple[Taken, ...], list[Found]]:
    """Return the servers of `ours` that were found, and what is not among them."""
    filled = [fill_known(spec, known) for spec in ours]
    sources: dict[int, list[Found]] = {}
    new: list[Found] = []
    for one in found:
        spec = fill_known(one.spec, known)
        # An imported server may have another name, and variables for its secrets: under two names
        # only their values tell that both are one.
        at = next(
            (
                at
                for at, other in enumerate(ours)
                if same_server(one.spec, other) or same_server(spec, filled[at])
            ),
            None,
        )
        if at is None:
            new.append(one)
        else:
            sources.setdefault(at, []).append(one)
    there = (Taken(spec=ours[at], sources=tuple(group)) for at, group in sorted(sources.items()))
    return tuple(there), new


def _bound(pairs: Iterable[tuple[Found, UpstreamSpec]], known: Mapping[str, str]) -> dict[str, str]:
    """Return values that one client's list has for a variable of another's."""
    found: dict[str, str] = {}
    for source, spec in pairs:
        for name, text in bind(source.spec, spec).values.items():
            if not known.get(name):
                found.setdefault(name, text)
    return found


def _merged(found: Iterable[Found]) -> list[list[Found]]:
    """Those that are one server together, in the order in which they were found."""
    groups: list[list[Found]] = []
    for one in found:
        own = next((group for group in groups if same_server(group[0].spec, one.spec)), None)
        if own is None:
            groups.append([one])
        else:
            own.append(one)
    return groups


def _unique(groups: list[list[Found]], taken: list[str]) -> list[str]:
    names: list[str] = []
    for group in groups:
        given = group[0].spec.name
        names.append(server_names([given], taken=[*taken, *names])[given])
    return names


class _Hiding:
    """Puts variables in the place of secrets; one value has one variable, wherever it is."""

    def __init__(self, *, is_off: bool, asked: Iterable[str], known: Mapping[str, str]) -> None:
        self.secrets: dict[str, str] = {}
        """The values by the variables that replace them."""
        self._is_off = is_off
        self._asked = set(asked)  # lists name these already, and they may hold anything
        self._known = known

    def hidden(self, spec: UpstreamSpec) -> UpstreamSpec:
        """The spec without secrets in clear."""
        if self._is_off:
            return spec
        return replace(
            spec,
            # First, since a variable of the environment has the best claim to its own name.
            env=self._values(spec, spec.env, "env", is_secret_name),
            args=self._arguments(spec),
            headers=self._values(spec, spec.headers, "headers", is_secret_header),
            url=self._url(spec),
        )

    def _values(
        self,
        spec: UpstreamSpec,
        values: Mapping[str, str],
        kind: str,
        is_secret: Callable[[str], bool],
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, text in values.items():
            is_hidden = text and (is_secret(key) or is_secret_text(text)) and not has_place(text)
            if not is_hidden:
                found[key] = text
            elif kind == "env":
                found[key] = self._variable(text, variable_name(key), spec.name)
            else:
                found[key] = self._header(spec, key, text)
        return found

    def _header(self, spec: UpstreamSpec, key: str, text: str) -> str:
        match = _SCHEME.fullmatch(text)
        scheme, rest = (match["scheme"] or "", match["rest"]) if match else ("", text)
        word = "token" if key.lower() == "authorization" else key
        return scheme + self._variable(rest, variable_name(spec.name, word), spec.name)

    def _arguments(self, spec: UpstreamSpec) -> tuple[str, ...]:
        found: list[str] = []
        before = ""
        for text in spec.args:
            option, equals, value = text.partition("=")
            if has_place(text) or not is_secret_argument(before, text):
                found.append(text)
            elif equals and option.startswith("-"):
                name = variable_name(spec.name, option)
                found.append(f"{option}={self._variable(value, name, spec.name)}")
            else:
                word = before if before.startswith("-") else "argument"
                found.append(self._variable(text, variable_name(spec.name, word), spec.name))
            before = text
        return tuple(found)

    def _url(self, spec: UpstreamSpec) -> str:
        if not spec.url or has_place(spec.url) or not is_secret_url(spec.url):
            return spec.url
        return self._variable(spec.url, variable_name(spec.name, "url"), spec.name)

    def _variable(self, value: str, name: str, server: str) -> str:
        """The place of a variable that has `value`: `name`, unless that one has another."""
        text = plain_text(value)
        number, found = 1, name
        while found in self._asked or not self._is_free(found, text):
            number += 1
            prefix = variable_name(server)
            found = f"{prefix}_{name}" if number == 2 else f"{prefix}_{name}_{number}"
        self.secrets[found] = text
        return f"${{{found}}}"

    def _is_free(self, name: str, value: str) -> bool:
        """Whether a variable has no value yet, or this one."""
        return (self.secrets.get(name) or self._known.get(name) or value) == value


def _needed(specs: Iterable[UpstreamSpec]) -> dict[str, str]:
    """The variables that have to be set, and what for."""
    found: dict[str, str] = {}
    for spec in specs:
        for key, text in _texts(spec):
            for place in _VARIABLE.finditer(text):
                if place[1] and not place[2]:
                    found.setdefault(place[1], f"{spec.name}: {key}")
    return found


def _texts(spec: UpstreamSpec) -> list[tuple[str, str]]:
    return [
        ("command", spec.command),
        *(("args", text) for text in spec.args),
        *((f"env.{key}", text) for key, text in spec.env.items()),
        ("cwd", spec.cwd),
        ("url", spec.url),
        *((f"headers.{key}", text) for key, text in spec.headers.items()),
    ]
