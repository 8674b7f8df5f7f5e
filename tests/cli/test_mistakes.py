"""What is typed or stored wrongly is answered with a sentence, exit code 2, and nothing else."""

import pytest

from tests.cli.shell import Shell

LISTS = ("--catalog", "lists")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("frobnicate",), "No such command 'frobnicate'. See tooldrawer --help."),
        (("config", "chek"), "Did you mean 'check'? See tooldrawer config --help."),
        (("find", *LISTS), "Missing argument 'query'. See tooldrawer find --help."),
        (("find", "books", "--frobnicate"), "No such option: --frobnicate"),
        (("find", "books", "--limit", "0", *LISTS), "'--limit'"),
        (("find", "books", "--limit", "51", *LISTS), "'--limit'"),
        (("find", "books", "--limit", "many", *LISTS), "'--limit'"),
        (("explain", "--context-length", "long", *LISTS), "'--context-length'"),
    ],
)
def test_a_command_that_is_typed_wrongly_points_to_the_help(
    library: Shell, arguments: tuple[str, ...], words: str
) -> None:
    said = library.run(*arguments).refusal
    assert words in said
    assert "See tooldrawer " in said
    assert said.endswith(" --help.\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("describe", "renew_lone", *LISTS), "did you mean mcp_library_renew_loan?"),
        (("call", "zzzz", *LISTS), "There is no tool named 'zzzz'; search for what it does with"),
        (("tools", "--toolset", "bank", *LISTS), "there are mcp-garage, mcp-library, mcp-weather."),
        (("tools", "--scope", "triage", *LISTS), "say which one with --config"),
        (("call", "list_alerts", "--args", "{city", *LISTS), "--args is not JSON"),
        (("call", "list_alerts", "--args", "[1]", *LISTS), "--args is JSON, but not an object"),
        (("call", "get_tides", *LISTS), '"harbour" is a required property'),
    ],
)
def test_what_does_not_exist_or_fit_is_named(
    library: Shell, arguments: tuple[str, ...], words: str
) -> None:
    assert words in library.run(*arguments).refusal


def test_a_scope_that_is_not_configured_is_named_with_those_that_are(workshop: Shell) -> None:
    said = workshop.run("tools", "--scope", "triage").refusal
    assert said == "There is no scope named 'triage'; configured are: measuring.\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.json", None, "missing.json: cannot be read: No such file or directory."),
        ("text.json", b"tools: []", "text.json: is not JSON: "),
        ("binary.json", b"\x89PNG\r\n\x1a\n\xff", "binary.json: is not UTF-8 text"),
        ("other.json", b'{"servers": []}', "other.json: holds no tools; expected a list of tools"),
        ("number.json", b"7", "number.json: holds no tools"),
        (
            "tool.json",
            b'[{"name": "a"}, {"title": "b"}]',
            "tools[1] is not an object with a 'name'",
        ),
        ("none.json", b"[]", "There are no tools here"),
        ("empty/readme.txt", b"", "empty: has no *.json file"),
        ("twice/a.json", b'{"server": "b", "tools": []}', "a second list of the server 'b'"),
    ],
)
def test_a_catalog_that_cannot_be_used_is_named_with_the_reason(
    shell: Shell, name: str, content: bytes | None, words: str
) -> None:
    folder, _, inside = name.rpartition("/")
    if content is not None:
        (shell.folder / folder).mkdir(exist_ok=True)
        (shell.folder / name).write_bytes(content)
        (shell.folder / "twice").mkdir(exist_ok=True)
        (shell.folder / "twice" / "b.json").write_text("[]", encoding="utf-8")
    catalog = folder if inside and folder else name
    assert words in shell.run("tools", "--catalog", catalog).refusal


def test_without_any_configuration_it_says_what_to_write_or_name(shell: Shell) -> None:
    said = shell.run("tools").refusal
    assert "There is no tooldrawer.yaml in this folder or in " in said
    assert str(shell.folder / "home") in said
    assert "--config" in said
    assert "--catalog" in said
    checked = shell.run("config", "check").refusal
    assert "--config" in checked
    assert "--catalog" not in checked


