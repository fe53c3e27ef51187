"""Frames between a host and a worker: kind, token of the call, length, body.

Both ends are strict: what is not exactly the next frame is a fault, and nothing of it is used.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

HEADER = struct.Struct(">c16sI")
LARGEST = 16 * 1024 * 1024
"""Bytes of the largest body."""

READY = b"H"
REQUEST = b"R"
QUESTION, REPLY = b"Q", b"Y"
ANSWER = b"A"
LAST = b"L"
"""An answer after which the worker is not to be used again."""
TOO_LARGE = b"O"
NO_CALL = bytes(16)
"""The token of what belongs to no call."""

_CLOSED = "the other end is closed"


class Fault(Exception):
    """The other end does not keep to the protocol; the text is one line of ours."""


class Ended(Fault):
    """The other end is closed, between two frames."""

    def __init__(self) -> None:
        super().__init__(_CLOSED)


def frame(kind: bytes, token: bytes, body: bytes) -> tuple[bytes, bytes]:
    """Return the two pieces of a frame; a `Fault` for a body that is too large."""
    if len(body) > LARGEST:
        raise Fault("a body is too large")
    return HEADER.pack(kind, token, len(body)), body


def read(
    receive: Callable[[memoryview], int], kinds: bytes, token: bytes | None = None
) -> tuple[bytes, bytes, bytes]:
    """Read one frame: its kind, its token, its body.

    Args:
        receive: fills a buffer from its start, waiting until there is something; returns how many
            bytes it put there, 0 when the other end is closed.
        kinds: the kinds that may come now.
        token: the call that the frame must belong to; None: any.
    """
    head = bytearray(HEADER.size)
    _fill(receive, head, nothing_yet=True)
    kind, whose, length = HEADER.unpack(head)
    if kind not in kinds:
        raise Fault("a frame is of no kind that may come now")
    if token is not None and whose != token:
        raise Fault("a frame belongs to another call")
    if length > LARGEST:
        raise Fault("a frame is too large")
    body = bytearray(length)
    _fill(receive, body)
    return kind, whose, bytes(body)


def _fill(
    receive: Callable[[memoryview], int], buffer: bytearray, *, nothing_yet: bool = False
) -> None:
    left = memoryview(buffer)
    while left:
        count = receive(left)
        if count == 0:
            if nothing_yet and len(left) == len(buffer):
                raise Ended
            raise Fault("half a frame")
        left = left[count:]


def write(channel: socket, pieces: tuple[bytes, bytes], wait: Callable[[], None]) -> None:
    """Write a frame whole; `wait` is called when a channel that does not block takes no more."""
    left = [memoryview(piece) for piece in pieces if piece]
    while left:
        try:
            count = channel.sendmsg(left)
        except BlockingIOError:
            wait()
            continue
        while left and count >= len(left[0]):
            count -= len(left[0])
            del left[0]
        if count:
            left[0] = left[0][count:]
