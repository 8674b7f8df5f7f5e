"""What is in the drawer, in a few words."""

import pytest

from tests.requirements import requirement
from tooldrawer.assembly.listing import render
from tooldrawer.tokens import O200k
from tooldrawer.tool import Tool

TOOLSETS = [f"mcp-{word}" for word in ("zulip", "github", "jira", "aws-s3tables", "confluence")]


@requirement("BR-3")
@pytest.mark.parametrize("budget", [0, 5, 10, 20, 40, 150])
def test_a_listing_is_sorted_and_never_over_its_budget(budget: int) -> None:
    text = render("toolsets", toolsets=TOOLSETS, deferred=(), max_tokens=budget)
    assert O200k().count(text) <= budget
    named = [name for name in sorted(TOOLSETS) if name in text]
    assert named == sorted(TOOLSETS)[: len(named)]
    if named and len(named) < len(TOOLSETS):
        assert text.endswith(f", and {len(TOOLSETS) - len(named)} more.")


def test_nothing_in_the_drawer_is_nothing_to_say() -> None:
    assert render("toolsets", toolsets=(), deferred=(), max_tokens=150) == ""


def test_a_full_listing_has_the_first_sentence_of_each_tool() -> None:
    tools = [Tool(name="b", description="Second.\nMore."), Tool(name="a", description="First. Y.")]
    text = render("full", toolsets=(), deferred=tools, max_tokens=150)
    assert text == "In the drawer: a - First\nb - Second."
