"""The program between a host and a worker: runs no plugin's code, and leaves nothing running.

Standard library only, started as a file. Descriptor 0 is the worker's end of the channel, 1 is
the lifeline to the host: when it is closed, or half of it, every process below is killed. How the
worker ended is its last word on the lifeline, one JSON object; `last` is what was printed last.
Its one argument is a JSON object: `host` (process id), `command`, `limits` (`memory`, `cpu`, `file`
in bytes, seconds, bytes; `open_files`).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

_PDEATHSIG, _SUBREAPER = 1, 36
_CHANNEL, _LIFE = 0, 1
_PATIENCE_S = 60.0
"""How long is tried to end what cannot be killed, say a program of another user."""
_LAST = 400
_MORE_THREADS = 512
"""So many threads and processes a user may have more than when the worker began."""
_UNSTARTED = 69
"""Exit code of a worker that could not be started."""


def main(given: str) -> None:
    """Start the worker, wait for its end or for the host's, and leave nothing."""
    told: dict[str, Any] = json.loads(given)
    prctl = ctypes.CDLL(None).prctl
    if prctl(_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError("without being the reaper of orphans it could not promise to leave none")
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(each, signal.SIG_IGN)
    # Each child that ends wakes whoever polls.
    wake, woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, _woken)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    log, printing = os.pipe2(os.O_CLOEXEC)
    os.set_inheritable(_LIFE, False)
    own = os.getpid()
    worker = os.fork()
    if worker == 0:
        try:
            prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() == own:
                _become(told, printing)
        finally:
            os._exit(_UNSTARTED)
    os.close(printing)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, _CHANNEL)
    os.dup2(nothing, 2)
    watch = _Watch(told["host"], wake, log)
    ended = watch.wait(worker)
    natural = ended is not None
    ended = _kill_all(worker) or ended
    watch.drain()
    last = watch.last.decode(errors="replace")
    said: dict[str, Any] = {"natural": natural, "printed": watch.printed, "last": last}
    if ended is not None:
        said |= {"code": ended[0], "cpu": ended[1]}
    with suppress(OSError):
        os.write(_LIFE, json.dumps(said).encode())


def _woken(_number: int, _frame: object) -> None:
    """Do nothing: the signal has woken whoever waits."""


def _become(told: dict[str, Any], printing: int) -> None:
    """Turn a fork of the supervisor into the worker."""
    os.setsid()
    for each in range(1, signal.NSIG):
        with suppress(OSError, ValueError):
            signal.signal(each, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.dup2(_CHANNEL, 3)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(printing, 1)
    os.dup2(printing, 2)
    os.closerange(4, 256)
    limits: dict[str, int] = told["limits"]
    if os.getuid() != 0:  # it does not bind root
        _bound(resource.RLIMIT_NPROC, _threads(os.getuid()) + _MORE_THREADS)
    for kind, most in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_CPU, limits["cpu"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CORE, 0),
    ):
        _bound(kind, most)
    command: list[str] = told["command"]
    os.execv(command[0], command)  # noqa: S606 - the command is the host's


def _bound(kind: int, most: int) -> None:
    """Set a limit, or leave the one that holds already if it is narrower."""
    hard = resource.getrlimit(kind)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (least, least))


def _threads(user: int) -> int:
    """Count the threads that a user has, which is what the kernel bounds."""
    count = 0
    for name in os.listdir("/proc"):  # noqa: PTH208 - light
        if name.isdigit():
            with suppress(OSError):
                seen = os.stat(f"/proc/{name}/task")  # noqa: PTH116 - light
                count += seen.st_nlink - 2 if seen.st_uid == user else 0
    return count


class _Watch:
    """Waits for what may happen, and throws away what is printed, counting it."""

    def __init__(self, host: int, wake: int, log: int) -> None:
        self.printed = 0
        self.last = b""
        self._wake = wake
        self._log = log
        self._poll = select.poll()
        self._poll.register(_LIFE, select.POLLIN)
        self._poll.register(wake, select.POLLIN)
        self._poll.register(log, select.POLLIN)
        os.set_blocking(log, False)
        self._host = -1
        # A fork of the host may hold the lifeline longer than the host lives.
        with suppress(AttributeError, OSError):
            self._host = os.pidfd_open(host)
            self._poll.register(self._host, select.POLLIN)
        self._orphan = os.getppid() != host

    def wait(self, worker: int) -> tuple[int, float] | None:
        """Return how the worker ended by itself; None when it is to be killed."""
        while not self._orphan:
            ended = _reap(worker)
            if ended is not None:
                return ended
            for ready, event in self._poll.poll():
                if ready in (_LIFE, self._host):
                    return _reap(worker)  # it may have ended before that came
                if ready == self._wake:
                    os.read(self._wake, 512)
                elif event & select.POLLIN:
                    self._count()
                else:
                    self._poll.unregister(self._log)
        return None

    def drain(self) -> None:
        """Count what was printed last."""
        while self._count():
            pass

    def _count(self) -> int:
        try:
            read = os.read(self._log, 65_536)
        except BlockingIOError:
            return 0
        self.printed += len(read)
        self.last = (self.last + read)[-_LAST:]
        return len(read)


def _reap(worker: int) -> tuple[int, float] | None:
    """Bury whoever has ended; return exit code (negative: signal) and processor time of one."""
    found = None
    with suppress(ChildProcessError):
        while True:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == worker:
                found = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    return found


def _kill_all(worker: int) -> tuple[int, float] | None:
    """Kill own children until there are none; those of the killed become own children.

    Nobody else can bury an own child, so no process is ever mistaken for another one. Its group,
    which is below the supervisor too, is killed at one blow: between two no fork can come.
    """
    own = os.getpgid(0)
    found = None
    pause, until = 0.0005, time.monotonic() + _PATIENCE_S
    while True:
        found = _reap(worker) or found
        children = _children()
        if not children or time.monotonic() > until:
            return found
        for child in children:
            with suppress(OSError):
                group = os.getpgid(child)
                if group == own:
                    os.kill(child, signal.SIGKILL)
                else:
                    os.killpg(group, signal.SIGKILL)
        time.sleep(pause)
        pause = min(pause * 1.1, 0.05)


def _children() -> list[int]:
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", "rb") as file:  # noqa: PTH123 - light
            return [int(each) for each in file.read().split()]
    except OSError:
        return [pid for pid, parent in _parents() if parent == own]


def _parents() -> list[tuple[int, int]]:
    """Look through all processes, where the kernel keeps no list of children."""
    found: list[tuple[int, int]] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - light
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                found.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
    return found


if __name__ == "__main__":
    main(sys.argv[1])
