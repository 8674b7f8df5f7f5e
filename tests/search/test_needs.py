"""A query that asks for several things, and one that asks for a single one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tooldrawer.search.needs import needs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "create an issue in github and send a message to #dev",
            ["create an issue in github", "send a message to #dev"],
        ),
        (
            "find the invoice of May, then forward it to the accountant",
            ["find the invoice of May", "forward it to the accountant"],
        ),
        (
            "Restart the web server. Afterwards check the error logs.",
            ["Restart the web server.", "Afterwards check the error logs."],
        ),
        (
            "list open tickets; close ticket 12; email a summary",
            ["list open tickets", "close ticket 12", "email a summary"],
        ),
        (
            "what is the weather in Rome and which museums are open there?",
            ["what is the weather in Rome", "which museums are open there?"],
        ),
        (
            "Could you book a table for two, add it to my calendar, and text Anna the address?",
            [
                "Could you book a table for two",
                "add it to my calendar",
                "text Anna the address?",
            ],
        ),
        (
            "export the sales report as well as delete the old drafts",
            ["export the sales report", "delete the old drafts"],
        ),
        (
            "back up the orders table\ndrop the temp table",
            ["back up the orders table", "drop the temp table"],
        ),
        (
            "when is my next meeting, and who is invited to the party?",
            ["when is my next meeting", "who is invited to the party?"],
        ),
        (
            "i need to pause the nightly job & update its schedule",
            ["i need to pause the nightly job", "update its schedule"],
        ),
    ],
)
def test_several_needs_are_told_apart(text: str, expected: list[str]) -> None:
    assert needs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "create an issue",
        "create pull request",
        "get_weather",
        "search and replace text in a file",
        "copy and paste cells between sheets",
        "list pods, nodes and services",
        "compare branches and tags",
        "send an email to Anna, Ben and Carl about the party",
        "show the temperature, humidity and wind in Oslo",
        "My laptop was stolen yesterday. Please lock my account.",
        "I have a meeting with Anna at nine and I am late, can you reschedule it?",
        "The build has been red since Monday and nobody knows why. Show me its logs.",
        "When a customer cancels, send them a survey",
        "when I get home, turn on the lights in the hall",
        "If the disk is full, notify me by mail",
        "settings got changed on the broker, so restart it please",
        "tests ran fine, now deploy the preview",
        "we need a profile and a signing certificate",
        "tell me about read set 77, e.g. file type and sample",
        'comment "please open the door and close the window" on the ticket',
        "set the absence text to \u201cback on Monday, call Mia for urgent things\u201d",
        "hello there",
        "thanks, that was great",
        "删除文件并发送邮件",
        "erstelle ein Ticket und sende eine Nachricht",
        "",
        " \n; - ",
    ],
)
def test_a_single_need_stays_whole_whatever_is_told_around_it(text: str) -> None:
    assert needs(text) == []


def test_a_long_story_is_not_taken_apart() -> None:
    one = "create an issue about the login page and send a message to the team. "
    assert needs(one)
    assert needs(one * 10) == []


def test_at_most_four_needs_are_found() -> None:
    assert len(needs("; ".join(f"delete file number{at}" for at in range(9)))) == 4


@quick(300)
@given(text=any_text | st.text("and then, please list. create; issue\n-what ", max_size=600))
def test_any_text_at_all_has_no_need_or_two_to_four(text: str) -> None:
    found = needs(text)
    assert len(found) in {0, 2, 3, 4}
    assert all(part and part == part.strip() and part in text for part in found)


@pytest.mark.parametrize("filling", [" ", ", ", " and ", "\x00", "\ud800", "please ", "and list "])
def test_six_hundred_characters_of_anything_are_read_to_their_end(filling: str) -> None:
    assert len(needs((filling * 600)[:600])) <= 4
