"""Python functions as a toolset: the schema from type hints and docstring."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, cast, get_type_hints

import docstring_parser

from tooldrawer.call import ToolCall, ToolResult, thawed
from tooldrawer.errors import InvalidArguments, UnsupportedFunction
from tooldrawer.function_results import run_function
from tooldrawer.tool import NO_PARAMETERS, Json, JsonObject, Tool

if TYPE_CHECKING:
    import pydantic

_LAMBDA = "<lambda>"
_NESTED = ("properties", "$defs", "patternProperties")
_LISTED = ("anyOf", "allOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not")


@dataclass(frozen=True, slots=True)
class Function:
    """A function, and what to say about it beyond its signature and docstring."""

    function: Callable[..., object]
    name: str | None = None
    description: str | None = None
    read_only: bool = False
    """It changes nothing."""
    destructive: bool | None = None
    """It may destroy something. Unless said, a function that is not `read_only` is not."""


class FunctionToolset:
    """Tools that are functions of this process; plain ones run in a worker thread."""

    def __init__(
        self, name: str, functions: Iterable[Function | Callable[..., object]] = ()
    ) -> None:
        """Offer `functions`, each under its own name.

        Raises:
            UnsupportedFunction: A model cannot call one of them, or two have the same name.
        """
        self.name = name
        self._prepared: dict[str, _Prepared] = {}
        self._tools: tuple[Tool, ...] = ()
        self._lock = Lock()
        for function in functions:
            before = set(self._prepared)
            added = self.add(function).name
            if added in before:
                raise UnsupportedFunction(
                    f"The toolset {name!r} was given two functions named {added!r}. Give one of "
                    'them another name with Function(..., name="...").'
                )

    def add(self, function: Function | Callable[..., object]) -> Tool:
        """Offer one more function, or another in place of the one of its name.

        Raises:
            UnsupportedFunction: A model cannot call it; the text names the parameter.
        """
        wrapped = function if isinstance(function, Function) else Function(function)
        prepared = _Prepared(wrapped, source=self.name)
        with self._lock:
            self._publish({**self._prepared, prepared.tool.name: prepared})
        return prepared.tool

    def remove(self, name: str) -> None:
        """Offer the function `name` no longer."""
        with self._lock:
            self._publish({key: value for key, value in self._prepared.items() if key != name})

    def tools(self) -> Sequence[Tool]:
        """The functions, in the order they were added."""
        return self._tools

    async def run(self, tool: Tool, call: ToolCall) -> ToolResult:
        """Call the function with the arguments turned into the types it declares."""
        return await self._prepared[tool.local_name].run(call)

    def _publish(self, prepared: dict[str, "_Prepared"]) -> None:
        self._prepared = prepared
        self._tools = tuple(item.tool for item in prepared.values())


class _Prepared:
    """A function with its tool and the reader of its arguments."""

    def __init__(self, function: Function, *, source: str) -> None:
        self._call = function.function
        _require_callable_by_name(self._call)
        self.is_async = inspect.iscoroutinefunction(self._call) or inspect.iscoroutinefunction(
            getattr(self._call, "__call__", None)  # noqa: B004  an object with an async __call__
        )
        name = function.name or _require_name(self._call)
        documentation = docstring_parser.parse(_docstring(self._call))
        try:
            self._reader = _reader(self._call)
            schema = _schema(self._reader, documentation)
        except Exception as error:  # the boundary to pydantic, and to annotations of anyone's
            raise UnsupportedFunction(_explain(self._call, error)) from error
        hints: dict[str, Json] = {"readOnlyHint": function.read_only}
        if not function.read_only:
            hints["destructiveHint"] = bool(function.destructive)
        self.tool = Tool(
            name=name,
            description=function.description or (documentation.description or "").strip(),
            parameters=schema,
            source=source,
            annotations=hints,
            trusted=True,
            origin_name=name,
        )

    async def run(self, call: ToolCall) -> ToolResult:
        try:
            positional, named = self._reader.validate_python(thawed(call.arguments))
        except ValueError as error:  # pydantic.ValidationError is one
            complaint = _complaint(call.name, cast("pydantic.ValidationError", error))
            raise InvalidArguments(complaint) from error
        bound = partial(self._call, *positional, **named)
        return await run_function(bound, is_async=self.is_async, name=call.name)


def _reader(function: Callable[..., object]) -> "pydantic.TypeAdapter[Any]":
    """Reads arguments without calling `function`: a stand-in of the same signature collects them.

    Calling through pydantic would mix an error of the function's own with one in its arguments.
    """
    target = _underlying(function)
    return _stand_in(
        function, inspect.signature(function), get_type_hints(target, include_extras=True)
    )


def _stand_in(
    function: Callable[..., object], signature: inspect.Signature, hints: dict[str, Any]
) -> "pydantic.TypeAdapter[Any]":
    def collect(*positional: object, **named: object) -> object:
        return positional, named

    stand_in = cast("Any", collect)
    stand_in.__signature__ = signature
    stand_in.__annotations__ = hints
    stand_in.__name__ = _name(function)
    stand_in.__module__ = _underlying(function).__module__
    return _type_adapter()(stand_in)


def _underlying(function: Callable[..., object]) -> Callable[..., object]:
    """Where the annotations are: the function itself, or an object's `__call__`."""
    if isinstance(function, partial):
        return _underlying(cast("partial[object]", function).func)
    return function if inspect.isroutine(function) else type(function).__call__


