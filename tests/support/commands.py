"""Runs the command line as people do: in processes of its own, in pipes and on a terminal."""

import atexit
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from io import FileIO
from pathlib import Path
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import Any, Self

import attrs
from jsonschema import Draft202012Validator

from support.forking import RUNNING

SCRIPT = Path(sys.executable).parent / "toolseam"
MODULE = (sys.executable, "-m", "toolseam")
FORKING = Path(__file__).with_name("forking.py")
PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "cli.md"


@attrs.frozen
class Ran:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its standard output, read as one JSON document."""
        return json.loads(self.out)


class Starts:
    """Starts commands in forks of one process that has imported what they import."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair()
        with theirs:
            words = [sys.executable, FORKING, str(theirs.fileno())]
            # Each command names its own path.
            environ = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=environ)
        self._channel = ours
        ours.settimeout(60)
        atexit.register(self.close)

    def begin(
        self, words: Sequence[str], streams: Sequence[int], cwd: Path, environ: Mapping[str, str]
    ) -> int:
        """Start a command with these three streams, and return its process's id."""
        said = {"argv": [str(SCRIPT), *words], "cwd": str(cwd), "environ": {**environ}}
        return self._asked(said, streams)

    def ended(self, pid: int) -> int | None:
        """Return its exit code, or None where it runs."""
        code = self._asked({"ended": pid})
        return None if code == RUNNING else code

    def _asked(self, said: Mapping[str, object], streams: Sequence[int] = ()) -> int:
        text = json.dumps(said).encode()
        with self._lock:
            try:
                return self._answer(text, streams)
            except BaseException:
                # An answer that comes late is none to the next question.
                starts.cache_clear()
                self._process.kill()
                self.close()
                raise

    def _answer(self, text: bytes, streams: Sequence[int]) -> int:
        socket.send_fds(self._channel, [len(text).to_bytes(8)], streams)
        self._channel.sendall(text)
        answer = self._channel.recv(8)
        if len(answer) < 8:
            raise EOFError("the process that starts commands is gone")
        return int.from_bytes(answer, signed=True)

    def close(self) -> None:
        """Let the process end, and with it what it started."""
        atexit.unregister(self.close)
        self._channel.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


starts = cache(Starts)


def _environ(changed: Mapping[str, str | None] | None, **further: str) -> dict[str, str]:
    """Return our environment with changes; what is changed to None is left out."""
    around = {**os.environ, **further, **(changed or {})}
    return {name: each for name, each in around.items() if each is not None}


class Begun:
    """A command that was begun, with what a process of `subprocess` has."""

    def __init__(
        self, words: Sequence[str], streams: Sequence[int], cwd: Path, environ: Mapping[str, str]
    ) -> None:
        self._starts = starts()
        self.pid = self._starts.begin(words, streams, cwd, environ)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or None where it runs."""
        if self.returncode is None:
            self.returncode = self._starts.ended(self.pid)
        return self.returncode

    def wait(self, timeout: float = 60) -> int:
        """Wait for its end, and return the exit code."""
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.002)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, where it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Let it end at once."""
        self.send_signal(signal.SIGKILL)


class Running(Begun):
    """The same, with pipes around it; ends with the block that it is opened for."""

    def __init__(
        self, *words: str, cwd: Path, environ: Mapping[str, str | None] | None = None
    ) -> None:
        (typed, given), (out, said), (err, told) = os.pipe(), os.pipe(), os.pipe()
        self.stdin = open(given, "wb")  # noqa: PTH123, SIM115 - closed by `communicate` or `close`
        self.stdout, self.stderr = (open(fd, "rb", buffering=0) for fd in (out, err))  # noqa: PTH123, SIM115
        self._read = [(self.stdout, bytearray()), (self.stderr, bytearray())]
        try:
            super().__init__(words, [typed, said, told], cwd, _environ(environ))
        except BaseException:
            self._close()
            raise
        finally:
            for fd in (typed, said, told):
                os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        self.kill()
        self.wait()

    def _close(self) -> None:
        self._say_no_more()
        self.stdout.close()
        self.stderr.close()

    def communicate(self, typed: bytes = b"", timeout: float = 60) -> tuple[bytes, bytes]:
        """Write and read until it has closed its streams and ended."""
        until = time.monotonic() + timeout
        left = memoryview(typed)
        with DefaultSelector() as waiting:
            if left:
                waiting.register(self.stdin, EVENT_WRITE)
            else:
                self._say_no_more()
            for stream, _ in self._read:
                if not stream.closed:
                    waiting.register(stream, EVENT_READ)
            while waiting.get_map():
                ready = {key.fd for key, _ in waiting.select(max(0, until - time.monotonic()))}
                if not ready:
                    raise subprocess.TimeoutExpired(str(self.pid), timeout)
                for stream, read in self._read:
                    if not stream.closed and stream.fileno() in ready:
                        _take(stream, read, waiting)
                if left and self.stdin.fileno() in ready:
                    left = self._typed(left, waiting)
        self.wait(max(1, until - time.monotonic()))
        out, err = (bytes(read) for _, read in self._read)
        return out, err

    def _typed(self, left: memoryview, waiting: DefaultSelector) -> memoryview:
        try:
            left = left[os.write(self.stdin.fileno(), left[: select.PIPE_BUF]) :]
        except BrokenPipeError:
            left = left[:0]
        if not left:
            waiting.unregister(self.stdin)
            self._say_no_more()
        return left

    def _say_no_more(self) -> None:
        with suppress(BrokenPipeError):
            self.stdin.close()


