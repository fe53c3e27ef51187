"""MCP over standard input and output: our own transport below the SDK's session.

The descriptors 0 and 1 are moved away before any plugin is imported, so that a tool that prints,
reads or starts a child touches neither question nor answer. Every request gets at most one answer,
and one that no parser takes gets an error: the SDK's own transport drops those, and its client
waits for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import stat
import threading
from collections import Counter
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from toolseam_plugins.mcp._envelope import INVALID_REQUEST, Unreadable, read
from toolseam_plugins.mcp._sdk import McpUnavailable, run
from toolseam_plugins.mcp._server_peer import LOGGER, Caller, Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolseam_plugins.mcp._envelope import Message
    from toolseam_plugins.mcp._sdk import Sdk

KEY = Key(None, "stdio")
"""The one conversation of this transport."""

LONGEST = 1_100_000
"""Bytes of a line: the most that arguments may have, and room for what is around them."""

_LINES = 64
_UNREAD = 8_000_000
_GRACE_S = 2.0
_FLUSH_S = 5.0
_INTERNAL_ERROR = -32603


class Wires(NamedTuple):
    """The descriptors on which the client speaks and listens."""

    incoming: int
    outgoing: int


def claim_stdio() -> Wires:
    """Move standard input and output away; what is left is an empty one, and standard error.

    To be called before anything is imported that is not our own.

    Raises `McpUnavailable` where one of them is closed.
    """
    try:
        wires = Wires(os.dup(0), os.dup(1))
    except OSError:
        raise McpUnavailable("standard input or output is closed; a client has both") from None
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # started without a standard error
            os.dup2(null, 1)
    finally:
        os.close(null)
    # Whoever started us may have left them so; a full pipe would look like one that is gone.
    for wire in wires if os.name == "posix" else ():
        os.set_blocking(wire, True)
    return wires


async def serve(sdk: Sdk, server: Any, wires: Wires) -> None:  # noqa: ANN401
    """Serve the one client until it ends its side, or SIGTERM comes."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None and threading.current_thread() is threading.main_thread():
        with contextlib.suppress(NotImplementedError):  # an event loop of Windows has no signals
            loop.add_signal_handler(signal.SIGTERM, task.cancel)
    sink = _Sink(wires.outgoing)
    try:
        await _Wire(sdk, wires, sink).run(server)
    except asyncio.CancelledError:
        LOGGER.info("stopped by a signal")
    finally:
        await sink.close()


class _Wire:
    """Lines in and lines out, and the ids between them that wait for an answer.

    The SDK's own tasks read and write them: a stream of anyio's on either side would cost a call
    more turns of the loop than all that is ours.
    """

    def __init__(self, sdk: Sdk, wires: Wires, sink: _Sink) -> None:
        self._sdk = sdk
        self._source = _Source(wires.incoming)
        self._sink = sink
        self._waiting: Counter[int | str] = Counter()
        self._settled = asyncio.Event()

    async def run(self, server: Any) -> None:  # noqa: ANN401
        await run(server, _Incoming(self), _Outgoing(self))

    async def receive(self) -> Any:  # noqa: ANN401
        """Return the next message that the SDK can take; None at the end, and ever after."""
        while (held := await self._source.next()) is not None:
            message = await self._taken(held[0])
            if message is not None:
                return message
        await self._wait_for_answers()
        return None

    async def _taken(self, line: bytes | None) -> Any:  # noqa: ANN401
        """Return a line as a message, or answer what is none and return None."""
        if line is None:
            too_long = Unreadable(INVALID_REQUEST, f"A line has more than {LONGEST:,} bytes.")
            await self._sink.put(too_long.answer())
            return None
        found = read(line)
        if isinstance(found, Unreadable):
            await self._sink.put(found.answer())
            return None
        if "method" not in found.body:
            return None  # an answer, and the server asks nothing
        try:
            message = self._sdk.message(found.body, Caller(KEY, found.arguments))
        except ValueError:
            unknown = Unreadable(INVALID_REQUEST, "This is no message.", found.body.get("id"))
            await self._sink.put(unknown.answer())
            return None
        self._note(found)
        return message

    async def send(self, message: Any) -> None:  # noqa: ANN401
        """Write a message of the SDK's, at most one for each id that waits."""
        try:
            data, answers = self._sdk.encoded(message)
        except Exception as error:  # noqa: BLE001 - the client waits for an answer, whatever it is
            LOGGER.warning("an answer could not be written: %s", type(error).__name__)
            answers = getattr(getattr(message.message, "root", message.message), "id", None)
            data = Unreadable(_INTERNAL_ERROR, "The answer was no text.", answers).answer()
        if answers is None or self._settle(answers):
            await self._sink.put(data)

    def _note(self, message: Message) -> None:
        if message.is_request:
            self._waiting[message.body["id"]] += 1
        elif message.body.get("method") == "notifications/cancelled":
            # The protocol wants no answer to what was cancelled; one on its way is dropped.
            given_up = message.body.get("params", {}).get("requestId")
            if type(given_up) in {int, str}:
                self._settle(given_up)

    def _settle(self, id_: int | str) -> bool:
        """Strike an id off those that wait; tell whether it was one."""
        if self._waiting[id_] <= 0:
            del self._waiting[id_]
            return False
        self._waiting[id_] -= 1
        if not self._waiting[id_]:
            del self._waiting[id_]
        self._settled.set()
        return True

    async def _wait_for_answers(self) -> None:
        """Let what is under way be answered before the end of the questions ends the session."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                while self._waiting:
                    self._settled.clear()
                    await self._settled.wait()


class _Stream:
    """What the SDK asks of either side of a transport; closing it is the transport's to do."""

    def __init__(self, wire: _Wire) -> None:
        self._wire = wire

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def aclose(self) -> None:
        pass