def _docstring(function: Callable[..., object]) -> str:
    """The function's own, or that of the class for an object whose `__call__` has none.

    Python would give an undocumented `__call__` the text "Call self as a function.".
    """
    target = _underlying(function)
    if target.__doc__ or inspect.isroutine(function) or isinstance(function, partial):
        return inspect.getdoc(target) or ""
    return inspect.getdoc(type(function)) or ""


def _name(function: Callable[..., object]) -> str:
    if isinstance(function, partial):
        return _name(cast("partial[object]", function).func)
    return getattr(function, "__name__", type(function).__name__)


def _require_name(function: Callable[..., object]) -> str:
    """The function's own name, by which a model can call it.

    Raises:
        UnsupportedFunction: It has none.
    """
    name = _name(function)
    if name == _LAMBDA:
        code = inspect.unwrap(_underlying(function)).__code__
        raise UnsupportedFunction(
            f"The lambda at {code.co_filename}:{code.co_firstlineno} has no name. Give it one with "
            'Function(lambda ..., name="..."), or write a function with def.'
        )
    return name


def _require_callable_by_name(function: object) -> None:
    """Refuse what a model cannot call with named arguments."""
    if isinstance(function, type):
        raise UnsupportedFunction(
            f"{function.__name__!r} is a class, and a tool is a function. Write a function that "
            "makes the object, or give a method of an object."
        )
    if not callable(function):
        raise UnsupportedFunction(f"{function!r} is not a function.")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError) as error:  # a built-in one may have none
        raise UnsupportedFunction(
            f"The function {_name(function)!r} has no signature that can be read. Write a function "
            "with annotations around it."
        ) from error
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            advice = f"take a list instead, such as {parameter.name}: list[str]"
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            advice = "write the function without the slash"
        else:
            continue
        raise UnsupportedFunction(
            f"The parameter {parameter.name!r} of the function {_name(function)!r} cannot be given "
            f"by name, as a model does; {advice}."
        )


def _explain(function: Callable[..., object], error: Exception) -> str:
    """Which parameter has a type that a model cannot be told, found by trying each alone."""
    target = _underlying(function)
    space = getattr(inspect.unwrap(target), "__globals__", {})
    for name, parameter in inspect.signature(function).parameters.items():
        try:
            holder = type("Holder", (), {"__annotations__": {name: parameter.annotation}})
            hints = (
                {}
                if parameter.annotation is parameter.empty
                else get_type_hints(holder, globalns=space, include_extras=True)
            )
            _stand_in(function, inspect.Signature([parameter]), hints).json_schema()
        except Exception as found:  # noqa: BLE001  the same boundary, one parameter at a time
            return (
                f"The type of the parameter {name!r} of the function {_name(function)!r} cannot be "
                f"described to a model: {_reason(found)}."
            )
    return f"The function {_name(function)!r} cannot be described to a model: {_reason(error)}."


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it contains itself; use a class, such as a dataclass, or Any for any JSON"
    return str(error).partition("\n")[0].rstrip(".") or type(error).__name__


def _schema(
    reader: "pydantic.TypeAdapter[Any]", documentation: docstring_parser.Docstring
) -> JsonObject:
    schema = _untitled(reader.json_schema())
    properties = cast("dict[str, dict[str, Json]]", schema.get("properties", {}))
    for parameter in documentation.params:
        if parameter.description and parameter.arg_name in properties:
            properties[parameter.arg_name].setdefault("description", parameter.description)
    return {**schema, "properties": properties} if schema else NO_PARAMETERS


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the titles that pydantic makes of names: they cost tokens for nothing."""
    clean = {key: value for key, value in schema.items() if key != "title"}
    for key in _NESTED:
        if isinstance(clean.get(key), dict):
            clean[key] = {name: _untitled(part) for name, part in clean[key].items()}
    for key in _LISTED:
        if isinstance(clean.get(key), list):
            clean[key] = [_untitled(part) for part in clean[key]]
    for key in _SINGLE:
        if isinstance(clean.get(key), dict):
            clean[key] = _untitled(clean[key])
    return clean


def _complaint(name: str, error: "pydantic.ValidationError") -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    path = "".join(f"/{part}" for part in first["loc"]) or "/"
    return f"{name!r} was not run: {path}: {first['msg']}. Correct it and call again."


@cache
def _type_adapter() -> "type[pydantic.TypeAdapter[Any]]":
    # 20 ms that `import tooldrawer` need not pay: a gateway in front of servers has no functions.
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter
