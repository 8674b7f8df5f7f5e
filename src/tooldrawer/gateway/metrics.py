"""The figures of a gateway for Prometheus. Servers are named; tools and sessions never are."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import accumulate
from typing import cast

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from tooldrawer.activity.quality import Figures, Histogram
from tooldrawer.tool import Json, JsonObject

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
_STATES = ("idle", "connecting", "up", "down")
_RATES = {
    "searched_again": "Searches right after another one of the session, without a call between.",
    "never_called": "Search episodes in which no tool that was found was called.",
    "described_first": "First calls of a tool after a describe of it.",
    "repaired": "Finished calls whose arguments were repaired.",
    "refused": "Calls that were stopped before the tool ran.",
}
_DRAWER = {
    "tools": "Tools that the gateway has.",
    "deferred": "Tools in the drawer, reachable through the bridge.",
    "array_tokens": "Tokens of the tools array that a client is given.",
    "schema_tokens": "Tokens that the schemas of all tools would cost.",
}


def render(snapshot: Figures, status: JsonObject) -> str:
    """The metrics in the text format 0.0.4; a figure that is not there is left out.

    `status` is the gateway's own, as `tooldrawer status --json` prints it.
    """
    # A registry of its own: the library's global one also has this process, and whatever else.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected([*_quality(snapshot), *_status(status)]))
    return generate_latest(registry).decode("utf-8")


class _Collected(Collector):
    """Families that are ready."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _quality(seen: Figures) -> Iterator[Metric]:
    yield from _searching(seen)
    yield from _calling(seen)
    yield _count("approvals_asked", "Times that a person was asked.", seen.approvals_asked)
    yield _counts("approvals", "What came of asking.", "answer", seen.approvals)
    yield _counts("config_reloads", "Changes of the configuration.", "outcome", seen.reloads)
    yield _upstreams(seen.upstreams)
    for name, value in cast("dict[str, float | None]", asdict(seen.rates)).items():
        if value is not None:
            yield _gauge(f"{name}_ratio", f"{_RATES[name]} A share since the start.", value)


def _searching(seen: Figures) -> Iterator[Metric]:
    yield _count("searches", "Searches.", seen.searches)
    yield _count("searches_again", _RATES["searched_again"], seen.searches_again)
    yield _count("searches_empty", "Searches that found nothing.", seen.searches_empty)
    yield _count("search_reply_tokens", "Tokens of search replies.", seen.search_reply_tokens)
    yield _histogram("search_duration_seconds", "Time of a search.", seen.search_seconds)
    text = "Searches up to a call, by whether one of the tools found was called."
    yield _counts("search_episodes", text, "outcome", seen.episodes)
    yield _count("describes", "Schemas that were read in full.", seen.describes)
    text = "Tokens of describe replies."
    yield _count("describe_reply_tokens", text, seen.describe_reply_tokens)


def _calling(seen: Figures) -> Iterator[Metric]:
    yield _counts("calls", "Calls by how they ended.", "outcome", seen.calls)
    text = "Time of a call that reached its tool, hooks and approval included."
    yield _histogram("call_duration_seconds", text, seen.call_seconds)
    text = "Calls by where the tool was in the last search reply that had it."
    yield _counts("calls_by_rank", text, "rank", seen.ranks)
    text = "Calls of a tool that the session had not called before."
    yield _count("first_calls", text, seen.first_calls)
    yield _count("first_calls_described", _RATES["described_first"], seen.first_calls_described)
    yield _count("calls_repaired", _RATES["repaired"], seen.repaired)
    yield _counts("refusals", "Refused calls by why.", "kind", seen.refusals)


def _upstreams(counts: Mapping[str, Mapping[str, int]]) -> Metric:
    labels = ["server", "event"]
    family = CounterMetricFamily(
        "tooldrawer_server_events", "Times that a server came, went or changed.", labels=labels
    )
    for server, events in sorted(counts.items()):
        for event, count in events.items():
            family.add_metric([_label(server), event], count)
    return family


def _status(status: JsonObject) -> Iterator[Metric]:
    servers = map(_object, _list(status.get("servers")))
    yield from _servers([server for server in servers if server.get("name")])
    drawer = _object(status.get("drawer"))
    figures = {
        "drawer_active": ("1 while the bridge is active.", drawer.get("active")),
        **{f"drawer_{key}": (text, drawer.get(key)) for key, text in _DRAWER.items()},
        "sessions": ("Sessions that are open.", status.get("sessions")),
        "calls_in_flight": (
            "Calls that are running.",
            _object(status.get("calls")).get("in_flight"),
        ),
        "approvals_waiting": ("Questions that wait for a person.", status.get("waiting")),
        "start_time_seconds": (
            "When the gateway started, since the epoch.",
            status.get("started"),
        ),
    }
    for name, (text, value) in figures.items():
        if (number := _number(value)) is not None:
            yield _gauge(name, text, number)


def _servers(servers: list[JsonObject]) -> Iterator[Metric]:
    state = _family("server_state", "1 for the state that a server is in.", "server", "state")
    protocol = _family("server_info", "The protocol spoken with a server.", "server", "protocol")
    figures = {
        "tools": _family("server_tools", "Tools of a server.", "server"),
        "tokens": _family("server_schema_tokens", "Tokens of a server's schemas.", "server"),
        "since": _family(
            "server_state_since_seconds", "When a server came into its state.", "server"
        ),
    }
    starts = CounterMetricFamily(
        "tooldrawer_server_starts", "Times that a server was started.", labels=["server"]
    )
    for server in servers:
        name = _label(server.get("name"))
        for word in _STATES:
            state.add_metric([name, word], float(server.get("state") == word))
        if spoken := server.get("protocol"):
            protocol.add_metric([name, _label(spoken)], 1.0)
        for key, family in figures.items():
            if (number := _number(server.get(key))) is not None:
                family.add_metric([name], number)
        if (number := _number(server.get("starts"))) is not None:
            starts.add_metric([name], number)
    return iter((state, protocol, *figures.values(), starts))


def _family(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"tooldrawer_{name}", text, labels=labels)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"tooldrawer_{name}", text, value=value)


def _count(name: str, text: str, value: int) -> Metric:
    return CounterMetricFamily(f"tooldrawer_{name}", text, value=value)


def _counts(name: str, text: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(f"tooldrawer_{name}", text, labels=[label])
    for key, count in counts.items():
        family.add_metric([key.replace(" ", "_")], count)
    return family


def _histogram(name: str, text: str, seen: Histogram) -> Metric:
    bounds = [*map(str, seen.bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(seen.counts), strict=True))
    return HistogramMetricFamily(f"tooldrawer_{name}", text, buckets=buckets, sum_value=seen.total)


def _label(value: Json) -> str:
    """Any text, without halves of characters, which cannot be sent."""
    return str(value).encode("utf-8", errors="replace").decode("utf-8")


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _object(value: Json) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def _list(value: Json) -> list[Json]:
    return list(cast("Iterable[Json]", value)) if isinstance(value, list | tuple) else []
