"""A schema as a graph: its parts, and which of them look at the same value or inside it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from tooldrawer.bounds.keywords import NO_COST, KeywordCost, compilation_steps, read_keywords
from tooldrawer.bounds.pattern import TYPICAL_CHARS, PatternCost, measure_pattern
from tooldrawer.bounds.references import REFERENCES, Path, References, pointer
from tooldrawer.call import thawed
from tooldrawer.json_values import Json, JsonObject, is_deeper

MAX_LEVELS = 100
"""Nesting of a schema; real ones have 20. Copying what is deeper could run out of stack."""
MAX_BYTES = 256_000
"""Of one schema as JSON; the largest of 2,367 tools of real servers has 27,000."""
MAX_PARTS = 2_000
"""Subschemas of one schema; compiling takes 14 µs for each, and real ones have up to 400."""
MAX_STEPS = 1_000_000
"""Of one validation; a step takes 20 ns, so together 20 ms. It cannot run in a thread: the
validator keeps the interpreter's lock."""
_MESSAGE_BYTES = 200
"""Of a keyword's value that make its error one small error more expensive: the error has a copy."""
_NAME_BYTES = 3
"""Of a list of names, at least, for each of them: every one that is missing is an error."""
_REEVALUATION = 4
"""How often `unevaluated…` looks at the parts beside it at most; 2.7 times were measured."""
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_ALTERNATIVES = ("anyOf", "oneOf", "propertyNames", "contains")
_NAMES = ("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema")
_ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "example", "$comment", "format", "deprecated",
     "readOnly", "writeOnly", *_NAMES)
)  # fmt: skip
_APPLICATORS = {
    "not": "same", "if": "same", "then": "same", "else": "same",
    "allOf": "same", "anyOf": "same", "oneOf": "same",
    "dependentSchemas": "same", "dependencies": "same",
    "patternProperties": "values", "additionalProperties": "values",
    "unevaluatedProperties": "values", "propertyNames": "keys",
    "items": "items", "prefixItems": "items", "additionalItems": "items",
    "unevaluatedItems": "items", "contains": "items",
    "$defs": "unused", "definitions": "unused",
}  # fmt: skip
"""Keywords with subschemas, and what those look at."""
_NAMED = ("dependentSchemas", "dependencies", "patternProperties", "$defs", "definitions")
_SILENT = frozenset(("properties", "allOf", "if", "items", "prefixItems", *_NAMED[2:], *REFERENCES))
"""Keywords that report no errors but those of their subschemas."""


_TOO_DEEP = f"is nested more than {MAX_LEVELS} levels deep"
_NO_PARTS: "Mapping[str, Part]" = MappingProxyType({})


class SchemaTooCostly(Exception):
    """A schema would take too long to evaluate; the message completes `the schema …`."""


def json_text(value: Json) -> str:
    """A value as JSON.

    Raises:
        SchemaTooCostly: It is nested too deep for that.
    """
    try:
        return json.dumps(value, default=str)
    except RecursionError:
        raise SchemaTooCostly(_TOO_DEEP) from None


def require_readable(schema: JsonObject) -> int:
    """The size of a schema in bytes.

    Raises:
        SchemaTooCostly: It is too deep or too large to be copied.
    """
    size = len(json_text(schema))
    if size > MAX_BYTES:
        raise SchemaTooCostly(f"has more than {MAX_BYTES:,} bytes")
    if is_deeper(schema, MAX_LEVELS):
        raise SchemaTooCostly(_TOO_DEEP)
    return size


@dataclass(slots=True, eq=False)
class Part:
    """One subschema."""

    keywords: int = 1
    faults: int = 0
    """The errors that it may report about one value, in units of a small one."""
    cost: KeywordCost = NO_COST
    """Of its own keywords; `patterns` are not among them."""
    factor: int = 1
    """How often it looks at the parts in `same`."""
    patterns: Sequence[PatternCost] = ()
    key_patterns: Sequence[PatternCost] = ()
    same: "tuple[Part, ...]" = ()
    """Parts that look at the same value."""
    properties: "Mapping[str, Part]" = field(default_factory=lambda: _NO_PARTS)
    values: "tuple[Part, ...]" = ()
    """Parts that look at the value of every property."""
    keys: "tuple[Part, ...]" = ()
    items: "tuple[Part, ...]" = ()
    """Parts that look at every element."""
    unused: "tuple[Part, ...]" = ()
    """Parts that look at nothing unless a reference points to them."""

    @property
    def inside(self) -> "Sequence[Part]":
        """Parts that look at something inside the value."""
        return (*self.properties.values(), *self.values, *self.keys, *self.items)


