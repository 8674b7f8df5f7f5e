"""The file into the options each part already defines. Config knows everyone; nobody knows it."""

from tooldrawer.config.load import find, load, parse
from tooldrawer.config.settings import ActivityOptions, Config

__all__ = ["ActivityOptions", "Config", "find", "load", "parse"]
