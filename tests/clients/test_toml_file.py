"""TOML files of other programs, edited as text."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.texts import toml_files
from tests.properties.strategies import quick
from tests.requirements import requirement
from tooldrawer.clients.toml_file import TomlFile
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json

pytestmark = requirement("CFG-3")
LIST = ("mcp_servers",)
ENTRY: dict[str, Json] = {
    "command": 'C:\\tools "x"\\tooldrawer.exe',
    "args": ["serve", "--config", "ü\t.yaml"],
    "required": True,
    "startup_timeout_sec": 60,
    "env": {"A B": "\x7f", "C": "d"},
}


def edited(text: str, **changes: Json) -> str:
    return TomlFile(text, name="x.toml").edited(LIST, changes)


def test_a_table_is_added_at_the_end() -> None:
    text = '# mine\nmodel = "x" # why\n\n[profiles.a]\nb = 1'
    assert edited(text, new={"command": "x", "args": ["y"]}) == (
        f'{text}\n\n[mcp_servers.new]\ncommand = "x"\nargs = ["y"]\n'
    )
    assert edited("", new={"command": "x"}) == '[mcp_servers.new]\ncommand = "x"\n'


def test_a_table_is_replaced_where_it_stands_with_all_below_it() -> None:
    text = (
        '[mcp_servers.new]\ncommand = "old"\n\n[mcp_servers.new.env]\nA = "1"\n\n'
        "# of b\n[mcp_servers.b]\ncommand = 'b'\n"
    )
    assert edited(text, new={"command": "x"}) == (
        "[mcp_servers.new]\ncommand = \"x\"\n\n# of b\n[mcp_servers.b]\ncommand = 'b'\n"
    )


def test_a_table_leaves_with_all_below_it_and_comments_of_others_stay() -> None:
    text = (
        '# of a\n[mcp_servers.a]\ncommand = "a"\n\n[mcp_servers.a.env]\nA = "1" # one\n\n'
        "# of b\n[mcp_servers.b]\ncommand = 'b'\n"
    )
    assert edited(text, a=None) == "# of a\n\n# of b\n[mcp_servers.b]\ncommand = 'b'\n"


@quick(80)
@given(toml_files(), st.data())
def test_only_the_list_changes_whatever_the_file_looks_like(text: str, data: st.DataObject) -> None:
    file = TomlFile(text, name="x.toml")
    before = dict(file.entries(LIST) or {})
    gone = data.draw(st.lists(st.sampled_from(sorted(before)), unique=True)) if before else []
    after = file.edited(LIST, {**dict.fromkeys(gone), "tooldrawer": ENTRY})
    value, old = tomllib.loads(after), tomllib.loads(text)
    kept = {key: item for key, item in before.items() if key not in gone}
    assert value.pop("mcp_servers") == {**kept, "tooldrawer": ENTRY}
    old.pop("mcp_servers", None)
    assert value == old


@quick(80)
@given(toml_files())
def test_what_is_there_stays_byte_for_byte(text: str) -> None:
    after = edited(text, tooldrawer=ENTRY)
    assert after.startswith(text)
    assert edited(after, tooldrawer=ENTRY) == after
    assert edited(after, tooldrawer=None).startswith(text)


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { a = { command = "x" } }',
        '[mcp_servers]\ntooldrawer = { command = "x" }',
        'mcp_servers.tooldrawer.command = "x"',
    ],
)
def test_a_list_that_cannot_be_edited_is_left_to_a_person(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        edited(text, tooldrawer=ENTRY)
    assert "x.toml: cannot be edited" in str(caught.value)
    assert "[mcp_servers.name]" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\nb = \n", "x.toml:2: the file is not TOML: "),
        ("[a]\n[a]\n", "x.toml:2: the file is not TOML: "),
        ("a = '''", "x.toml:1: the file is not TOML: "),
        ("mcp_servers = 5", "x.toml: mcp_servers is not a table; expected one."),
    ],
)
def test_a_broken_file_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        edited(text, tooldrawer=ENTRY)
    assert str(caught.value).startswith(words)


def test_what_may_be_secret_is_masked_line_by_line() -> None:
    text = """\
api_key = "one-secret"
model = "kept-model" # kept
[mcp_servers.clock]
command = "kept-command"
args = ["kept", "--token", "two-secret", "--x=1"]
env = { HARMLESS = "three-secret", A_KEY = "${KEPT_KEY}", DATA_DIR = "/kept/data" }
note = "sk-four-secret-0123456789abcdef"
http_headers = { "X-A" = "five-secret" }
[mcp_servers.tide.env]
ANY = '''
six-secret
'''
[other]
name = "kept-name"
"""
    masked = TomlFile(text, name="x.toml").masked()
    assert "secret" not in masked
    assert len(masked.splitlines()) == len(text.splitlines())
    for kept in (
        "kept-model",
        "kept-command",
        '"kept"',
        "--token",
        "kept-name",
        "${KEPT_KEY}",
        "/kept/data",
    ):
        assert kept in masked
