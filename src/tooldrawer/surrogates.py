"""Halves of surrogate pairs: texts in Python and JSON can have them, and UTF-8 cannot."""

from operator import is_

from tooldrawer.json_values import ARRAYS, OBJECTS, Json


def has_half_pair(text: str) -> bool:
    """Whether a text cannot be encoded as UTF-8."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def replace_half_pairs(text: str) -> str:
    """Join halves that belong together, and put U+FFFD in the place of every other half."""
    if not has_half_pair(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def replace_half_pairs_in(value: Json) -> Json:
    """The same in every text and name of a value; the value itself when it has no half."""
    if isinstance(value, str):
        return replace_half_pairs(value)
    if isinstance(value, OBJECTS):
        items = {
            replace_half_pairs(str(key)): replace_half_pairs_in(item) for key, item in value.items()
        }
        is_same = all(key in value and value[key] is item for key, item in items.items())
        return value if is_same else items
    if isinstance(value, ARRAYS) and not isinstance(value, bytes):
        found = [replace_half_pairs_in(item) for item in value]
        return value if all(map(is_, value, found)) else found
    return value
