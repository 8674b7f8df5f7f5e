"""References inside a schema. What lies outside of it is never fetched."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from tooldrawer.tool import Json

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
Path = tuple[str, ...]
_MAX_POINTER_CHARS = 1_000
_MAX_INDEX_DIGITS = 8
_SAFE = "$&'()*+,;=:@!~"


class References:
    """Finds what a reference points to, within one document."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._names: dict[str, Path] = {}

    def name(self, schema: Mapping[str, Json], path: Path) -> None:
        """Remember the names that a part of the document gives itself."""
        for key in ("$id", "id", "$anchor", "$dynamicAnchor"):
            name = schema.get(key)
            if isinstance(name, str):
                prefix = "#" if key.endswith("nchor") else ""
                self._names.setdefault(prefix + name.removesuffix("#"), path)

    def resolve(self, reference: str) -> Path | None:
        """Where in the document a reference points to; None if no schema is there."""
        base, _, fragment = reference.partition("#")
        path = self._names.get(base) if base else ()
        if path is not None and fragment.startswith("/"):
            path = (*path, *_steps(fragment))
        elif path is not None and fragment:
            path = self._names.get(f"#{fragment}")
        if path is None or self.at(path) is None or len(pointer(path)) > _MAX_POINTER_CHARS:
            return None
        return path

    def at(self, path: Path) -> Json:
        """The schema at a place; None if there is none."""
        place = self._document
        for step in path:
            if isinstance(place, Mapping):
                place = place.get(step)
            elif isinstance(place, Sequence) and not isinstance(place, str):
                place = place[int(step)] if _is_index(step, len(place)) else None
            else:
                return None
        return place if isinstance(place, dict | bool) else None


def pointer(path: Path) -> str:
    """A place as a JSON pointer from the root: `#/$defs/date`."""
    steps = (step.replace("~", "~0").replace("/", "~1") for step in path)
    return "#" + "".join(
        "/" + quote(step, safe="$&'()*+,;=:@!~", errors="replace") for step in steps
    )


def _steps(fragment: str) -> Path:
    steps = unquote(fragment).split("/")[1:]
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def _is_index(step: str, length: int) -> bool:
    return step.isdecimal() and len(step) <= _MAX_INDEX_DIGITS and int(step) < length
