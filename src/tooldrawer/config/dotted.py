"""`package.module:name` into the object it names."""

from importlib import import_module


class CannotImport(Exception):
    """The path does not lead to an object; `str(error)` says why."""


def is_dotted(text: str) -> bool:
    """Whether `text` looks like `package.module:name`."""
    module_name, _, name = text.partition(":")
    return all(part.isidentifier() for part in (*module_name.split("."), name))


def imported(path: str) -> object:
    """The object at `path`.

    Raises:
        CannotImport: The module is not there or breaks, or it has no such name.
    """
    module_name, _, name = path.partition(":")
    try:
        module = import_module(module_name)
    except (
        Exception,
        SystemExit,
    ) as error:  # the boundary to a module that anyone may have written
        raise CannotImport(f"{module_name} cannot be imported: {_reason(error)}") from error
    try:
        return getattr(module, name)
    except Exception as error:  # a module's own __getattr__ may do anything
        raise CannotImport(f"{module_name} has no {name!r}") from error


def _reason(error: BaseException) -> str:
    words = " ".join(str(error).split())
    kind = "" if isinstance(error, ImportError) else type(error).__name__
    return ": ".join(part for part in (kind, words) if part)
