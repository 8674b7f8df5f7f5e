"""Hostile inputs: small to send, endless to evaluate."""

from collections.abc import Callable

from tooldrawer.tool import Json, JsonObject

LEVELS = 28


def properties(**schemas: Json) -> JsonObject:
    return {"type": "object", "properties": schemas}


def doubled(keyword: str, levels: int = LEVELS) -> JsonObject:
    """Definitions that refer to the next one twice: 2^28 visits of the last."""
    definitions: dict[str, Json] = {
        f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "integer"}
    return {**properties(value={"$ref": "#/$defs/d0"}), "$defs": definitions}


def conditions(levels: int = LEVELS) -> JsonObject:
    definitions: dict[str, Json] = {
        f"d{level}": {
            "if": {"$ref": f"#/$defs/d{level + 1}"},
            "then": {"$ref": f"#/$defs/d{level + 1}"},
        }
        for level in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "string"}
    return {**properties(value={"$ref": "#/$defs/d0"}), "$defs": definitions}


def dependents(levels: int = LEVELS) -> JsonObject:
    definitions: dict[str, Json] = {
        f"d{level}": {
            "dependentSchemas": {
                "value": {"$ref": f"#/$defs/d{level + 1}"},
                "other": {"$ref": f"#/$defs/d{level + 1}"},
            }
        }
        for level in range(levels)
    }
    definitions[f"d{levels}"] = {"required": ["missing"]}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": definitions}


def negations(levels: int = LEVELS) -> JsonObject:
    definitions: dict[str, Json] = {
        f"d{level}": {
            "not": {"$ref": f"#/$defs/d{level + 1}"},
            "allOf": [{"$ref": f"#/$defs/d{level + 1}"}],
        }
        for level in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "integer"}
    return {**properties(value={"$ref": "#/$defs/d0"}), "$defs": definitions}


def unevaluated(keyword: str, levels: int = 20) -> JsonObject:
    """Each level evaluates the one below it about three times."""
    schema: JsonObject = {"properties": {"value": True}} if "Prop" in keyword else {}
    for _ in range(levels):
        schema = {"allOf": [schema], keyword: False}
    return schema if "Prop" in keyword else properties(value=schema)


def named(how: str) -> JsonObject:
    """The same doubling through anchors, identifiers and dynamic references."""
    definitions: dict[str, Json] = {}
    for level in range(LEVELS):
        following: JsonObject = {
            "anchor": {"$ref": f"#a{level + 1}"},
            "id": {"$ref": f"d{level + 1}.json"},
            "dynamic": {"$dynamicRef": f"#a{level + 1}"},
            "percent": {"$ref": f"#/%24defs/d{level + 1}"},
        }[how]
        definitions[f"d{level}"] = {"allOf": [following, following], **_names(how, level)}
    definitions[f"d{LEVELS}"] = {"type": "integer", **_names(how, LEVELS)}
    return {**properties(value={"$ref": "#/$defs/d0"}), "$defs": definitions}


def _names(how: str, level: int) -> JsonObject:
    return {
        "anchor": {"$anchor": f"a{level}"},
        "id": {"$id": f"d{level}.json"},
        "dynamic": {"$dynamicAnchor": f"a{level}"},
        "percent": {},
    }[how]


def clique(size: int = 12) -> JsonObject:
    """Definitions that all refer to each other, without ever looking inside the value."""
    everyone: list[Json] = [{"$ref": f"#/$defs/d{other}"} for other in range(size)]
    definitions: dict[str, Json] = {f"d{each}": {"allOf": everyone} for each in range(size)}
    return {**properties(value={"$ref": "#/$defs/d0"}), "$defs": definitions}


def chain(length: int) -> JsonObject:
    """References in a row, again on each level of the value: once a crash of the process."""
    definitions: dict[str, Json] = {
        f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}]} for at in range(length)
    }
    definitions[f"d{length}"] = {
        "type": "object",
        "properties": {"value": {"$ref": "#/$defs/d0"}},
        "required": ["missing"],
    }
    return {**properties(value={"$ref": "#/$defs/d0"}), "$defs": definitions}


