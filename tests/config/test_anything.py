"""No text gives anything but settings or sentences about it."""

import json
import re

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.requirements import requirement
from tooldrawer import Config
from tooldrawer.config import parse
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json

SENTENCE = re.compile(r"x\.yaml:[1-9][0-9]*: \S.*[.?]")
SECTIONS = (
    "tools",
    "model",
    "mcp_servers",
    "toolsets",
    "scopes",
    "approvals",
    "limits",
    "hooks",
    "guardrails",
    "activity",
)
KEYS = (
    *SECTIONS,
    "tool_search",
    "enabled",
    "names",
    "search",
    "benefit",
    "embeddings",
    "api_key",
    "model",
    "turns",
    "core",
    "add",
    "replace",
    "pinned",
    "name_template",
    "command",
    "url",
    "env",
    "headers",
    "args",
    "timeout",
    "allow",
    "deny",
    "approver",
    "rate",
    "calls",
    "mask",
    "jsonl",
    "context_length",
)
VALUES = ("auto", "on", "{tool}", "tooldrawer:Drawer", "nobody.home:x", "${HOME}", "${A:-b}", "(")
MARKS = ("\n", "\n  ", "\n\t", ": ", "- ", "[", "]", "{", "}", ",", "'", '"', "&a ", "*a", "!t ")
MORE_MARKS = ("---\n", "...", "#", "|\n", ">\n", "? ", "%YAML 1.2\n", "\\x", "~", "<<", "${", "\r")

texts = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from((*KEYS, *VALUES, *MARKS, *MORE_MARKS, "1", "0.5", "-7", "true", "null")),
        max_size=25,
    ).map("".join),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(VALUES),
)
json_values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=8)), inner, max_size=4),
    ),
    max_leaves=12,
)


def complaints(text: str) -> tuple[str, ...]:
    try:
        found = parse(text, name="x.yaml", environment={})
    except ConfigError as error:
        return error.mistakes or ("an error without a sentence",)
    assert isinstance(found, Config)
    return ()


def check(text: str) -> None:
    """It is read, or every mistake in it is one sentence with a line."""
    for sentence in complaints(text):
        assert SENTENCE.fullmatch(sentence), sentence
        assert sentence.isprintable(), sentence


@requirement("CFG-2")
@settings(max_examples=300, deadline=None)
@given(text=texts)
@example(text="")
@example(text="\ufeff")
@example(text="\0")
@example(text="\ud800")
@example(text='"\\ud800": 1')
@example(text='"\\UFFFFFFFF": 1')
@example(text='tools: {name_template: "\\ud800"}')
@example(text="[" * 5_000)
@example(text="a: " * 5_000)
@example(text="- " * 5_000)
@example(text="%YAML 1." + "9" * 5_000 + "\n--- a")
@example(text="limits: {call_timeout: " + "9" * 5_000 + "}")
@example(text="limits: {call_timeout: 1e999, repeats: 1e-999}")
@example(text="model: {context_length: 1" + "0" * 30 + "}")
@example(text="!!float .nan")
@example(text="? &a [*a]\n: *a")
@example(text="tools: {name_template: '{tool.__class__}'}")
@example(text="tools: {name_template: '{tool!r:{server}}'}")
@example(text="activity: {mask: ['" + "(" * 3_000 + ")" * 3_000 + "']}")
@example(text="activity: {mask: ['[[a]', 'a{99999999999}', '(?i)a', 'a(?i)b']}")
@example(text="tools: {core: [1, !x y, '${A}']}")
@example(text="hooks: ['a\\0b:c', '.:x', 'tooldrawer:__path__', 'os:path:join']")
def test_any_text_gives_settings_or_sentences(text: str) -> None:
    check(text)


@requirement("CFG-2")
@settings(max_examples=300, deadline=None)
@given(section=st.sampled_from(SECTIONS), value=json_values)
def test_any_value_under_a_known_section_gives_settings_or_sentences(
    section: str, value: Json
) -> None:
    check(yaml.safe_dump({section: value}, allow_unicode=True))
    check(json.dumps({section: value}))
