"""Arguments against the tool's own schema, before anything runs."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Never

import jsonschema_rs

from tooldrawer.activity import names_secret
from tooldrawer.bridge import signature
from tooldrawer.call import is_deeper, thawed
from tooldrawer.dispatch.complaints import Complaint, missing_arguments, place
from tooldrawer.dispatch.nullable import allow_null
from tooldrawer.dispatch.repair import Repair, repaired
from tooldrawer.errors import InvalidArguments, MissingArguments
from tooldrawer.tool import Json, JsonObject, Tool

_DRAFT_7 = "draft-07"
_BACKTRACKING = 100_000
"""Steps of a regular expression before it counts as not matching: a schema's pattern is somebody
else's, and `(a+)+$` would otherwise run for years."""
_MOST_SHOWN = 3
_MOST_SCHEMA_LEVELS = 128
_REPEAT = " If the server itself supplies what is missing, repeat the call unchanged."


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Arguments that fit, and what was done to make them fit."""

    arguments: dict[str, Json]
    repairs: tuple[Repair, ...] = ()
    warning: str = ""
    """Why the schema could not be used, when it could not."""


class Validation:
    """Compiles each schema once, and checks arguments against it within bounds."""

    def __init__(self, *, max_bytes: int = 1_000_000, keep: int = 2_000) -> None:
        self._max_bytes, self._keep = max_bytes, keep
        self._lock = Lock()
        self._compiled: OrderedDict[str, jsonschema_rs.Validator | str] = OrderedDict()

    def check(self, tool: Tool, arguments: JsonObject, *, allow_missing: bool = False) -> Checked:
        """The arguments, repaired where that is safe.

        With `allow_missing`, required arguments may be missing; the warning names them.

        Raises:
            MissingArguments: Nothing is wrong except that required arguments are missing.
            InvalidArguments: They do not fit; with the failing path, the reason and the signature.
        """
        self._bound(tool, arguments)
        plain = thawed(arguments)
        validator = self._validator(tool)
        if isinstance(validator, str):
            return Checked(arguments=plain, warning=validator)
        try:
            if validator.is_valid(plain):
                return Checked(arguments=plain)
            better = repaired(plain, validator)
        except ValueError as error:  # half a character, or a key that is not text: not JSON
            raise InvalidArguments(_refusal(tool, f"/: cannot be read as JSON: {error}")) from error
        if better.left and (missing := missing_arguments(better.left)):
            if not allow_missing:
                repeat = _REPEAT if tool.is_upstream else ""
                raise MissingArguments(_refusal(tool, _said(better.left)) + repeat)
            return Checked(
                arguments=better.arguments,
                repairs=better.repairs,
                warning=f"Repeated without {', '.join(missing)}, which the schema requires; "
                "the server decides.",
            )
        if better.left is None or better.left:
            raise InvalidArguments(_refusal(tool, _said(better.left)))
        return Checked(arguments=better.arguments, repairs=better.repairs)

    def _validator(self, tool: Tool) -> "jsonschema_rs.Validator | str":
        with self._lock:
            known = self._compiled.get(tool.fingerprint)
            if known is not None:
                self._compiled.move_to_end(tool.fingerprint)
                return known
        compiled = _compile(tool.parameters, self._max_bytes)
        with self._lock:
            self._compiled[tool.fingerprint] = compiled
            while len(self._compiled) > self._keep:
                self._compiled.popitem(last=False)
        return compiled

    def _bound(self, tool: Tool, arguments: JsonObject) -> None:
        size = len(json.dumps(arguments, default=str))
        if size > self._max_bytes:
            raise InvalidArguments(
                f"{tool.name!r} was not run: its arguments are {size:,} bytes, more than the "
                f"{self._max_bytes:,} allowed. Call again with less at once."
            )


def _compile(schema: JsonObject, max_bytes: int) -> "jsonschema_rs.Validator | str":
    if is_deeper(schema, _MOST_SCHEMA_LEVELS):
        return "The schema is nested too deep to be checked; the call went through unchecked."
    if len(json.dumps(schema, default=str)) > max_bytes:
        return "The schema is too large to be checked; the call went through unchecked."
    declared = str(schema.get("$schema", ""))
    kind = (
        jsonschema_rs.Draft7Validator
        if _DRAFT_7 in declared
        else jsonschema_rs.Draft202012Validator
    )
    plain = allow_null({key: value for key, value in schema.items() if key != "$schema"})
    options = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKING)
    try:
        return kind(
            plain, retriever=_refuse_network, pattern_options=options, validate_formats=False
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        return f"The schema cannot be compiled ({reason}); the call went through unchecked."


def _refuse_network(address: str) -> Never:
    raise ValueError(f"{address} is outside the schema, and nothing is fetched for one")


def _said(found: Sequence[Complaint] | None) -> str:
    if found is None:
        return "/: does not fit its schema, in more ways than can be told apart"
    more = len(found) - _MOST_SHOWN
    shown = "; ".join(map(_shown, found[:_MOST_SHOWN]))
    return f"{shown}; and {more} more" if more > 0 else shown


def _shown(complaint: Complaint) -> str:
    path = place(complaint)
    where = "".join(f"/{part}" for part in path) or "/"
    if any(map(names_secret, path)):
        # The text goes into the activity as well, where the value must not be.
        return f"{where}: does not fit the schema's {complaint.kind.name!r}"
    return f"{where}: {complaint.message[:200]}"


def _refusal(tool: Tool, said: str) -> str:
    return (
        f"{tool.name!r} was not run: {said}. "
        f"Its signature is {tool.name}{signature(tool)}. Correct the arguments and call again."
    )
