"""What the properties are tried with: JSON, names, toolsets, and a loop to run them in."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

import anyio
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tooldrawer import Assembly, Function, FunctionToolset, ToolResult
from tooldrawer.tool import Json, JsonObject

Value = TypeVar("Value")

SHAPES = ("openai", "anthropic", "mcp")
BRIDGE = ("tool_search", "tool_describe", "tool_call")
backends = st.sampled_from(("asyncio", "trio"))

# Eight letters without a to f: no such word is part of another, of a hash, or of our own texts.
words = st.text("ghijklmnopqrstuvwxyz", min_size=8, max_size=8)
readable = st.text(
    st.characters(categories=("L", "N", "P", "S", "Zs"), exclude_characters='{["'), max_size=40
)
any_text = st.text(st.characters(categories=("L", "M", "N", "P", "S", "Z", "C")), max_size=20)
"""Any text at all, lone surrogates included."""
_JSON_KEYS = (
    "name", "names", "tool_name", "tool", "arguments", "args", "input", "params", "parameters",
    "query", "queries", "limit", "function", "tool_call", "request", "id", "offset", "title",
)  # fmt: skip


def quick(examples: int) -> settings:
    """Few examples, no time limit for one of them: machines differ."""
    slow = (HealthCheck.too_slow, HealthCheck.data_too_large)
    return settings(deadline=None, max_examples=examples, suppress_health_check=slow)


def run(main: Callable[[], Awaitable[Value]], backend: str = "asyncio") -> Value:
    """Run `main` to its end in an event loop of its own."""
    return anyio.run(main, backend=backend)


def scalars() -> SearchStrategy[Json]:
    """Everything that has nothing inside: huge, unreal and unencodable values too."""
    numbers = st.integers() | st.integers(-(10**400), 10**400) | st.floats()
    return st.none() | st.booleans() | numbers | any_text


def json_values(*special: str, leaves: int = 12) -> SearchStrategy[Json]:
    """Any JSON value; `special` texts come up often, and so do texts that are JSON themselves."""
    texts = st.sampled_from(special) if special else any_text
    keys = st.sampled_from(_JSON_KEYS) | any_text

    def nested(inner: SearchStrategy[Json]) -> SearchStrategy[Json]:
        return (
            st.lists(inner, max_size=4)
            | st.dictionaries(keys, inner, max_size=4)
            | inner.map(json.dumps)
        )

    return st.recursive(scalars() | texts, nested, max_leaves=leaves)


def json_objects(*special: str, leaves: int = 12) -> SearchStrategy[JsonObject]:
    """Any JSON object."""
    return st.dictionaries(any_text, json_values(*special, leaves=leaves), max_size=4)


def nested_in(levels: int, *, wrap: Callable[[Json], Json]) -> Json:
    """A value `levels` deep."""
    value: Json = 1
    for _ in range(levels):
        value = wrap(value)
    return value


def compact(value: Json) -> str:
    """The bytes of a value, as text: key order counts."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def array(assembly: Assembly, shape: str) -> str:
    """The bytes of the tools array in one provider's shape."""
    rendered = {"openai": assembly.openai, "anthropic": assembly.anthropic, "mcp": assembly.mcp}
    return compact(cast("Json", rendered[shape]()))


def arrays(assembly: Assembly) -> tuple[str, ...]:
    """The bytes of the tools array in every shape."""
    return tuple(array(assembly, shape) for shape in SHAPES)


def reply(result: ToolResult) -> dict[str, Json]:
    """What the bridge answered."""
    assert not result.is_error, result.text
    return cast("dict[str, Json]", json.loads(result.text))


def echo(
    name: str, ran: list[str] | None = None, *, description: str = "Give it back."
) -> Function:
    """A tool that says that it ran, and with what."""

    async def back(title: str = "", count: int = 0, tags: Sequence[str] = ()) -> str:
        if ran is not None:
            ran.append(name)
        return compact([name, title, count, list(tags)])

    return Function(back, name=name, description=description)


def toolset(name: str, tools: Sequence[str], ran: list[str] | None = None) -> FunctionToolset:
    """A toolset of tools that say that they ran."""
    return FunctionToolset(name, [echo(tool, ran) for tool in tools])
