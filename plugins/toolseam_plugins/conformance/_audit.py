"""What the interpreter says that code does: files, connections, threads, children.

Imported in bare child processes, so it takes from the standard library alone.
"""

from __future__ import annotations

import os
import sys
from functools import cache

TYPE_CHECKING = False  # as type checkers read it; a child process imports this first
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_CHANGES = {
    "os.chmod": "changes the mode of",
    "os.chown": "changes the owner of",
    "os.link": "links",
    "os.mkdir": "makes the folder",
    "os.remove": "removes",
    "os.rename": "renames",
    "os.rmdir": "removes the folder",
    "os.symlink": "links",
    "os.truncate": "cuts",
}
_CHILDREN = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn")
_STARTS = ("subprocess.Popen", "os.posix_spawn")
_CONNECTIONS = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")
_THREADS = ("_thread.start_new_thread", "_thread.start_joinable_thread")
_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Audit:
    """Notes what happens while it is entered, as (kind, sentence) pairs.

    Kinds are `write`, `read`, `connection`, `thread` and `child`. An audit hook cannot be taken
    out again: one serves the whole process, and is silent between uses.
    """

    def __init__(self) -> None:
        self._notes: list[list[tuple[str, str]]] = []
        sys.addaudithook(self._hear)

    def __enter__(self) -> list[tuple[str, str]]:
        self._notes.append([])
        return self._notes[-1]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._notes.pop()

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if not self._notes:
            return
        note = _note(event, given)
        if note is not None:
            for notes in self._notes:
                notes.append(note)


@cache
def audit() -> Audit:
    """Return the one audit of this process."""
    return Audit()


def _note(event: str, given: tuple[Any, ...]) -> tuple[str, str] | None:
    if event == "open":
        return _opened(*given[:3])
    if event in _CHANGES:
        return None if _is_cache(given[0]) else ("write", f"{_CHANGES[event]} {_shown(given[0])}")
    if event in _CONNECTIONS:
        return "connection", f"{event} {_shown(given[-1] if event != 'socket.sendto' else '')}"
    if event in _THREADS:
        return "thread", f"starts a thread ({_shown(given[0])})"
    if event in _CHILDREN and not _is_own(event, given):
        return "child", f"starts a process ({_shown(given[0] if given else event)})"
    return None


def _is_own(event: str, given: tuple[Any, ...]) -> bool:
    """Tell whether a process is this interpreter, isolated (`-I`).

    That is how foreign code is looked at without importing it here. What the process may change
    in the workspace is seen by the footprint all the same.
    """
    if event not in _STARTS:
        return False
    program, words = given[:2]
    # What the process calls itself is not what it is.
    return [str(word) for word in (program, *words[:2])] == [sys.executable, sys.executable, "-I"]


def _opened(path: object, mode: object, flags: object) -> tuple[str, str] | None:
    if isinstance(path, int) or _is_cache(path) or path == os.devnull:
        return None
    writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else False
    if not isinstance(mode, str) and isinstance(flags, int):
        writes = bool(flags & _FOR_WRITING)
    return ("write", f"opens {_shown(path)} for writing") if writes else ("read", _shown(path))


def _is_cache(path: object) -> bool:
    """Tell whether a path is Python's own cache of compiled modules."""
    try:
        return "__pycache__" in os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        return False


def _shown(value: object) -> str:
    try:
        return os.fsdecode(value)[:200]  # type: ignore[arg-type]
    except TypeError:
        return repr(value)[:200]
