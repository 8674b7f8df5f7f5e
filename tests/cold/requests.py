"""What a cold process is asked first: eight searches and eight calls.

Each query begins with a hundred long words that no tool and no other query has, so that the threads
of the searches look for stems at the same time for as long as possible.
"""

from itertools import product

from tooldrawer.tool import JsonObject

Asked = tuple[str, JsonObject]
_QUERIES = (
    "send a letter",
    "weather forecast",
    "renew the loan of a book",
    "list the mechanics on duty",
    "how deep is the snow",
    "where is my parcel",
    "trackParcel",
    "delete a reader",
)
_ROOTS = (
    *("letter stamp parcel", "rain storm harbour", "loan book reader", "mechanic garage car"),
    *("snow mountain storm", "parcel mail branch", "track post district", "delete reader borrow"),
)
_VOWELS = "aeiouyeu"
"""They differ between queries with the same root."""
_CONSONANTS = "bdgmpt"
_ENDINGS = ("ationally", "izations", "fulnesses", "ousnesses", "ibilities", "ativeness")
"""A stemmer takes several steps for each of them."""


def _lengthen(query: str, roots: str, vowel: str) -> str:
    spellings = product(roots.split(), _CONSONANTS, _ENDINGS)
    return " ".join((*(f"{root}{more}{vowel}{end}" for root, more, end in spellings), query))


_CALLS: tuple[Asked, ...] = tuple(
    ("tool_call", {"name": name, "arguments": {"city": f"{name} {number}"}})
    for number in range(4)
    for name in ("mcp_weather_get_forecast", "mcp_weather_get_sunrise")
)
REQUESTS: tuple[Asked, ...] = tuple(
    asked
    for *query, call in zip(_QUERIES, _ROOTS, _VOWELS, _CALLS, strict=True)
    for asked in (("tool_search", {"query": _lengthen(*query)}), call)
)
"""In turn, so that a session that does them one by one is never told to stop searching."""
