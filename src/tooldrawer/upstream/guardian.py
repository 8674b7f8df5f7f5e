"""Who ends the servers when this process is killed before it could.

Clients do not wait: Codex kills its server ten milliseconds after asking it to stop, Claude Code
half a second after. A server that then ignores the end of its stdin would live on, with nobody to
stop it.
"""

import os
from contextlib import suppress
from threading import Lock

# It reads which groups run. At the end of its input this process is gone: what still runs has a
# moment to see the end of its own input, then it is asked to stop, then made to.
_SCRIPT = """
groups=
while read -r what group; do
  case $what in
    +) groups="$groups $group" ;;
    -) left=; for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
       groups=$left ;;
  esac
done
[ -n "$groups" ] || exit 0
sleep 1
for each in $groups; do kill -TERM -"$each" 2>/dev/null; done
sleep 2
for each in $groups; do kill -KILL -"$each" 2>/dev/null; done
"""
_SHELL = "/bin/sh"


class Guardian:
    """A small shell in a session of its own, started with the first server."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pipe = -1
        self._owner = 0

    def watch(self, group: int) -> None:
        """End this group of processes if we are gone."""
        self._tell(f"+ {group}\n")

    def release(self, group: int) -> None:
        """Forget a group that has ended."""
        self._tell(f"- {group}\n")

    def _tell(self, line: str) -> None:
        # Without a guardian servers still see the end of their stdin: nothing to fail over.
        with self._lock, suppress(OSError):
            if self._owner != os.getpid():
                self._pipe, self._owner = _started(), os.getpid()
            os.write(self._pipe, line.encode())


def _started() -> int:
    """Start the shell; what is written here it reads."""
    reading, writing = os.pipe()  # neither is inherited by what we start, or it would never end
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        os.posix_spawn(
            _SHELL,
            ["sh", "-c", _SCRIPT],
            {"PATH": os.defpath},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_DUP2, nowhere, 1),
                (os.POSIX_SPAWN_DUP2, nowhere, 2),
            ],
            setpgroup=0,  # away from the signals that are sent to our group
        )
    except OSError:
        os.close(writing)
        raise
    finally:
        os.close(reading)
        os.close(nowhere)
    return writing


GUARDIAN = Guardian()
"""One for the process, as the processes are."""
