"""The sessions of everyone behind the gateway."""

import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from time import monotonic

from tooldrawer.drawer import Drawer
from tooldrawer.gateway.principal import Principal
from tooldrawer.scope import Scope
from tooldrawer.session import Session
from tooldrawer.turn import Host

_UNUSUAL = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 40
_MAX_CLIENT_NAMES = 16
"""Of one principal's stateless clients; a client can claim any number of names."""
_OTHER_CLIENTS = "client"
_NAMED = "\0"
"""Before the name of a stateless client; no conversation begins with it."""
_Used = OrderedDict[tuple[Principal, str], tuple[float, Session]]
"""Sessions of one principal, and when they were last used; the oldest first."""


class Sessions:
    """Finds the session that a request belongs to, and forgets those that nobody uses.

    Where nothing tells the conversations of a principal apart, the calls of all its clients of one
    name are one session, until they pause for `idle` seconds. It remembers no grants then, and
    counts nothing: what it is called is only for people. Beyond a few names, all others share one
    session, since names cost a client nothing.
    """

    def __init__(
        self,
        drawer: Drawer,
        host: Callable[[str], Host],
        *,
        max_sessions: Callable[[], int],
        idle: float = 1800.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`max_sessions` is for each principal."""
        self._drawer, self._host = drawer, host
        self._max_sessions, self._idle, self._clock = max_sessions, idle, clock
        self._count = 0
        self._used: defaultdict[str, _Used] = defaultdict(OrderedDict)
        """By principal: one that begins many sessions must not end another's."""
        self._listing: dict[str, Session] = {}

    def __len__(self) -> int:
        for used in self._used.values():
            self._forget(used)
        return sum(map(len, self._used.values()))

    def of(self, principal: Principal, conversation: str, client: str) -> Session:
        """The session for a call."""
        used = self._used[principal.key]
        name = _UNUSUAL.sub("-", client[:_LONGEST_NAME]) or _OTHER_CLIENTS
        if not conversation:
            name = _known_name(used, principal, name)
        key = (principal, conversation or f"{_NAMED}{name}")
        self._forget(used, room=key not in used)
        _, session = used.get(key) or (0.0, None)
        if session is None:
            self._count += 1
            session = self._opened(
                f"{name}-{self._count}", principal, has_conversation=bool(conversation)
            )
        used[key] = (self._clock(), session)
        used.move_to_end(key)
        return session

    def listing(self, scope: str) -> Session:
        """The session that decides the array of a scope: it must be the same for every client."""
        if scope not in self._listing:
            name = f"gateway-{scope}" if scope else "gateway"
            self._listing[scope] = self._opened(
                name, Principal(scope=scope), has_conversation=False
            )
        return self._listing[scope]

    def renew(self) -> None:
        """Decide the arrays as a new process would: the settings have changed."""
        self._listing.clear()

    def _opened(self, name: str, principal: Principal, *, has_conversation: bool) -> Session:
        # Not by the drawer, which refuses a scope that it does not know: one that was taken out of
        # the configuration is still somebody's, and admits nothing.
        return Session(
            name,
            self._drawer,
            scope=principal.scope or Scope(),
            context_length=self._drawer.config.context_length,
            host=self._host(principal.scope),
            principal=principal.key,
            has_conversation=has_conversation,
            refuses_searches=False,  # a client calls other tools than ours, unseen from here
            waits_for_tools=False,  # a client that lists is answered at once, and told of changes
        )

    def _forget(self, used: _Used, *, room: bool = False) -> None:
        """Forget those of one principal that are late, and the oldest if `room` is needed."""
        late = self._clock() - self._idle
        while used:
            key, (at, _) = next(iter(used.items()))
            if at > late and len(used) + room <= self._max_sessions():
                return
            del used[key]


def _known_name(used: _Used, principal: Principal, name: str) -> str:
    """The name itself while a principal's clients have few, then one for all others."""
    if (principal, f"{_NAMED}{name}") in used:
        return name
    count = sum(conversation.startswith(_NAMED) for _, conversation in used)
    return name if count < _MAX_CLIENT_NAMES else _OTHER_CLIENTS