class SchemaGraph:
    """All parts of a schema."""

    def __init__(self, schema: JsonObject) -> None:
        """Read a schema.

        Raises:
            SchemaTooCostly: It is too deep or too large.
        """
        self._size = require_readable(schema)
        self.document = thawed(schema)
        """A copy in which every reference is a JSON pointer to another place of it."""
        self.unreachable: list[str] = []
        """References that point to nothing in the schema; the copy is without them."""
        self.has_alternatives = False
        """Whether one error may contain others: those about each alternative."""
        self._any = Part(faults=1)
        """`true`, `false`, and whatever is not a schema where one is expected."""
        self._matching = self._compiling = 0
        self._patterns: dict[str, PatternCost] = {}
        self._known: dict[int, Part] = {}
        self._found: list[tuple[dict[str, Json], Part, Path]] = []
        self._references = References(self.document)
        self.root = self._part(self.document, ())
        self._read_all()
        self.parts = [self._any, *(part for _, part, _ in self._found)]

    def _part(self, schema: Json, path: Path) -> Part:
        if not isinstance(schema, dict):
            return self._any
        known = self._known.get(id(schema))
        if known is None:
            known = self._known[id(schema)] = Part()
            self._found.append((schema, known, path))
            if len(self._found) > MAX_PARTS:
                raise SchemaTooCostly(f"has more than {MAX_PARTS:,} subschemas")
        return known

    def _read_all(self) -> None:
        read = followed = 0
        while followed < len(self._found):
            while read < len(self._found):
                self._read(*self._found[read])
                read += 1
            # Only now is every name known that a reference may use.
            self._follow(*self._found[followed][:2])
            followed += 1
        for schema, _, _ in self._found:
            for key in _NAMES:
                if key in schema and not isinstance(schema[key], Mapping):
                    del schema[key]

    def _read(self, schema: dict[str, Json], part: Part, path: Path) -> None:
        self._references.name(schema, path)
        self._read_own_keywords(schema, part)
        for key, value in schema.items():
            if key in _ANNOTATIONS:
                continue
            part.keywords += 1
            part.faults += self._faults(key, value)
            if key == "properties" and isinstance(value, Mapping):
                at = (*path, key)
                part.properties = {n: self._part(each, (*at, n)) for n, each in value.items()}
            elif role := _APPLICATORS.get(key):
                inner = tuple(self._subschemas(key, value, (*path, key)))
                setattr(part, role, (*getattr(part, role), *inner))
        self.has_alternatives |= any(key in schema for key in _ALTERNATIVES)
        if any(key in schema for key in _UNEVALUATED):
            part.factor = _REEVALUATION
        if isinstance(pattern := schema.get("pattern"), str):
            part.patterns = (self._pattern(pattern),)
        if isinstance(named := schema.get("patternProperties"), Mapping):
            part.key_patterns = tuple(map(self._pattern, named))

    def _read_own_keywords(self, schema: JsonObject, part: Part) -> None:
        self._compiling += compilation_steps(schema)
        if self._compiling > MAX_STEPS:
            raise SchemaTooCostly(f"takes more than {MAX_STEPS:,} steps to compile")
        part.cost = read_keywords(schema)

    def _pattern(self, pattern: str) -> PatternCost:
        cost = self._patterns.get(pattern)
        if cost is None:
            cost = self._patterns[pattern] = measure_pattern(pattern)
            self._matching += cost.building
        self._matching += cost.match(TYPICAL_CHARS)
        if self._matching > MAX_STEPS:
            raise SchemaTooCostly(f"takes more than {MAX_STEPS:,} steps to match its patterns")
        return cost

    def _subschemas(self, key: str, value: Json, path: Path) -> Iterator[Part]:
        if key in _NAMED:
            named: JsonObject = value if isinstance(value, Mapping) else {}
            yield from (self._part(each, (*path, name)) for name, each in named.items())
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from (self._part(each, (*path, str(at))) for at, each in enumerate(value))
        else:
            yield self._part(value, path)

    def _faults(self, key: str, value: Json) -> int:
        """Errors of one keyword, in units of a small one."""
        if key in _SILENT:
            return 0
        if key in ("enum", "const"):
            return 1 + len(json.dumps(value, default=str)) // _MESSAGE_BYTES
        if key in ("required", "dependentRequired", "dependencies"):
            return 1 + len(json.dumps(value, default=str)) // _NAME_BYTES
        return 1 + self._size // _MESSAGE_BYTES if key == "not" else 1

    def _follow(self, schema: dict[str, Json], part: Part) -> None:
        for key in REFERENCES:
            reference = schema.get(key)
            if not isinstance(reference, str):
                continue
            del schema[key]
            path = self._references.resolve(reference)
            if path is None:
                self.unreachable.append(reference)
            else:
                schema["$ref"] = pointer(path)
                part.same = (*part.same, self._part(self._references.at(path), path))
