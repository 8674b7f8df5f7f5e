"""`package.module:name` into the object it names."""

from importlib import import_module


class CannotImport(Exception):
    """The path does not lead to an object; `str(error)` says why."""


def imported(path: str) -> object:
    """The object at `path`.

    Raises:
        CannotImport: The path is not one, the module breaks, or it has no such name.
    """
    module_name, colon, name = path.partition(":")
    if not colon or not module_name or not name.isidentifier():
        raise CannotImport("expected 'package.module:name'")
    try:
        module = import_module(module_name)
    except Exception as error:  # the boundary to a module that anyone may have written
        raise CannotImport(f"{module_name} cannot be imported: {error}") from error
    try:
        return getattr(module, name)
    except AttributeError:
        raise CannotImport(f"{module_name} has no {name!r}") from None
