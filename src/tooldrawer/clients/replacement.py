"""Which servers of a client's list can be left to the gateway, and what it needs for them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from tooldrawer.clients.binding import Binding, bind
from tooldrawer.clients.connection import ServedEntry
from tooldrawer.config.server_names import server_names
from tooldrawer.upstream.spec import UpstreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What becomes of the servers that the gateway serves too."""

    entries: tuple[ServedEntry, ...] = ()
    """Those that the gateway can replace, once they are up behind it."""
    kept: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those that stay in the list, and why."""
    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Values of variables that only the client's list has."""

    def removed(self, up: Collection[str]) -> list[str]:
        """Return the names in the client's list of the servers that are up behind the gateway."""
        return [one.name for one in self.entries if own_name(one.served) in up]


def plan_replacement(entries: Iterable[ServedEntry], known: Mapping[str, str]) -> Replacement:
    """Compare each entry with what the gateway would use; `known` are its variables."""
    replaced: list[ServedEntry] = []
    kept: dict[str, str] = {}
    values: dict[str, str] = {}
    for one in entries:
        binding = bind(one.spec, one.served)
        if reason := _difference(binding, {**values, **known}):
            kept[one.name] = reason
        else:
            replaced.append(one)
            values |= {name: text for name, text in binding.values.items() if not known.get(name)}
    return Replacement(entries=tuple(replaced), kept=kept, values=values)


def _difference(binding: Binding, known: Mapping[str, str]) -> str:
    if binding.differing:
        return f"its {', '.join(binding.differing)} is not what the gateway uses"
    others = [name for name, text in binding.values.items() if (known.get(name) or text) != text]
    return f"the gateway has another value for {', '.join(others)}" if others else ""


def own_name(served: UpstreamSpec) -> str:
    """What the gateway calls the server."""
    return server_names([served.name])[served.name]
