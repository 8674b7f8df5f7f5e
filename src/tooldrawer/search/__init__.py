"""Find tools by what they do."""

from tooldrawer.search.engine import SearchEngine
from tooldrawer.search.index import Hit, Index

__all__ = ["Hit", "Index", "SearchEngine"]
