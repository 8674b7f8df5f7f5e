"""Which Python functions can be tools, and what is said of the others."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from tests.requirements import requirement
from tooldrawer import Drawer, Function, FunctionToolset, errors
from tooldrawer.activity import CallFailed, CallFinished

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


def test_a_lambda_without_a_name_is_refused_with_its_place() -> None:
    def identity() -> Any:
        return lambda number=1: number

    for function in (identity(), partial(identity(), number=2)):
        with pytest.raises(errors.UnsupportedFunction) as refused:
            FunctionToolset("odd", [function])
        assert f"The lambda at {__file__}:" in str(refused.value)
        assert 'Function(lambda ..., name="...")' in str(refused.value)


async def test_a_lambda_with_a_name_is_a_tool() -> None:
    toolset = FunctionToolset("sums", [Function(lambda: 1 + 1, name="two")])
    assert (await Drawer([toolset]).session().call("two")).text == "2"


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("not printable")


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def _nest(levels: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(levels):
        nested = [nested]
    return nested


@requirement("DSP-3")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Node, "<class 'tests.behaviour.test_functions.Node'>"),
        ([1, Machine], "[1, <class 'tests.behaviour.test_functions.Machine'>]"),
        (b"\xff\x00", r"b'\xff\x00'"),
        (_circle(), "[[...]]"),
        (_nest(5_000), None),
        (10**5_000, None),
        (Unprintable(), None),
    ],
    ids=["class", "inside", "bytes", "circle", "deep", "number", "unprintable"],
)
async def test_a_function_whose_result_is_not_json_is_reported_as_run(
    value: object, shown: str | None, *, is_async: bool
) -> None:
    def work() -> object:
        return value

    async def work_async() -> object:
        return value

    function = Function(work_async if is_async else work, name="work")
    drawer = Drawer([FunctionToolset("jobs", [function])])
    result = await drawer.session().call("work")
    assert not result.is_error
    *texts, note = [block["text"] for block in result.content]
    assert texts == ([] if shown is None else [shown])
    how = "cannot be shown" if shown is None else "is shown as Python writes it"
    assert note == (
        f"[The function ran. Its result ({type(value).__name__}) is not JSON and {how}. "
        "Do not repeat the call for that reason.]"
    )
    ends = [event for event in drawer.activity if isinstance(event, CallFinished | CallFailed)]
    assert [type(event) for event in ends] == [CallFinished]
