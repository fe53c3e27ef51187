"""One worker process as its host sees it: begun, asked, ended."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from secrets import token_bytes
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

import attrs

from toolseam._body import Lost, NotStarted
from toolseam._text import short
from toolseam.isolation import _frames as frames
from toolseam.isolation._sandbox import processes, within
from toolseam.isolation._worker import BROKEN, GONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam._settings_keys import Grants, ProcessLimits

_HERE = Path(__file__).parent
_START_S = 60.0
_NATURAL_S = 1.0
"""How long a worker that has closed its channel may take to end by itself."""
_KILL_S = 90.0
_BACKSTOP = 3
"""After so many times the processor time of one call the kernel ends a worker, whatever it does."""
_MIB = 1024 * 1024
_BUFFER = 2 * _MIB
"""What the kernel may hold of a frame, if it allows so much: the ends take fewer turns."""


@attrs.frozen
class Ending:
    """How a worker ended, in its supervisor's words; `code` is negative for a signal."""

    natural: bool = False
    code: int | None = None
    cpu: float = 0.0
    printed: int = 0
    last: str = ""

    def __str__(self) -> str:
        """Say it in one line."""
        if self.code is None:
            how = "its supervisor ended without a word"
        elif self.code < 0:
            how = f"signal {-self.code}"
        else:
            how = f"exit code {self.code}"
        return f"{how}; {self.printed} bytes printed" if self.printed else how


