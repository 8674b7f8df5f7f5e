"""Scopes and rules accept the names by which servers and tools are called."""

import pytest

from tests.requirements import requirement
from tooldrawer import Drawer, FunctionToolset, Rules, Scope, StaticToolset
from tooldrawer.config import Config
from tooldrawer.patterns import Reach, reach
from tooldrawer.tool import ServerNaming

pytestmark = pytest.mark.anyio


def put(title: str) -> str:
    """Put a note."""
    return title


def drawer(*, config: Config | None = None) -> Drawer:
    servers = {
        "github": ("create_issue", "delete_repo"),
        "docs": ("get", "internal_get"),
        "docs_internal": ("get",),
    }
    recorded = [
        StaticToolset(server, [{"name": name, "inputSchema": {"type": "object"}} for name in names])
        for server, names in servers.items()
    ]
    return Drawer([*recorded, FunctionToolset("notes", [put])], config=config)


def admitted(scope: Scope) -> set[str]:
    return {f"{tool.server}.{tool.local_name}" for tool in drawer().session(scope=scope).catalog}


EVERYTHING = admitted(Scope())


@requirement("SCOPE-7")
@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("github__create_issue", {"github.create_issue"}),
        ("github.create_issue", {"github.create_issue"}),
        ("github/create_issue", {"github.create_issue"}),
        ("GitHub/Create_Issue", {"github.create_issue"}),
        ("mcp-github.create_issue", {"github.create_issue"}),
        ("github.*", {"github.create_issue", "github.delete_repo"}),
        ("git*/delete*", {"github.delete_repo"}),
        ("docs.*", {"docs.get", "docs.internal_get"}),
        ("docs__get", {"docs.get"}),
        ("docs_internal/get", {"docs_internal.get"}),
        ("docs*.get", {"docs.get", "docs_internal.get"}),
        ("notes.put", {"notes.put"}),
        ("hub.create_issue", set[str]()),
        ("github.create", set[str]()),
    ],
)
def test_a_pattern_may_name_server_and_tool_as_a_call_does(pattern: str, named: set[str]) -> None:
    assert admitted(Scope(allow=[pattern])) == named
    assert admitted(Scope(deny=[pattern])) == EVERYTHING - named


@requirement("SCOPE-7")
def test_a_star_for_the_server_denies_a_tool_everywhere_and_admits_it_nowhere() -> None:
    assert admitted(Scope(deny=["*/get"])) == EVERYTHING - {"docs.get", "docs_internal.get"}
    assert admitted(Scope(allow=["*/get"])) == set()


@requirement("SCOPE-1")
def test_a_server_is_enabled_and_disabled_by_its_own_name() -> None:
    own = {"github.create_issue", "github.delete_repo"}
    assert admitted(Scope(toolsets=["github"])) == admitted(Scope(toolsets=["mcp-github"])) == own
    assert admitted(Scope(disabled_toolsets=["GitHub"])) == EVERYTHING - own
    assert admitted(Scope(disabled_toolsets=["git*"])) == EVERYTHING - own


@requirement("SCOPE-1")
def test_a_glob_of_enabled_toolsets_is_about_the_names_of_toolsets() -> None:
    assert admitted(Scope(toolsets=["[!m]*"])) == {"notes.put"}


@requirement("SCOPE-6")
async def test_a_server_named_in_a_scope_is_listed_once() -> None:
    session = drawer().session(scope=Scope(toolsets=["github"]))
    assert session.catalog.sources == {"mcp-github"}
    reply = await session.call("tool_search", {"query": "?"})
    assert "mcp-github" in reply.text
    assert '"github"' not in reply.text


@requirement("SCOPE-7")
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("github.*", Reach.ALL), ("github/get", Reach.NAMED), ("docs.*", Reach.NOTHING)],
)
def test_what_a_notation_can_match_is_known_before_a_server_lists_its_tools(
    pattern: str, expected: Reach
) -> None:
    assert reach("mcp-github", (pattern,), ServerNaming()) is expected


@requirement("DSP-5")
@pytest.mark.parametrize("pattern", ["github.delete_repo", "github__delete_repo", "github/delete*"])
async def test_a_rule_applies_to_a_tool_named_as_in_a_call(pattern: str) -> None:
    config = Config(guardrails=(Rules(deny=[pattern]),))
    result = await drawer(config=config).session().call("github.delete_repo", {})
    assert result.is_error
    assert result.text.startswith("'mcp_github_delete_repo' is not allowed here.")
