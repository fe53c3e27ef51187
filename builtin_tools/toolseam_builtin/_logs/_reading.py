"""Reading log files from their end: whole records, the newest part first, within a budget."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import attrs

from toolseam import ToolError

if TYPE_CHECKING:
    from typing import BinaryIO

    from toolseam_builtin._logs._files import LogFile

    FindStart = Callable[[bytes], int | None]
    """Gives the place of the first line that surely begins a record, behind the first line."""

CALL_BYTES = 16_000_000
"""What one call reads at most, counted after unpacking."""
LINE_BYTES = 1_000_000
"""What is kept of one line."""
_BLOCK = 1_000_000
_PACKED_BLOCK = 65_536
_CARRIED = 4_000_000
_GZIP = 16 + zlib.MAX_WBITS
_COLOURS = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")


@attrs.define
class Budget:
    """What reading may cost: bytes after unpacking, and a moment of `time.monotonic()`.

    `warnings` are what must be said of the files: which are damaged, cut, or no text.
    """

    end: float
    cancelled: Callable[[], bool]
    left: int = CALL_BYTES
    stopped: str | None = None
    warnings: list[str] = attrs.field(factory=list[str])

    def goes_on(self) -> bool:
        """Tell whether there is anything left, and remember what is not."""
        if self.left <= 0:
            self.stopped = f"{CALL_BYTES:,} bytes"
        elif time.monotonic() >= self.end or self.cancelled():
            self.stopped = "the time limit"
        return self.stopped is None


def sections(file: LogFile, budget: Budget, find_start: FindStart) -> Generator[bytes]:
    """Give a file in sections of whole records with plain line ends, the newest section first.

    A file that cannot be read, or holds no text, gives nothing but a warning.
    """
    if not budget.goes_on():
        return
    try:
        with file.guard.open(file.name) as (look, stream):
            if file.packed:
                yield from _packed(stream, file.shown, budget)
            else:
                yield from _plain(stream, look.size, file.shown, budget, find_start)
    except (ToolError, OSError):
        budget.warnings.append(f"{file.shown} cannot be read.")


def _plain(
    stream: BinaryIO, size: int, name: str, budget: Budget, find_start: FindStart
) -> Generator[bytes]:
    """Read backwards; what stands before the first whole record of a block goes to the next."""
    if stream.read(2) in {b"\xff\xfe", b"\xfe\xff"}:
        budget.warnings.append(f"{name} is UTF-16, which is not read.")
        return
    end, carried = size, b""
    while end > 0 and budget.goes_on():
        step = min(_BLOCK, end, budget.left)
        stream.seek(end - step)
        block = stream.read(step)
        budget.left -= len(block)
        end -= step
        data, carried = block + carried, b""
        if end > 0:
            start = find_start(data)
            if start is None and len(data) < _CARRIED:
                carried = data
                continue
            # Where there is none, the end of a line must do: half of one may be half a secret.
            place = start or data.find(b"\n") + 1 or len(data)
            carried, data = data[:place], data[place:]
        yield _tidy(data, name, budget)
    if carried:
        yield _tidy(carried.partition(b"\n")[2], name, budget)


def _packed(stream: BinaryIO, name: str, budget: Budget) -> Generator[bytes]:
    """Unpack from the beginning, for there is no other way, but at most half of what is left."""
    most = max(budget.left // 2, 1)
    parts: list[bytes] = []
    size, whole = 0, True
    for part in _unpacked(stream, name, budget):
        if not parts and part.count(b"\0") > len(part) // 2:
            budget.warnings.append(f"{name} holds no text; it was unpacked no further.")
            return
        parts.append(part[: most - size])
        size += len(part)
        if size >= most or not budget.goes_on():
            budget.warnings.append(
                f"{name}: only its oldest {min(size, most):,} bytes were unpacked, newer records"
                " are missing."
            )
            whole = False
            break
    data = b"".join(parts)
    # What is left of a line cannot be judged: a secret shows by its whole length.
    yield _tidy(data if whole else data[: data.rfind(b"\n") + 1], name, budget)


def _unpacked(stream: BinaryIO, name: str, budget: Budget) -> Generator[bytes]:
    """Unpack all members of a gzip file piece by piece; what is damaged ends it with a warning."""
    member = zlib.decompressobj(_GZIP)
    packed = stream.read(_PACKED_BLOCK)
    try:
        while packed:
            part = member.decompress(packed, _PACKED_BLOCK)
            budget.left -= len(part)
            if part:
                yield part
            packed = member.unconsumed_tail
            if member.eof:
                packed = member.unused_data.lstrip(b"\0")
            packed = packed or stream.read(_PACKED_BLOCK)
            if member.eof and packed:
                member = zlib.decompressobj(_GZIP)
    except zlib.error:
        budget.warnings.append(f"{name} is damaged: what could be unpacked before is here.")
        return
    if not member.eof:
        budget.warnings.append(f"{name} is cut off: what could be unpacked is here.")


def _tidy(data: bytes, name: str, budget: Budget) -> bytes:
    """Drop colours, NUL bytes and what a line has beyond its limit; end lines in a newline."""
    if b"\x1b" in data:
        data = _COLOURS.sub(b"", data)
    data = data.replace(b"\0", b"").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if len(data) > LINE_BYTES:
        lines = data.split(b"\n")
        long = sum(len(line) > LINE_BYTES for line in lines)
        if long:
            budget.warnings.append(f"{name}: {long} longer than {LINE_BYTES:,} bytes, cut there.")
            data = b"\n".join(line[:LINE_BYTES] for line in lines)
    return data
