"""The calls in an answer of Chat Completions, whole or in pieces."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tooldrawer.tool import Json, JsonObject
from tooldrawer.wire.mended import arguments, compact, id_of, name_of, text_of, whole, whole_json
from tooldrawer.wire.message import Asked
from tooldrawer.wire.odd import a_text, an_object, objects


def read_calls(message: JsonObject, *, answer: str) -> tuple[tuple[Asked, ...], list[Json]]:
    """The calls of a message, and how they are sent back: as they came, unless broken."""
    asked: dict[str, Asked] = {}
    rows: list[Json] = []
    for position, call in enumerate(_written(message)):
        # Nobody offers custom tools, but a model may invent one.
        inner, given = ("custom", "input") if "custom" in call else ("function", "arguments")
        told = an_object(call.get(inner))
        call_id = id_of(call.get("id"), answer=answer, position=position, taken=asked)
        asked[call_id] = Asked(
            name=whole(a_text(told.get("name"))), arguments=arguments(told.get(given)), id=call_id
        )
        mended = {
            **told,
            "name": name_of(told.get("name")),
            given: text_of(told.get(given)) if inner == "function" else a_text(told.get(given)),
        }
        rows.append({**call, "id": call_id, "type": inner, inner: mended})
    return tuple(asked.values()), rows


def _written(message: JsonObject) -> tuple[JsonObject, ...]:
    before = message.get("function_call")  # how one call was written before 2024
    told = ({"function": before},) if isinstance(before, Mapping) else ()
    return objects(message.get("tool_calls")) or told


@dataclass(slots=True, kw_only=True)
class _Growing:
    """A call of which more may come."""

    index: Json = None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    beside: dict[str, Json] = field(default_factory=dict[str, Json])
    inside: dict[str, Json] = field(default_factory=dict[str, Json])

    def is_whole(self) -> bool:
        """Whether its arguments are an object already, so that nothing can follow."""
        if not self.arguments or not self.arguments[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads("".join(self.arguments), strict=False), dict)
        except (ValueError, RecursionError):
            return False

    def take(self, delta: JsonObject, function: JsonObject) -> None:
        self.id = self.id or a_text(delta.get("id"))
        name = a_text(function.get("name"))
        if name and name != self.name and not self.arguments:
            self.name += name
        self._argue(function.get("arguments"), is_named=bool(name))
        self.beside |= _others(delta, "index", "id", "function")
        self.inside |= _others(function, "name", "arguments")

    def row(self) -> dict[str, Json]:
        function = {"name": self.name, "arguments": "".join(self.arguments), **self.inside}
        return {"id": self.id, "type": "function", **self.beside, "function": function}

    def _argue(self, given: Json, *, is_named: bool) -> None:
        if given is None:
            return
        piece = given if isinstance(given, str) else compact(whole_json(given))
        is_repeated = is_named and self.is_whole() and "".join(self.arguments) == piece
        if piece and not is_repeated:
            self.arguments.append(piece)


class Pieces:
    """Calls as a stream gives them, each delta to the call that it belongs to.

    OpenAI numbers the calls and gives an id with a call's first delta. Imitators leave the number
    out, give every call the number 0, repeat the id, or send no id and each call in one piece.
    """

    def __init__(self) -> None:
        self._calls: list[_Growing] = []

    def take(self, deltas: Json) -> None:
        """Add what one chunk has."""
        for delta in objects(deltas):
            self._one(delta)

    def calls(self) -> list[Json]:
        """The calls as a whole answer would have them."""
        return [call.row() for call in self._calls]

    def _one(self, delta: JsonObject) -> None:
        function = an_object(delta.get("function"))
        call = self._continued(
            delta.get("index"), a_text(delta.get("id")), a_text(function.get("name"))
        )
        if call is None:
            call = _Growing(index=delta.get("index"))
            self._calls.append(call)
        call.take(delta, function)

    def _continued(self, index: Json, call_id: str, name: str) -> _Growing | None:
        """The call that goes on; none when one begins."""
        known = (call for call in reversed(self._calls) if call_id and call.id == call_id)
        if same := next(known, None):
            return same
        numbered = (call for call in reversed(self._calls) if index is None or call.index == index)
        last = next(numbered, None)
        if last is None or (call_id and last.id):
            return None
        begins = name and last.name and (index is None or last.is_whole())
        return None if begins else last


def _others(given: JsonObject, *known: str) -> dict[str, Json]:
    return {key: value for key, value in given.items() if key not in known and value is not None}