def patterns(pattern: str, count: int) -> JsonObject:
    return properties(
        value={"allOf": [{"pattern": pattern.replace("#", str(at))} for at in range(count)]}
    )


def key_patterns(pattern: str, count: int) -> JsonObject:
    return {
        "type": "object",
        "patternProperties": {pattern.replace("#", str(at)): {} for at in range(count)},
    }


def mesh(layers: int = 40, width: int = 20) -> JsonObject:
    """Every definition of a layer refers to every one of the next."""
    definitions: dict[str, Json] = {}
    for layer in range(layers):
        below: list[Json] = [{"$ref": f"#/$defs/d{layer + 1}_{at}"} for at in range(width)]
        for at in range(width):
            definitions[f"d{layer}_{at}"] = {"anyOf": below} if layer < layers - 1 else {}
    return {**properties(value={"$ref": "#/$defs/d0_0"}), "$defs": definitions}


SCHEMAS: dict[str, JsonObject] = {
    **{f"doubled {keyword}": doubled(keyword) for keyword in ("allOf", "anyOf", "oneOf")},
    "doubled 20 times": doubled("anyOf", 20),
    "conditions": conditions(),
    "dependents": dependents(),
    "negations": negations(),
    "unevaluated properties": unevaluated("unevaluatedProperties"),
    "unevaluated items": unevaluated("unevaluatedItems"),
    **{f"doubled by {how}": named(how) for how in ("anchor", "id", "dynamic", "percent")},
    "clique": clique(),
    "itself": {"type": "object", "allOf": [{"$ref": "#"}]},
    "chain": chain(1000),
    "mesh": mesh(),
    "300 look-aheads": patterns("(?=a)(a+)+#$", 300),
    "300 back-references": patterns(r"^(a+)+#\1$", 300),
    "300 look-aheads at keys": key_patterns("(?=a)(a+)+#$", 300),
    "a million states": patterns("(a{1000}){1000}", 1),
    "states in a set that is none": patterns("[]a](b{1000}){300}", 1),
    "states behind a flag": patterns("(?x)(a{100}) {1000}", 1),
    "many large patterns": patterns("(a{100}){90}#", 50),
    "many Unicode classes": patterns(r"[\p{L}\p{N}]{60}#", 20),
    "a long pattern": patterns("(?=a)" * 20_000, 1),
    "many subschemas": properties(**{f"p{at}": {"type": "string"} for at in range(20_000)}),
    "many short subschemas": {"type": "object", "allOf": [True] * 60_000},
    "a large enumeration": properties(value={"enum": ["x" * 40] * 20_000}),
}
"""None of them may be evaluated."""


def _nested(levels: int) -> JsonObject:
    value: JsonObject = {}
    for _ in range(levels):
        value = {"value": value}
    return value


def _self_containing(keyword: str) -> JsonObject:
    inside: JsonObject = {
        "type": "object",
        "properties": {"value": {"$ref": "#/$defs/node"}},
        "required": ["value"],
    }
    return {
        **properties(value={"$ref": "#/$defs/node"}),
        "$defs": {"node": {keyword: [inside, inside, inside]}},
    }


