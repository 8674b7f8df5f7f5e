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
