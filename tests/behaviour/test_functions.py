"""Which Python functions can be tools, and what is said of the others."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any

import anyio.lowlevel
import numpy as np
import pytest

from tests.requirements import requirement
from tooldrawer import Config, Drawer, Function, FunctionToolset, Limits, errors
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


async def count(start: int) -> int:
    """Count on."""
    await anyio.lowlevel.checkpoint()
    return start + 1


@wraps(count)
def count_in_a_wrapper(start: int) -> Awaitable[int]:
    return count(start)


async def count_later(start: int) -> Awaitable[int]:
    return count(start)


def count_up(start: int) -> Iterator[int]:
    yield start + 1


async def count_up_async(start: int) -> AsyncIterator[int]:
    await anyio.lowlevel.checkpoint()
    yield start + 1


@requirement("DSP-3")
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (count_in_a_wrapper, "2"),
        (count_later, "2"),
        (lambda start: count(start), "2"),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        (count_up, "[2]"),
        (count_up_async, "[2]"),
        (partial(count_up_async), "[2]"),
    ],
    ids=[
        "wrapper",
        "coroutine of a coroutine",
        "lambda",
        "generator",
        "async generator",
        "partial",
    ],
)
async def test_work_that_a_function_returns_is_done_before_the_call_ends(
    function: Callable[..., object], said: str
) -> None:
    drawer = Drawer([FunctionToolset("jobs", [Function(function, name="work")])])
    result = await drawer.session().call("work", {"start": 1})
    assert (result.text, result.is_error) == (said, False)


@contextmanager
def lend(start: int) -> Generator[int]:
    yield start


@asynccontextmanager
async def lend_async(start: int) -> AsyncGenerator[int]:
    yield start


@requirement("DSP-9")
@pytest.mark.parametrize("function", [lend, lend_async])
async def test_a_context_manager_that_was_not_entered_is_a_failure(
    function: Callable[..., object],
) -> None:
    drawer = Drawer([FunctionToolset("jobs", [Function(function, name="work")])])
    result = await drawer.session().call("work", {"start": 1})
    assert result.is_error
    assert "its code has not run" in result.text
    assert "Tell the user" in result.text


async def test_a_generator_that_breaks_is_a_failure_with_its_own_reason() -> None:
    def work() -> Iterator[int]:
        yield 1
        raise ValueError("the second page is missing")

    result = await Drawer([FunctionToolset("jobs", [work])]).session().call("work")
    assert (result.text, result.is_error) == ("'work' failed: the second page is missing", True)


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_generator_without_an_end_is_stopped(*, is_async: bool) -> None:
    def work() -> Iterator[int]:
        while True:
            yield 1

    async def work_async() -> AsyncIterator[int]:
        while True:
            yield 1

    function = Function(work_async if is_async else work, name="work")
    config = Config(limits=Limits(result_max_chars=1_000_000))
    drawer = Drawer([FunctionToolset("jobs", [function])], config=config)
    result = await drawer.session().call("work")
    assert not result.is_error
    assert "[The function was stopped after 100,000 items; the result has those.]" in result.text


@requirement("DSP-3")
@pytest.mark.parametrize(
    ("value", "said"),
    [(np.int64(3), "3"), (np.bool_(1), "true"), ({"size": np.float32(0.5)}, '{"size":0.5}')],
)
async def test_a_scalar_of_numpy_is_a_number(value: object, said: str) -> None:
    def work() -> object:
        return value

    result = await Drawer([FunctionToolset("jobs", [work])]).session().call("work")
    assert result.text == said


def test_two_functions_of_one_name_are_refused_at_once_and_replaced_later() -> None:
    def plus(one: int) -> int:
        """Add."""
        return one + 1

    with pytest.raises(errors.UnsupportedFunction, match="two functions named 'plus'"):
        FunctionToolset("sums", [plus, Function(plus, description="Another.")])
    toolset = FunctionToolset("sums", [plus])
    toolset.add(Function(plus, description="Another."))
    assert [tool.description for tool in toolset.tools()] == ["Another."]


class Plain:
    """Weigh a letter."""

    def __call__(self, grams: int) -> int:
        return grams


class Documented(Plain):
    """Not this."""

    def __call__(self, grams: int) -> int:
        """Weigh a parcel."""
        return grams


@pytest.mark.parametrize(
    ("function", "said"), [(Plain(), "Weigh a letter."), (Documented(), "Weigh a parcel.")]
)
def test_an_object_without_a_docstring_on_its_call_has_that_of_its_class(
    function: Callable[..., object], said: str
) -> None:
    (tool,) = FunctionToolset("post", [function]).tools()
    assert tool.description == said
