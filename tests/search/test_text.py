"""Texts into the words they are found by."""

import pytest

from tooldrawer.search.text import weighted_words, words
from tooldrawer.tool import Tool


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create_issue", ["creat", "issu"]),
        ("createIssue", ["creat", "issu"]),
        ("create-issue.now", ["creat", "issu", "now"]),
        ("parseHTMLFile", ["pars", "html", "file"]),
        ("s3 bucket", ["s3", "s", "3", "bucket"]),
        ("base64Encode", ["base64encode", "base", "64", "encod"]),
        ("Café ﬁle", ["cafe", "file"]),
        ("running runs run", ["run", "run", "run"]),
        ("读取 файлы", ["读取", "фаилы"]),
        ("!?", []),
    ],
)
def test_words_are_split_folded_and_stemmed(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_tool_is_found_by_name_server_description_and_parameters() -> None:
    schema = {
        "type": "object",
        "properties": {"repo": {"type": "string", "description": "Which repository."}, "odd": True},
    }
    tool = Tool(name="mcp_hub_open", description="Opens it.", parameters=schema, source="mcp-hub")
    assert [found for _, found in weighted_words(tool)] == [
        ["open"],
        ["hub"],
        ["open", "it"],
        ["repo"],
        ["which", "repositori"],
        ["odd"],
        [],
    ]
    weights = [weight for weight, _ in weighted_words(tool)]
    assert weights[:5] == sorted(weights[:5], reverse=True)
