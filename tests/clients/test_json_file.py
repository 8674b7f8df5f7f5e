"""JSON files of other programs, edited as text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.texts import entries, json_files
from tests.properties.strategies import quick
from tests.requirements import requirement
from tooldrawer.clients.json_file import JsonFile
from tooldrawer.config.jsonc import JsonText
from tooldrawer.errors import ConfigError

pytestmark = requirement("CFG-3")
LIST = ("mcpServers",)
ENTRY = {"command": "/opt/tooldrawer", "args": ["serve", "--config", "x y.yaml"]}


def edited(text: str, **changes: Any) -> str:
    return JsonFile(text, name="x.json").edited(LIST, changes)


PRETTY = """{
  "theme": "dark",
  "mcpServers": {
    "clock": {
      "command": "clockd"
    }
  }
}
"""


def test_an_entry_is_added_in_the_style_of_the_file() -> None:
    assert edited(PRETTY, new={"command": "x"}) == PRETTY.replace(
        "    }\n  }",
        '    },\n    "new": {\n      "command": "x"\n    }\n  }',
    )
    tabs = PRETTY.replace("  ", "\t").replace("\n", "\r\n")
    assert '\t\t},\r\n\t\t"new": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}' in edited(
        tabs, new={"command": "x"}
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "new": 1\n  }\n}\n'),
        ("\ufeff", '\ufeff{\n  "mcpServers": {\n    "new": 1\n  }\n}\n'),
        ("{}", '{\n  "mcpServers": {\n    "new": 1\n  }\n}'),
        ('{"a":1}', '{"a":1,"mcpServers":{"new":1}}'),
        ('{"a": 1}', '{"a": 1, "mcpServers": {"new": 1}}'),
        ('{"mcpServers":{}}', '{"mcpServers":{"new":1}}'),
        ('{"mcpServers": null}', '{"mcpServers": {"new": 1}}'),
        (
            '{\n  "mcpServers": {}\n}',
            '{\n  "mcpServers": {\n    "new": 1\n  }\n}',
        ),
        (
            '{\n  "mcpServers": {\n    // none yet\n  }\n}',
            '{\n  "mcpServers": {\n    "new": 1\n    // none yet\n  }\n}',
        ),
        (
            '{\n  "mcpServers": {\n    "a": 1, // why\n    // more\n  },\n}',
            '{\n  "mcpServers": {\n    "a": 1, // why\n    "new": 1,\n    // more\n  },\n}',
        ),
        (
            '{\n  "mcpServers": {\n    "a": 1 // why\n  }\n}',
            '{\n  "mcpServers": {\n    "a": 1, // why\n    "new": 1\n  }\n}',
        ),
        ('{"mcpServers": {"a": 1 /* x */ }}', '{"mcpServers": {"a": 1, "new": 1 /* x */ }}'),
        ('{"mcpServers": {"new": 5}}', '{"mcpServers": {"new": 1}}'),
    ],
)
def test_an_entry_finds_its_place(before: str, after: str) -> None:
    assert edited(before, new=1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"mcpServers": {"a": 1, "b": 2}}', '{"mcpServers": {"b": 2}}'),
        ('{"mcpServers": {"b": 2, "a": 1}}', '{"mcpServers": {"b": 2 }}'),
        ('{"mcpServers": {"a": 1}}', '{"mcpServers": {}}'),
        (
            '{"mcpServers": {\n  "a": 1,\n  // of b\n  "b": 2\n}}',
            '{"mcpServers": {\n  // of b\n  "b": 2\n}}',
        ),
        (
            '{"mcpServers": {\n  "b": 2,\n  "a": 1,\n}}',
            '{"mcpServers": {\n  "b": 2,\n}}',
        ),
        (
            '{"mcpServers": {\n  "b": 2, // of b\n  "a": 1\n}}',
            '{"mcpServers": {\n  "b": 2 // of b\n}}',
        ),
    ],
)
def test_an_entry_leaves_without_a_trace(before: str, after: str) -> None:
    assert edited(before, a=None) == after


@quick(80)
@given(json_files(), entries, st.data())
def test_only_the_list_changes_whatever_the_file_looks_like(
    text: str, new: dict[str, Any], data: st.DataObject
) -> None:
    before = JsonFile(text, name="x.json").entries(LIST) or {}
    gone = data.draw(st.lists(st.sampled_from(sorted(before)), unique=True)) if before else []
    changes = {**dict.fromkeys(gone), **new}
    after = JsonFile(text, name="x.json").edited(LIST, changes)
    expected: dict[str, Any] = {**before, **changes}
    expected = {key: value for key, value in expected.items() if value is not None}
    assert (JsonFile(after, name="x.json").entries(LIST) or {}) == expected
    rest_before: Any = JsonText(text).value
    rest_after: Any = JsonText(after).value
    rest_before.pop("mcpServers", None)
    rest_after.pop("mcpServers", None)
    assert rest_before == rest_after


@quick(80)
@given(json_files())
def test_every_comment_and_every_other_line_survives(text: str) -> None:
    after = edited(text, tooldrawer=ENTRY)
    kept = iter(after)
    assert all(char in kept for char in text if not char.isspace()), "it is all there, in order"
    assert edited(after, tooldrawer=ENTRY) == after


@quick(80)
@given(json_files())
def test_an_entry_that_comes_and_goes_changes_nothing_else(text: str) -> None:
    again = edited(edited(text, tooldrawer=ENTRY), tooldrawer=None)
    before: Any = JsonText(text).value
    after: Any = JsonText(again).value
    assert {"mcpServers": {}, **before} == {"mcpServers": {}, **after}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "x.json:3: the file is not JSON: a comma is missing here"),
        ("[]", "x.json:1: the file has no settings by name"),
        ('{"a": 1,\n"mcpServers": []}', "x.json:2: mcpServers is not an object; expected one."),
    ],
)
def test_a_broken_file_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        edited(text, new=1)
    assert str(caught.value).startswith(words)


def test_half_a_character_stays_what_it_is() -> None:
    text = '{"mcpServers": {"tooldrawer": {"note": "\\ud800", "command": "old"}}}'
    after = edited(text, tooldrawer={"note": "\ud800", "command": "new"})
    after.encode()
    assert "\\ud800" in after


def test_what_may_be_secret_is_masked_line_by_line() -> None:
    text = json.dumps(
        {
            "oauth": {"accessToken": "one-secret"},
            "note": "sk-four-secret-0123456789abcdef",
            "mcpServers": {
                "clock": {
                    "command": "clockd",
                    "args": ["--api-key", "three-secret", "--size=4", "--auth-token=five-secret"],
                    "env": {
                        "HARMLESS": "six-secret",
                        "CLOCK_KEY": "${MY_CLOCK_KEY}",
                        "MEMORY_FILE_PATH": "/home/ann/memory.json",
                        "KEY_FILE": "/home/nine-secret",
                    },
                    "url": "https://me:seven-secret@clock.example/mcp",
                    "headers": {"X-Thing": "eight-secret", "Accept": "text/plain"},
                },
            },
        },
        indent=1,
    )
    masked = JsonFile(text, name="x.json").masked()
    assert "secret" not in masked
    assert len(masked.splitlines()) == len(text.splitlines())
    for kept in (
        "clockd",
        "--api-key",
        "--size=4",
        "text/plain",
        "HARMLESS",
        "${MY_CLOCK_KEY}",
        "memory.json",
    ):
        assert kept in masked
