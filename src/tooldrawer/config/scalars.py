"""What a value without quotes means: YAML 1.2's core schema, not YAML 1.1's surprises."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tooldrawer.tool import Json

TAG = "tag:yaml.org,2002:"
TEXT = f"{TAG}str"


@dataclass(frozen=True, slots=True)
class Plain:
    """How such a value looks, and how it is read."""

    pattern: re.Pattern[str]
    first: str
    """The characters that it can begin with."""
    read: Callable[[str], Json]


PLAIN = {
    f"{TAG}bool": Plain(
        re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
        "tTfF",
        lambda text: text.lower() == "true",
    ),
    f"{TAG}int": Plain(re.compile(r"[-+]?[0-9]+\Z"), "-+0123456789", int),
    f"{TAG}float": Plain(
        re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z"),
        "-+.0123456789",
        float,
    ),
    f"{TAG}null": Plain(re.compile(r"(?:~|null|Null|NULL|)\Z"), "~nN", lambda _: None),
}
"""By tag. Everything else is a text: `on`, `off`, `yes`, `no`, dates, 0x1F."""