def test_a_configuration_that_is_not_there_is_named(shell: Shell) -> None:
    said = shell.run("tools", "--config", "mine.yaml").refusal
    assert "mine.yaml: cannot be read: No such file or directory." in said


def test_every_mistake_of_a_configuration_is_told_at_once_with_its_line(shell: Shell) -> None:
    config = "tools:\n  tool_serch: true\nmodel: {context_length: long}\nscopes: [a]\n"
    shell.write("tooldrawer.yaml", config)
    for command in (("tools",), ("config", "check")):
        lines = shell.run(*command).refusal.splitlines()
        assert len(lines) == 3
        assert "tooldrawer.yaml:2: tools.tool_serch " in lines[0]
        assert "did you mean 'tool_search'?" in lines[0]
        assert "tooldrawer.yaml:3: model.context_length " in lines[1]
        assert "tooldrawer.yaml:4: scopes " in lines[2]


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("raise RuntimeError('no licence')", "no licence"),
        ("import module_that_nobody_has", "module_that_nobody_has"),
        ("tool = 1", "has no 'tools'"),
        ("tools = 1", "not a toolset"),
        ("import sys; sys.exit(7)", "acme cannot be imported"),
    ],
)
def test_a_toolset_that_cannot_be_imported_is_a_mistake_of_the_configuration(
    shell: Shell, module: str, words: str
) -> None:
    shell.write("acme.py", module)
    shell.write("tooldrawer.yaml", 'toolsets: ["acme:tools"]\n')
    said = shell.run("tools").refusal
    assert "tooldrawer.yaml:1: toolsets[0] " in said
    assert "acme:tools" in said
    assert words in said


BROKEN = """
from tooldrawer import FunctionToolset


class Broken(FunctionToolset):
    def tools(self):
        raise RuntimeError("the list\\nis torn")


tools = Broken("torn")


async def hook(call, proceed):
    raise RuntimeError("the hook is bent")
"""


def test_a_toolset_that_cannot_list_its_tools_is_named(shell: Shell) -> None:
    shell.write("acme.py", BROKEN)
    shell.write("tooldrawer.yaml", 'toolsets: ["acme:tools"]\n')
    said = shell.run("tools").refusal
    assert said == "The toolset 'torn' cannot list its tools: the list is torn.\n"
    assert len(said.splitlines()) == 1


def test_an_error_inside_is_one_sentence_and_a_way_to_see_more(shell: Shell) -> None:
    shell.write("acme.py", ODD)
    shell.write("tooldrawer.yaml", 'toolsets: ["acme:tools"]\n')
    said = shell.run("find", "anything").refusal
    assert said.startswith("Something went wrong inside tooldrawer (TypeError: ")
    assert len(said.splitlines()) == 1
    seen = shell.with_variables(TOOLDRAWER_TRACEBACK="1").run("find", "anything")
    assert "Traceback" in seen.err


ODD = """
from tooldrawer import Tool


class Odd:
    name = "odd"

    def tools(self):
        return (Tool(name="x", description=3),)

    async def run(self, tool, call): ...


tools = Odd()
"""


def test_a_hook_that_breaks_is_told_in_words(workshop: Shell) -> None:
    workshop.write("acme.py", BROKEN)
    config = 'toolsets: ["workshop:tools"]\nhooks: ["acme:hook"]\n'
    workshop.write("tooldrawer.yaml", config)
    ran = workshop.run("call", "measure_length", "--args", '{"item": "plank"}')
    assert (ran.code, ran.out) == (2, "")
    assert "the hook is bent" in ran.err
    assert "Traceback" not in ran.err


def test_config_check_refuses_a_scope_with_a_toolset_that_is_not_configured(shell: Shell) -> None:
    servers = "mcp_servers: {github: {command: githubd}}\n"
    file = shell.write("own.yaml", f"{servers}scopes: {{triage: {{disabled_toolsets: [githb]}}}}\n")
    said = shell.run("config", "check", file).refusal
    assert "scopes.triage.disabled_toolsets: 'githb' is not a configured server or toolset" in said
    assert "did you mean 'mcp-github'?" in said
    file = shell.write(
        "own.yaml", f"{servers}scopes: {{triage: {{disabled_toolsets: [github]}}}}\n"
    )
    assert shell.run("config", "check", file).code == 0
