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

_AT_ONCE = 2 * 1024 * 1024
"""Bytes that are asked for at once: a body that is there is taken without a copy."""

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
    take: Callable[[int], bytes], kinds: bytes, token: bytes | None = None
) -> tuple[bytes, bytes, bytes]:
    """Read one frame: its kind, its token, its body.

    Args:
        take: waits until there is something, and returns at most so many bytes; none when the
            other end is closed.
        kinds: the kinds that may come now.
        token: the call that the frame must belong to; None: any.
    """
    head = take(HEADER.size)
    if not head:
        raise Ended
    if len(head) < HEADER.size:
        head += _all(take, HEADER.size - len(head))
    kind, whose, length = HEADER.unpack(head)
    if kind not in kinds:
        raise Fault("a frame is of no kind that may come now")
    if token is not None and whose != token:
        raise Fault("a frame belongs to another call")
    if length > LARGEST:
        raise Fault("a frame is too large")
    return kind, whose, _all(take, length)


def _all(take: Callable[[int], bytes], length: int) -> bytes:
    pieces: list[bytes] = []
    while length:
        piece = take(min(length, _AT_ONCE))
        if not piece:
            raise Fault("half a frame")
        pieces.append(piece)
        length -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


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
