"""A body held against the types of a provider's SDK, to the last item."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import TypeAdapter


def check(kind: TypeAdapter[Any], body: Any) -> None:
    """Fails where the SDK's types say otherwise.

    Their lists are iterables, whose items pydantic checks when they are taken and not before.
    """
    _take_all(kind.validate_python(body))


def _take_all(value: Any) -> None:
    if isinstance(value, str | bytes):
        return
    if isinstance(value, Mapping):
        _take_all(value.values())
    elif isinstance(value, Iterable):
        for item in cast("Iterable[Any]", value):
            _take_all(item)
