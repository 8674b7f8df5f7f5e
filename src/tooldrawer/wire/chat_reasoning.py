"""Reasoning that came in pieces, as it is sent back."""

from collections.abc import Iterable

from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.odd import a_text, objects

_GROWS = {"reasoning.text": "text", "reasoning.summary": "summary"}


def joined(details: Iterable[Json]) -> list[Json]:
    """The blocks of `reasoning_details`, each whole again.

    OpenRouter cuts a block into many and signs it with the last piece. Sent back in pieces, the
    signature is wrong, and every request of the conversation is refused from then on.
    """
    blocks: list[_Block] = []
    for detail in objects(list(details)):
        if blocks and blocks[-1].takes(detail):
            blocks[-1].grow(detail)
        else:
            blocks.append(_Block(detail))
    return [block.whole() for block in blocks]


class _Block:
    def __init__(self, first: JsonObject) -> None:
        self._found = dict(first)
        self._field = _GROWS.get(a_text(first.get("type")), "")
        self._pieces = [a_text(first.get(self._field))]

    def takes(self, detail: JsonObject) -> bool:
        """Whether this goes on in it: another kind or number, or what is signed, begins anew."""
        return (
            bool(self._field)
            and not self._found.get("signature")
            and all(self._found.get(key) == detail.get(key) for key in ("type", "index"))
        )

    def grow(self, detail: JsonObject) -> None:
        self._found |= {key: value for key, value in detail.items() if value is not None}
        self._pieces.append(a_text(detail.get(self._field)))

    def whole(self) -> dict[str, Json]:
        if len(self._pieces) == 1:
            return self._found
        return {**self._found, self._field: "".join(self._pieces)}
