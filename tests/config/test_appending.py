"""Servers are added to a file that is there, and nothing else in it changes."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import quick
from tests.requirements import requirement
from tooldrawer.config.appending import with_servers, written_servers
from tooldrawer.config.document import Document
from tooldrawer.errors import ConfigError
from tooldrawer.upstream.spec import UpstreamSpec

pytestmark = requirement("CFG-3")
CLOCK = UpstreamSpec(name="clock", command="clockd")


def added(text: str, *servers: UpstreamSpec) -> str:
    return with_servers(text, servers or [CLOCK], name="x.yaml")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "mcp_servers:\n  clock:\n    command: clockd\n"),
        (
            "# mine\nmodel: {}",
            "# mine\nmodel: {}\n\nmcp_servers:\n  clock:\n    command: clockd\n",
        ),
        (
            "mcp_servers:\n    tide: {command: tided} # why\n\n# the model\nmodel: {}\n",
            "mcp_servers:\n    tide: {command: tided} # why\n"
            "    clock:\n      command: clockd\n\n# the model\nmodel: {}\n",
        ),
        (
            "mcp_servers:\n  tide:\n    command: t\n    env:\n      A: |\n        b\n        c\n",
            "mcp_servers:\n  tide:\n    command: t\n    env:\n      A: |\n        b\n        c\n"
            "  clock:\n    command: clockd\n",
        ),
        (
            "mcp_servers:\n  tide: {command: tided}",
            "mcp_servers:\n  tide: {command: tided}\n  clock:\n    command: clockd\n",
        ),
        (
            "mcp_servers: # none yet\nmodel: {}\n",
            "mcp_servers: # none yet\n  clock:\n    command: clockd\nmodel: {}\n",
        ),
        ("mcp_servers: {}\n", "mcp_servers:\n  clock:\n    command: clockd\n"),
        ("mcp_servers: ~\nmodel:\n", "mcp_servers:\n  clock:\n    command: clockd\nmodel:\n"),
        (
            "mcp_servers: {tide: {command: tided}}\n",
            "mcp_servers: {tide: {command: tided}, clock: {command: clockd}}\n",
        ),
        (
            "model:\r\nmcp_servers:\r\n  tide: {command: tided}\r\n",
            "model:\r\nmcp_servers:\r\n  tide: {command: tided}\r\n"
            "  clock:\r\n    command: clockd\r\n",
        ),
    ],
)
def test_servers_find_their_place(before: str, after: str) -> None:
    assert added(before) == after


def test_all_that_a_server_has_is_written() -> None:
    server = UpstreamSpec(
        name="clock",
        command="clock d",
        args=("-y", "a: b", "true", "", 'q"\\', "日本 😀", "line\nend\x85"),
        env={"A": "1", "x y": "${B}"},
        cwd="/srv",
        enabled=False,
        timeout=7.5,
        allow=("now",),
        deny=("stop*",),
    )
    value: Any = Document(added("", server)).value
    (found,) = value["mcp_servers"].values()
    assert found == {
        "command": "clock d",
        "args": list(server.args),
        "env": {"A": "1", "x y": "${B}"},
        "cwd": "/srv",
        "enabled": False,
        "timeout": 7.5,
        "allow": ["now"],
        "deny": ["stop*"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "{model: {}}",
        "mcp_servers: &a {x: {command: y}}\nother: *a",
        "base: &a\n  x: {command: y}\nmcp_servers: *a\n",
        "mcp_servers: [a]",
        "mcp_servers: { # not yet\n}",
        "- a",
        "model: {}\n...\n",
    ],
)
def test_a_file_that_cannot_be_added_to_is_left_to_a_person(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        added(text)
    assert str(caught.value).startswith("x.yaml: cannot be added to as it is written")


def test_a_broken_file_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError) as caught:
        added("model: {}\ntools: [\n")
    assert str(caught.value).startswith("x.yaml:2: the file is not YAML: ")


def test_servers_are_read_as_they_are_written() -> None:
    text = "mcp_servers:\n  clock: {command: clockd, args: ['${A}'], lazy: true}\n  odd: 5\n"
    clock, odd = written_servers(text, name="x.yaml")
    assert (clock.name, clock.args, odd.name) == ("clock", ("${A}",), "odd")
    assert written_servers("model: {}", name="x.yaml") == []


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
servers = st.builds(
    UpstreamSpec,
    name=st.sampled_from(["clock", "tide.2", "Moon_3"]),
    command=st.text(min_size=1, max_size=8),
    args=st.lists(st.text(max_size=8), max_size=3).map(tuple),
    env=st.dictionaries(st.text(max_size=4), st.text(max_size=8), max_size=2),
)


@quick(80)
@given(
    st.dictionaries(st.sampled_from(["model", "mcp_servers", "x", "scopes"]), values),
    st.lists(servers, min_size=1, max_size=3, unique_by=lambda one: one.name),
)
def test_whatever_the_file_says_it_still_says(
    value: dict[str, Any], new: list[UpstreamSpec]
) -> None:
    lines = [f"{key}: {json.dumps(item)} # about {key}" for key, item in value.items()]
    text = "\n".join(lines)
    with suppress(ConfigError):
        after = Document(with_servers(text, new, name="x.yaml"))
        assert after.mistakes == []
        found: Any = after.value
        listed = found.pop("mcp_servers")
        assert {key: item for key, item in value.items() if key != "mcp_servers"} == found
        assert {one.name for one in new} <= set(listed)
        for one in new:
            assert listed[one.name]["command"] == one.command
            assert listed[one.name].get("args", []) == list(one.args)
