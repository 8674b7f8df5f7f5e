"""Why tool search is active or inactive can be read."""

import json
import sys

import pytest

from tests.cli.catalogs import TOOLS
from tests.cli.shell import Shell
from tests.requirements import requirement

LISTS = ("--catalog", "lists")


@requirement("ACT-7")
def test_explain_names_tokens_threshold_context_length_and_why_each_tool_is_direct(
    library: Shell,
) -> None:
    explained = library.run("explain", "--context-length", "1000", *LISTS, "--json").json
    assert explained["active"] is True
    assert explained["context_length"] == 1000
    assert explained["threshold_tokens"] == 100
    assert explained["deferrable_tokens"] >= 100
    assert f"{explained['deferrable_tokens']:,} tokens" in explained["reason"]
    assert explained["deferred"] == TOOLS
    assert [(tool["name"], tool["why"]) for tool in explained["array"]] == [
        ("tool_search", "bridge"),
        ("tool_describe", "bridge"),
        ("tool_call", "bridge"),
    ]
    assert sum(tool["tokens"] for tool in explained["array"]) <= explained["array_tokens"]


@requirement("ACT-7")
def test_explain_shows_an_open_drawer_when_the_context_is_long(library: Shell) -> None:
    explained = library.run("explain", "--context-length", "128000", *LISTS, "--json").json
    assert explained["active"] is False
    assert explained["threshold_tokens"] == 12_800 > explained["deferrable_tokens"]
    assert explained["deferred"] == 0
    assert len(explained["array"]) == TOOLS
    assert {tool["why"] for tool in explained["array"]} == {"inactive"}
    costs = [tool["tokens"] for tool in explained["array"]]
    assert sum(costs) == explained["deferrable_tokens"]


@pytest.mark.parametrize("length", ["0", "-5"])
def test_a_context_without_tokens_is_refused(library: Shell, length: str) -> None:
    said = library.run("explain", "--context-length", length, *LISTS).refusal
    assert "--context-length" in said
    assert "greater than or equal to 1" in said


@requirement("ACT-7")
def test_explain_tells_people_the_same(library: Shell) -> None:
    closed = library.run("explain", "--context-length", "1000", *LISTS).text
    assert closed.startswith("Tool search is active: ")
    assert "≥ threshold 100 (10 % of 1,000)" in closed
    assert f"{TOOLS} tools are deferred" in closed
    assert "tool_search" in closed
    opened = library.run("explain", *LISTS).text
    assert opened.startswith("Tool search is inactive: ")
    assert "< threshold 20,000 (10 % of 200,000)" in opened
    assert f"All {TOOLS} tools are shown" in opened
    assert "mcp_garage_check_tyres" in opened


@requirement("ACT-7")
def test_explain_says_which_tools_are_core_and_which_are_pinned(library: Shell) -> None:
    config = library.write(
        "config.yaml",
        "tools:\n"
        "  tool_search: {enabled: on}\n"
        '  core: {add: ["mcp_garage_check_*"]}\n'
        '  pinned: ["mcp_weather_get_tides"]\n',
    )
    explained = library.run("explain", *LISTS, "--config", config, "--json").json
    why = {tool["name"]: tool["why"] for tool in explained["array"]}
    assert why["mcp_garage_check_tyres"] == "core"
    assert why["mcp_weather_get_tides"] == "pinned"
    assert explained["deferred"] == TOOLS - 2
    shown = library.run("explain", *LISTS, "--config", config).text
    assert ["mcp_weather_get_tides", "pinned"] in [line.split()[:2] for line in shown.splitlines()]


@requirement("ACT-7")
def test_explain_says_that_a_server_which_is_tried_again_keeps_the_bridge(shell: Shell) -> None:
    echo = json.dumps({"command": sys.executable, "args": ["-m", "tooldrawer.bench.peers.echo"]})
    servers = f"mcp_servers:\n  echo: {echo}\n  brief: {{command: 'true'}}\n"
    config = shell.write("config.yaml", servers + "  gone: {command: no-such-program}\n")
    explained = shell.run("explain", "--config", config)
    assert explained.out.startswith("Tool search is inactive: ")
    assert "The tools of brief are not known yet: while that is so, an agent is" in explained.out
    assert json.loads(shell.run("explain", "--config", config, "--json").out)["starting"] == [
        "brief"
    ]
    off = shell.write("off.yaml", f"tools: {{tool_search: false}}\n{servers}")
    assert "not known yet" not in shell.run("explain", "--config", off).out
