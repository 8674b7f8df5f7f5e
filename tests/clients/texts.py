"""Wild files of other programs, as hypothesis strategies."""

import json
from typing import Any

from hypothesis import strategies as st

keys = st.sampled_from(["a", "mcpServers", "servers", "Ünï", 'q"uote', "", "a.b", "x y"]) | st.text(
    max_size=5
)
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.sampled_from(["", "// no comment", "/* nor this", "}", '"', "\\", "\n", "\U0001f600"])
    | st.text(max_size=6)
)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
entries = st.dictionaries(
    keys.filter(lambda key: key != "tooldrawer"),
    st.fixed_dictionaries({"command": st.sampled_from(["clockd", "tided"]), "x": values}),
    max_size=4,
)
gaps = st.sampled_from(
    ["", " ", "\n", "\r\n", "\t", "  // c }\n", "/* c , */", " /* a\n b */ ", "\n\n  // x\n  "]
)


@st.composite
def jsonc(draw: st.DrawFn, value: Any) -> str:
    """`value` with anything between its pieces that JSON with comments allows."""

    def written(part: Any) -> str:
        if isinstance(part, dict):
            items = [
                f"{draw(gaps)}{json.dumps(key)}{draw(gaps)}:{draw(gaps)}{written(item)}{draw(gaps)}"
                for key, item in part.items()  # pyright: ignore[reportUnknownVariableType]
            ]
            return "{" + joined(items) + "}"
        if isinstance(part, list):
            return "[" + joined([f"{draw(gaps)}{written(item)}{draw(gaps)}" for item in part]) + "]"  # pyright: ignore[reportUnknownVariableType]
        return json.dumps(part, ensure_ascii=draw(st.booleans()))

    def joined(items: list[str]) -> str:
        trailing = "," + draw(gaps) if items and draw(st.booleans()) else ""
        return (",".join(items) if items else draw(gaps)) + trailing

    return draw(gaps) + written(value) + draw(gaps)


@st.composite
def json_files(draw: st.DrawFn, key: str = "mcpServers") -> str:
    """A client's file: pretty, on one line, or with comments wherever they may be."""
    value: dict[str, Any] = draw(st.dictionaries(keys, values, max_size=3))
    value.pop(key, None)
    if draw(st.booleans()):
        value[key] = draw(entries)
        if draw(st.booleans()):
            value["last"] = 1
    style = draw(st.sampled_from(["jsonc", "pretty", "tabs", "compact", "windows"]))
    if style == "jsonc":
        return draw(jsonc(value))
    if style == "compact":
        return json.dumps(value, separators=(",", ":"))
    text = json.dumps(value, indent="\t" if style == "tabs" else 2) + "\n"
    return text.replace("\n", "\r\n") if style == "windows" else text


_LINES = [
    "# comment [mcp_servers.x]",
    "",
    'model = "gpt" # why',
    'text = """\n[mcp_servers.no]\ncommand = "x"\n"""',
    "raw = '''\n[also.no]\n'''",
    'quotes = """a\\"""b"""',
    "list = [\n  [1, 2],\n  # [mcp_servers.inner]\n  [3],\n]",
    "dotted.key = { a = '[x]', b = \"]\" }",
    "when = 1979-05-27T07:32:00Z",
]
_TABLES = [
    "[profiles.fast]\nmodel = 'small'",
    "[mcp_servers.clock]\ncommand = 'c'\nargs = [\n  '[a]',\n]\n\n[mcp_servers.clock.env]\nA = '1'",
    '[ mcp_servers . "odd name" ]  # spaced\ncommand = "x"',
    '[mcp_servers.tide] # [x]\ncommand = "tided"\nenv = { KEY = "1" }',
    "[[rows.of]]\na = 1\n[[rows.of]]\na = 2",
    "# about notes\n[notes]\n  indented = true",
]


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    """A client's file in TOML."""
    lines = draw(st.lists(st.sampled_from(_LINES), max_size=4, unique_by=lambda line: line[:5]))
    tables = draw(st.lists(st.sampled_from(_TABLES), max_size=4, unique=True))
    gap = draw(st.sampled_from(["\n", "\n\n", "\n\n# c\n"]))
    text = gap.join([*lines, *tables]) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text
