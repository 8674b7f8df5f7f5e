"""Values of variables that `import` and `connect` took out of other programs' files."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import cast

from platformdirs import user_data_path

from tooldrawer.errors import ConfigError
from tooldrawer.json_store import JsonStore, StoreFormat
from tooldrawer.tool import Json


class SecretFile:
    """Secrets by variable name, in a file that only its owner can read (mode 0600).

    It lies in the user's data folder, not beside `tooldrawer.yaml`, which may be in a repository.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_data_path("tooldrawer", appauthor=False) / "secrets.json"
        self._store = JsonStore(self.path, _FORMAT)

    def read(self) -> Mapping[str, str]:
        """Return the values by name; none when there is no file.

        Raises:
            ConfigError: The file is damaged.
        """
        # The folder may be impossible to make; then there is no file either.
        return self._store.read() if self.path.exists() else {}

    def add(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Store values, and return the names that were not there before.

        Raises:
            ConfigError: The file is damaged or cannot be written.
        """
        if not values:
            return ()
        before = self._change(lambda known: {**known, **values})
        return tuple(name for name in values if name not in before)

    def remove(self, names: Iterable[str]) -> None:
        """Delete values; unknown names are ignored.

        Raises:
            ConfigError: The file is damaged or cannot be written.
        """
        removed = set(names)
        if removed:
            self._change(
                lambda known: {name: text for name, text in known.items() if name not in removed}
            )

    def _change(
        self, change: Callable[[Mapping[str, str]], Mapping[str, str]]
    ) -> Mapping[str, str]:
        """Write what `change` makes of the values; return them as they were."""
        try:
            with self._store.locked() as known:
                changed = change(known)
                if changed != known:
                    self._store.write(changed)
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be written: {error.strerror}.") from error
        return known


def _parse(content: bytes) -> Mapping[str, str]:
    value = cast("Json", json.loads(content))
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise ValueError("it is not a JSON object of texts")
    return cast("dict[str, str]", value)


_FORMAT: StoreFormat[Mapping[str, str]] = StoreFormat(
    parse=_parse,
    serialize=lambda values: cast("Json", dict(values)),
    empty={},
    damage="The secrets in {path} cannot be read ({reason}), so no variable is filled from them. "
    "Correct the file, or delete it and run `tooldrawer import` again.",
)
