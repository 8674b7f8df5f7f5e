"""The HTTP status of one request's own POST, which the SDK does not tell with the answer."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class PostStatus:
    """How the server answered the POST; 0 before it did, and for servers behind pipes."""

    code: int = 0


_POST_STATUS: ContextVar[PostStatus | None] = ContextVar("post_status", default=None)


@contextmanager
def watch_post() -> Generator[PostStatus]:
    """See the status of the request that is sent inside the block."""
    status = PostStatus()
    token = _POST_STATUS.set(status)
    try:
        yield status
    finally:
        _POST_STATUS.reset(token)


def note_post(code: int) -> None:
    """Keep the status for the request in whose context the POST was made.

    Answers to what a server asks during a call are posted in the same context, after the call's own
    POST: only the first status is the call's.
    """
    status = _POST_STATUS.get()
    if status is not None and not status.code:
        status.code = code
