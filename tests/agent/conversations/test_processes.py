"""Several programs use one file, and any of them may be killed at any moment."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from tooldrawer.agent.conversations import Conversations
from tooldrawer.wire.message import Answered, Asked, Returned, Said

AT_ONCE = 4
EACH = 15
TALK = """
import sys
from pathlib import Path
from tooldrawer.agent.conversations import Conversations
from tooldrawer.wire.message import Answered, Asked, Said

kept = Conversations(Path(sys.argv[1]))
name = kept.start(model="m", cwd="/", scope="")
print(name, flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    calls = (Asked(name="terminal", id=str(number)),) if number % 2 else ()
    text = f"{number} " + "x" * 50_000
    kept.append(name, Answered(text=text, calls=calls) if calls else Said(text=text))
    print(number, flush=True)
"""


def talk(path: Path, messages: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", TALK, str(path), str(messages)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def begin(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def numbers(kept: Conversations, name: str) -> list[int]:
    said = (message for message in kept.load(name) if isinstance(message, Said | Answered))
    return [int(message.text.split()[0]) for message in said]


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    processes = [talk(path, EACH) for _ in range(AT_ONCE)]  # they make the file together
    names = [line(process) for process in processes]
    for process in processes:
        begin(process)
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    kept = Conversations(path)
    assert len(set(names)) == AT_ONCE
    assert all(numbers(kept, name) == list(range(EACH)) for name in names)


def test_several_threads_write_at_once_through_one_object(tmp_path: Path) -> None:
    kept = Conversations(tmp_path / "conversations.db")
    together = Barrier(AT_ONCE)

    def talk_here(writer: int) -> str:
        together.wait()
        name = kept.start(model="m", cwd="/", scope=str(writer))
        for number in range(EACH):
            kept.append(name, Said(text=f"{number} by {writer}"))
            assert kept.search(f"{number}", 1)
        return name

    with ThreadPoolExecutor(AT_ONCE) as threads:
        names = list(threads.map(talk_here, range(AT_ONCE)))
    assert all(numbers(kept, name) == list(range(EACH)) for name in names)


@pytest.mark.parametrize("seen", [0, 1, 6])
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, seen: int) -> None:
    path = tmp_path / "conversations.db"
    process = talk(path, 1_000_000)
    name = line(process)
    begin(process)
    while int(line(process)) < seen:
        pass
    process.kill()  # in the middle of one of the next
    assert process.stdout is not None
    # communicate() alone would miss the lines that readline() has already buffered.
    rest = process.stdout.read()
    process.communicate()
    acknowledged = max([seen, *map(int, rest.split())])
    kept = Conversations(path)
    found = numbers(kept, name)
    assert found[: acknowledged + 1] == list(range(acknowledged + 1))
    assert len(found) <= acknowledged + 2, "at most the one under way"
    last = kept.load(name)[-1]
    assert isinstance(last, Said | Returned), "a call that was under way is answered"
    kept.append(name, Said(text="0 going on"))
    assert kept.load(name)[-1] == Said(text="0 going on")
    assert kept.search("going", 1)


def test_a_process_killed_before_it_committed_leaves_no_half_message(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    kept = Conversations(path)
    name = kept.start(model="m", cwd="/", scope="")
    kept.append(name, Said(text="before"))
    hold = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
for number in range(1, 100):
    connection.execute(
        "INSERT INTO message (conversation, number, at, body) VALUES (?, ?, 0, zeroblob(50000))",
        (sys.argv[2], number))
print("written", flush=True)
sys.stdin.readline()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", hold, str(path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert line(process) == "written"
    assert kept.load(name) == (Said(text="before"),), "who reads does not wait for who writes"
    process.kill()
    process.communicate()
    kept.append(name, Answered(text="after", calls=()))
    assert kept.load(name) == (Said(text="before"), Answered(text="after"))


def test_a_call_that_was_under_way_when_the_program_was_killed_can_be_gone_on_from(
    tmp_path: Path,
) -> None:
    path = tmp_path / "conversations.db"
    process = talk(path, 2)
    name = line(process)
    begin(process)
    process.communicate()
    *_, asked, answer = Conversations(path).load(name)
    assert isinstance(asked, Answered)
    assert isinstance(answer, Returned)
    assert asked.calls == (Asked(name="terminal", id="1"),)
    assert answer.replies[0].result.call_id == "1"
