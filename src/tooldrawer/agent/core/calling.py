"""Whose call it is that runs now."""

from contextvars import ContextVar

session_of_call: ContextVar[str] = ContextVar("session_of_call", default="")
"""The session of the call that runs in this task or worker thread; its toolset sets it."""
