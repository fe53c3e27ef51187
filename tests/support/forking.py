"""A program that has imported what commands import, and starts each in a fork of itself.

What a test's command costs is mostly its imports. A fork is a process of its own all the same, with
its own streams, folder, environment, path and exit code, and it ends with the process that forked
it. What it has not is a start of the interpreter, so that no fork shows

- what is read at that start: the seed of hashes, which all forks have in common, `PYTHONUTF8`,
  `PYTHONWARNINGS` and their like, `sitecustomize`, `.pth` files, the encoding of the streams;
- what an import costs, in which order it comes, or that it fails: all were imported before;
- what hypothesis keeps for itself, which was worked out before;
- how the interpreter takes its modules apart in the end, or ends after a Ctrl-C nobody caught.

Who tests one of these starts the script itself (`program=` of `support.commands`).
"""

import atexit
import contextlib
import ctypes
import functools
import gc
import json
import os
import pkgutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import typing
from importlib import import_module
from pathlib import Path

# Our own rooms that commands import on first use, and what these import on theirs.
ROOMS = (
    "toolseam.cli",
    "toolseam_builtin",
    "toolseam_plugins.audit",
    "toolseam_plugins.conformance",
)
LATER = (
    *("asyncio", "concurrent.futures.thread", "cryptography.hazmat.primitives.ciphers.aead"),
    *("cryptography.hazmat.primitives.kdf.hkdf", "difflib", "email.message", "hypothesis"),
    *("hypothesis.internal.conjecture.engine", "hypothesis.strategies", "importlib_metadata"),
    *("jsonschema_rs", "logging", "mimetypes", "sqlite3", "tomllib", "toolseam.testing"),
)
RUNNING = 1 << 32
SERVING = ("toolseam_plugins.inspector", "toolseam_plugins.mcp", "mcp.server", "uvicorn")
_LARGEST = 1 << 24


def main(channel: socket.socket) -> None:
    """Start commands and tell of their ends, until whoever asks for that is gone."""
    del sys.path[0]  # this folder, which no command has
    _import()
    gc.collect()
    gc.freeze()
    path, parent = sys.path[:], os.getpid()
    while True:
        size, fds, *_ = socket.recv_fds(channel, 8, 3)
        if not size:
            return
        said = json.loads(_exactly(channel, int.from_bytes(size)))
        if "ended" in said:
            channel.sendall(_ended(said["ended"]).to_bytes(8, signed=True))
            continue
        if threading.active_count() > 1:
            raise RuntimeError("a process with several threads is not to be forked")
        for word in said["argv"][1:2]:
            PREPARED.get(word, _import)()
        pid = os.fork()
        if not pid:
            channel.close()
            die_with(parent)
            _end(_begin(said, fds, path))
        for fd in fds:
            os.close(fd)
        channel.sendall(pid.to_bytes(8))


def die_with(parent: int) -> None:
    """Let this process be killed once its parent, which must be that one, is gone."""
    with contextlib.suppress(AttributeError):  # where no Linux is
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _ended(pid: int) -> int:
    """Return the exit code of a command, or `RUNNING`."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else RUNNING


@functools.cache
def _import() -> None:
    for room in (*ROOMS, *LATER):
        _import_all(room)
    # What turns settings files into settings is compiled at its first use, for longer than it runs.
    keys = import_module("toolseam._settings_keys")
    for kind in (keys.OperatorSettings, keys.WorkspaceSettings):
        import_module("toolseam._settings_structure").structure({}, kind, None)


def _import_all(room: str) -> None:
    """Import a module, and all rooms of it where it is one of ours."""
    with contextlib.suppress(ImportError):  # of an extra that is not here
        module = import_module(room)
        within = getattr(module, "__path__", ()) if room.startswith("toolseam") else ()
        for each in pkgutil.iter_modules(within, f"{room}."):
            if each.name != "toolseam.cli._demo":
                _import_all(each.name)


def _drawn(_: str) -> None:
    """Take a text that was made."""


@functools.cache
def _know_letters() -> None:
    """Let hypothesis look once through Unicode and our sources, which it does before it makes text.

    It keeps what it found in a folder, which of a command is a new one.
    """
    from hypothesis import given, settings, strategies

    with tempfile.TemporaryDirectory() as folder:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        text = strategies.text()
        settings(database=None, max_examples=1, derandomize=True)(given(text)(_drawn))()


@functools.cache
def _serve() -> None:
    """Import what serving needs, which takes longer than all that other commands need."""
    for name in SERVING:
        _import_all(name)


PREPARED = {"check": _know_letters, "inspect": _serve, "serve": _serve}


def _exactly(channel: socket.socket, size: int) -> bytes:
    if size > _LARGEST:
        raise ValueError(size)
    read = b""
    while len(read) < size:
        read += channel.recv(size - len(read))
    return read


def _begin(said: dict[str, typing.Any], fds: list[int], path: list[str]) -> int:
    """Take over streams, folder, environment and words, and run the command to its exit code."""
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(said["cwd"])
    os.environ.clear()
    os.environ.update(said["environ"])
    time.tzset()
    tempfile.tempdir = None
    sys.argv = said["argv"]
    named = os.environ.get("PYTHONPATH", "")
    own = [each or said["cwd"] for each in named.split(os.pathsep)] if named else []
    sys.path[:] = [str(Path(sys.argv[0]).parent), *own, *path]
    sys.stdin, sys.stdout, sys.stderr = _streams()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from toolseam.cli import main as command

    try:
        return command()
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return 1
    except BaseException:
        traceback.print_exc()
        return 1


def _streams() -> tuple[typing.TextIO, typing.TextIO, typing.TextIO]:
    """Open the three as the interpreter does."""
    lines = 1 if os.isatty(1) else -1
    return (
        open(0, encoding="utf-8", closefd=False),
        open(1, "w", buffering=lines, encoding="utf-8", closefd=False),
        open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False),
    )


def _end(code: int) -> typing.NoReturn:
    """End as the interpreter would, without taking apart what was imported."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        main(asked)
