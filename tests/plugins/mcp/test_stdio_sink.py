import asyncio
import os
import threading
from pathlib import Path

from toolseam_plugins.mcp._stdio import _Sink

LINES = [b"%d" % number + b"." * (number % 50 * 100) for number in range(400)]


def read_all(descriptor: int) -> bytes:
    """Read to the end."""
    with open(descriptor, "rb") as source:
        return source.read()


async def write(descriptor: int, begin: threading.Event) -> bool:
    """Put all lines; tell whether that was done before anybody read."""
    sink = _Sink(descriptor)
    for line in LINES:
        await sink.put(line)
    unread = not begin.is_set()
    begin.set()
    await sink.close()
    os.close(descriptor)
    return unread


def test_lines_keep_their_order_whoever_writes_them() -> None:
    """Short and long lines, more than a pipe holds: nobody waits, and nothing is lost."""
    incoming, outgoing = os.pipe()
    begin, found = threading.Event(), list[bytes]()

    def read() -> None:
        begin.wait(10)
        found.append(read_all(incoming))

    reader = threading.Thread(target=read)
    reader.start()

    assert asyncio.run(asyncio.wait_for(write(outgoing, begin), 10))
    reader.join(10)
    assert sum(map(len, LINES)) > 200_000
    assert found[0].splitlines() == LINES


def test_a_reader_that_went_away_disturbs_nobody() -> None:
    """What is written to it is lost, in the loop and in the thread."""
    incoming, outgoing = os.pipe()
    os.close(incoming)

    assert asyncio.run(asyncio.wait_for(write(outgoing, threading.Event()), 10))


def test_what_is_no_pipe_is_written_too(tmp_path: Path) -> None:
    """A file has always room, and gets its lines from the thread."""
    file = tmp_path / "out"

    asyncio.run(write(os.open(file, os.O_WRONLY | os.O_CREAT), threading.Event()))

    assert file.read_bytes().splitlines() == LINES


def test_a_long_line_goes_into_an_empty_pipe_at_once() -> None:
    """Where a whole pipe has room for it, it is there when `put` returns; the next one waits."""
    incoming, outgoing = os.pipe()
    line = b"." * 40_000

    async def put_two() -> tuple[bytes, bytes]:
        sink = _Sink(outgoing)
        await sink.put(line)
        os.set_blocking(incoming, False)
        first = os.read(incoming, 65_536)
        os.set_blocking(incoming, True)
        await sink.put(line)
        await sink.put(b"last")
        reading = asyncio.create_task(asyncio.to_thread(read_all, incoming))
        await sink.close()
        os.close(outgoing)
        return first, await reading

    first, rest = asyncio.run(asyncio.wait_for(put_two(), 10))
    assert first == line + b"\n"
    assert rest == line + b"\nlast\n"
