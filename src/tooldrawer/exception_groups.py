"""The errors inside exception groups, which a task group makes of even a single one."""

from collections.abc import Iterator
from typing import cast

import anyio


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Return the errors inside groups, at any depth; an error without a group is its own."""
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from leaves(each)
    else:
        yield error


def single_cause(error: BaseException) -> BaseException:
    """Return the one error in a group, at any depth; a group of several as it is."""
    found = list(leaves(error))
    return found[0] if len(found) == 1 else error


def first_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error in a group that is not a cancellation; else a cancellation."""
    cancellation = anyio.get_cancelled_exc_class()
    found = list(leaves(group))
    return next((each for each in found if not isinstance(each, cancellation)), found[0])
