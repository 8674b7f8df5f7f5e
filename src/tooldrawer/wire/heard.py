"""Text as it comes out of a stream."""

from tooldrawer.wire.mended import whole

_FIRST_HALVES = ("\ud800", "\udbff")


class Heard:
    """The text so far. Half of a character waits for its other half: nobody can print it alone."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._half = ""

    @property
    def text(self) -> str:
        """All that was handed out."""
        return "".join(self._pieces)

    def take(self, piece: str) -> str:
        """Add what came; what of it can be shown now."""
        piece, self._half = self._half + piece, ""
        first, last = _FIRST_HALVES
        if piece and first <= piece[-1] <= last:
            piece, self._half = piece[:-1], piece[-1]
        if shown := whole(piece):
            self._pieces.append(shown)
        return shown
