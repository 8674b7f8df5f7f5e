"""`${NAME}` in the configuration, filled from the environment."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from tooldrawer.config.document import Mistake, Path
from tooldrawer.tool import Json

_PLACE = re.compile(
    r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$\{(?:[^{}]|\$\{[^{}]*\})*\}?"
)
_NOT_A_PLACE = "has a ${ that is not ${NAME} or ${NAME:-default}; for a dollar sign write $$"


class Filling:
    """Fills one document; remembers which values are somebody's secrets and what was missing."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.filled: set[Path] = set()
        self.mistakes: list[Mistake] = []

    def fill(self, value: Json, path: Path = ()) -> Json:
        """The value with every `${NAME}` and `${NAME:-default}` filled; `$$` is a dollar sign."""
        if isinstance(value, str):
            return (
                _PLACE.sub(lambda place: self._filled(place, path), value)
                if "$" in value
                else value
            )
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Json]", value).items()
            return {key: self.fill(item, (*path, key)) for key, item in items}
        if isinstance(value, Sequence):
            return [self.fill(item, (*path, at)) for at, item in enumerate(value)]
        return value

    def _filled(self, place: re.Match[str], path: Path) -> str:
        text, name, default = place.group(0), place.group(1), place.group(2)
        if text == "$$":
            return "$"
        if name is None:
            # What follows may be a secret, so it is not repeated.
            self.mistakes.append(Mistake(path, _NOT_A_PLACE))
            return ""
        self.filled.add(path)
        found = self._environment.get(name) or default
        if found is None:
            state = "is empty" if name in self._environment else "is not set"
            text = f"needs the environment variable {name}, which {state}"
            self.mistakes.append(Mistake(path, text, variable=name))
            return ""
        return found
