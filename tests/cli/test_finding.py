"""`find` says why a tool ranks, to people and to programs."""

import json

import pytest

from tests.cli.shell import Shell
from tests.requirements import requirement

LISTS = ("--catalog", "lists")
PARTS = ("words", "meaning", "coverage", "server", "verb")


def test_explain_shows_the_words_in_common_and_the_parts_of_each_score(library: Shell) -> None:
    shown = library.run("find", "renew a loaned book", *LISTS, "--explain").text.splitlines()
    head, first = shown[0].split(), shown[2].split()
    assert head == ["tool", "words", "in", "common", *PARTS, "score"]
    assert first[0] == "mcp_library_renew_loan"
    assert "renew, loaned, book" in shown[2]
    *parts, score = map(float, first[-len(PARTS) - 1 :])
    assert sum(parts) == pytest.approx(score, abs=0.05)


def test_explain_says_of_an_exact_name_that_it_is_one(library: Shell) -> None:
    shown = library.run("find", "renewLoan", *LISTS, "--explain").text.splitlines()
    assert shown[0].split()[-2:] == ["name", "score"]
    named = {line.split()[0]: float(line.split()[-2]) for line in shown[2:]}
    assert named.pop("mcp_library_renew_loan") > 0
    assert set(named.values()) <= {0.0}


def test_explain_says_so_when_nothing_fits(library: Shell) -> None:
    assert library.run("find", "!?", *LISTS, "--explain").text.startswith("No tool fits.")


def test_programs_are_given_the_parts_of_each_score_and_the_words_in_common(library: Shell) -> None:
    matches = library.run("find", "renew a loaned book", *LISTS, "--json").json["matches"]
    assert matches[0]["matched"] == ["renew", "loaned", "book"]
    for match in matches:
        assert tuple(match["parts"]) == PARTS
        assert sum(match["parts"].values()) == pytest.approx(match["score"], abs=0.01)


@requirement("BR-10")
@pytest.mark.parametrize(
    ("settings", "options", "count"),
    [
        ("max_search_limit: 3", (), 3),
        ("max_search_limit: 3", ("--limit", "5"), 3),
        ("max_search_limit: 3", ("--limit", "2"), 2),
        ("search_default_limit: 4", (), 4),
    ],
)
def test_find_shows_as_many_tools_as_the_configuration_allows(
    library: Shell, settings: str, options: tuple[str, ...], count: int
) -> None:
    config = library.write("limits.yaml", f"tools: {{tool_search: {{{settings}}}}}\n")
    asked = ("find", "list", *LISTS, "--config", config, *options)
    assert len(library.run(*asked, "--json").json["matches"]) == count


def test_many_new_tools_are_said_to_be_read_once_and_known_ones_never(shell: Shell) -> None:
    text = "Sharpen saws, knives, axes and whatever else is blunt in the house. " * 6
    tools = [{"name": f"hone_{at}", "description": f"{at} {text}"} for at in range(300)]
    lists = ("--catalog", shell.write("hone.json", json.dumps({"tools": tools})))
    fresh = shell.with_variables(XDG_CACHE_HOME=str(shell.folder / "cache"))
    first = fresh.run("find", "sharpen an axe", *lists)
    assert first.code == 0
    (said,) = first.err.splitlines()
    assert said.startswith("Reading ")
    assert said.endswith("tools for search by meaning; the next time they are known.")
    again = fresh.run("find", "sharpen an axe", *lists)
    assert (again.code, again.err, again.out) == (0, "", first.out)