def _take(stream: FileIO, read: bytearray, waiting: DefaultSelector) -> None:
    part = os.read(stream.fileno(), 1 << 16)
    read.extend(part)
    if not part:
        waiting.unregister(stream)
        stream.close()


def toolseam(
    *words: str,
    cwd: Path,
    typed: bytes = b"",
    program: Sequence[str | Path] = (),
    environ: Mapping[str, str | None] | None = None,
) -> Ran:
    """Run the console script with pipes around it.

    In a process of its own, and where `program` is named in one that starts with the interpreter.
    `environ` changes the environment; a name with None is left out of it.
    """
    if not program:
        with Running(*words, cwd=cwd, environ=environ) as command:
            out, err = command.communicate(typed)
            return Ran(command.wait(), out.decode(), err.decode())
    done = subprocess.run(
        [*program, *words],
        cwd=cwd,
        input=typed,
        capture_output=True,
        env=_environ(environ),
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def on_terminal(
    *words: str,
    cwd: Path,
    answer: str | Sequence[str] = (),
    width: int = 100,
    program: Sequence[str | Path] = (),
    environ: Mapping[str, str | None] | None = None,
) -> Ran:
    """Run it with a terminal on all three streams; an `answer` is typed where one is asked for.

    In it, `{digest}` stands for the first eight characters of the digest that was shown last.
    `program` and `environ` are as for `toolseam`.
    """
    answers = [answer] if isinstance(answer, str) else [*answer]
    around = _environ(environ, TERM="xterm", COLUMNS=str(width))
    master, slave = pty.openpty()
    with open(master, "rb", buffering=0):  # noqa: PTH123
        with open(slave, "rb", buffering=0):  # noqa: PTH123
            command = _begun(words, program, slave, cwd, around)
        try:
            seen = _talk(command, master, answers)
            return Ran(command.wait(60), seen.decode().replace("\r\n", "\n"), "")
        finally:
            command.kill()
            command.wait(60)


def _begun(
    words: Sequence[str],
    program: Sequence[str | Path],
    stream: int,
    cwd: Path,
    environ: Mapping[str, str],
) -> "Begun | subprocess.Popen[bytes]":
    if not program:
        return Begun(words, [stream, stream, stream], cwd, environ)
    return subprocess.Popen(
        [*program, *words], stdin=stream, stdout=stream, stderr=stream, cwd=cwd, env=environ
    )


def _talk(command: "Begun | subprocess.Popen[bytes]", master: int, answers: list[str]) -> bytes:
    """Type an answer wherever one is asked for, and return all that was shown."""
    seen, fresh = b"", 0
    until = time.monotonic() + 60
    while select.select([master], [], [], max(0, until - time.monotonic()))[0]:
        try:
            part = os.read(master, 65_536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
        asked = re.search(rb"Digest ([0-9a-f]{64})", seen[fresh:])
        if answers and seen.endswith((b"to approve: ", b"or nothing: ", b"to say so: ")):
            digest = asked[1][:8].decode() if asked else ""
            typed = answers.pop(0).format(digest=digest)
            os.write(master, typed.encode() + b"\n")
            fresh = len(seen)
    else:
        command.kill()
    return seen


def documented(command: str) -> Draft202012Validator:
    """Return the schema of a command's `--json` that its reference page states."""
    found = re.search(
        rf"<!-- schema: {command} -->\n```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    schema = json.loads(found[1])
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
