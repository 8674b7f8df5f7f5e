"""What is not in the scope does not exist: no answer has a word about it."""

from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    LONG,
    Document,
    Person,
    called,
    document,
    goods,
    names,
    rigged,
    searched,
    shelf,
    text,
    tool,
)
from tests.gateway.web import served
from tests.requirements import requirement
from tooldrawer.errors import ConfigError

pytestmark = pytest.mark.anyio
SCOPES: Document = {"buying": {"toolsets": ["mcp-shop"], "deny": ["*burn*"]}}
FORMS: dict[str, Document] = {
    "toolsets": SCOPES["buying"],
    "disabled": {"disabled_toolsets": ["mcp-vault"], "deny": ["*BURN*"]},
    "allow": {"allow": ["mcp_shop_*"], "deny": ["*burn*"]},
    "deny": {"deny": ["mcp_vault_*", "mcp_shop_burn*"]},
    "both": {"toolsets": ["mcp-*"], "allow": ["mcp_*_shop_*"], "deny": ["mcp_VAULT*"]},
}
"""One scope, written in every way."""
TOOLS = "notifications/tools/list_changed"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


def stocked(folder: Path, name: str, *more: Document) -> Document:
    """A server with something of everything, which all has its name in it."""
    file = folder / f"{name}.json"
    goods(
        file,
        tool(f"{name}_find", f"Find things in the {name}"),
        *more,
        instructions=f"Use the {name}.",
        prompts=[{"name": f"{name}_prompt"}],
        resources=[{"uri": f"{name}://1", "name": f"{name} note"}],
        resourceTemplates=[{"uriTemplate": f"{name}://{{n}}", "name": f"{name} notes"}],
    )
    return shelf(file)


@pytest.fixture
def servers(tmp_path: Path) -> dict[str, Document]:
    burn = tool("burn_down", "Find and burn things in the shop")
    return {"shop": stocked(tmp_path, "shop", burn), "vault": stocked(tmp_path, "vault")}


async def _refused(work: Any) -> str:
    try:
        result = await work
    except MCPError as error:
        return str(error.error)
    assert result.is_error
    return text(result)


async def _everything(client: Client) -> list[str]:
    """All that a client can be told without knowing more than its scope."""
    search = await searched(client, "find things in the vault, burn them")
    assert search["total_available"] == 1
    listed = await client.list_tools()
    prompts = await client.list_prompts()
    resources = await client.list_resources()
    templates = await client.list_resource_templates()
    assert [len(each) for each in (prompts.prompts, resources.resources)] == [1, 1]
    assert len(templates.resource_templates) == 1
    return [
        str(search),
        str(listed),
        str(prompts),
        str(resources),
        str(templates),
        str(client.instructions),
    ]


@requirement("SCOPE-2")
@pytest.mark.parametrize("form", FORMS)
async def test_nothing_tells_what_is_outside_the_scope(
    tmp_path: Path, era: str, form: str, servers: dict[str, Document]
) -> None:
    scopes = {"buying": FORMS[form]}
    async with rigged(tmp_path, document(servers, scopes=scopes), scope="buying") as rig:
        await rig.settled()
        async with rig.client(era) as client:
            said = await _everything(client)
            for name in ("mcp_vault_vault_find", "vault_find", "mcp_shop_burn_down", "nothing"):
                said += [
                    await _refused(called(client, name)),
                    await _refused(client.call_tool(name, {})),
                    await _refused(client.call_tool("tool_describe", {"name": name})),
                ]
    assert [each for each in said if "vault" in each or "burn" in each] == []


@requirement("SCOPE-2")
async def test_a_refusal_does_not_tell_what_is_hidden_from_what_is_not_there(
    tmp_path: Path, era: str, servers: dict[str, Document]
) -> None:
    async with rigged(tmp_path, document(servers, scopes=SCOPES), scope="buying") as rig:
        await rig.settled()
        async with rig.client(era) as client:
            for hidden, absent in (
                ("mcp_vault_vault_find", "mcp_vault_vault_fink"),
                ("mcp_shop_burn_down", "mcp_shop_burn_dawn"),
            ):
                for name in ("tool_call", "tool_describe"):
                    assert await _refused(client.call_tool(name, {"name": hidden})) == (
                        await _refused(client.call_tool(name, {"name": absent}))
                    )
                assert await _refused(client.call_tool(hidden, {})) == (
                    await _refused(client.call_tool(absent, {}))
                )


