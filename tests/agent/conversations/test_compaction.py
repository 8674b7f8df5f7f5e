"""When the context fills, older messages give way, and what was learned in them stays."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.conversations.parts import ISSUE, PAGE, bridged, call, exchange, messages, returned
from tests.properties.strategies import quick
from tooldrawer import Tool, ToolResult
from tooldrawer.agent.compaction import Compaction, cost
from tooldrawer.agent.conversations import Conversations
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.bridge import BridgeNames
from tooldrawer.errors import ContextFull, ModelFailed
from tooldrawer.tokens import Estimate
from tooldrawer.wire.message import (
    Answered,
    Asked,
    Message,
    Reply,
    Request,
    Returned,
    Said,
    Summary,
    learned,
)

SPEC = ModelSpec(name="small", wire="chat", context_length=8_000)


@dataclass(slots=True)
class Scripted:
    """A model that says one thing, and remembers what it was asked."""

    text: str = ""
    error: ModelFailed | None = None
    asked: list[Request] = field(default_factory=list[Request])

    @property
    def spec(self) -> ModelSpec:
        return SPEC

    async def answer(self, request: Request, said: Callable[[str], None]) -> Answered:
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        said(self.text)
        return Answered(text=self.text)


def turns(count: int, *, length: int = 400) -> list[Message]:
    """What a person asked for, a call and an answer, `count` times."""
    found: list[Message] = []
    for number in range(count):
        asked, result = exchange("read_file", f"file {number} " + "x" * length, number=number)
        done = Answered(text=f"It is file {number}.")
        found += (Said(text=f"Read file {number}."), asked, result, done)
    return found


def are_answered(kept: Sequence[Message]) -> bool:
    """Whether every call has its results right after it, and every result its calls before it."""
    before: Message | None = None
    for message in (*kept, Said(text="")):
        had_calls = isinstance(before, Answered) and bool(before.calls)
        if had_calls != isinstance(message, Returned):
            return False
        before = message
    return True


@pytest.mark.parametrize(
    ("used", "length", "needed"),
    [
        (7_999, 10_000, False),
        (8_000, 10_000, True),
        (0, 10_000, False),
        (159_999, None, False),
        (160_000, None, True),
        (160_000, 0, True),
        (1, -5, False),
    ],
)
def test_it_is_time_at_four_fifths_of_the_context(
    used: int, length: int | None, needed: bool
) -> None:
    assert Compaction().needed(used, length) is needed


def test_the_share_can_be_set() -> None:
    assert Compaction(share=0.5).needed(50, 100)
    assert not Compaction(share=0.5).needed(49, 100)


def test_the_latest_quarter_is_kept_unless_told() -> None:
    whole = turns(20)
    older, kept = Compaction().split(whole)
    assert [*older, *kept] == whole
    part = cost(kept, Estimate()) / cost(whole, Estimate())
    assert 0.15 < part <= 0.25


def test_as_much_is_kept_as_fits() -> None:
    whole = turns(20)
    one = cost(whole[-4:], Estimate())
    for number in (1, 2, 5):
        _, kept = Compaction().split(whole, keep=one * number)
        assert kept == tuple(whole[-4 * number :])


def test_what_the_person_said_last_is_kept_with_the_work_on_it() -> None:
    whole = [*turns(10), Said(text="And now all of them."), *exchange("read_file", "y" * 900)]
    _, kept = Compaction().split(whole, keep=150)
    assert kept[0] == Said(text="And now all of them.")
    _, kept = Compaction().split(whole[:-2], keep=0)
    assert kept == (Said(text="And now all of them."),)


def test_the_last_exchange_is_kept_however_long() -> None:
    whole = [*turns(3), *exchange("read_file", "y" * 100_000)]
    older, kept = Compaction().split(whole, keep=10)
    assert kept == tuple(whole[-2:])
    assert older == tuple(whole[:-2])


def test_one_long_piece_of_work_is_cut_and_the_request_repeated_word_for_word() -> None:
    request = "Sum up every file, and never touch b.txt."
    work = [message for number in range(50) for message in exchange("read_file", f"{number}")]
    older, kept = Compaction().split([Said(text=request), *work])
    assert older
    assert kept
    assert are_answered(kept)
    assert request in Compaction().summary("Half of it is done.", older).text


@quick(200)
@given(
    st.lists(st.sampled_from(["said", "text", "calls", "both"]), max_size=20),
    st.none() | st.integers(0, 500),
    st.booleans(),
)
def test_calls_are_never_parted_from_their_results(
    kinds: list[str], keep: int | None, begun: bool
) -> None:
    whole: list[Message] = [Summary(text="before")] if begun else []
    for number, kind in enumerate(kinds):
        match kind:
            case "said":
                whole.append(Said(text=f"said {number}" * number))
            case "text":
                whole.append(Answered(text="text" * number))
            case _:
                whole += exchange("read_file", "z" * 20 * number, number=number)
    older, kept = Compaction().split(whole, keep)
    assert [*older, *kept] == whole
    assert are_answered(older)
    assert are_answered(kept)
    assert bool(kept) == bool(whole)
    assert not older or any(not isinstance(message, Summary) for message in older)


def test_a_summary_alone_is_not_summed_up_again() -> None:
    whole = [Summary(text="x" * 10_000), Said(text="Go on.")]
    assert Compaction().split(whole, keep=0) == ((), tuple(whole))
    assert Compaction().split([], keep=0) == ((), ())


def test_the_prompt_shows_what_was_said_and_done() -> None:
    asked = bridged("mcp_wiki_read_page", {"id": 7})
    text = Compaction().prompt(
        [
            Summary(text="Notes of old.\n\nTools you have used or found, to be called:\n- a()"),
            Said(text="Read page 7."),
            Answered(text="I read it.", calls=(asked,)),
            returned(asked, "No such page", is_error=True),
        ]
    )
    assert "NOTES FROM BEFORE: Notes of old.\n" in text
    assert "PERSON: Read page 7." in text
    assert "YOU: I read it." in text
    assert 'YOU CALLED mcp_wiki_read_page: {"name":"mcp_wiki_read_page"' in text
    assert "mcp_wiki_read_page failed: Error: No such page" in text


@pytest.mark.parametrize("room", [500, 5_000, 50_000])
def test_the_prompt_stays_within_its_room(room: int) -> None:
    whole = [Said(text="The first of all."), *turns(400, length=5_000), Said(text="The last.")]
    text = Compaction().prompt(whole, room=room)
    assert Estimate().count(text) <= room * 1.1 + 350, "the task itself is about 300 tokens"
    assert "PERSON: The first of all." in text
    assert "PERSON: The last." in text


@pytest.mark.anyio
async def test_the_model_is_asked_for_the_summary() -> None:
    model = Scripted(text="  All is well. ")
    assert await Compaction().summed_up(turns(3), model) == "All is well."
    (request,) = model.asked
    assert request.model == "small"
    assert [type(message) for message in request.messages] == [Said]
    assert cost(request.messages, Estimate()) < 8_000 // 2 + 400


@pytest.mark.anyio
@pytest.mark.parametrize("model", [Scripted(error=ContextFull("too long")), Scripted(text=" \n")])
async def test_without_a_summary_by_the_model_there_is_one_all_the_same(model: Scripted) -> None:
    text = await Compaction().summed_up(turns(3), model)
    assert "- Read file 0." in text
    assert "- read_file gave: file 0" in text
    assert "It is file 2." in text


def test_the_summary_without_a_model_is_bounded() -> None:
    whole = [Summary(text="s" * 90_000), *turns(500, length=90_000), Said(text="t" * 90_000)]
    text = Compaction().fallback(whole)
    assert len(text) < 45_000
    assert "- Read file 499." in text
    assert Compaction().fallback([]) == "Nothing was said or done so far."


def found(*tools: Tool) -> tuple[Message, Message]:
    """A search that loaded tools."""
    asked = Asked(name="tool_search", arguments={"query": "x"}, id="s", native=True)
    result = replace(ToolResult.of_text("{}"), tools=tools)
    return Answered(calls=(asked,)), Returned(replies=(Reply(call=asked, result=result),))


def test_tools_that_were_found_or_called_are_carried_with_their_signatures() -> None:
    summary = Compaction().summary("Notes.", [Said(text="Go."), *found(ISSUE)], called=[PAGE])
    assert summary.tools == (ISSUE, PAGE)
    assert summary.text == (
        "Notes.\n\n"
        "The person's last words in this part:\n- Go.\n\n"
        "Tools you have used or found, to be called again without searching:\n"
        "- mcp_github_create_issue(title: string, labels?: any[])\n"
        "- mcp_wiki_read_page(id: integer)"
    )


def test_a_tool_both_found_and_called_is_carried_once_as_it_is_now() -> None:
    now = replace(ISSUE, description="Changed since.")
    summary = Compaction().summary("Notes.", found(ISSUE, PAGE), called=[now])
    assert summary.tools == (now, PAGE)
    assert summary.tools[0].description == "Changed since."


def test_a_summary_without_tools_has_no_list() -> None:
    assert Compaction().summary(" Notes. ", [Answered(text="a")]) == Summary(text="Notes.")


def test_a_second_summary_carries_the_tools_of_the_first() -> None:
    first = Compaction().summary("First.", found(ISSUE))
    later = [first, Said(text="Go on."), *found(PAGE)]
    second = Compaction().summary(f"{first.text}\nSecond.", later)
    assert second.tools == (ISSUE, PAGE)
    assert second.text.count("mcp_github_create_issue(") == 1
    assert learned([second]) == (ISSUE, PAGE)


def test_the_list_says_less_when_the_tools_are_many() -> None:
    many = [replace(ISSUE, name=f"mcp_github_tool_{number}") for number in range(300)]
    summary = Compaction().summary("Notes.", (), called=many)
    assert summary.tools == tuple(many)
    assert "- mcp_github_tool_299(title, ...)" in summary.text


def test_names_are_known_however_a_tool_was_met() -> None:
    reply = json.dumps({"matches": [{"name": "found_a"}, {"name": "found_b"}, {}, 5]})
    several = json.dumps({"results": [{"matches": [{"name": "found_c"}]}, "odd"]})
    one, two, odd = (call("tool_search", {"query": "x"}, number=n) for n in range(3))
    whole = [
        Answered(calls=(call("direct", {}), bridged("bridged"), call("nested", "no JSON"))),
        Answered(calls=(call("tool_describe", {"name": ["seen", "direct"]}), call("tool_call"))),
        Answered(calls=(one, two, odd)),
        Returned(
            replies=(
                Reply(call=one, result=ToolResult.of_text(reply)),
                Reply(call=two, result=ToolResult.of_text(several)),
                Reply(call=odd, result=ToolResult.of_text("No more results.", is_error=True)),
                Reply(call=call("direct"), result=ToolResult.of_text(reply.replace("a", "x"))),
            )
        ),
    ]
    assert Compaction().mentioned(whole) == (
        "direct", "bridged", "nested", "seen", "found_a", "found_b", "found_c",
    )  # fmt: skip
    renamed = Compaction(names=BridgeNames(call="use"))
    assert renamed.mentioned([Answered(calls=(call("use", {"name": "a"}),))]) == ("a",)


@quick(150)
@given(st.lists(messages(), max_size=6))
def test_no_conversation_breaks_it(whole: list[Message]) -> None:
    compaction = Compaction()
    assert cost(whole, Estimate()) <= cost(whole, Estimate(), native=True)
    older, kept = compaction.split(whole, keep=5)
    assert [*older, *kept] == whole
    assert compaction.prompt(whole, room=50)
    tools = [ISSUE] if compaction.mentioned(whole) else []
    assert compaction.summary(compaction.fallback(whole), whole, called=tools).text


def test_a_picture_costs_what_providers_ask_for_it_and_not_its_bytes() -> None:
    picture = "iVBORw0KGgo" + "A" * 400_001
    result = ToolResult(content=({"type": "image", "data": picture, "mimeType": "image/png"},))
    message = Returned(replies=(Reply(call=call("screenshot"), result=result),))
    assert 1_000 < cost([message], Estimate()) < 2_000


def test_what_came_from_a_provider_is_counted_as_it_goes_back() -> None:
    raw = ({"type": "thinking", "thinking": "x" * 4_500, "signature": "y" * 450},)
    assert cost([Answered(text="short", raw=raw)], Estimate()) > 1_000


@pytest.mark.anyio
async def test_a_compacted_conversation_is_resumed_with_its_tools(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    kept, compaction, model = Conversations(path), Compaction(), Scripted(text="Notes.")
    name = kept.start(model="small", cwd="/", scope="")
    for message in (*found(ISSUE), *turns(10)):
        kept.append(name, message)
    for _ in range(2):
        whole = kept.load(name)
        older, rest = compaction.split(whole)
        summary = compaction.summary(await compaction.summed_up(older, model), older, called=[PAGE])
        kept.compacted(name, summary, replaces=len(older))
        assert Conversations(path).load(name) == (summary, *rest)
        assert learned(kept.load(name)) == (ISSUE, PAGE)
        assert are_answered(kept.load(name))
    assert kept.info(name).turns == 10
    assert [passage.text for passage in kept.search("Read file 3", 1)] == ["Read file 3."]
