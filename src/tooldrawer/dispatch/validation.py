"""Arguments against the tool's own schema, before anything runs."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Never

import jsonschema_rs

from tooldrawer.activity import names_secret
from tooldrawer.bounds.graph import MAX_STEPS, SchemaTooCostly, require_readable
from tooldrawer.bounds.pattern import BACKTRACK_LIMIT, COMPILED_MAX_BYTES
from tooldrawer.bounds.size import Size
from tooldrawer.bounds.work import SchemaWork, Work
from tooldrawer.bridge import BridgeNames, short_signature
from tooldrawer.call import thawed
from tooldrawer.dispatch.arguments import require_size
from tooldrawer.dispatch.complaints import Complaint, Critic, missing_arguments, place, show_place
from tooldrawer.dispatch.nullable import allow_null
from tooldrawer.dispatch.repair import Repair, repaired
from tooldrawer.dispatch.unsendable import find_unsendable
from tooldrawer.errors import InvalidArguments, MissingArguments
from tooldrawer.tool import Json, JsonObject, Tool

_DRAFT_7 = "draft-07"
_MOST_SHOWN = 3
_REPEAT = " If the server itself supplies what is missing, repeat the call unchanged."
_MAX_REFERENCES_SHOWN = 3
_MAX_SIGNATURE_CHARS = 2_000
_UNCHECKED = "the call went through unchecked."


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Arguments that fit, and what was done to make them fit."""

    arguments: dict[str, Json]
    repairs: tuple[Repair, ...] = ()
    warning: str = ""
    """Why the schema could not be used, when it could not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    """A schema that can be checked, within the bounds of `work`."""

    validator: jsonschema_rs.Validator
    work: SchemaWork
    warning: str
    """What of the schema is left out."""


class Validation:
    """Compiles each schema once, and checks arguments against it within bounds."""

    def __init__(
        self,
        *,
        max_bytes: int = 1_000_000,
        keep: int = 2_000,
        describe: str = BridgeNames().describe,
    ) -> None:
        """`describe` is the bridge's name for showing a tool's whole schema."""
        self._max_bytes, self._keep, self._describe = max_bytes, keep, describe
        self._lock = Lock()
        self._compiled: OrderedDict[str, _Compiled | str] = OrderedDict()

    def check(
        self,
        tool: Tool,
        arguments: JsonObject,
        *,
        size: Size | None = None,
        allow_missing: bool = False,
    ) -> Checked:
        """The arguments, repaired where that is safe.

        `size` is that of the arguments where it is known to be within bounds. With
        `allow_missing`, required arguments may be missing; the warning names them.

        Raises:
            MissingArguments: Nothing is wrong except that required arguments are missing.
            InvalidArguments: They do not fit; with the failing path, the reason and the signature.
        """
        size = size or require_size(arguments, tool=tool.name, max_bytes=self._max_bytes)
        plain = thawed(arguments)
        self._require_sendable(tool, plain, size)
        compiled = self._schema(tool)
        if isinstance(compiled, str):
            return Checked(arguments=plain, warning=compiled)
        if not compiled.work.is_small(size) and not _is_feasible(compiled.work.measure(plain)):
            return Checked(
                arguments=plain,
                warning=f"Checking the arguments would take too long; {_UNCHECKED}",
            )
        try:
            if compiled.validator.is_valid(plain):
                return Checked(arguments=plain, warning=compiled.warning)
            critic = Critic(compiled.validator, compiled.work)
            better = repaired(plain, critic)
        except ValueError as error:  # a key that is not text: not JSON
            said = f"/: cannot be read as JSON: {error}"
            raise InvalidArguments(self._refusal(tool, said)) from error
        if better.left and (missing := missing_arguments(better.left)):
            if not allow_missing:
                repeat = _REPEAT if tool.is_upstream else ""
                said = _said(better.left, critic, plain)
                raise MissingArguments(self._refusal(tool, said) + repeat)
            return Checked(
                arguments=better.arguments,
                repairs=better.repairs,
                warning=f"Repeated without {', '.join(missing)}, which the schema requires; "
                f"the server decides. {compiled.warning}".rstrip(),
            )
        if better.left is None or better.left:
            raise InvalidArguments(self._refusal(tool, _said(better.left, critic, plain)))
        return Checked(arguments=better.arguments, repairs=better.repairs, warning=compiled.warning)

    def _require_sendable(self, tool: Tool, arguments: JsonObject, size: Size) -> None:
        is_plain = size.is_ascii and size.is_finite
        if not is_plain and (found := find_unsendable(arguments)):
            raise InvalidArguments(self._refusal(tool, found))

    def _refusal(self, tool: Tool, said: str) -> str:
        short = short_signature(tool, max_chars=_MAX_SIGNATURE_CHARS)
        signature = f"Its signature is {tool.name}{short.text}."
        if short.is_shortened:
            signature = (
                f"Its signature in short is {tool.name}{short.text}; {self._describe} shows the "
                "whole schema."
            )
        return (
            f"{tool.name!r} was not run: {said}. {signature} Correct the arguments and call again."
        )

    def _schema(self, tool: Tool) -> _Compiled | str:
        with self._lock:
            known = self._compiled.get(tool.fingerprint)
            if known is not None:
                self._compiled.move_to_end(tool.fingerprint)
                return known
        compiled = _compile(tool.parameters)
        with self._lock:
            self._compiled[tool.fingerprint] = compiled
            while len(self._compiled) > self._keep:
                self._compiled.popitem(last=False)
        return compiled


def _compile(schema: JsonObject) -> _Compiled | str:
    try:
        require_readable(schema)
        work = SchemaWork(allow_null(schema))
    except SchemaTooCostly as error:
        return f"The schema {error}; {_UNCHECKED}"
    declared = str(schema.get("$schema", ""))
    kind = (
        jsonschema_rs.Draft7Validator
        if _DRAFT_7 in declared
        else jsonschema_rs.Draft202012Validator
    )
    # A pattern without look-arounds and back-references is matched by an automaton; only for the
    # others the limit on steps back is needed.
    options = jsonschema_rs.FancyRegexOptions(
        backtrack_limit=BACKTRACK_LIMIT, size_limit=COMPILED_MAX_BYTES
    )
    try:
        validator = kind(
            work.document,
            retriever=_refuse_network,
            pattern_options=options,
            validate_formats=False,
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        return f"The schema cannot be compiled ({reason:.500}); {_UNCHECKED}"
    return _Compiled(validator=validator, work=work, warning=_left_out(work.unreachable))


def _left_out(references: Sequence[str]) -> str:
    """What a person is told of references that nothing is fetched for."""
    if not references:
        return ""
    named = ", ".join(f"{each:.200}" for each in references[:_MAX_REFERENCES_SHOWN])
    more = len(references) - _MAX_REFERENCES_SHOWN
    named += f" and {more} more" if more > 0 else ""
    return f"The schema refers to {named}, which is not in it; what that describes went unchecked."


def _is_feasible(work: Work | None) -> bool:
    return work is not None and work.steps <= MAX_STEPS


def _refuse_network(address: str) -> Never:
    raise ValueError(f"{address} is outside the schema, and nothing is fetched for one")


def _said(found: Sequence[Complaint] | None, critic: Critic, arguments: JsonObject) -> str:
    if found is None:
        first = critic.first(arguments)
        if first is not None:
            return f"{_shown(first)}; there may be more mistakes"
        return "/: does not fit its schema, in more ways than can be told apart"
    more = len(found) - _MOST_SHOWN
    shown = "; ".join(map(_shown, found[:_MOST_SHOWN]))
    return f"{shown}; and {more} more" if more > 0 else shown


def _shown(complaint: Complaint) -> str:
    path = place(complaint)
    where = show_place(path)
    if any(map(names_secret, path)):
        # The text goes into the activity as well, where the value must not be.
        return f"{where}: does not fit the schema's {complaint.kind.name!r}"
    return f"{where}: {complaint.message[:200]}"
