"""A server that is started as a child process, and spoken to in lines."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolseam.guards import mask_secrets
from toolseam_plugins.mcp._client_talk import MESSAGE_BYTES, Lost

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from toolseam_plugins.mcp._client_talk import Talk

_CHUNK = 65_536
_PASSED = ("PATH", "HOME", "LANG")
_ERROR_BYTES = 64_000
_ERROR_LINE = 1_000
_TAIL_LINES = 5
_GRACE_S = 1.0
_LAST_S = 0.2


def environment(named: Mapping[str, str]) -> dict[str, str]:
    """Return what a child gets: `PATH`, `HOME`, `LANG`, and what the mount names.

    Raises `Lost` where a variable that is named is not set.
    """
    child = {name: os.environ[name] for name in _PASSED if name in os.environ}
    for name, variable in named.items():
        value = os.environ.get(variable)
        if value is None:
            raise Lost("not_configured", f"the variable {variable} is not set", sent=False)
        child[name] = value
    return child


def _home() -> Path:
    """Return where a child starts: there no workspace can plant what `npx` or Python would load."""
    home = Path.home()
    return home if home.is_dir() else Path("/")  # an account of a service may have none


class Child:
    """A child process that speaks on its standard streams."""

    def __init__(
        self, process: asyncio.subprocess.Process, talk: Talk, log: logging.Logger
    ) -> None:
        self._process = process
        self._talk = talk
        self._log = log
        self._turn = asyncio.Lock()
        self._tail: list[str] = []
        self._readers = (asyncio.ensure_future(self._read()), asyncio.ensure_future(self._drain()))

    @classmethod
    async def start(
        cls, words: Sequence[str], child: Mapping[str, str], talk: Talk, log: logging.Logger
    ) -> Child:
        """Start it; raises `Lost` where that is not possible."""
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(child),
                cwd=_home(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            text = f"the command cannot be started ({type(error).__name__})"
            raise Lost("not_started", text, sent=False) from None
        return cls(process, talk, log)

    async def last_words(self) -> tuple[str, ...]:
        """Return the last lines that it wrote to its standard error, masked and escaped."""
        await asyncio.wait({self._readers[1]}, timeout=_LAST_S)
        return tuple(self._tail)

    async def send(self, message: bytes, answered: Callable[[], bool] | None = None) -> None:
        """Write one line."""
        del answered  # what comes back comes on the other pipe
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101 - it was asked for
        async with self._turn:
            if self._talk.lost is not None or pipe.is_closing():
                raise self._ended(sent=False)
            try:
                pipe.write(message + b"\n")
                await pipe.drain()
            except (OSError, RuntimeError):
                raise self._ended(sent=True) from None

    def _ended(self, *, sent: bool) -> Lost:
        """Take note that it reads no more, though it may still write."""
        lost = Lost("connection_lost", "the server has ended", sent=sent)
        self._talk.end(lost)
        return lost

    async def close(self) -> None:
        """Close its pipe, and end it where that is not enough."""
        pipe = self._process.stdin
        if pipe is not None:
            pipe.close()
        for sign in (None, signal.SIGTERM, signal.SIGKILL):
            if sign is not None:
                self._signal(sign)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_S):
                    await self._process.wait()
                    break
        # What it started itself is of its group, and may hold the pipes open.
        self._signal(signal.SIGKILL)
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        # What left its group may hold them for ever, and asyncio has no public way to let go.
        process: Any = self._process
        process._transport.close()  # noqa: SLF001

    def _signal(self, sign: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, sign)

    async def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101 - it was asked for
        lines = Lines()
        try:
            while chunk := await stream.read(_CHUNK):
                for line in lines.feed(chunk):
                    if line is None:
                        mark = f"an answer has more than {MESSAGE_BYTES:,} bytes"
                        self._talk.fail(Lost("too_large", mark))
                    elif line.strip():
                        self._talk.receive(line)
        finally:
            self._talk.end(Lost("connection_lost", "the server has ended"))

    async def _drain(self) -> None:
        """Take what it writes to standard error into the log, escaped, up to a bound."""
        stream = self._process.stderr
        assert stream is not None  # noqa: S101 - it was asked for
        logged, rest = 0, b""
        while chunk := await stream.read(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            rest = rest[-_ERROR_LINE:]
            for line in whole[-200:]:
                shown = _escaped(line)
                self._tail = [*self._tail, shown][-_TAIL_LINES:]
                if logged < _ERROR_BYTES:
                    self._log.info("stderr: %s", shown)
                logged += len(shown)
        if rest:
            self._tail = [*self._tail, _escaped(rest)][-_TAIL_LINES:]


def _escaped(line: bytes) -> str:
    text = mask_secrets(line[: 2 * _ERROR_LINE].decode("utf-8", "replace").rstrip())[0]
    return text.encode("unicode_escape").decode("ascii")[:_ERROR_LINE]


class Lines:
    """Cuts a stream into lines; of one that is too long it says so once, and keeps nothing."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Give the lines that are whole by now, None for one that is too long."""
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            if not self._skipping and len(self._kept) + len(part) <= MESSAGE_BYTES:
                yield bytes(self._kept + part)
            elif not self._skipping:
                yield None
            self._kept.clear()
            self._skipping = False
        if self._skipping:
            return
        self._kept += rest
        if len(self._kept) > MESSAGE_BYTES:
            self._kept.clear()
            self._skipping = True
            yield None
