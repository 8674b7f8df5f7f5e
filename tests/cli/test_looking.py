"""Recorded lists can be searched, listed and read, by people and by programs."""

import pytest

from tests.cli.catalogs import LIBRARY, TOOLS, TOOLSETS, WEATHER
from tests.cli.shell import Shell

LISTS = ("--catalog", "lists")
QUIET = 'scopes:\n  quiet: {toolsets: [mcp-library], deny: ["*delete*"]}\n'


def test_find_shows_the_best_tool_first(library: Shell) -> None:
    lines = library.run("find", "weather forecast for a city", *LISTS).text.splitlines()
    assert lines[0].split() == ["tool", "what", "it", "does", "score"]
    assert "mcp_weather_get_forecast" in lines[2]
    assert "Get the weather forecast of a city." in lines[2]


def test_find_gives_programs_name_toolset_score_description_and_signature(library: Shell) -> None:
    found = library.run("find", "borrowed books", "--limit", "2", *LISTS, "--json").json
    assert found["query"] == "borrowed books"
    assert len(found["matches"]) == 2
    best = found["matches"][0]
    assert best["name"] == "mcp_library_list_loans"
    assert best["toolset"] == "mcp-library"
    assert best["description"] == LIBRARY[2]["description"]
    assert best["signature"] == "(reader: string)"
    assert best["score"] > found["matches"][1]["score"] > 0


def test_find_says_so_when_nothing_fits(library: Shell) -> None:
    assert library.run("find", "zzzz", *LISTS).text.startswith("No tool fits.")
    assert library.run("find", "zzzz", *LISTS, "--json").json == {"query": "zzzz", "matches": []}


def test_tools_counts_the_toolsets_and_their_tokens(library: Shell) -> None:
    rows = [line.split() for line in library.run("tools", *LISTS).text.splitlines()[2:]]
    names, counts = [row[0] for row in rows], [int(row[1]) for row in rows]
    tokens = [int(row[2].replace(",", "")) for row in rows]
    assert names == [*TOOLSETS, "total"]
    assert counts == [*map(len, TOOLSETS.values()), TOOLS]
    assert sum(tokens[:-1]) == tokens[-1] > 0


def test_tools_gives_programs_every_tool_with_its_cost(library: Shell) -> None:
    groups = library.run("tools", *LISTS, "--json").json
    assert list(groups) == list(TOOLSETS)
    for name, group in groups.items():
        assert len(group["tools"]) == len(TOOLSETS[name])
        assert group["tokens"] == sum(tool["tokens"] for tool in group["tools"])
    described = {tool["name"]: tool["description"] for tool in groups["mcp-weather"]["tools"]}
    assert described["mcp_weather_get_tides"] == WEATHER[1]["description"]


def test_tools_of_one_toolset_are_shown_by_name(library: Shell) -> None:
    one = ("tools", "--toolset", "mcp-garage", *LISTS)
    lines = library.run(*one).text.splitlines()
    assert [line.split()[0] for line in lines[2:]] == [
        "mcp_garage_book_service",
        "mcp_garage_check_tyres",
        "mcp_garage_estimate_repair",
        "mcp_garage_list_mechanics",
        "mcp_garage_order_part",
    ]
    assert list(library.run(*one, "--json").json) == ["mcp-garage"]


def test_a_single_file_is_a_catalog_too(library: Shell) -> None:
    groups = library.run("tools", "--catalog", "lists/books.json", "--json").json
    assert list(groups) == ["mcp-library"]


@pytest.mark.parametrize(
    "name", ["mcp_library_renew_loan", "library.renew_loan", "library/renew_loan", "Renew_Loan"]
)
def test_describe_takes_any_notation_and_answers_with_the_real_name(
    library: Shell, name: str
) -> None:
    described = library.run("describe", name, *LISTS, "--json").json
    assert described["name"] == "mcp_library_renew_loan"
    assert described["description"] == LIBRARY[3]["description"]
    assert described["parameters"] == LIBRARY[3]["inputSchema"]


