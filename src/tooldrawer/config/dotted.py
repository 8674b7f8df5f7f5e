"""`package.module:name` into the object it names."""

from importlib import import_module


class CannotImport(Exception):
    """The path does not lead to an object; `str(error)` says why."""


def imported(path: str) -> object:
    """The object at `path`.

    Raises:
        CannotImport: The path is not one, the module breaks, or it has no such name.
    """
    module_name, _, name = path.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), name)):
        raise CannotImport("expected 'package.module:name'")
    try:
        module = import_module(module_name)
    except (
        Exception,
        SystemExit,
    ) as error:  # the boundary to a module that anyone may have written
        raise CannotImport(f"but {module_name} cannot be imported: {_reason(error)}") from error
    try:
        return getattr(module, name)
    except Exception as error:  # a module's own __getattr__ may do anything
        raise CannotImport(f"but {module_name} has no {name!r}") from error


def _reason(error: BaseException) -> str:
    words = " ".join(str(error).split())
    kind = "" if isinstance(error, ImportError) else type(error).__name__
    return ": ".join(part for part in (kind, words) if part)
