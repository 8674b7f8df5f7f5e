"""Which Python functions can be tools, and what is said of the others."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from tooldrawer import Drawer, FunctionToolset, errors

pytestmark = pytest.mark.anyio

Tree = list["Tree"]


class Machine:
    """Not a function."""

    def __init__(self, size: int) -> None:
        self.size = size


def many(*names: str) -> None: ...


def first_only(name: str, /) -> None: ...


def plant(tree: Tree, depth: int) -> None: ...


def use(machine: Machine) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (many, "The parameter 'names' of the function 'many' cannot be given by name"),
        (first_only, "The parameter 'name' of the function 'first_only' cannot be given by name"),
        (plant, "The type of the parameter 'tree' of the function 'plant' cannot be described"),
        (use, "The type of the parameter 'machine' of the function 'use' cannot be described"),
        (Machine, "'Machine' is a class, and a tool is a function"),
        (max, "The function 'max' has no signature"),
        (5, "5 is not a function"),
    ],
)
def test_a_function_that_a_model_cannot_call_is_refused_with_the_reason(
    function: Any, said: str
) -> None:
    with pytest.raises(errors.UnsupportedFunction) as refused:
        FunctionToolset("odd", [function])
    assert str(refused.value).startswith(said)


@dataclass
class Node:
    name: str
    children: "list[Node]" = field(default_factory=list["Node"])


async def test_a_parameter_may_have_a_class_that_contains_itself() -> None:
    def count(node: Node) -> int:
        return 1 + sum(map(count, node.children))

    nested = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}
    session = Drawer([FunctionToolset("trees", [count])]).session()
    assert (await session.call("count", {"node": nested})).text == "3"


async def test_a_function_with_arguments_filled_in_is_offered_without_them() -> None:
    def greet(name: str, greeting: str = "Hello") -> str:
        """Greet somebody."""
        return f"{greeting}, {name}."

    toolset = FunctionToolset("manners", [partial(greet, greeting="Good day")])
    assert [(tool.name, tool.description) for tool in toolset.tools()] == [
        ("greet", "Greet somebody.")
    ]
    result = await Drawer([toolset]).session().call("greet", {"name": "Ada"})
    assert result.text == "Good day, Ada."
