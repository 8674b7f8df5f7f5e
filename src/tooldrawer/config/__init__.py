"""The file into the options each part already defines. Config knows everyone; nobody knows it.

Reading a file is loaded on first use: YAML and its checks are a third of the time of
`import tooldrawer`, and a drawer that is built in code never needs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tooldrawer.config.settings import (
    ActivityOptions,
    AgentOptions,
    Config,
    GatewayOptions,
    ModelOptions,
)

if TYPE_CHECKING:
    from tooldrawer.config.loading import Trust, find, gather, load, parse, sources
    from tooldrawer.config.watched_file import WatchedFile

__all__ = [
    "ActivityOptions", "AgentOptions", "Config", "GatewayOptions", "ModelOptions", "Trust",
    "WatchedFile", "find", "gather", "load", "parse", "sources",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name in ("Trust", "find", "gather", "load", "parse", "sources"):
        # Not a module called `load`: importing it would put it in the place of the function.
        return getattr(import_module("tooldrawer.config.loading"), name)
    if name == "WatchedFile":
        return getattr(import_module("tooldrawer.config.watched_file"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
