"""The log of `serve --http`: servers that go down or come back, and settings that were applied."""

from collections.abc import Callable, Iterable

from tooldrawer.activity import ConfigReloaded, Event, UpstreamDown, UpstreamUp
from tooldrawer.cli.call_row import counted


class ServerLog:
    """An activity sink that turns what concerns the whole gateway into lines.

    Calls are not among them: `watch` shows those. Neither is what the library itself warns about:
    mistakes in the settings, and servers that were not started because of them.
    """

    def __init__(
        self,
        write_line: Callable[[str], None],
        *,
        since: float,
        running: Iterable[str],
        is_disabled: Callable[[str], bool],
    ) -> None:
        """Events before `since`, and the first start of the `running` servers, are known."""
        self._write_line, self._since = write_line, since
        self._running = set(running)
        self._is_disabled = is_disabled
        self._has_mistake = False

    def write(self, event: Event) -> None:
        """Write a line if the event is news to an operator."""
        if event.at >= self._since and (line := self._describe(event)):
            self._write_line(" ".join(line.split()))

    def _describe(self, event: Event) -> str:
        match event:
            case UpstreamUp():
                return self._describe_start(event)
            case UpstreamDown() if not self._is_disabled(event.upstream):
                self._running.discard(event.upstream)
                return f"{event.upstream} is down: {event.error}"
            case ConfigReloaded():
                return self._describe_reload(event)
            case _:
                return ""

    def _describe_start(self, event: UpstreamUp) -> str:
        # A lazy server starts again and again without ever having been down.
        if event.upstream in self._running:
            return ""
        self._running.add(event.upstream)
        note = f" ({event.note})" if event.note else ""
        return f"{event.upstream} is up with {counted(event.tools, 'tool')}{note}."

    def _describe_reload(self, event: ConfigReloaded) -> str:
        self._running -= {*event.removed, *event.changed}
        had_mistake, self._has_mistake = self._has_mistake, bool(event.error)
        if event.error:
            return ""
        kinds = {"added": event.added, "removed": event.removed, "changed": event.changed}
        changes = [f"{kind} {', '.join(names)}" for kind, names in kinds.items() if names]
        what = "; ".join(changes) or "the servers are the same"
        corrected = "The mistake is corrected. " if had_mistake else ""
        return f"{corrected}Applied {event.path}: {what}."
