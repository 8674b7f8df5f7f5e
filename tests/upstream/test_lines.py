import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.requirements import requirement
from tooldrawer.bounds.message import MessageMeter
from tooldrawer.upstream.lines import LineReader, LineWriter, Message, line_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for descriptor in (read, write):
        with suppress(OSError):
            os.close(descriptor)


def _answer(number: int, result: Message) -> Message:
    return {"jsonrpc": "2.0", "id": number, "result": result}


async def _all(reader: LineReader) -> list[Any]:
    found: list[Any] = []
    with anyio.fail_after(60):
        async with reader:
            found = [item async for item in reader]
    return found


async def _read(pipe: tuple[int, int], data: bytes, **options: Any) -> tuple[list[Any], LineReader]:
    read, write = pipe
    reader = LineReader(read, **options)
    os.write(write, data)
    os.close(write)
    return await _all(reader), reader


async def test_each_kind_of_message_is_read(pipe: tuple[int, int]) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": [None]}},
        {"jsonrpc": "2.0", "id": "a", "result": {"b": 1.5}},
        {"jsonrpc": "2.0", "id": 2, "error": {"code": -1, "message": "no", "data": [1]}},
    ]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    found, reader = await _read(pipe, data)
    assert found == lines
    assert reader.noise == 0


async def test_a_message_goes_out_as_one_line_and_comes_back_the_same(
    pipe: tuple[int, int],
) -> None:
    read, write = pipe
    messages: list[Message] = [
        {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"text": "a\nb\u2028ü😀"}},
        {"jsonrpc": "2.0", "id": 1, "method": "no_params"},
        {"jsonrpc": "2.0", "method": "n", "params": {"big": 2**80, "f": 0.1}},
        {"jsonrpc": "2.0", "id": "x", "result": {"nested": {"a": [1, None, True]}}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m", "data": {"a": None}}},
    ]
    writer = LineWriter(write)
    for message in messages:
        assert line_of(message).count(b"\n") == 1
        await writer.send(message)
    await writer.aclose()
    assert await _all(LineReader(read)) == messages


async def test_half_of_a_pair_is_read_as_a_mark(pipe: tuple[int, int]) -> None:
    odd = _answer(2, {"half\udfff": ["\ud800", "a\udc00\ud800b", "\\ud800", "😀"]})
    found, _ = await _read(pipe, json.dumps(odd).encode() + b"\n")
    mark = "\ufffd"
    assert found == [_answer(2, {f"half{mark}": [mark, f"a{mark}{mark}b", "\\ud800", "😀"]})]


async def test_noise_is_skipped_and_counted(pipe: tuple[int, int]) -> None:
    heard: list[bytes] = []
    data = b'loading {\n\n{"a": 1}\n[1]\n{"jsonrpc": "2.0", "id": {}, "method": "m"}\n\xff\xfe\n'
    good = b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n'
    found, reader = await _read(pipe, data + good, on_noise=heard.append)
    assert len(found) == 1
    assert reader.noise == len(heard) == 5
    assert heard[0] == b"loading {"


async def test_what_almost_is_an_answer_reaches_whoever_waits_for_it(
    pipe: tuple[int, int],
) -> None:
    data = (
        b'{"jsonrpc": "2.0", "id": 1, "result": null}\n'
        b'{"jsonrpc": "2.0", "id": 2, "error": "broken"}\n'
        b'{"id": 3, "result": {}}\n'
        b'{"jsonrpc": "2.0", "id": 4, "result": {"latin": "\xe9"}}\n'
        b'[{"jsonrpc": "2.0", "id": 5, "result": {}}, {"jsonrpc": "2.0", "id": 6, "result": {}}]\n'
        b'{"jsonrpc": "2.0", "id": 7, "result": {"no": "line end"}}'
    )
    found, reader = await _read(pipe, data)
    assert [message["id"] for message in found] == [1, 2, 3, 4, 5, 6, 7]
    assert ["error" in message for message in found] == [True, True, *[False] * 5]
    assert found[3]["result"] == {"latin": "\ufffd"}
    assert reader.noise == 0