@requirement("SCOPE-2")
@pytest.mark.parametrize("form", FORMS)
async def test_prompts_and_resources_outside_the_scope_cannot_be_had(
    tmp_path: Path, era: str, form: str, servers: dict[str, Document]
) -> None:
    scopes = {"buying": FORMS[form]}
    async with rigged(tmp_path, document(servers, scopes=scopes), scope="buying") as rig:
        await rig.settled()
        async with rig.client(era) as client:
            with pytest.raises(MCPError, match="There is no prompt of that name"):
                await client.get_prompt("mcp_vault_vault_prompt")
            reference = types.PromptReference(type="ref/prompt", name="mcp_vault_vault_prompt")
            with pytest.raises(MCPError, match="There is no prompt of that name"):
                await client.complete(reference, {"name": "a", "value": "b"})
            if (
                form == "both"
            ):  # its patterns admit some names only, and no address that is unlisted
                with pytest.raises(MCPError, match="There is no resource at that address"):
                    await client.read_resource("vault://1")
                return
            # With one server in the scope, an address that nobody listed is that server's affair.
            read = await client.read_resource("vault://1")
    (content,) = read.contents
    assert isinstance(content, types.TextResourceContents)
    assert content.text == "vault://1 of shop"


@requirement("SCOPE-2")
async def test_a_change_in_one_scope_is_not_told_in_another(tmp_path: Path) -> None:
    shop, lab = goods(tmp_path / "shop.json", tool("a")), goods(tmp_path / "lab.json", tool("a"))
    settings = document(
        {"shop": shelf(shop), "lab": shelf(lab)},
        scopes={"buying": {"toolsets": ["mcp-shop"]}, "testing": {"toolsets": ["mcp-lab"]}},
        gateway={"mode": "passthrough"},
    )
    buyer, tester = Person(), Person()
    async with served(tmp_path, settings) as site:
        await site.settled()
        async with (
            site.visitor(ERAS[1], buyer, path="/mcp/buying") as buying,
            site.visitor(ERAS[1], tester, path="/mcp/testing") as testing,
            buying.listen(tools_list_changed=True),
            testing.listen(tools_list_changed=True),
        ):
            await buying.list_tools()
            await testing.list_tools()
            goods(lab, tool("a"), tool("b"))
            await tester.until(lambda: TOOLS in tester.told)
            goods(shop, tool("a"), tool("b"))
            await buyer.until(lambda: TOOLS in buyer.told)
            assert names(await buying.list_tools()) == ["mcp_shop_a", "mcp_shop_b"]
    assert buyer.told.count(TOOLS) == tester.told.count(TOOLS) == 1


async def test_a_scope_that_is_taken_away_admits_nothing(
    tmp_path: Path, era: str, servers: dict[str, Document]
) -> None:
    settings = document(servers, scopes=SCOPES)
    async with rigged(tmp_path, settings, scope="buying") as rig:
        await rig.settled()
        async with rig.client(era) as client:
            assert not (await called(client, "mcp_shop_shop_find")).is_error
            rig.rewrite(document(servers))
            assert (await called(client, "mcp_shop_shop_find")).is_error
        async with rig.client(era, name="newcomer") as client:
            with anyio.fail_after(LONG):
                assert (await searched(client, "find"))["total_available"] == 0
                assert (await called(client, "mcp_shop_shop_find")).is_error
                assert (await client.list_prompts()).prompts == []


async def test_a_scope_that_changes_changes_for_whoever_uses_it(
    tmp_path: Path, servers: dict[str, Document]
) -> None:
    async with rigged(tmp_path, document(servers, scopes=SCOPES), scope="buying") as rig:
        await rig.settled()
        async with rig.client(HANDSHAKE) as client:
            assert (await searched(client, "find"))["total_available"] == 1
            rig.rewrite(document(servers, scopes={"buying": {"toolsets": ["mcp-*"]}}))
            assert (await searched(client, "find"))["total_available"] == 3


async def test_a_scope_that_was_never_there_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no scope named 'selling'"):
        async with rigged(tmp_path, document({}, scopes=SCOPES), scope="selling"):
            pass
