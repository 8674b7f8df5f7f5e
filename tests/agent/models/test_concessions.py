"""What an endpoint turns out not to take: it is asked again without, and the conversation lives."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.agent.models.asking import ask, failure
from tests.agent.models.fakes import request, response, sending
from tests.agent.models.test_odd_endpoints import WHOLE
from tests.golden.conversations import PIXEL
from tooldrawer.agent.concessions import Concessions
from tooldrawer.agent.spec import WireName
from tooldrawer.call import ToolResult, text_block
from tooldrawer.errors import (
    KeyRefused,
    ModelFailed,
    ModelOverloaded,
    ModelUnknown,
    RequestRefused,
)
from tooldrawer.tool import JsonObject
from tooldrawer.wire.message import Answered, Asked, Reply, Request, Returned, Said

pytestmark = pytest.mark.anyio
PICTURE: JsonObject = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
CALL = Asked(name="look", arguments={}, id="call_1")


def _refusal(message: str, status: str = "400 Bad") -> bytes:
    body = json.dumps({"error": {"message": message}}).encode()
    return response(body, status=status, kind="application/json")


def _seen(*content: JsonObject, raw: Mapping[str, Any] | None = None, wire: str = "") -> Request:
    return Request(
        model="scripted",
        messages=(
            Said(text="Look."),
            Answered(calls=(CALL,), raw=(raw,) if raw else (), wire=wire),
            Returned(replies=(Reply(call=CALL, result=ToolResult(content=content)),)),
        ),
    )


@pytest.mark.parametrize(
    ("wire", "words", "left_out"),
    [
        ("chat", "Unknown parameter: stream_options", "stream_options"),
        ("chat", "max_completion_tokens: Extra inputs are not permitted", "max_completion_tokens"),
        ("responses", "Encrypted content is not supported with this model.", "include"),
        ("anthropic", "cache_control: Extra inputs are not permitted", "cache_control"),
    ],
)
async def test_a_field_that_is_refused_is_left_out(
    wire: WireName, words: str, left_out: str
) -> None:
    yes = response(json.dumps(WHOLE[wire]).encode(), kind="application/json")
    with sending(_refusal(words), yes) as url:
        answered, _ = await ask(wire, url)
    assert answered.text == "hello"

    concessions = Concessions(wire)
    assert left_out in concessions.body(request())
    assert concessions.make(RequestRefused(words), request())
    assert left_out not in json.dumps(concessions.body(request()))
    assert not concessions.make(RequestRefused(words), request())


async def test_an_endpoint_that_refuses_whatever_it_gets_is_an_error() -> None:
    no = _refusal("Encrypted content is not supported with this model.")
    with sending(no, no) as url:
        assert isinstance(await failure("responses", url), RequestRefused)


def test_the_length_of_an_answer_is_said_in_older_words() -> None:
    concessions = Concessions("chat")
    concessions.make(RequestRefused("max_completion_tokens"), request())
    assert concessions.body(request())["max_tokens"] == 1000


@pytest.mark.parametrize(
    "refusal",
    [
        RequestRefused("At most 0 image(s) may be provided in one prompt."),
        RequestRefused("unknown variant `image_url`, expected `text`"),
        ModelOverloaded("image input is not supported"),
        ModelUnknown("No endpoints found that support image input"),
    ],
)
@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic", "gemini"])
def test_a_picture_that_is_refused_is_told_in_a_line(wire: str, refusal: ModelFailed) -> None:
    concessions, seen = Concessions(wire), _seen(text_block("Here."), PICTURE)
    assert PIXEL in json.dumps(concessions.body(seen))
    assert concessions.make(refusal, seen)
    told = json.dumps(concessions.body(seen))
    assert PIXEL not in told
    assert "Here." in told
    assert "image/png" in told
    assert not concessions.make(refusal, seen)


def test_structured_content_is_not_lost_with_a_picture() -> None:
    concessions, seen = Concessions("chat"), _seen(PICTURE)
    result = ToolResult(content=(PICTURE,), structured={"width": 1})
    seen = Request(
        model="m", messages=(Returned(replies=(Reply(call=CALL, result=result),)), *seen.messages)
    )
    concessions.make(RequestRefused("no images"), seen)
    assert '{\\"width\\":1}' in json.dumps(concessions.body(seen))


@pytest.mark.parametrize(
    ("wire", "raw", "words"),
    [
        (
            "anthropic",
            {"type": "thinking", "thinking": "Hm.", "signature": "elsewhere"},
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        ),
        (
            "responses",
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "elsewhere"},
            "The encrypted content for item rs_1 could not be verified.",
        ),
    ],
)
def test_a_thought_that_another_account_sealed_is_left_out(wire: str, raw: Any, words: str) -> None:
    concessions, seen = Concessions(wire), _seen(text_block("Here."), raw=raw, wire=wire)
    assert "elsewhere" in json.dumps(concessions.body(seen))
    assert concessions.make(RequestRefused(words), seen)
    told = json.dumps(concessions.body(seen))
    assert "elsewhere" not in told
    assert told.count("call_1") == 2
    assert not concessions.make(RequestRefused(words), seen)


def test_other_refusals_are_not_helped() -> None:
    seen = _seen(PICTURE)
    for refusal in (RequestRefused("No."), KeyRefused("This image of a key is wrong.")):
        assert not Concessions("chat").make(refusal, seen)