async def test_null_is_nothing(pipe: tuple[int, int]) -> None:
    data = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "m", "params": null}\n'
        b'{"jsonrpc": "2.0", "id": null, "method": "n"}\n'
        b'{"jsonrpc": "2.0", "id": 2, "result": null, "error": {"code": 1, "message": "no"}}\n'
    )
    asked, told, refused = (await _read(pipe, data))[0]
    assert asked == {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert told == {"jsonrpc": "2.0", "method": "n"}
    assert refused["error"] == {"code": 1, "message": "no"}


async def test_hopeless_nesting_is_noise(pipe: tuple[int, int]) -> None:
    found, reader = await _read(pipe, b'{"id": 1, "result": ' + b"[" * 20_000 + b"\n")
    assert (found, reader.noise) == ([], 1)


async def test_messages_of_five_megabytes_pass_both_ways(pipe: tuple[int, int]) -> None:
    read, write = pipe
    large = _answer(1, {"text": "ä\\" * 1_700_000})
    writer, found = LineWriter(write), list[Any]()

    async def write_them() -> None:
        async with writer:
            for _ in range(3):
                await writer.send(large)

    async with anyio.create_task_group() as group:
        group.start_soon(write_them)
        found = await _all(LineReader(read))
    assert [each == large for each in found] == [True] * 3


@requirement("DSP-10")
@pytest.mark.parametrize(
    ("line", "reason"),
    [(b"{" + b"x" * 5000, "4,000 bytes"), (b'{"a": [' + b"0," * 1500, "1,000 values")],
)
async def test_a_line_beyond_a_limit_ends_the_stream_and_says_why(
    pipe: tuple[int, int], line: bytes, reason: str
) -> None:
    meter = MessageMeter(max_bytes=4_000, max_values=1_000)
    found, reader = await _read(pipe, line, meter=meter)
    assert found == []
    assert reader.fault == f"it sent a line of more than {reason}"


async def test_the_limits_are_for_each_line(pipe: tuple[int, int]) -> None:
    read, write = pipe
    # Longer than what is read at once, so that each of them is measured.
    large = _answer(1, {"text": [0] * 60_000})
    writer, reader = LineWriter(write), LineReader(read, meter=MessageMeter(max_values=70_000))

    async def write_them() -> None:
        async with writer:
            for _ in range(5):
                await writer.send(large)

    found: list[Any] = []
    async with anyio.create_task_group() as group:
        group.start_soon(write_them)
        found = await _all(reader)
    assert (len(found), reader.fault) == (5, "")


async def test_writers_take_turns_and_never_mix_their_lines(pipe: tuple[int, int]) -> None:
    read, write = pipe
    writer = LineWriter(write)

    async def send(number: int) -> None:
        result = {"n": number, "text": str(number % 10) * 40_000}
        await writer.send(_answer(number, result))

    async def write_all() -> None:
        async with anyio.create_task_group() as inner:
            for number in range(30):
                inner.start_soon(send, number)
        await writer.aclose()

    found: list[Any] = []
    async with anyio.create_task_group() as group:
        group.start_soon(write_all)
        found = await _all(LineReader(read))
    assert sorted(each["id"] for each in found) == list(range(30))
    assert all(set(each["result"]["text"]) == {str(each["id"] % 10)} for each in found)


async def test_a_cancelled_send_leaves_no_half_line(pipe: tuple[int, int]) -> None:
    read, write = pipe
    writer = LineWriter(write)
    large = _answer(1, {"text": "x" * 500_000})
    small = _answer(2, {})
    async with anyio.create_task_group() as group:
        group.start_soon(writer.send, large)
        await anyio.wait_readable(read)
        group.cancel_scope.cancel()

    async def go_on() -> None:
        await writer.send(small)
        await writer.aclose()

    found: list[Any] = []
    async with anyio.create_task_group() as group:
        group.start_soon(go_on)
        found = await _all(LineReader(read))
    assert [each["id"] for each in found] == [1, 2]


async def test_a_send_that_nobody_reads_is_refused(pipe: tuple[int, int]) -> None:
    read, write = pipe
    writer = LineWriter(write)
    os.close(read)
    message: Message = {"jsonrpc": "2.0", "method": "n"}
    with pytest.raises(anyio.BrokenResourceError):
        await writer.send(message)
    await writer.aclose()
    with pytest.raises(anyio.ClosedResourceError):
        await writer.send(message)


async def test_a_flood_leaves_others_their_turn(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.set_blocking(write, False)
    reader, turns, count = LineReader(read), 0, 0
    line = b'{"jsonrpc": "2.0", "method": "n"}\n'

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(take_turns)
        for _ in range(20):
            with suppress(BlockingIOError):
                os.write(write, line * 1000)
            for _ in range(500):
                await reader.receive()
                count += 1
        group.cancel_scope.cancel()
    await reader.aclose()
    assert turns > count / 200


async def test_descriptors_of_others_stay_open_and_block_again(pipe: tuple[int, int]) -> None:
    read, write = pipe
    reader, writer = LineReader(read, owned=False), LineWriter(write, owned=False)
    assert not os.get_blocking(read)
    await reader.aclose()
    await writer.aclose()
    assert os.get_blocking(read)
    assert os.get_blocking(write)


async def test_reading_can_be_cancelled_and_taken_up_again(pipe: tuple[int, int]) -> None:
    read, write = pipe
    reader = LineReader(read)
    with anyio.move_on_after(0.01) as scope:
        await reader.receive()
    assert scope.cancelled_caught
    os.write(write, b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n')
    os.close(write)
    assert len(await _all(reader)) == 1


async def test_a_regular_file_can_be_read_too(tmp_path: Any) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n' * 3)
    assert len(await _all(LineReader(os.open(file, os.O_RDONLY)))) == 3
