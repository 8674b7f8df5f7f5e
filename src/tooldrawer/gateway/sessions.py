"""The sessions of everyone behind the gateway."""

import re
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from tooldrawer.drawer import Drawer
from tooldrawer.gateway.principal import Principal
from tooldrawer.scope import Scope
from tooldrawer.session import Session
from tooldrawer.turn import Host

_UNUSUAL = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 40


class Sessions:
    """Finds the session that a request belongs to, and forgets those that nobody uses.

    The 2026-07-28 protocol has no conversations: the calls of one principal's client are one
    session then, until they pause for `idle` seconds.
    """

    def __init__(
        self,
        drawer: Drawer,
        host: Callable[[str], Host],
        *,
        most: int = 1000,
        idle: float = 1800.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._drawer, self._host = drawer, host
        self._most, self._idle, self._clock = most, idle, clock
        self._count = 0
        self._talking: OrderedDict[tuple[Principal, str], tuple[float, Session]] = OrderedDict()
        self._listing: dict[str, Session] = {}

    def __len__(self) -> int:
        self._forget()
        return len(self._talking)

    def of(self, principal: Principal, conversation: str, client: str) -> Session:
        """The session for a call."""
        self._forget()
        key = (principal, conversation)
        _, session = self._talking.get(key) or (0.0, None)
        if session is None:
            self._count += 1
            name = _UNUSUAL.sub("-", client)[:_LONGEST_NAME] or "client"
            session = self._opened(f"{name}-{self._count}", principal.scope)
        self._talking[key] = (self._clock(), session)
        self._talking.move_to_end(key)
        return session

    def listing(self, scope: str) -> Session:
        """The session that decides the array of a scope: it must be the same for every client."""
        if scope not in self._listing:
            name = f"gateway-{scope}" if scope else "gateway"
            self._listing[scope] = self._opened(name, scope)
        return self._listing[scope]

    def renew(self) -> None:
        """Decide the arrays as a new process would: the settings have changed."""
        self._listing.clear()

    def _opened(self, name: str, scope: str) -> Session:
        # Not by the drawer, which refuses a scope that it does not know: one that was taken out of
        # the configuration is still somebody's, and admits nothing.
        return Session(
            name,
            self._drawer,
            scope=scope or Scope(),
            context_length=self._drawer.config.context_length,
            host=self._host(scope),
            refuses_searches=False,  # a client calls other tools than ours, unseen from here
        )

    def _forget(self) -> None:
        late = self._clock() - self._idle
        while self._talking:
            key, (used, _) = next(iter(self._talking.items()))
            if used > late and len(self._talking) < self._most:
                return
            del self._talking[key]
