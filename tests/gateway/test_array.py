"""The array that clients are given: the bridge or every tool, never by halves, never nothing."""

import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests.fakes import ScriptedToolset
from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    STATELESS,
    Document,
    document,
    goods,
    names,
    rigged,
    shelf,
    tool,
)
from tests.gateway.wire import Wire, stateless, wired
from tests.requirements import requirement
from tooldrawer import Tool
from tooldrawer.gateway.gateway import Gateway

pytestmark = pytest.mark.anyio
BRIDGE = ["tool_search", "tool_describe", "tool_call"]
AUTO = {"enabled": "auto"}
DEAD: Document = {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_the_bridge_is_shown_until_every_server_is_known(tmp_path: Path) -> None:
    goods(tmp_path / "early.json", tool("a"))
    goods(tmp_path / "late.json", tool("b"))
    gate = tmp_path / "gate"
    servers = {
        "early": shelf(tmp_path / "early.json"),
        "late": shelf(tmp_path / "late.json", "--hold", str(gate)),
    }
    async with rigged(tmp_path, document(servers, search=AUTO)) as rig:
        early, late = rig.gateway.upstreams()
        await early.settled()
        assert not late.is_known
        assert await rig.listed() == BRIDGE
        drawer: Any = rig.gateway.status()["drawer"]
        assert drawer["reason"] == "the tools of late are not known yet"
        gate.touch()
        await rig.settled()
        assert await rig.listed() == ["mcp_early_a", "mcp_late_b"]


async def test_what_a_server_listed_the_last_time_is_known_at_once(tmp_path: Path) -> None:
    file, gate = goods(tmp_path / "shop.json", tool("a")), tmp_path / "gate"
    settings = document({"shop": shelf(file, "--hold", str(gate))}, search=AUTO)
    gate.touch()
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
    gate.unlink()
    async with rigged(tmp_path, settings) as rig:
        assert await rig.listed() == ["mcp_shop_a"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("servers", [{}, {"dead": DEAD}], ids=["no servers", "a dead server"])
@pytest.mark.parametrize("passthrough", [False, True], ids=["bridge", "passthrough"])
async def test_the_array_is_never_empty(
    tmp_path: Path, era: str, servers: dict[str, Document], *, passthrough: bool
) -> None:
    settings = document(servers, search=AUTO)
    async with rigged(tmp_path, settings, passthrough=passthrough) as rig:
        assert await rig.listed(era) == BRIDGE
        await rig.settled()
        assert await rig.listed(era) == BRIDGE


def costing(tokens: int, gateway: Gateway) -> ScriptedToolset:
    """A toolset whose schemas cost just so many tokens or a few more."""
    words = 0
    while True:
        made = ScriptedToolset("shop", [Tool(name="shop_a", description="word " * words)])
        if gateway.drawer.parts.costs.total(made.tools()) >= tokens:
            return made
        words += 1


async def test_a_drawer_that_closed_opens_only_well_below_the_threshold(tmp_path: Path) -> None:
    shop = ScriptedToolset("shop", [Tool(name="shop_a", description="")])
    settings = document({}, search={**AUTO, "threshold_pct": 10}, model={"context_length": 2000})
    async with rigged(tmp_path, settings, toolsets=(shop,)) as rig:
        shown: dict[int, list[str]] = {}
        for step, tokens in enumerate((100, 190, 200, 190, 160, 150, 190)):
            rig.gateway.drawer.registry.replace(costing(tokens, rig.gateway))
            shown[step] = await rig.listed()
    direct = ["shop_a"]
    assert list(shown.values()) == [direct, direct, BRIDGE, BRIDGE, BRIDGE, direct, direct]


async def test_the_order_is_that_of_the_configuration_and_of_the_servers(tmp_path: Path) -> None:
    goods(tmp_path / "z.json", tool("b"), tool("a"))
    goods(tmp_path / "m.json", tool("c"))
    servers = {"z": shelf(tmp_path / "z.json"), "m": shelf(tmp_path / "m.json")}
    async with rigged(tmp_path, document(servers), passthrough=True) as rig:
        await rig.settled()
        assert await rig.listed() == ["mcp_z_b", "mcp_z_a", "mcp_m_c"]


@requirement("BR-1")
@pytest.mark.parametrize("era", ERAS)
async def test_the_bridge_is_never_deferred_and_says_honestly_what_it_does(
    tmp_path: Path, era: str
) -> None:
    async with rigged(tmp_path, document({})) as rig, rig.client(era) as client:
        search, describe, call = (await client.list_tools()).tools
    for each in (search, describe, call):
        assert each.meta == {"anthropic/alwaysLoad": True}
    for each in (search, describe):
        assert each.annotations == types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    assert call.annotations == types.ToolAnnotations(
        read_only_hint=False, destructive_hint=True, open_world_hint=True
    )


async def test_pinned_tools_stand_beside_the_bridge_and_are_not_deferred_either(
    tmp_path: Path,
) -> None:
    file = goods(tmp_path / "shop.json", tool("a", _meta={"example/own": 1}), tool("b"))
    settings = document({"shop": shelf(file)}, tools={"pinned": ["mcp_shop_a"]})
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        async with rig.client(STATELESS) as client:
            listed = await client.list_tools()
    assert names(listed) == ["mcp_shop_a", *BRIDGE]
    assert listed.tools[0].meta == {"example/own": 1, "anthropic/alwaysLoad": True}


async def test_a_list_says_how_long_and_for_whom_it_holds(tmp_path: Path) -> None:
    async with rigged(tmp_path, document({})) as rig, rig.client(STATELESS) as client:
        listed = await client.list_tools()
        assert (listed.ttl_ms, listed.cache_scope) == (60_000, "private")
        for other in (await client.list_prompts(), await client.list_resources()):
            assert (other.ttl_ms, other.cache_scope) == (0, "private")


ODD = tool(
    "odd",
    title="An odd one",
    annotations={"category": "NAVIGATION", "readOnlyHint": True},
    _meta={"vendor": {"deep": [1, None]}},
    execution={"taskSupport": "optional"},
    outputSchema={"type": "object", "$defs": {"a": {"$anchor": "here"}}},
    vendorField={"kept": True},
    icons=[{"src": "data:,"}],
)


async def _raw(wire: Wire, era: str) -> Any:
    if era == HANDSHAKE:
        await wire.shake_hands(HANDSHAKE)
        return await wire.ask("tools/list")
    return await wire.ask("tools/list", stateless())


@requirement("TOOL-1")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("options", [(), ("--modern",)], ids=["handshake", "stateless"])
async def test_fields_that_nobody_knows_pass_through(
    tmp_path: Path, era: str, options: tuple[str, ...]
) -> None:
    file = goods(tmp_path / "shop.json", ODD)
    settings = document({"shop": shelf(file, *options)}, gateway={"mode": "passthrough"})
    async with rigged(tmp_path, settings) as rig:
        await rig.settled()
        async with wired(rig.gateway) as wire:
            (shown,) = (await _raw(wire, era))["tools"]
    assert shown == {**ODD, "name": "mcp_shop_odd"}


RESULT: Document = {
    "content": [
        {"type": "text", "text": "hi", "vendor": 1, "annotations": {"audience": ["user"]}},
        {"type": "image", "data": "AA==", "mimeType": "image/png", "_meta": {"a": None}},
        {"type": "hologram", "beam": [1.5]},
    ],
    "structuredContent": {"a": [None, 1], "b": {}},
    "isError": True,
    "_meta": {"vendor/x": {"y": 1}},
}


@requirement("DSP-3")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("options", [(), ("--modern",)], ids=["handshake", "stateless"])
async def test_results_pass_through_with_fields_that_nobody_knows(
    tmp_path: Path, era: str, options: tuple[str, ...]
) -> None:
    file = goods(tmp_path / "shop.json", tool("give"))
    async with rigged(tmp_path, document({"shop": shelf(file, *options)})) as rig:
        await rig.settled()
        async with wired(rig.gateway) as wire:
            call: Document = {"name": "mcp_shop_give", "arguments": {"result": RESULT}}
            if era == HANDSHAKE:
                await wire.shake_hands(HANDSHAKE)
                result = await wire.ask("tools/call", call)
            else:
                result = await wire.ask("tools/call", stateless(**call))
                assert result.pop("resultType") == "complete"
                result["_meta"].pop("io.modelcontextprotocol/serverInfo", None)
    assert result == RESULT


@requirement("ACT-3")
async def test_a_server_whose_command_is_missing_does_not_keep_the_bridge(tmp_path: Path) -> None:
    file = goods(tmp_path / "shop.json", tool("a"))
    servers = {"shop": shelf(file), "gone": {"command": "no-such-program-here"}}
    async with rigged(tmp_path, document(servers, search=AUTO)) as rig:
        await rig.settled()
        assert await rig.listed() == ["mcp_shop_a"]
        drawer: Any = rig.gateway.status()["drawer"]
        assert drawer["active"] is False
