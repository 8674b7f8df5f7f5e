"""The error behind an exception group, which a task group makes of even a single one."""

from typing import cast


def single_cause(error: BaseException) -> BaseException:
    """The one error in a group, at any depth; a group of several as it is."""
    inside = _members(error)
    while len(inside) == 1:
        (error,) = inside
        inside = _members(error)
    return error


def first_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group, at any depth; one that is not a cancellation if there is one."""
    found: BaseException = group.subgroup(Exception) or group
    while inside := _members(found):
        found = inside[0]
    return found


def _members(error: BaseException) -> tuple[BaseException, ...]:
    if not isinstance(error, BaseExceptionGroup):
        return ()
    return cast("BaseExceptionGroup[BaseException]", error).exceptions
