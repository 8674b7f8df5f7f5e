"""Which ingredients a search is made of."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every ingredient is on; each can be left out, to see what it is worth."""

    meaning: bool = True
    """Vectors; without them words alone decide (`search: lexical`)."""
    languages: bool = True
    """Dictionaries of other languages."""
    synonyms: bool = True
    """Everyday words for what tools call otherwise."""
    spelling: bool = True
    """Misspelt, run-together and cut-off words."""
    needs: bool = True
    """A query for several things is searched in parts."""
    weighing: bool = True
    """Learned weights over all that candidates show; without it, both sides count the same."""
    silence: bool = True
    """Nothing is answered when nothing seems to fit."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The ingredients, in the order of a search."""
        return tuple(field.name for field in fields(cls))


LEXICAL = Recipe(meaning=False)
EVERYTHING = Recipe()