CALLS: dict[str, tuple[JsonObject, JsonObject]] = {
    **{
        f"nested {keyword}": (_self_containing(keyword), _nested(60))
        for keyword in ("allOf", "anyOf", "oneOf")
    },
    "a few doublings": (doubled("anyOf", 13), {"value": "x"}),
    "a chain on every level": (chain(8), _nested(60)),
    "a long text and a large pattern": (
        patterns("[ab]*a[ab]{500}c#", 2),
        {"value": "ab" * 400_000},
    ),
    "a long text and a look-ahead": (patterns("(?=.*x)(a+)+#$", 3), {"value": "a" * 900_000}),
    "many keys and many patterns": (
        key_patterns("^a#[a-z]{1,9}$", 90),
        {f"b{at}": at for at in range(5_000)},
    ),
    "many mistakes": (
        properties(value={"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}),
        {"value": ["x"] * 20_000},
    ),
    "mistakes with large messages": (
        properties(value={"items": {"enum": [f"{'x' * 90}{at}" for at in range(2_000)]}}),
        {"value": ["x"] * 2_000},
    ),
    "large mistakes": (
        {"type": "object", "allOf": [{"required": [f"missing{at}"]} for at in range(500)]},
        {"value": list(range(20_000))},
    ),
    "one level too often": (
        properties(value={"allOf": [{"items": {"type": "string"}}] * 500}),
        {"value": list(range(20_000))},
    ),
}
"""Schemas that may be listed, with arguments that make them expensive."""

_Call = tuple[JsonObject, JsonObject]
_DRAFT_7 = "http://json-schema.org/draft-07/schema#"
_LONG = 10**4000
_NAMES: list[Json] = [f"p{at}" for at in range(1_500)]
_FULL: JsonObject = dict.fromkeys(map(str, _NAMES), 1)
_HALVES: list[Json] = [at + 0.5 for at in range(900)]
_WIDE: JsonObject = {str(name): {"type": "integer"} for name in _NAMES}
_EMPTY: list[Json] = [{}] * 19_000
_ONES: list[Json] = [1] * 19_000


def _bomb(schema: JsonObject, *items: Json, times: int = 1, draft: str = "") -> _Call:
    """Looks at each of the items with the same subschema, again and again."""
    every: list[Json] = [{"$ref": "#/$defs/one"}] * times
    whole = {**properties(value={"items": {"allOf": every}}), "$defs": {"one": schema}}
    return {**whole, "$schema": draft} if draft else whole, {"value": items}


KEYWORDS: dict[str, _Call] = {
    "enum": _bomb({"enum": [[[[0] * 20, at]] for at in range(2500)]}, *[[[[0] * 20, 2499]]] * 800),
    "const": _bomb({"const": _HALVES}, *[_HALVES] * 20, times=90),
    "type": _bomb({"type": "number"}, *[_LONG] * 200, times=9),
    **{
        keyword: _bomb({keyword: limit}, *[_LONG] * 200)
        for keyword, limit in {
            "minimum": 1,
            "maximum": 10**4001,
            "exclusiveMinimum": 1,
            "exclusiveMaximum": 10**4001,
        }.items()
    },
    "multipleOf": _bomb({"multipleOf": 1e-308}, *[1.7e308] * 16_000),
    "minLength": _bomb({"minLength": 1}, "é" * 400_000, times=900),
    "maxLength": _bomb({"maxLength": 10**6}, "é" * 400_000, times=900),
    "pattern": _bomb({"pattern": "(a+)+$"}, "a" * 400_000 + "b", times=90),
    "contentEncoding": _bomb(
        {"contentEncoding": "base64"}, "A" * 900_000, times=900, draft=_DRAFT_7
    ),
    "contentMediaType": _bomb(
        {"contentMediaType": "application/json"}, f"[{'[],' * 200_000}0]", times=90, draft=_DRAFT_7
    ),
    "contentSchema": _bomb({"contentSchema": {"enum": _HALVES}}, "[" * 400_000, times=900),
    "format": _bomb({"format": "email"}, "a@" * 400_000, times=900),
    "uniqueItems": _bomb({"uniqueItems": True}, [10**30 + at for at in range(4_000)]),
    "minItems": _bomb({"minItems": 1}, *[[1]] * 9_000, times=90),
    "maxItems": _bomb({"maxItems": 1}, *[[1]] * 9_000, times=90),
    "items": _bomb({"items": {"type": "integer"}}, _ONES, times=900),
    "prefixItems": _bomb({"prefixItems": [{"type": "integer"}] * 1500}, *[_ONES[:1500]] * 12),
    "additionalItems": _bomb(
        {"items": [], "additionalItems": {"type": "integer"}}, _ONES, times=900, draft=_DRAFT_7
    ),
    "contains": _bomb({"contains": {"const": 0.5}, "minContains": 0}, _ONES),
    "minContains": _bomb({"contains": {"const": 1}, "minContains": 30_000}, _ONES, times=90),
    "maxContains": _bomb({"contains": {"const": 1}, "maxContains": 30_000}, _ONES, times=90),
    "unevaluatedItems": _bomb(
        {"contains": {"const": 0.5}, "minContains": 0, "unevaluatedItems": True}, _ONES
    ),
    "required": _bomb({"required": _NAMES}, *[_FULL] * 12, times=300),
    "dependentRequired": _bomb(
        {"dependentRequired": {f"k{at}": ["z"] for at in range(9_000)}}, *_EMPTY
    ),
    "dependencies": _bomb(
        {"dependencies": {f"k{at}": ["z"] for at in range(9_000)}}, *_EMPTY, draft=_DRAFT_7
    ),
    "dependentSchemas": _bomb(
        {"dependentSchemas": {str(name): {"minProperties": 1} for name in _NAMES}}, *_EMPTY
    ),
    "properties": _bomb({"properties": _WIDE}, *_EMPTY, times=90),
    "patternProperties": _bomb({"patternProperties": {"(p+)+0": {}, "(p+)+1": {}}}, *[_FULL] * 12),
    "additionalProperties": _bomb({"additionalProperties": {"const": 1}}, *[_FULL] * 12, times=90),
    "unevaluatedProperties": _bomb(
        {"allOf": [{"properties": _WIDE}], "unevaluatedProperties": False}, *[_FULL] * 12
    ),
    "propertyNames": _bomb({"propertyNames": {"enum": [1, *_NAMES]}}, *[_FULL] * 12),
    "minProperties": _bomb({"minProperties": 0}, *_EMPTY, times=90),
    "maxProperties": _bomb({"maxProperties": 1}, *_EMPTY, times=90),
    **{
        keyword: _bomb({keyword: [{"const": 0.5}, {"const": 1}] * 20}, *_ONES)
        for keyword in ("allOf", "anyOf", "oneOf")
    },
    "not": _bomb({"not": {"not": {"not": {"const": 0.5}}}}, *_ONES),
    "if": _bomb({"if": {"const": 0.5}, "else": {"const": 1.5}}, *_ONES),
    "then": _bomb({"if": {"const": 1}, "then": {"const": 1.5}}, *_ONES),
    "else": _bomb({"if": {"const": 1.5}, "else": {"const": 1.5}}, *_ONES),
    "$ref": (chain(20), _nested(60)),
    "$dynamicRef": (named("dynamic"), {"value": 1}),
    "$recursiveRef": (
        {**properties(value={"items": {"$recursiveRef": "#"}}), "uniqueItems": True},
        {"value": [{"value": [10**30 + at]} for at in range(4_000)]},
    ),
}
"""For every keyword that is evaluated a schema and arguments for which it has the most to do."""

READ_AT_ONCE: dict[str, JsonObject] = {
    "required": {"required": [10**30 + at for at in range(2_000)]},
    "type": {"type": [10**30 + at for at in range(2_000)]},
    "dependentRequired": {"dependentRequired": {"a": [10**30 + at for at in range(2_000)]}},
    "dependencies": {"dependencies": {"a": [10**30 + at for at in range(2_000)]}},
    "arrays that look alike": {
        "required": [[0 if at >> bit & 1 else False for bit in range(12)] for at in range(4_000)]
    },
    "long limits": {"allOf": [{"multipleOf": 1e-308, "minimum": 1e-308}] * 1_900},
}
"""Schemas whose own lists and numbers take long to read, whatever the arguments are."""

TEMPLATES: dict[str, tuple[str, str]] = {
    "fields in a row": ("{a}" * 12 + "!", "x" * 8_000),
    "fields with text between": ("{a}x" * 200 + "!", "x" * 8_000),
    "many fields": ("{}" * 4_000, "x" * 8_000),
    "open braces": ("{" * 8_000, "x" * 8_000),
    "a long address": ("{a}b{c}d", "b" * 1_000_000),
}

NAMES: dict[str, Callable[[], str]] = {
    "a megabyte": lambda: "n" * 1_000_000,
    "a megabyte of words": lambda: "ab_Cd-9 " * 130_000,
    "invisible characters": lambda: "see\u200b\u200d\u2060\ufeff",
    "from right to left": lambda: "\u202eeman\u202c",
    "tag characters": lambda: "a" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore"),
    "control characters": lambda: "a\x1b[2J\x00\x07b",
    "a template of ours": lambda: "{server}{tool}{0.__class__}",
}
