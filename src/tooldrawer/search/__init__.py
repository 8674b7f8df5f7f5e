"""Find tools by what they do."""

from tooldrawer.search.engine import SearchEngine
from tooldrawer.search.index import Hit
from tooldrawer.search.recipe import EVERYTHING, LEXICAL, Recipe

__all__ = ["EVERYTHING", "LEXICAL", "Hit", "Recipe", "SearchEngine"]
