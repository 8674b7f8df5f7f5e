"""Three servers that nobody has, recorded in the three ways in which lists are recorded."""

import json
from pathlib import Path

from tooldrawer.tool import Json, JsonObject


def tool(name: str, description: str, *required: str, **optional: Json) -> JsonObject:
    """A tool whose required parameters are texts; an optional one is given by its schema."""
    properties: dict[str, Json] = {key: {"type": "string"} for key in required}
    schema: JsonObject = {
        "type": "object",
        "properties": {**properties, **optional},
        "required": list(required),
    }
    return {"name": name, "description": description, "inputSchema": schema}


WHOLE: Json = {"type": "integer", "minimum": 1}
LIBRARY = (
    tool("search_books", "Search the library for books by title or author.", "words", limit=WHOLE),
    tool("reserve_book", "Reserve a book for a reader.", "book", "reader"),
    tool("list_loans", "List the books that a reader has borrowed.", "reader"),
    tool("renew_loan", "Extend the loan of a book.", "book", weeks=WHOLE),
    tool("delete_reader", "Delete a reader and everything known about them.", "reader"),
)
WEATHER = (
    tool("get_forecast", "Get the weather forecast of a city.", "city", days=WHOLE),
    tool("get_tides", "Get the times of high and low water at a harbour.", "harbour"),
    tool("list_alerts", "List storm warnings that are in force."),
    tool("list_stations", "List the weather stations of a country.", "country"),
    tool("compare_climate", "Compare the climate of two cities.", "first", "second"),
)
GARAGE = (
    tool("book_service", "Book an appointment for a car at the garage.", "car", "day"),
    tool("check_tyres", "Check the pressure of the tyres of a car.", "car"),
    tool("order_part", "Order a spare part from the supplier.", "part", amount=WHOLE),
    tool("list_mechanics", "List the mechanics on duty."),
    tool("estimate_repair", "Estimate what the repair of a damage will cost.", "car", "damage"),
)
TOOLSETS = {"mcp-garage": GARAGE, "mcp-library": LIBRARY, "mcp-weather": WEATHER}
TOOLS = sum(map(len, TOOLSETS.values()))


def write_catalogs(folder: Path) -> None:
    """Write the three lists, each in another form; two are named by their files."""
    folder.mkdir()
    forms: dict[str, Json] = {
        "books.json": {"server": "library", "tools": LIBRARY},
        "weather.json": {"tools": WEATHER},
        "garage.json": GARAGE,
    }
    for name, form in forms.items():
        (folder / name).write_text(json.dumps(form), encoding="utf-8")
