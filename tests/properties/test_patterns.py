"""Patterns over tools: server and tool are matched separately, whole, and without case."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import quick
from tests.requirements import requirement
from tooldrawer import AssemblyPolicy, FunctionToolset, Rules, Scope, StaticToolset, Tool, ToolCall
from tooldrawer.assembly.assemble import why_direct
from tooldrawer.dispatch.guardrails import Deny
from tooldrawer.patterns import tool_matches
from tooldrawer.registry import Registry
from tooldrawer.tool import DEFAULT_TEMPLATE
from tooldrawer.upstream.listing import Listing
from tooldrawer.upstream.spec import UpstreamSpec

Servers = Mapping[str, Sequence[str]]
words = st.sampled_from(("docs", "internal", "Docs", "x", "get", "find", "INTERNAL", "a.b"))
names = st.lists(words, min_size=1, max_size=3).map("_".join)
"""Names that collide with each other as often as possible."""
servers = st.dictionaries(names, st.lists(names, min_size=1, max_size=3, unique=True), min_size=1)
templates = st.sampled_from(("mcp_{server}_{tool}", "{server}__{tool}", "{tool}@{server}"))


def registered(listed: Servers, *, template: str = "mcp_{server}_{tool}") -> list[Tool]:
    """The tools of these servers, as a registry gives them to scopes and rules."""
    toolsets = [
        StaticToolset(name, [{"name": tool} for tool in tools], template=template)
        for name, tools in listed.items()
    ]
    return list(Registry(toolsets).snapshot().tools)


def matched(
    pattern: str, listed: Servers, *, forbids: bool = False, **more: str
) -> set[tuple[str, str]]:
    """The tools that a pattern is about, as server and tool."""
    return {
        (tool.server, tool.local_name)
        for tool in registered(listed, **more)
        if tool_matches(tool, (pattern,), forbids=forbids)
    }


COLLIDING: Servers = {"docs": ["internal_find", "find"], "docs_internal": ["find", "wipe"]}


@requirement("SCOPE-7")
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("mcp_docs_*", {("docs", "internal_find"), ("docs", "find")}),
        ("MCP_Docs_*", {("docs", "internal_find"), ("docs", "find")}),
        ("mcp_docs_find", {("docs", "find")}),
        ("mcp_docs_internal_*", {("docs_internal", "find"), ("docs_internal", "wipe")}),
        ("mcp_docs_internal_find", {("docs_internal", "find")}),
        ("mcp_doc?_*", {("docs", "internal_find"), ("docs", "find")}),
        ("mcp_*_wipe", {("docs_internal", "wipe")}),
        ("mcp_*wipe*", {("docs_internal", "wipe")}),
        ("*_wipe", {("docs_internal", "wipe")}),
        ("*WIPE*", {("docs_internal", "wipe")}),
        ("*internal*", {("docs", "internal_find")}),
        ("docs_*", set[tuple[str, str]]()),
        ("find", set[tuple[str, str]]()),
    ],
)
def test_a_pattern_for_one_server_is_not_about_another(
    pattern: str, expected: set[tuple[str, str]]
) -> None:
    assert matched(pattern, COLLIDING) == expected


@requirement("SCOPE-7")
@pytest.mark.parametrize("pattern", ["*", "mcp_*", "mcp_docs*", "m*", "*_*", "**"])
def test_a_pattern_for_every_server_is_about_all_of_them(pattern: str) -> None:
    assert len(matched(pattern, COLLIDING)) == 4


@requirement("SCOPE-7")
def test_a_longer_server_name_counts_only_where_there_is_such_a_server() -> None:
    only = {"docs": ["internal_find", "find"]}
    assert matched("mcp_docs_internal_*", only) == {("docs", "internal_find")}


@requirement("SCOPE-7")
def test_a_server_is_not_meant_by_the_way_in_which_another_is_written() -> None:
    listed = {"docs.new": ["find"], "docs_new": ["find"]}
    assert matched("mcp_docs_new_*", listed) == {("docs_new", "find")}
    assert matched("mcp_docs.new_*", listed) == {("docs.new", "find")}
    assert matched("mcp_docs_new_*", {"docs.new": ["find"]}) == {("docs.new", "find")}


@requirement("SCOPE-7")
def test_a_tool_cannot_take_the_name_of_another_server() -> None:
    listed = {"docs": ["find"], "evil": ["mcp_docs_find", "docs_find", "find"]}
    assert matched("mcp_docs_*", listed) == {("docs", "find")}


@requirement("SCOPE-7")
@pytest.mark.parametrize("name", ["bulkDelete", "DELETE_ALL", "delete", "undeleted"])
def test_case_does_not_count(name: str) -> None:
    (tool,) = registered({"shop": [name]})
    assert not Scope(deny=["*delete*"]).admits(tool)
    assert isinstance(Rules(deny=["*delete*"])(tool, ToolCall(name=tool.name)), Deny)


@requirement("SCOPE-7")
def test_a_word_in_the_name_of_a_server_is_not_about_its_tools() -> None:
    # Otherwise a rule that allows `*read*` would allow every tool of `spreadsheets`.
    listed = {"spreadsheets": ["wipe", "read_row"]}
    assert matched("*read*", listed) == {("spreadsheets", "read_row")}
    assert len(matched("*read*", listed, forbids=True)) == 2


@requirement("SCOPE-7")
@quick(150)
@given(listed=servers, data=st.data())
def test_all_tools_of_a_server_and_of_no_other_have_its_pattern(
    listed: Servers, data: st.DataObject
) -> None:
    server = data.draw(st.sampled_from(list(listed)))
    template = data.draw(templates)
    pattern = template.format(server=server, tool="*")
    spelled = data.draw(st.sampled_from((pattern, pattern.upper())))
    found = matched(spelled, listed, forbids=data.draw(st.booleans()), template=template)
    same = {each for each in listed if each.casefold() == server.casefold()}
    assert found == {(each, tool) for each in same for tool in listed[each]}


@requirement("SCOPE-7")
@quick(150)
@given(listed=servers, word=words)
def test_a_word_matches_the_tools_that_have_it_in_their_own_name(
    listed: Servers, word: str
) -> None:
    expected = {
        (server, tool)
        for server, tools in listed.items()
        for tool in tools
        if word.casefold() in tool.casefold()
        or word.casefold() in tool.replace(".", "_").casefold()
    }
    assert matched(f"*{word.swapcase()}*", listed) == expected


@requirement("SCOPE-7")
@quick(150)
@given(listed=servers, data=st.data())
def test_scopes_rules_and_pinned_tools_read_a_pattern_alike(
    listed: Servers, data: st.DataObject
) -> None:
    server = data.draw(st.sampled_from(list(listed)))
    tool = data.draw(st.sampled_from(list(listed[server])))
    pattern = data.draw(
        st.sampled_from(
            (f"mcp_{server}_*", f"mcp_{server}_{tool[:2]}*", f"*{tool}", f"mcp_*_{tool}")
        )
    )
    for each in registered(listed):
        is_match = tool_matches(each, (pattern,))
        assert Scope(allow=[pattern]).admits(each) == is_match
        is_forbidden = tool_matches(each, (pattern,), forbids=True)
        assert Scope(deny=[pattern]).admits(each) != is_forbidden
        verdict = Rules(deny=[pattern])(each, ToolCall(name=each.name))
        assert isinstance(verdict, Deny) == is_forbidden
        assert is_forbidden or not is_match
        assert (
            why_direct(each, AssemblyPolicy(core=(), pinned=(pattern,))) == "pinned"
        ) == is_match


@requirement("SCOPE-7")
@pytest.mark.parametrize(
    ("pattern", "is_forbidden"),
    [
        ("*vault*", True),
        ("VAULT*", True),
        ("vault", False),
        ("vaults*", False),
        ("mcp_vault_*", False),
    ],
)
def test_a_pattern_that_forbids_is_about_the_toolset_of_functions_too(
    pattern: str, *, is_forbidden: bool
) -> None:
    def read_secret() -> None: ...

    (tool,) = FunctionToolset("vault", [read_secret]).tools()
    scope = Scope(deny=(pattern,))
    assert scope.admits(tool) is not is_forbidden
    assert scope.can_admit("vault") is not is_forbidden
    assert isinstance(Rules(deny=(pattern,))(tool, ToolCall(name=tool.name)), Deny) is is_forbidden
    assert not Scope(allow=("*vault*",)).admits(tool)


@requirement("SCOPE-7")
def test_the_name_of_a_core_tool_does_not_mean_a_tool_of_a_server() -> None:
    # Otherwise a server could call its tool `terminal` and inherit what is allowed to the agent's.
    (tool,) = registered({"shop": ["terminal"]})
    assert not Scope(allow=["terminal"]).admits(tool)
    assert Scope(allow=["mcp_shop_terminal"]).admits(tool)
    assert why_direct(tool, AssemblyPolicy(core=("terminal",))) is None


@requirement("SCOPE-7")
def test_an_entry_of_a_server_may_name_its_tools_as_the_server_does() -> None:
    spec = UpstreamSpec(name="shop", allow=("find*", "mcp_shop_wipe"), deny=("*_ALL",))
    listing = Listing(spec, template=DEFAULT_TEMPLATE)
    names = ("Find", "wipe", "find_all", "mcp_shop_find", "other")
    listing.read([{"name": name, "inputSchema": {}} for name in names])
    assert [tool.local_name for tool in listing.tools] == ["Find", "wipe"]
