"""The program of a worker process: takes requests, runs bodies, gives answers back.

Started by the supervisor, with the channel to the host as descriptor 3, nothing to read as 0,
and a log that nobody keeps as 1 and 2. Its one argument is a JSON object: the host's absolute
`path`, the `body` to serve (`module:function`), `cpu_s` of one call, `memory` in bytes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

CHANNEL = 3
GONE = 71
"""Exit code of a worker that has lost its channel."""
BROKEN = 70
"""Exit code of a worker whose body did not keep its word to raise nothing."""


def main(given: str) -> None:
    """Serve until the host closes the channel."""
    told: dict[str, Any] = json.loads(given)
    sys.path[:] = told["path"]

    import socket
    from importlib import import_module

    from toolseam.isolation import _frames as frames

    channel = socket.socket(fileno=CHANNEL)
    channel.setblocking(True)
    channel.set_inheritable(False)
    module, _, name = told["body"].partition(":")
    run = cast(
        "Callable[[bytes, Callable[[bytes], bytes]], bytes]", getattr(import_module(module), name)
    )
    limits = _Limits(told["cpu_s"], told["memory"])
    pid = os.getpid()

    def take(count: int) -> bytes:
        return channel.recv(count, socket.MSG_WAITALL)

    def put(kind: bytes, token: bytes, body: bytes) -> None:
        frames.write(channel, frames.frame(kind, token, body), _never)

    try:
        put(frames.READY, frames.NO_CALL, b"")
        while True:
            _, token, request = frames.read(take, frames.REQUEST)
            asking = _Asking(channel, token)
            limits.begin()
            answer = run(request, asking.ask)
            if os.getpid() != pid:
                os._exit(0)  # a fork of the tool that came back: its parent answers
            asking.end()
            if len(answer) > frames.LARGEST:
                put(frames.TOO_LARGE, token, b"")
            else:
                put(frames.LAST if _is_last(limits) else frames.ANSWER, token, answer)
            del request, answer
    except (frames.Fault, OSError):
        os._exit(GONE)
    except BaseException:  # noqa: BLE001 - whatever it is, no cleaning up of a tool's may run
        os._exit(BROKEN if os.getpid() == pid else 0)


def _never() -> None:
    """Do nothing: a channel that blocks has no need to wait."""


class _Asking:
    """The way back to the host, open for one call, one question at a time."""

    def __init__(self, channel: Any, token: bytes) -> None:  # noqa: ANN401 - a late import
        from threading import Lock

        self._channel = channel
        self._token = token
        self._turn = Lock()
        self._pid = os.getpid()
        self._open = True

    def ask(self, question: bytes) -> bytes:
        """Ask the host and wait for what it says; a `RuntimeError` when the call is over."""
        from toolseam.isolation import _frames as frames

        if os.getpid() != self._pid:
            raise RuntimeError("A fork of a tool cannot ask the host.")
        pieces = frames.frame(frames.QUESTION, self._token, question)
        with self._turn:
            if not self._open:
                raise RuntimeError("The call is over: its tool cannot ask the host.")
            frames.write(self._channel, pieces, _never)
            return frames.read(self._channel.recv, frames.REPLY, self._token)[2]

    def end(self) -> None:
        """Close the way; a question that is on its way is waited for."""
        with self._turn:
            self._open = False


class _Limits:
    """The processor time of each call, and whether the process is used up after it."""

    def __init__(self, cpu_s: int, memory: int) -> None:
        import resource

        self._resource = resource
        self._cpu_s = cpu_s
        self._memory = memory
        self._page = resource.getpagesize()
        self._most = resource.getrlimit(resource.RLIMIT_CPU)[1]

    def begin(self) -> None:
        """Let the next call have its processor time, counted from now."""
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        until = int(self._used()) + 1 + self._cpu_s
        if 0 <= self._most < until:
            until = self._most
        self._resource.setrlimit(self._resource.RLIMIT_CPU, (until, self._most))

    def spent(self) -> bool:
        """Tell whether too little memory or processor time is left for another call."""
        if 0 <= self._most < self._used() + self._cpu_s + 1:
            return True
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - once a call
            pages = int(file.read().split()[0])
        return pages * self._page > self._memory * 3 // 4

    def _used(self) -> float:
        used = self._resource.getrusage(self._resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime


def _is_last(limits: _Limits) -> bool:
    """Tell whether the process may not serve another call; one that cannot look may not."""
    try:
        return limits.spent() or _children()
    except (OSError, MemoryError):
        return True


def _children() -> bool:
    """Tell whether a tool has left processes: its own, or such as went to the supervisor."""
    own, over = os.getpid(), os.getppid()
    try:
        for thread in os.listdir("/proc/self/task"):  # noqa: PTH208 - once a call
            if _line(f"/proc/self/task/{thread}/children"):
                return True
        return _line(f"/proc/{over}/task/{over}/children").split() != [b"%d" % own]
    except OSError:
        return _are_children(own, over)


def _line(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - once a call
        return file.read()


def _are_children(own: int, over: int) -> bool:
    """Look through all processes, where the kernel keeps no list of children."""
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and int(name) != own:
            try:
                stat = _line(f"/proc/{name}/stat")
            except OSError:
                continue
            if int(stat.rpartition(b")")[2].split()[1]) in (own, over):
                return True
    return False


if __name__ == "__main__":
    main(sys.argv[1])
