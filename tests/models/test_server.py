"""The scripted server as a server: its life, and what it tells of mistakes."""

import subprocess
import sys
import threading
from typing import Any

import httpx2
import pytest

from tests.models.request import Seen
from tests.models.script import Call, Cut, Endless, Hold, Repeat, Say, Script, Step
from tests.models.server import ModelServer, scripted
from tests.models.stream import event, pieces, ragged

BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
HEADERS = {"authorization": "Bearer key"}


def post(server: ModelServer, **fields: Any) -> httpx2.Response:
    return httpx2.post(
        f"{server.url}/v1/chat/completions", json=BODY | fields, headers=HEADERS, timeout=60
    )


def test_it_serves_another_process() -> None:
    program = (
        "import sys, openai\n"
        "client = openai.OpenAI(base_url=sys.argv[1], api_key='key')\n"
        "asked = [{'role': 'user', 'content': 'hello'}]\n"
        "answer = client.chat.completions.create(model='m', messages=asked)\n"
        "print(answer.choices[0].message.content)\n"
    )
    with scripted(Say("hello yourself")) as server:
        command = [sys.executable, "-c", program, f"{server.url}/v1"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "hello yourself"


def test_two_servers_run_side_by_side() -> None:
    with scripted(Say("one")) as one, scripted(Say("other")) as other:
        told = [post(server).json()["choices"][0]["message"]["content"] for server in (one, other)]
    assert told == ["one", "other"]


@pytest.mark.parametrize("step", [Endless(), Hold(threading.Event(), Say("never"))])
def test_it_ends_while_an_answer_is_under_way(step: Step) -> None:
    ended: list[object] = []

    def listen() -> None:
        try:
            ended.append(post(server, stream=True).status_code)
        except httpx2.TransportError as lost:
            ended.append(lost)

    with scripted(step) as server:
        listener = threading.Thread(target=listen)
        listener.start()
        server.wait_for(1)
    listener.join(30)
    assert ended != []
    assert ended != [200]


def test_a_step_that_raises_is_a_mistake_of_the_test() -> None:
    def careless(seen: Seen) -> Step:
        return Say(seen.results[0].text)

    with scripted(careless) as server:
        answer = post(server)
        assert answer.status_code == 400
        assert "IndexError" in server.mistakes.pop()


def test_a_conversation_that_no_script_fits_is_a_mistake_of_the_test() -> None:
    with scripted(Script([Say("yes")], first="good day")) as server:
        assert post(server).status_code == 400
        assert server.mistakes.pop() == "no script fits a conversation of 'hello'"


def test_a_step_may_be_repeated() -> None:
    with scripted(Repeat(Say("again"), times=2), Say("enough")) as server:
        told = [post(server).json()["choices"][0]["message"]["content"] for _ in range(3)]
    assert told == ["again", "again", "enough"]


def test_a_refused_request_takes_no_step() -> None:
    with scripted(Say("yes")) as server:
        assert post(server, unknown=1).status_code == 400
        assert post(server).status_code == 200
    assert (len(server.requests), len(server.seen), len(server.refusals)) == (2, 1, 1)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat/completions", {"model": "m", "messages": [3]}),
        ("responses", {"model": "m", "input": [{"type": "function_call_output"}]}),
        ("messages", {"model": "m", "max_tokens": 9, "messages": [3]}),
        ("models/m:generateContent", {"contents": [{"parts": [{"functionCall": 3}]}]}),
        ("models/m:streamGenerateContent", {"contents": 3}),
    ],
)
def test_a_request_of_a_strange_shape_is_refused(path: str, body: Any) -> None:
    keys = {"x-api-key": "key", "anthropic-version": "2023-06-01", "x-goog-api-key": "key"}
    with scripted() as server:
        answer = httpx2.post(f"{server.url}/v1/{path}", json=body, headers=HEADERS | keys)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == server.refusals[0].message


def test_an_error_of_the_test_is_not_hidden_by_a_mistake_of_its_script() -> None:
    def failing() -> None:
        with scripted(Call("unheard_of")) as server:
            post(server)
            raise KeyError

    with pytest.raises(KeyError):
        failing()


def test_characters_are_torn_between_two_writes() -> None:
    first, second = ragged(event({"text": "so 😀"}))
    assert (first + second).decode() == 'data: {"text":"so 😀"}\n\n'
    with pytest.raises(UnicodeDecodeError):
        first.decode()


@pytest.mark.parametrize("text", ["", "plain", "\\", 'a"b\\n\n\\\\u00e9', "long " * 10_000])
def test_pieces_are_the_text_and_tear_every_escape(text: str) -> None:
    parts = pieces(text)
    assert "".join(parts) == text
    assert all("\\" not in part[:-1] for part in parts)


def test_a_cut_may_come_before_the_first_event() -> None:
    cut = Cut(Say("nothing"), after=0)
    with scripted(cut) as server, pytest.raises(httpx2.RemoteProtocolError):
        post(server, stream=True)


def test_waiting_for_a_request_that_never_comes_is_an_error() -> None:
    with scripted() as server, pytest.raises(TimeoutError, match="0 of 1 requests came"):
        server.wait_for(1, timeout=0.01)