class Worker:
    """A worker process and its supervisor; one thread uses it, any thread may kill it."""

    def __init__(self, limits: ProcessLimits, grants: Grants | None, body: str) -> None:
        """Start the process; raises `NotStarted`. `ready` waits until it takes requests."""
        if not processes().reached:
            raise NotStarted("process", processes().text)
        self.served = 0
        self._cpu_s = limits.cpu_s
        self._shifted = grants is not None
        command = [sys.executable, "-I", "-u", str(_HERE / "_worker.py"), _told(limits, body)]
        told = {
            "host": os.getpid(),
            "command": command if grants is None else within(grants, limits, command),
            "limits": {
                "memory": limits.memory_mb * _MIB,
                "cpu": limits.cpu_s * _BACKSTOP,
                "file": limits.file_mb * _MIB,
                "open_files": limits.open_files,
            },
        }
        self._turn = Lock()
        with ExitStack() as own, ExitStack() as given:
            try:
                self._channel, channel = _pair(own, given)
                for end in (self._channel, channel):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
                self._life, life = _pair(own, given)
                self._supervisor = subprocess.Popen(  # noqa: S603 - our own program
                    [sys.executable, "-I", "-S", str(_HERE / "_supervisor.py"), json.dumps(told)],
                    stdin=channel.fileno(),
                    stdout=life.fileno(),
                    stderr=subprocess.DEVNULL,
                    env=_environment(limits, sandbox=grants is not None),
                    start_new_session=True,
                )
            except OSError as error:
                raise NotStarted("worker_start", f"{type(error).__name__} {error.errno}") from None
            own.pop_all()
        self._channel.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._channel, select.POLLIN)
        self._poll.register(self._life, select.POLLIN)

    def ready(self) -> None:
        """Wait until the worker takes requests; raises `NotStarted`, and then it has ended."""
        until = monotonic() + _START_S
        try:
            frames.read(lambda count: self._take(count, until), frames.READY, frames.NO_CALL)
        except (frames.Fault, OSError):
            ending = self.end(_NATURAL_S)
            # Nothing of a plugin has run yet: what was printed is Python's or the sandbox's word.
            last = short(ending.last.strip().rpartition("\n")[2], 200)
            raise NotStarted("worker_start", f"{ending}: {last}" if last else str(ending)) from None

    def idle(self) -> bool:
        """Tell whether it can take a request: it lives, and said nothing unasked."""
        return not self._poll.poll(0)

    def carry(self, request: bytes, ask: Callable[[bytes], bytes]) -> tuple[bytes, bool]:
        """Have one body run; return its answer, and whether it may serve another call.

        Raises `Lost` or `NotStarted`, or what `ask` raises; the worker has ended then.
        """
        self.served += 1
        token = token_bytes(16)
        pieces = frames.frame(frames.REQUEST, token, request)
        try:
            frames.write(self._channel, pieces, self._wait_for_room)
        except OSError:
            raise NotStarted("worker_died", str(self.end(_NATURAL_S))) from None
        except frames.Fault as fault:
            self.end()
            raise Lost("worker_protocol", str(fault)) from None
        try:
            return self._until_answered(token, ask)
        except frames.Ended:
            raise self._lost() from None
        except frames.Fault as fault:
            self.end()
            raise Lost("worker_protocol", str(fault)) from None
        except OSError:
            raise self._lost() from None
        except BaseException:
            self.end()
            raise

    def _until_answered(self, token: bytes, ask: Callable[[bytes], bytes]) -> tuple[bytes, bool]:
        kinds = frames.QUESTION + frames.ANSWER + frames.LAST + frames.TOO_LARGE
        while True:
            kind, _, body = frames.read(self._take, kinds, token)
            if kind == frames.QUESTION:
                pieces = frames.frame(frames.REPLY, token, ask(body))
                frames.write(self._channel, pieces, self._wait_for_room)
                continue
            if self._has_more():
                raise frames.Fault("bytes after the answer")
            if kind == frames.TOO_LARGE:
                raise Lost("too_large", f"an answer of more than {frames.LARGEST} bytes")
            return body, kind == frames.ANSWER

    def _take(self, count: int, until: float | None = None) -> bytes:
        while True:
            try:
                return self._channel.recv(count)
            except BlockingIOError:
                pass
            except ConnectionError:
                return b""
            left = None if until is None else max(0.0, until - monotonic()) * 1000
            ready = self._poll.poll(left)
            if not ready:
                raise frames.Fault("nothing came in time")
            # What was sent before the end is still to be read.
            if all(fd != self._channel.fileno() for fd, _ in ready):
                raise frames.Ended

    def _wait_for_room(self) -> None:
        poll = select.poll()
        poll.register(self._channel, select.POLLIN | select.POLLOUT)
        poll.register(self._life, select.POLLIN)
        for fd, event in poll.poll():
            if fd == self._life.fileno() or event & (select.POLLHUP | select.POLLERR):
                raise BrokenPipeError
            if event & select.POLLIN:
                raise frames.Fault("a frame came before the request was read")

    def _has_more(self) -> bool:
        try:
            return bool(self._channel.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _lost(self) -> Lost:
        """Say how a worker was lost that has closed its channel, or died."""
        ending = self.end(_NATURAL_S)
        code = ending.code
        if code is None:
            return Lost("worker_died", str(ending))
        if not ending.natural or code == GONE:
            return Lost("worker_protocol", "it has closed its channel")
        # Inside a sandbox a shell's numbers are all that is told of a signal.
        number = code - 128 if self._shifted and code > 128 else -code  # noqa: PLR2004
        spent = number == signal.SIGKILL and ending.cpu > self._cpu_s * _BACKSTOP - 1
        if number == signal.SIGXCPU or spent:
            return Lost("cpu_limit", f"more than {self._cpu_s} s of processor time")
        if code == BROKEN:
            return Lost("worker_died", "it could not answer any more")
        return Lost("worker_died", str(ending))

    def kill(self) -> None:
        """Have the worker and all its descendants killed at once; waits for nothing."""
        with self._turn, suppress(OSError):
            self._life.shutdown(socket.SHUT_WR)

    def end(self, natural_s: float = 0.0) -> Ending:
        """Wait for the worker's own end so long, then kill it; return when nothing is left."""
        said = b""
        life = self._life
        for seconds in (natural_s, _KILL_S):
            if seconds:
                life.settimeout(seconds)
                with suppress(OSError):
                    said = life.recv(4096)
                    break
            self.kill()
        self._supervisor.kill()
        self._supervisor.wait()
        with self._turn:
            self._channel.close()
            life.close()
        try:
            return Ending(**json.loads(said))
        except (ValueError, TypeError):
            return Ending()

    def forget(self) -> None:
        """Leave it to the parent: this process is a fork of the host."""
        self._channel.close()
        self._life.close()
        self._supervisor.returncode = 0


def _pair(own: ExitStack, given: ExitStack) -> tuple[socket.socket, socket.socket]:
    """Return the host's end and the other one, each to be closed by its stack."""
    ours, theirs = socket.socketpair()
    return own.enter_context(ours), given.enter_context(theirs)


def _told(limits: ProcessLimits, body: str) -> str:
    # An empty entry is the folder that the host is in.
    path = [each or os.getcwd() for each in sys.path if not each or os.path.isabs(each)]  # noqa: PTH109, PTH117 - text
    told: dict[str, Any] = {
        "path": path,
        "body": body,
        "cpu_s": limits.cpu_s,
        "memory": limits.memory_mb * _MIB,
    }
    return json.dumps(told)


def _environment(limits: ProcessLimits, *, sandbox: bool) -> dict[str, str]:
    names = {name: name for name in ("PATH", "HOME", "LANG")} | limits.env
    found = {name: os.environ[own] for name, own in names.items() if own in os.environ}
    return found | {"HOME": "/tmp"} if sandbox else found  # noqa: S108 - the sandbox's own
