"""Server-sent events of one answer: their data, and where to go on after the stream has ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolseam_plugins.mcp._client_talk import MESSAGE_BYTES, Lost

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

_STREAM_BYTES = 4 * MESSAGE_BYTES
_ID = re.compile(rb"[\x21-\x7e]{1,256}")
_RETRY = re.compile(rb"[0-9]{1,6}")
_LONGEST_S = 5.0


class Events:
    """What is read of an answer, over all streams that it comes in.

    `last_id` names the last event, None where events have no names; `retry_s` is how long the
    server wants to be left alone before it is asked for the rest.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.retry_s = 0.1
        self._total = 0

    async def read(self, stream: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Give the data of each event; raises `Lost` for what is too large."""
        data: list[bytes] = []
        rest, size = bytearray(), 0
        async for chunk in stream:
            self._total += len(chunk)
            rest += chunk
            lines: list[bytes] = []
            if b"\n" in chunk:
                *lines, last = bytes(rest).replace(b"\r\n", b"\n").split(b"\n")
                rest = bytearray(last)
            if len(rest) > MESSAGE_BYTES or self._total > _STREAM_BYTES:
                raise too_large()
            for line in lines:
                name, _, value = line.partition(b":")
                value = value.removeprefix(b" ")
                size += len(line)
                if size > MESSAGE_BYTES:
                    raise too_large()
                if name == b"data":
                    data.append(value)
                elif line:
                    self._note(name, value)
                else:
                    if data:
                        yield b"\n".join(data)
                    data, size = [], 0

    def _note(self, name: bytes, value: bytes) -> None:
        if name == b"id" and _ID.fullmatch(value):
            self.last_id = value.decode("ascii")
        elif name == b"retry" and _RETRY.fullmatch(value):
            self.retry_s = min(int(value) / 1_000, _LONGEST_S)


def too_large() -> Lost:
    """Return the failure of an answer that is larger than is read."""
    return Lost("too_large", f"an answer has more than {MESSAGE_BYTES:,} bytes")
