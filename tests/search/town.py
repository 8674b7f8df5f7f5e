"""The tools of a town that does not exist: eight offices, five tools each."""

from tooldrawer import Catalog, Tool

_OFFICES = {
    "post": (
        ("send_letter", "Send a letter to an address.", "address text"),
        ("track_parcel", "Show where a parcel is on its way.", "parcel"),
        ("buy_stamps", "Buy stamps for letters.", "amount value"),
        ("redirect_mail", "Forward all mail to another address for some weeks.", "from to weeks"),
        ("list_branches", "List the post offices of a district.", "district"),
    ),
    "weather": (
        ("get_forecast", "Get the weather forecast of a city: temperature, rain and wind.", "city"),
        ("get_tides", "Get the times of high and low water at a harbour.", "harbour"),
        ("list_storm_warnings", "List storm warnings that are in force.", ""),
        ("get_sunrise", "Get the times of sunrise and sunset.", "city day"),
        ("measure_snow", "Measure how deep the snow is on a mountain.", "mountain"),
    ),
    "library": (
        ("search_books", "Search the library for books by title or author.", "words"),
        ("reserve_book", "Reserve a book for a reader.", "book reader"),
        ("renew_loan", "Extend the loan of a book.", "book weeks"),
        ("list_loans", "List the books that a reader has borrowed.", "reader"),
        ("delete_reader", "Delete a reader and everything known about them.", "reader"),
    ),
    "garage": (
        ("book_service", "Book an appointment for a car at the garage.", "car day"),
        ("check_tyres", "Check the pressure of the tyres of a car.", "car"),
        ("order_part", "Order a spare part from the supplier.", "part amount"),
        ("estimate_repair", "Estimate what the repair of a damage will cost.", "car damage"),
        ("list_mechanics", "List the mechanics on duty.", ""),
    ),
    "bank": (
        ("transfer_money", "Transfer money from one account to another.", "from to amount"),
        ("get_balance", "Get the balance of an account.", "account"),
        ("list_transactions", "List the payments of an account in a month.", "account month"),
        ("block_card", "Block a credit card that was lost or stolen.", "card"),
        ("convert_currency", "Convert an amount into another currency.", "amount currency"),
    ),
    "calendar": (
        ("create_event", "Put a meeting into the calendar.", "title start guests"),
        ("delete_event", "Remove a meeting from the calendar.", "event"),
        ("list_events", "List the meetings of a week.", "week"),
        ("find_free_time", "Find a time at which all guests are free.", "guests"),
        ("set_reminder", "Remind somebody of something at a time.", "text time"),
    ),
    "kitchen": (
        ("find_recipe", "Find a recipe for some ingredients.", "ingredients"),
        ("preheat_oven", "Preheat the oven to a temperature.", "degrees"),
        ("start_dishwasher", "Start the dishwasher with a programme.", "programme"),
        ("add_to_shopping_list", "Put groceries on the shopping list.", "item amount"),
        ("count_calories", "Count the calories of a meal.", "meal"),
    ),
    "files": (
        ("read_file", "Read the contents of a file.", "path"),
        ("delete_file", "Delete a file for good.", "path"),
        ("resize_image", "Change the width and height of an image.", "path width height"),
        ("compress_folder", "Pack a folder into an archive.", "folder"),
        ("translate_document", "Translate a document into another language.", "path language"),
    ),
}


def tool(name: str, description: str = "", parameters: str = "", *, server: str = "") -> Tool:
    """A tool whose parameters are texts."""
    properties = {parameter: {"type": "string"} for parameter in parameters.split()}
    return Tool(
        name=f"mcp_{server}_{name}" if server else name,
        description=description,
        parameters={"type": "object", "properties": properties},
        source=f"mcp-{server}" if server else "",
    )


TOWN = Catalog(
    [
        tool(name, description, parameters, server=server)
        for server, tools in _OFFICES.items()
        for name, description, parameters in tools
    ]
)
