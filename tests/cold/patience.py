"""First searches that wait for their vectors as long as it takes.

On a busy machine loading the model takes longer than the second that a search waits; then replies
would depend on the machine.
"""

from tooldrawer import SearchEngine

_PATIENCE_S = 300.0


def wait_for_vectors() -> None:
    """Make every search engine of this process wait for its vectors."""
    defaults = SearchEngine.__init__.__kwdefaults__
    assert defaults is not None
    defaults["patience"] = _PATIENCE_S