def test_describe_shows_people_signature_description_toolset_and_schema(library: Shell) -> None:
    text = library.run("describe", "renew_loan", *LISTS).text
    assert text.splitlines()[0] == "mcp_library_renew_loan(book: string, weeks?: integer)"
    assert "Extend the loan of a book." in text
    assert "toolset: mcp-library" in text
    assert '"minimum": 1' in text


def test_a_scope_hides_what_it_does_not_admit(library: Shell) -> None:
    scoped = (*LISTS, "--config", library.write("quiet.yaml", QUIET), "--scope", "quiet")
    groups = library.run("tools", *scoped, "--json").json
    assert list(groups) == ["mcp-library"]
    assert len(groups["mcp-library"]["tools"]) == len(LIBRARY) - 1
    found = library.run("find", "delete a reader", *scoped, "--json").json
    assert "mcp_library_delete_reader" not in {match["name"] for match in found["matches"]}
    assert "delete_reader" not in library.run("describe", "delete_reader", *scoped).refusal.replace(
        "'delete_reader'", ""
    )
    explained = library.run("explain", *scoped, "--json").json
    assert len(explained["array"]) == len(LIBRARY) - 1


def test_the_settings_of_a_configuration_hold_for_recorded_lists(library: Shell) -> None:
    config = library.write("config.yaml", "tools: {name_template: '{server}--{tool}'}\n")
    described = library.run("describe", "get_tides", *LISTS, "--config", config, "--json").json
    assert described["name"] == "weather--get_tides"


def test_toolsets_of_the_configuration_are_found_without_any_option(workshop: Shell) -> None:
    found = workshop.run("find", "how heavy is it", "--json").json
    assert found["matches"][0]["name"] == "measure_weight"
    assert list(workshop.run("tools", "--json").json) == ["workshop"]


def test_a_server_that_cannot_be_started_is_named_and_the_rest_is_shown(workshop: Shell) -> None:
    workshop.write("both.yaml", 'toolsets: ["workshop:tools"]\nmcp_servers: {mail: {command: x}}\n')
    ran = workshop.run("tools", "--config", "both.yaml", "--json")
    assert ran.code == 0
    assert "workshop" in ran.out
    assert "mail is not available: The server 'mail' cannot be started" in ran.err


def test_several_servers_that_are_not_there_are_one_line_that_says_where_to_look(
    workshop: Shell,
) -> None:
    workshop.write(
        "both.yaml",
        'toolsets: ["workshop:tools"]\nmcp_servers:\n  mail: {command: x}\n  post: {comand: y}\n'
        "scopes: {desk: {toolsets: [workshop]}}\n",
    )
    options = ("--config", "both.yaml")
    ran = workshop.run("tools", *options)
    line = (
        "2 servers are not available: mail, post; `tooldrawer tools --toolset mcp-mail` tells why."
    )
    assert (ran.code, ran.err) == (0, f"{line}\n")
    assert workshop.run("tools", *options, "--scope", "desk").err == ""
    told = workshop.run("tools", "--toolset", "mcp-mail", *options).refusal
    assert told.startswith("mail is not available: The server 'mail' cannot be started")
    assert workshop.run("describe", "measure_length", *options).err == ""
    told = workshop.run("describe", "mcp_post_send", *options).refusal
    assert "post is not available: " in told
    assert "mcp_servers.post.comand is not a known key" in told


def test_a_call_speaks_only_of_the_server_that_it_needs(workshop: Shell) -> None:
    workshop.write(
        "both.yaml",
        'toolsets: ["workshop:tools"]\nmcp_servers: {mail: {command: x}, post: {command: y}}\n',
    )
    options = ("--config", "both.yaml")
    assert workshop.run("call", "count_nails", "--args", '{"boxes": 1}', *options).text == "100\n"
    told = workshop.run("call", "mcp_mail_send", *options).refusal
    assert "mail is not available: The server 'mail' cannot be started" in told
    assert "post" not in told
