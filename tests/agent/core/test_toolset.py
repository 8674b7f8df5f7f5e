"""The core tools as a model and a drawer see them."""

from pathlib import Path

import pytest

from tests.agent.core.people import Archive, Crew, Nobody, Somebody
from tests.requirements import requirement
from tooldrawer import AssemblyPolicy, Config, Drawer, Grants, StaticToolset
from tooldrawer.agent.core import CoreTools, Delegation, Passage, Workplace
from tooldrawer.assembly.policy import CORE
from tooldrawer.call import ToolCall
from tooldrawer.errors import InvalidArguments
from tooldrawer.tokens import O200k, schema_text

pytestmark = pytest.mark.anyio

ALWAYS = ["terminal", "read_file", "write_file", "patch", "search_files", "todo"]


@pytest.fixture
def whole(workplace: Workplace, tmp_path: Path) -> CoreTools:
    """All of them."""
    return CoreTools(
        workplace,
        person=Somebody("blue"),
        delegate=Crew(),
        past=Archive([]),
        memory=tmp_path / "memory.md",
    )


def test_the_schemas_of_all_core_tools_stay_small(whole: CoreTools) -> None:
    counter = O200k()
    assert sum(counter.count(schema_text(tool)) for tool in whole.tools()) <= 750


@requirement("ACT-4")
async def test_all_core_tools_are_direct_while_the_drawer_is_closed(
    whole: CoreTools, grants: Grants
) -> None:
    other = StaticToolset("x", [{"name": "do"}])
    config = Config(assembly=AssemblyPolicy(enabled="on"))
    assembly = await Drawer([whole, other], config=config, grants=grants).session().tools()
    names = [tool.name for tool in whole.tools()]
    assert [tool.name for tool in assembly.tools][: len(names)] == names
    assert set(names) <= set(CORE)
    assert [tool.name for tool in assembly.deferred] == ["mcp_x_do"]


def test_a_tool_that_nobody_stands_behind_is_not_offered(
    workplace: Workplace, whole: CoreTools
) -> None:
    assert [tool.name for tool in CoreTools(workplace).tools()] == ALWAYS
    assert [tool.name for tool in whole.tools()] == [
        *ALWAYS, "memory", "clarify", "delegate_task", "session_search",
    ]  # fmt: skip
    assert whole.tools() is whole.tools()


def test_what_only_reads_and_what_may_destroy_says_so(whole: CoreTools) -> None:
    tools = whole.tools()
    assert {tool.name for tool in tools if tool.read_only} == {
        "read_file", "search_files", "todo", "clarify", "session_search",
    }  # fmt: skip
    assert {tool.name for tool in tools if tool.destructive} == {"terminal", "write_file", "patch"}


async def test_null_for_what_may_be_left_out_is_understood(
    whole: CoreTools, grants: Grants
) -> None:
    session = Drawer([whole], grants=grants).session()
    result = await session.call("terminal", {"command": "echo hi", "cwd": None})
    assert result.text.startswith("hi\n[exit code 0]")


async def test_unknown_arguments_are_refused_by_the_toolset_itself(whole: CoreTools) -> None:
    (tool,) = (tool for tool in whole.tools() if tool.name == "todo")
    call = ToolCall(name="todo", arguments={"elements": []})
    with pytest.raises(InvalidArguments, match="elements"):
        await whole.run(tool, call)


async def test_a_question_reaches_the_person_with_its_choices(
    workplace: Workplace, grants: Grants
) -> None:
    person = Somebody(" blue\n")
    session = Drawer([CoreTools(workplace, person=person)], grants=grants).session()
    question = {"question": "Which colour?", "choices": ["red", "blue"]}
    assert (await session.call("clarify", question)).text == "blue"
    await session.call("clarify", {"question": "Why?"})
    assert person.asked == [("Which colour?", ("red", "blue")), ("Why?", ())]
    assert (await session.call("clarify", {"question": " "})).is_error


@requirement("DSP-9")
async def test_with_nobody_to_ask_a_model_is_told_to_go_on_and_say_so(
    workplace: Workplace, grants: Grants
) -> None:
    session = Drawer([CoreTools(workplace, person=Nobody())], grants=grants).session()
    result = await session.call("clarify", {"question": "Which colour?"})
    assert result.is_error
    assert "Go on with your best guess, and say in your answer what you assumed" in result.text


async def test_a_task_is_handed_over_with_the_session_that_gave_it(
    workplace: Workplace, grants: Grants
) -> None:
    crew = Crew()
    session = Drawer([CoreTools(workplace, delegate=crew)], grants=grants).session("parent")
    result = await session.call("delegate_task", {"task": "count"})
    assert result.text == "done: count"
    await session.call(
        "delegate_task",
        {"task": "look", "toolsets": ["mcp-github"], "context": "the api", "max_turns": 3},
    )
    await session.call("delegate_task", {"task": "alone", "toolsets": []})
    assert crew.taken == [
        ("parent", Delegation(task="count")),
        (
            "parent",
            Delegation(task="look", toolsets=("mcp-github",), context="the api", max_turns=3),
        ),
        ("parent", Delegation(task="alone", toolsets=())),
    ]


@pytest.mark.parametrize("arguments", [{"task": ""}, {"task": "x", "max_turns": 0}, {}])
async def test_no_task_is_handed_over_that_is_none(
    workplace: Workplace, grants: Grants, arguments: dict[str, str | int]
) -> None:
    crew = Crew()
    session = Drawer([CoreTools(workplace, delegate=crew)], grants=grants).session()
    assert (await session.call("delegate_task", arguments)).is_error
    assert not crew.taken


async def test_earlier_sessions_are_shown_as_lines(workplace: Workplace, grants: Grants) -> None:
    archive = Archive([
        Passage(session="s-1", when=86_400.0, who="user", text="deploy\n  on friday"),
        Passage(session="s-2", when=0.0, who="assistant", text="deploy " + "x" * 1_000),
    ])  # fmt: skip
    session = Drawer([CoreTools(workplace, past=archive)], grants=grants).session()
    first, second = (await session.call("session_search", {"query": "deploy"})).text.splitlines()
    assert first == "[s-1, 1970-01-02 00:00 UTC] user: deploy on friday"
    assert second.endswith("…")
    assert len(second) < 600
    nothing = await session.call("session_search", {"query": "holiday", "limit": 10**6})
    assert nothing.text == "[nothing found: try other words]"
    assert archive.limits == [5, 20]
    assert (await session.call("session_search", {"query": "\n"})).is_error
