"""Runs the command line as people do: in processes of its own, in pipes and on a terminal."""

import atexit
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from pathlib import Path
from select import select
from typing import Any

import attrs
from jsonschema import Draft202012Validator

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
        ours, theirs = socket.socketpair()
        with theirs:
            words = [sys.executable, FORKING, str(theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()])
        self._channel = ours
        ours.settimeout(60)
        atexit.register(self.close)

    def begin(
        self, words: Sequence[str], streams: Sequence[int], cwd: Path, environ: Mapping[str, str]
    ) -> int:
        """Start a command with these three streams, and return its process's id."""
        said = {"argv": [str(SCRIPT), *words], "cwd": str(cwd), "environ": {**environ}}
        text = json.dumps(said).encode()
        socket.send_fds(self._channel, [len(text).to_bytes(8)], streams)
        self._channel.sendall(text)
        return self._number()

    def end(self) -> int:
        """Wait for the command, and return its exit code."""
        return self._number()

    def _number(self) -> int:
        said = self._channel.recv(8)
        if not said:
            raise EOFError("the process that starts commands is gone")
        return int.from_bytes(said, signed=True)

    def close(self) -> None:
        """Let the process end."""
        self._channel.close()
        self._process.wait(20)


starts = cache(Starts)


def toolseam(
    *words: str,
    cwd: Path,
    typed: bytes = b"",
    program: Sequence[str | Path] = (),
    environ: Mapping[str, str] | None = None,
) -> Ran:
    """Run the console script with pipes around it.

    In a process of its own, and where `program` is named in one that starts with the interpreter.
    """
    around = os.environ | dict(environ or {})
    if not program:
        return _piped(words, cwd, typed, around)
    done = subprocess.run(
        [*program, *words],
        cwd=cwd,
        input=typed,
        capture_output=True,
        env=around,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def _piped(words: Sequence[str], cwd: Path, typed: bytes, environ: Mapping[str, str]) -> Ran:
    (reading, given), (out, said), (err, told) = os.pipe(), os.pipe(), os.pipe()
    with ThreadPoolExecutor(3) as threads:
        pid = starts().begin(words, [reading, said, told], cwd, environ)
        for fd in (reading, said, told):
            os.close(fd)
        writing = threads.submit(_write, given, typed)
        texts = [threads.submit(_read, fd) for fd in (out, err)]
        if wait(texts, 60).not_done:
            os.kill(pid, signal.SIGKILL)
        code = starts().end()
        writing.result()
        written, complained = (text.result().decode() for text in texts)
    return Ran(code, written, complained)


def _write(fd: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(fd, "wb") as stream:
        stream.write(data)


def _read(fd: int) -> bytes:
    with open(fd, "rb") as stream:
        return stream.read()


def on_terminal(
    *words: str,
    cwd: Path,
    answer: str | Sequence[str] = (),
    width: int = 100,
    environ: Mapping[str, str] | None = None,
) -> Ran:
    """Run it with a terminal on all three streams; an `answer` is typed where one is asked for.

    In it, `{digest}` stands for the first eight characters of the digest that was shown last.
    """
    answers = [answer] if isinstance(answer, str) else [*answer]
    around = os.environ | {"TERM": "xterm", "COLUMNS": str(width)} | dict(environ or {})
    master, slave = pty.openpty()
    pid = starts().begin(words, [slave, slave, slave], cwd, around)
    os.close(slave)
    seen, fresh = b"", 0
    until = time.monotonic() + 60
    while select([master], [], [], max(0, until - time.monotonic()))[0]:
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
        os.kill(pid, signal.SIGKILL)
    code = starts().end()
    os.close(master)
    return Ran(code, seen.decode().replace("\r\n", "\n"), "")


def documented(command: str) -> Draft202012Validator:
    """Return the schema of a command's `--json` that its reference page states."""
    found = re.search(
        rf"<!-- schema: {command} -->\n```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    schema = json.loads(found[1])
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
