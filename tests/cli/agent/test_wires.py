"""An agent works the same over every wire, with the provider's own deferral and without."""

import pytest

from tests.cli.shell import Shell
from tests.models.script import Call, Say, Search
from tests.models.server import scripted
from tests.requirements import requirement

CLOSED = 'toolsets: ["workshop:tools"]\ntools: {tool_search: {enabled: on}}\n'
WIRES = [("chat", "/v1"), ("responses", "/v1"), ("anthropic", "")]


@requirement("AF-2")
@pytest.mark.parametrize(("wire", "path"), WIRES)
def test_a_tool_is_found_and_called_over_every_wire(workshop: Shell, wire: str, path: str) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    arguments = {"name": "measure_length", "arguments": {"item": "plank"}}
    with scripted(Search("how long"), Call("tool_call", arguments), Say("40 mm.")) as server:
        options = ("--wire", wire, "--base-url", server.url + path, "--bridge", "portable")
        ran = workshop.run("run", *options, "--model", "scripted", "how long is the plank?")
    assert (ran.code, ran.out) == (0, "40 mm.\n")
    searched, called, _ = ran.err.splitlines()
    assert searched.startswith("· searched 'how long': ")
    assert called.startswith('✓ measure_length(item: "plank")  ')


@requirement("AF-2")
@pytest.mark.parametrize(("wire", "path"), WIRES[1:])
def test_a_provider_that_defers_by_itself_is_told_what_was_found(
    workshop: Shell, wire: str, path: str
) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    called = Call("measure_length", {"item": "plank"})
    with scripted(Search("how long"), called, Say("40 mm.")) as server:
        options = ("--wire", wire, "--base-url", server.url + path, "--bridge", "native")
        ran = workshop.run("run", *options, "--model", "scripted", "how long is the plank?")
    assert (ran.code, ran.out) == (0, "40 mm.\n")
    assert "✓ measure_length(" in ran.err
    assert "measure_length" not in server.seen[0].names


def test_an_endpoint_that_does_not_defer_is_asked_in_the_portable_way(workshop: Shell) -> None:
    workshop.write("tooldrawer.yaml", CLOSED)
    with scripted(Search("how long"), Say("Here."), native=False) as server:
        options = ("--wire", "anthropic", "--base-url", server.url, "--model", "claude-opus-4-5")
        ran = workshop.run("run", *options, "hello")
    assert (ran.code, ran.out) == (0, "Here.\n")
    assert "portable bridge" in ran.err
