"""The public names are exactly these, and each says what it is."""

import inspect

import tooldrawer
from tooldrawer import errors

PUBLIC = [
    "ActivityLog",
    "ActivityOptions",
    "Allow",
    "Answer",
    "ApprovalRequest",
    "Approver",
    "Ask",
    "Assembly",
    "AssemblyPolicy",
    "BenefitModel",
    "BridgeNames",
    "Catalog",
    "Config",
    "Deny",
    "Drawer",
    "Event",
    "Function",
    "FunctionToolset",
    "Grants",
    "Guardrail",
    "Hit",
    "Hook",
    "JsonLines",
    "Ledger",
    "Limits",
    "Next",
    "Prices",
    "RateLimit",
    "Recipe",
    "Registry",
    "RepeatGuard",
    "Rules",
    "Scope",
    "SearchEngine",
    "SearchPolicy",
    "Session",
    "Sink",
    "StaticToolset",
    "TerminalApprover",
    "TokenCounter",
    "Tool",
    "ToolCall",
    "ToolDrawerError",
    "ToolResult",
    "Toolset",
    "Verdict",
    "errors",
    "read_only",
]
ALIASES = {"Event", "Guardrail", "Next", "Verdict"}
"""Names for types made of others; Python keeps no docstring for these."""


def test_the_public_names_are_exactly_these_in_order() -> None:
    assert tooldrawer.__all__ == PUBLIC
    assert sorted(PUBLIC) == PUBLIC


def test_every_public_name_can_be_imported() -> None:
    space: dict[str, object] = {}
    exec("from tooldrawer import *", space)
    assert set(PUBLIC) <= set(space)


def test_every_public_name_is_documented() -> None:
    bare = [name for name in PUBLIC if name not in ALIASES and not _documentation(name)]
    assert bare == []


def test_everything_public_of_a_public_class_is_documented() -> None:
    bare = [
        f"{name}.{member}"
        for name in PUBLIC
        if inspect.isclass(kind := getattr(tooldrawer, name))
        for member, value in vars(kind).items()
        if not member.startswith("_")
        and (inspect.isroutine(value) or isinstance(value, property))
        and not inspect.getdoc(value)
    ]
    assert bare == []


def test_every_error_has_the_same_base_and_a_docstring() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    assert all(issubclass(kind, tooldrawer.ToolDrawerError) for kind in kinds)
    assert all(kind.__doc__ for kind in kinds)
    tree = errors.__doc__ or ""
    assert all(kind.__name__ in tree for kind in kinds)


def _documentation(name: str) -> str:
    found = getattr(tooldrawer, name)
    own = inspect.getdoc(found) or ""
    # A dataclass without a docstring of its own gets its signature as one.
    return "" if own.startswith(f"{name}(") else own
