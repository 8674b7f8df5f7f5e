"""What servers have besides tools passes through, under names and addresses of its own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.gateway.rig import (
    ERAS,
    HANDSHAKE,
    STATELESS,
    Document,
    Person,
    Rig,
    ask,
    document,
    eventually,
    goods,
    log,
    rigged,
    shelf,
)
from tests.gateway.wire import stateless, wired

pytestmark = pytest.mark.anyio
GOODS: Document = {
    "prompts": [{"name": "review", "arguments": [{"name": "of"}], "vendor": 1}],
    "resources": [{"uri": "note://1", "name": "a note", "vendor": 1}],
    "resourceTemplates": [{"uriTemplate": "note://{n}", "name": "notes", "vendor": 1}],
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Of the client."""
    return str(request.param)


@pytest.fixture(params=[(), ("--modern",)], ids=["handshake", "stateless"])
async def rig(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Rig]:
    """Two servers, `a` and `b`, that have the same."""
    servers = {
        name: shelf(goods(tmp_path / f"{name}.json", **GOODS), *request.param) for name in "ab"
    }
    async with rigged(tmp_path, document(servers)) as rig:
        await rig.settled()
        yield rig


def first(rig: Rig) -> Path:
    return rig.path.with_name("a.json")


def second(rig: Rig) -> Path:
    return rig.path.with_name("b.json")


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


async def test_prompts_of_one_name_are_two_prompts(rig: Rig, era: str) -> None:
    async with rig.client(era) as client:
        listed = await client.list_prompts()
        assert [each.name for each in listed.prompts] == ["mcp_a_review", "mcp_b_review"]
        for server in "ab":
            (message,) = (await client.get_prompt(f"mcp_{server}_review", {"of": "x"})).messages
            assert isinstance(message.content, types.TextContent)
            assert message.content.text == f'review of {server}: {{"of": "x"}}'


async def test_resources_at_one_address_are_two_resources(rig: Rig, era: str) -> None:
    async with rig.client(era) as client:
        listed = await client.list_resources()
        assert [each.uri for each in listed.resources] == ["note://1", "mcp-b+note://1"]
        assert await read(client, "note://1") == "note://1 of a"
        assert await read(client, "mcp-b+note://1") == "note://1 of b"


async def test_templates_of_one_form_are_two_templates(rig: Rig, era: str) -> None:
    async with rig.client(era) as client:
        listed = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in listed] == ["note://{n}", "mcp-b+note://{n}"]
        assert await read(client, "note://7") == "note://7 of a"
        assert await read(client, "mcp-b+note://7") == "note://7 of b"


async def test_the_most_specific_template_serves_an_address(tmp_path: Path) -> None:
    templates = {
        "greedy": ["{+anything}", "pay:{rest}"],
        "pay": ["pay://person/{id}", "pay://{kind}/list"],
        "other": ["{+anything}!", "pay://person/{id}/notes"],
    }
    servers = {
        name: shelf(
            goods(
                tmp_path / f"{name}.json",
                resourceTemplates=[{"uriTemplate": each, "name": each} for each in own],
                resources=[{"uri": f"{name}://", "name": name}],
            )
        )
        for name, own in templates.items()
    }
    answers = {
        "pay://person/1": "pay",
        "pay://team/list": "pay",
        "pay://person/1/notes": "other",
        "pay:cash": "greedy",
        "odd://1": "greedy",
        "odd://1!": "other",
        "pay://": "pay",
    }
    async with rigged(tmp_path, document(servers)) as rig:
        await rig.settled()
        async with rig.client(STATELESS) as client:
            found = {uri: await read(client, uri) for uri in answers}
            reference = types.ResourceTemplateReference(
                type="ref/resource", uri="pay://person/{id}"
            )
            await client.complete(reference, {"name": "id", "value": "1"})
    assert found == {uri: f"{uri} of {server}" for uri, server in answers.items()}
    asked = {name: [each["method"] for each in log(tmp_path / f"{name}.json")] for name in servers}
    assert [name for name in asked if "completion/complete" in asked[name]] == ["pay"]


async def test_completions_come_from_whoever_has_what_is_completed(rig: Rig, era: str) -> None:
    argument = {"name": "of", "value": "x"}
    async with rig.client(era) as client:
        for server, prefix in (("a", ""), ("b", "mcp-b+")):
            for reference in (
                types.PromptReference(type="ref/prompt", name=f"mcp_{server}_review"),
                types.ResourceTemplateReference(type="ref/resource", uri=f"{prefix}note://{{n}}"),
            ):
                completed = await client.complete(reference, argument)
                assert completed.completion.values == [f"x of {server}"]


async def test_what_nobody_has_is_refused_with_the_next_step(rig: Rig, era: str) -> None:
    async with rig.client(era) as client:
        with pytest.raises(MCPError, match="list them") as no_prompt:
            await client.get_prompt("review")
        with pytest.raises(MCPError, match="list them") as no_resource:
            await client.read_resource("letter://1")
    assert no_prompt.value.code == no_resource.value.code == types.INVALID_PARAMS


async def test_fields_that_nobody_knows_pass_through(rig: Rig, era: str) -> None:
    async with wired(rig.gateway) as wire:
        if era == HANDSHAKE:
            await wire.shake_hands(HANDSHAKE)

        async def asked(method: str, **params: Any) -> Any:
            return await wire.ask(method, params if era == HANDSHAKE else stateless(**params))

        assert (await asked("prompts/list"))["prompts"][0]["vendor"] == 1
        assert (await asked("resources/list"))["resources"][0]["vendor"] == 1
        templates = await asked("resources/templates/list")
        assert templates["resourceTemplates"][0]["vendor"] == 1
        assert (await asked("resources/read", uri="note://1"))["contents"][0]["odd"] == 1


@asynccontextmanager
async def following(
    rig: Rig, era: str, person: Person, *uris: str, name: str = "tester"
) -> AsyncGenerator[Client]:
    """A client that wants to hear of these resources, in the words of its era."""
    async with rig.client(era, person, name=name) as client:
        if era == STATELESS:
            async with client.listen(resource_subscriptions=uris):
                yield client
            return
        for uri in uris:
            await ask(client, types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))
        yield client


def update(file: Path, count: int = 1) -> None:
    """Let a server's resource change."""
    goods(file, **GOODS, updated=["note://1"], count=count)


async def wanted(file: Path, *uris: str) -> None:
    """Wait until the server knows that somebody wants to hear of just these."""
    await eventually(lambda: _wanted(log(file)) == set(uris))


def _wanted(asked: list[Document]) -> set[str]:
    uris: set[str] = set()
    for each in asked:
        params = each["params"]
        if each["method"] == "subscriptions/listen":
            uris = set(params["notifications"].get("resourceSubscriptions") or ())
        elif each["method"] == "resources/subscribe":
            uris.add(params["uri"])
        elif each["method"] == "resources/unsubscribe":
            uris.discard(params["uri"])
    return uris


async def test_a_resource_that_changed_is_told_under_its_own_address(rig: Rig, era: str) -> None:
    person = Person()
    async with following(rig, era, person, "note://1", "mcp-b+note://1"):
        for file, expected in ((second(rig), "mcp-b+note://1"), (first(rig), "note://1")):
            await wanted(file, "note://1")
            update(file)
            await person.until(lambda: expected in person.told)  # noqa: B023
    assert [each for each in person.told if "note" in each] == ["mcp-b+note://1", "note://1"]


async def test_a_resource_is_told_to_whoever_wants_it(rig: Rig, era: str) -> None:
    mine, yours = Person(), Person()
    async with (
        following(rig, era, mine, "note://1"),
        following(rig, era, yours, "mcp-b+note://1", name="other"),
    ):
        await wanted(first(rig), "note://1")
        await wanted(second(rig), "note://1")
        update(second(rig))
        await yours.until(lambda: "mcp-b+note://1" in yours.told)
        update(first(rig))
        await mine.until(lambda: "note://1" in mine.told)
    assert "mcp-b+note://1" not in mine.told
    assert "note://1" not in yours.told


async def test_who_leaves_takes_nothing_from_whoever_stays(rig: Rig, era: str) -> None:
    person = Person()
    async with following(rig, era, person, "note://1"):
        async with following(rig, era, Person(), "note://1", name="other") as other:
            await wanted(first(rig), "note://1")
            if era == HANDSHAKE:
                params = types.UnsubscribeRequestParams(uri="note://1")
                await ask(other, types.UnsubscribeRequest(params=params))
        update(first(rig))
        await person.until(lambda: "note://1" in person.told)


async def test_a_server_is_told_when_nobody_is_left_who_wants_to_hear(rig: Rig, era: str) -> None:
    async with following(rig, era, Person(), "note://1"):
        await wanted(first(rig), "note://1")
    await wanted(first(rig))


async def test_a_level_is_passed_on_to_every_server_that_logs(rig: Rig) -> None:
    async with rig.client(HANDSHAKE) as client:
        level = types.SetLevelRequestParams(level="warning")
        await ask(client, types.SetLevelRequest(params=level))
    for upstream, file in zip(rig.gateway.upstreams(), (first(rig), second(rig)), strict=True):
        levels = {
            each["params"]["level"] for each in log(file) if each["method"] == "logging/setLevel"
        }
        # A server of the stateless era hears it with each call instead.
        assert levels == ({"warning"} if upstream.protocol == HANDSHAKE else set())
