"""What a cold process is asked first: eight searches and eight calls."""

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
_CALLS: tuple[Asked, ...] = tuple(
    ("tool_call", {"name": name, "arguments": {"city": f"{name} {number}"}})
    for number in range(4)
    for name in ("mcp_weather_get_forecast", "mcp_weather_get_sunrise")
)
REQUESTS: tuple[Asked, ...] = tuple(
    asked
    for query, call in zip(_QUERIES, _CALLS, strict=True)
    for asked in (("tool_search", {"query": query}), call)
)
"""In turn, so that a session that does them one by one is never told to stop searching."""
