"""Servers that the configuration does not let start, in a sentence."""

from collections.abc import Iterable

from tooldrawer.upstream.spec import UpstreamSpec

_MAX_NAMED = 8


def describe_disabled(servers: Iterable[UpstreamSpec]) -> str:
    """Name the servers that cannot start, each with its reason; nothing when there are none."""
    found = sorted(
        f"{spec.name} ({spec.problem.reason})" for spec in servers if spec.enabled and spec.problem
    )
    if not found:
        return ""
    more = len(found) - _MAX_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"Not started, so their tools are not known: {', '.join(found[:_MAX_NAMED])}{rest}."