class _Incoming(_Stream):
    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # noqa: ANN401
        message = await self._wire.receive()
        if message is None:
            raise StopAsyncIteration
        return message


class _Outgoing(_Stream):
    async def send(self, message: Any) -> None:  # noqa: ANN401
        await self._wire.send(message)


class _Source:
    """The lines of a descriptor, read in a thread; None stands for one that is too long."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[tuple[bytes | None] | None] = asyncio.Queue()
        # A client that asks faster than it is answered waits in its own pipe.
        self._room = threading.Semaphore(_LINES)
        threading.Thread(target=self._read, name="toolseam-stdin", daemon=True).start()

    async def next(self) -> tuple[bytes | None] | None:
        """Return the next line, held; None at the end, and ever after."""
        held = await self._lines.get()
        if held is None:
            self._lines.put_nowait(None)
        else:
            self._room.release()
        return held

    def _read(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # closed under us; the loop has ended
            for line in lines(self._descriptor):
                self._room.acquire()
                self._loop.call_soon_threadsafe(self._lines.put_nowait, (line,))
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)


def lines(descriptor: int) -> Iterator[bytes | None]:
    """Give the lines that are not blank; None stands for one that is too long."""
    with open(descriptor, "rb", closefd=False) as source:
        while line := source.readline(LONGEST + 1):
            if len(line) > LONGEST and not line.endswith(b"\n"):
                while (rest := source.readline(LONGEST)) and not rest.endswith(b"\n"):
                    pass
                yield None
            elif not line.isspace():
                yield line


class _Sink:
    """Writes lines in a thread: a client that does not read holds up nobody but itself.

    A line that its pipe is sure to have room for is written at once; the thread would cost more.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._unread = 0
        self._lock = threading.Lock()
        self._room = asyncio.Event()
        self._thread = threading.Thread(target=self._write, name="toolseam-stdout", daemon=True)
        self._thread.start()
        self._room_for = _room_in(descriptor)

    async def put(self, data: bytes) -> None:
        """Write one line; waits while too much is unread."""
        if self._write_at_once(data + b"\n"):
            return
        with self._lock:
            self._unread += len(data)
        self._queue.put(data)
        while self._unread > _UNREAD:
            self._room.clear()
            await self._room.wait()

    async def close(self) -> None:
        """Write what is left, for at most five seconds."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join, _FLUSH_S)

    def _write_at_once(self, line: bytes) -> bool:
        """Write a line that is sure to fit, and has none before it; tell whether it was."""
        if self._unread or not self._room_for(len(line)):
            return False
        with contextlib.suppress(OSError):  # gone since; the next line finds that out too
            os.write(self._descriptor, line)
        return True

    def _write(self) -> None:
        gone = False
        while (data := self._queue.get()) is not None:
            if not gone:
                try:
                    _write_all(self._descriptor, data + b"\n")
                except OSError:
                    gone = True  # what is asked by a client that went away is answered to nobody
            with self._lock:
                was, self._unread = self._unread, self._unread - len(data)
            if was > _UNREAD:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._room.set)


def _room_in(descriptor: int) -> Callable[[int], bool]:
    """Return what tells whether so many bytes can be written now, with no waiting; only to a pipe.

    `PIPE_BUF` bytes fit into a pipe that is ready, a whole pipe into one that is empty, where the
    system says how large it is.
    """
    if not hasattr(select, "poll") or not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return lambda _: False
    import fcntl
    import termios

    ready = select.poll()
    ready.register(descriptor, select.POLLOUT)
    whole = fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) if hasattr(fcntl, "F_GETPIPE_SZ") else 0
    nothing = bytes(4)

    def has_room(size: int) -> bool:
        if ready.poll(0) != [(descriptor, select.POLLOUT)]:
            return False
        if size <= select.PIPE_BUF:
            return True
        return size <= whole and fcntl.ioctl(descriptor, termios.FIONREAD, nothing) == nothing

    return has_room


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
