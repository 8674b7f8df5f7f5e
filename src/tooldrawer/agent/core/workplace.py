"""The folders in which the agent works; what lies outside needs a person."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tooldrawer.errors import CallDenied, InvalidArguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """A working directory, and further folders that a person allowed."""

    root: Path
    """The working directory: relative paths start here."""
    allowed: tuple[Path, ...] = ()
    """Folders beside it that count as inside."""

    def resolve(self, path: str | Path) -> Path:
        """The real place of `path` at this moment, with every link followed.

        Raises:
            InvalidArguments: It cannot be a path, or its links go round in a circle.
        """
        try:
            place = (self.root / Path(path).expanduser()).resolve()
            place.exists()
        # A NUL and a lone surrogate are ValueErrors; a circle and an unknown ~user RuntimeErrors;
        # a name too long, and a folder on the way that may not be entered, OSErrors.
        except (ValueError, RuntimeError, OSError) as error:
            why = getattr(error, "strerror", None) or str(error)[:200]
            raise InvalidArguments(
                f"{shown(path)} is no usable path: {why}. Give another one."
            ) from error
        return place

    def holds(self, path: str | Path) -> bool:
        """Whether the real place of `path` is inside, at this moment."""
        place = self.resolve(path)
        return any(place.is_relative_to(folder) for folder in self._folders())

    def lies_in(self, folder: Path) -> bool:
        """Whether one of its folders is `folder`, a real place, or below it."""
        return any(each.is_relative_to(folder) for each in self._folders())

    def inside(self, path: str | Path) -> Path:
        """The real place of `path`, which must be inside.

        Raises:
            CallDenied: It is outside.
            InvalidArguments: It is no path.
        """
        place = self.resolve(path)
        if not self.holds(place):
            raise CallDenied(self.refusal(place))
        return place

    def refusal(self, path: str | Path) -> str:
        """What a model is told about a path outside."""
        return (
            f"{shown(path)} is outside the working directory {str(self.root)!r}. Work inside it, "
            "or ask the user, who can allow the folder."
        )

    def _folders(self) -> Iterator[Path]:
        return (folder.expanduser().resolve() for folder in (self.root, *self.allowed))

    def name(self, place: Path) -> str:
        """A real place as short as it can be told: relative to the working directory if inside."""
        root = self.root.expanduser().resolve()
        return str(place.relative_to(root) if place.is_relative_to(root) else place)


def shown(path: str | Path) -> str:
    """A path of anybody's, quoted and short enough for a message."""
    text = repr(str(path))
    return text if len(text) <= 200 else f"{text[:199]}…"
