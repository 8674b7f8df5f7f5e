"""Names in scopes and rules that fit nothing in the configuration: they would have no effect."""

from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz, process

from tooldrawer.config.settings import Config
from tooldrawer.dispatch import Rules
from tooldrawer.patterns import names_no_server
from tooldrawer.scope import Scope
from tooldrawer.tool import UPSTREAM_PREFIX

_AGENT_TOOLSET = "core"
_NEAR_ENOUGH = 60.0


def unknown_toolsets(config: Config) -> list[str]:
    """A sentence for each toolset in a scope that is neither a server nor a toolset of the file.

    It is a mistake where the file has all toolsets; a program may add others in Python.
    """
    known = [f"{UPSTREAM_PREFIX}{spec.name}" for spec in config.servers]
    known += [toolset.name for toolset in config.toolsets]
    return [
        f"{key}: {name!r} is not a configured server or toolset; {_hint(name, known)}"
        for key, name in _toolset_entries(config)
        if not any(_fits(name, toolset) for toolset in (*known, _AGENT_TOOLSET))
    ]


def patterns_without_server(config: Config) -> list[str]:
    """A sentence for each pattern that is about a server which is not configured."""
    toolsets = [f"{UPSTREAM_PREFIX}{spec.name}" for spec in config.servers]
    toolsets += [toolset.name for toolset in config.toolsets]
    return [
        f"{key}: the pattern {pattern!r} names no configured server, so it may have no effect; "
        f"{_hint(pattern, toolsets)}"
        for key, pattern in _patterns(config)
        if names_no_server(pattern, toolsets, template=config.name_template)
    ]


def _toolset_entries(config: Config) -> Iterator[tuple[str, str]]:
    for name, scope in config.scopes.items():
        for key in ("toolsets", "disabled_toolsets"):
            for entry in getattr(scope, key):
                # A glob is about whatever there will be; a name is about something that is there.
                if Scope(toolsets=(entry,)).named_toolsets:
                    yield f"scopes.{name}.{key}", entry


def _fits(name: str, toolset: str) -> bool:
    return Scope(toolsets=(name,)).can_admit(toolset)


def _patterns(config: Config) -> Iterator[tuple[str, str]]:
    for name, scope in config.scopes.items():
        for key in ("allow", "deny"):
            yield from ((f"scopes.{name}.{key}", pattern) for pattern in getattr(scope, key))
    for rules in config.guardrails:
        if isinstance(rules, Rules):
            for key in ("allow", "ask", "deny"):
                yield from ((f"approvals.{key}", pattern) for pattern in getattr(rules, key))


def _hint(name: str, known: Sequence[str]) -> str:
    if not known:
        return "none is configured."
    plain = name if name.startswith(UPSTREAM_PREFIX) else f"{UPSTREAM_PREFIX}{name}"
    best = process.extractOne(plain, known, scorer=fuzz.ratio, score_cutoff=_NEAR_ENOUGH)
    return f"did you mean {best[0]!r}?" if best else f"known are {', '.join(known)}."
