"""A list that was recorded is a toolset: found and read, not run."""

import json
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.requirements import requirement
from tooldrawer import Drawer, Grants, StaticToolset, ToolCall
from tooldrawer.errors import CatalogFileError, ToolFailed
from tooldrawer.tool import Json, JsonObject

TOOLS: tuple[JsonObject, ...] = (
    {
        "name": "water_plant",
        "title": "Water a plant",
        "description": "Give a plant water.",
        "inputSchema": {"type": "object", "properties": {"plant": {"type": "string"}}},
        "outputSchema": {"type": "object", "x-unit": "litre"},
        "annotations": {"destructiveHint": False, "x-own": [1, 2]},
        "_meta": {"vendor": {"a": None}},
        "icons": [{"src": "data:,"}],
    },
    {"name": "cut.hedge"},
    {"name": "a" * 70, "description": "Long."},
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["tools", "name", "server", "result", "x"]), inner)
    ),
    max_leaves=12,
)


def written(folder: Path, name: str, content: Json) -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("content", "server"),
    [
        ({"server": "garden", "tools": TOOLS}, "garden"),
        ({"tools": TOOLS, "nextCursor": "2"}, "shed"),
        (TOOLS, "shed"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOLS}}, "shed"),
        ({"server": "", "tools": TOOLS}, "shed"),
    ],
    ids=["named", "mcp result", "bare list", "whole answer", "empty name"],
)
@requirement("TOOL-2")
def test_each_form_gives_the_same_tools_in_order_under_the_name_of_the_server(
    tmp_path: Path, content: Json, server: str
) -> None:
    toolset = StaticToolset.load(written(tmp_path, "shed.json", content))
    assert toolset.name == f"mcp-{server}"
    names = [tool.name for tool in toolset.tools()]
    assert names[:2] == [f"mcp_{server}_water_plant", f"mcp_{server}_cut_hedge"]
    assert names[2].startswith(f"mcp_{server}_aaaa")
    assert len(names[2]) == 64
    assert [tool.origin_name for tool in toolset.tools()] == [tool["name"] for tool in TOOLS]
    assert {tool.source for tool in toolset.tools()} == {f"mcp-{server}"}


@requirement("TOOL-2")
def test_the_template_is_a_setting(tmp_path: Path) -> None:
    file = written(tmp_path, "shed.json", TOOLS)
    (first, *_) = StaticToolset.load(file, template="{server}__{tool}").tools()
    assert first.name == "shed__water_plant"


@requirement("TOOL-2")
def test_a_recorded_list_is_named_the_same_in_every_file_it_is_recorded_in(tmp_path: Path) -> None:
    one = StaticToolset.load(written(tmp_path, "a.json", {"server": "g", "tools": TOOLS}))
    other = StaticToolset.load(written(tmp_path, "b.json", {"server": "g", "tools": TOOLS[::-1]}))
    assert [tool.name for tool in one.tools()] == [tool.name for tool in other.tools()][::-1]


@pytest.mark.anyio
async def test_fields_that_nobody_here_knows_go_out_again(tmp_path: Path, grants: Grants) -> None:
    toolset = StaticToolset.load(written(tmp_path, "shed.json", TOOLS))
    async with Drawer([toolset], grants=grants).session() as session:
        (first, *_) = (await session.tools()).mcp()
    assert first == {**TOOLS[0], "name": "mcp_shed_water_plant"}


def test_a_list_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "shed.json"
    file.write_text(json.dumps(TOOLS), encoding="utf-8-sig")
    assert len(StaticToolset.load(file).tools()) == len(TOOLS)


def test_running_a_recorded_tool_is_refused_with_the_next_step() -> None:
    toolset = StaticToolset("garden", TOOLS)
    (tool, *_) = toolset.tools()
    with pytest.raises(ToolFailed, match=r"cannot run\. Connect the server itself to call it"):
        anyio.run(toolset.run, tool, ToolCall(name=tool.name))


@pytest.mark.anyio
async def test_a_session_can_find_a_recorded_tool_and_is_told_why_it_cannot_call_it(
    grants: Grants,
) -> None:
    drawer = Drawer([StaticToolset("garden", TOOLS)], grants=grants)
    async with drawer.session() as session:
        found = json.loads((await session.call("tool_search", {"query": "water a plant"})).text)
        assert found["matches"][0]["name"] == "mcp_garden_water_plant"
        result = await session.call("water_plant", {"plant": "fern"})
    assert result.is_error
    assert "recorded list of 'garden'" in result.text


def test_a_folder_is_every_list_in_it_by_file_name(tmp_path: Path) -> None:
    written(tmp_path, "b.json", {"server": "first", "tools": TOOLS})
    written(tmp_path, "c.json", TOOLS)
    written(tmp_path, "a.json", {"tools": []})
    (tmp_path / "notes.txt").write_text("not a list", encoding="utf-8")
    names = [toolset.name for toolset in StaticToolset.load_all(tmp_path)]
    assert names == ["mcp-a", "mcp-first", "mcp-c"]
    (only,) = StaticToolset.load_all(str(tmp_path / "c.json"))
    assert only.name == "mcp-c"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[NaN]", "NaN is not a JSON value"),
        (b"\xff\xfe[\x00]\x00", "is not UTF-8 text"),
        (b"[" * 100_000, "nested more than"),
        (b'[{"name": "a", "x": ' + b"[" * 250 + b"]" * 250 + b"}]", "nested more than"),
        (b"null", "holds no tools"),
        (b'"tools"', "holds no tools"),
        (b"{}", "expected a list of tools, or an object with the key 'tools'"),
        (b'{"tools": {"name": "a"}}', "holds no tools"),
        (b'{"result": {"tool": []}}', "holds no tools"),
        (b'["a"]', r"tools\[0\] is not an object with a 'name'"),
        (b'[{"name": "a"}, {"name": 1}]', r"tools\[1\] is not"),
        (b'[{"name": ""}]', r"tools\[0\] is not"),
    ],
)
def test_a_file_that_holds_something_else_is_named_with_what_is_wrong(
    tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "shed.json"
    file.write_bytes(content)
    with pytest.raises(CatalogFileError, match=words) as caught:
        StaticToolset.load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert str(caught.value).endswith(".")


def test_a_place_without_lists_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogFileError, match="cannot be read: No such file"):
        StaticToolset.load_all(tmp_path / "missing")
    with pytest.raises(CatalogFileError, match="cannot be read: Is a directory"):
        StaticToolset.load(tmp_path)
    with pytest.raises(CatalogFileError, match=r"has no \*\.json file"):
        StaticToolset.load_all(tmp_path)


def test_two_lists_of_one_server_are_refused_by_their_files(tmp_path: Path) -> None:
    first = written(tmp_path, "a.json", {"server": "garden", "tools": TOOLS})
    second = written(tmp_path, "b.json", {"server": "garden", "tools": []})
    with pytest.raises(CatalogFileError) as caught:
        StaticToolset.load_all(tmp_path)
    assert str(caught.value) == (
        f"{second}: is a second list of the server 'garden'; the first is {first}."
    )


@given(content=JSON)
def test_any_json_is_a_list_of_tools_or_an_error_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: Json
) -> None:
    file = written(tmp_path_factory.getbasetemp(), "anything.json", content)
    with suppress(CatalogFileError):
        tools = StaticToolset.load(file).tools()
        assert all(tool.name and len(tool.name) <= 64 for tool in tools)
