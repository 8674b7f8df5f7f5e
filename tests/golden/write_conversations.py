"""Writes the bodies anew, after a change that is meant to change them.

Run `python -m tests.golden.write_conversations` in the root of the repository, and read the
difference: every byte of it is a conversation that somebody cannot go on with from the cache.
"""

from tests.golden.conversations import file, written
from tooldrawer.wire.wires import WIRES


def main() -> None:
    """Write every file."""
    for wire in WIRES.values():
        file(wire.name).write_bytes(written(wire.body))
        if wire.defers:
            file(f"{wire.name}-native").write_bytes(written(wire.body, native=True))


if __name__ == "__main__":
    main()
