"""Runs the command line as people do: in processes of its own, in pipes and on a terminal."""

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from jsonschema import Draft202012Validator

SCRIPT = Path(sys.executable).parent / "toolseam"
MODULE = (sys.executable, "-m", "toolseam")
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


def toolseam(
    *words: str,
    cwd: Path,
    typed: bytes = b"",
    program: Sequence[str | Path] = (SCRIPT,),
    environ: Mapping[str, str] | None = None,
) -> Ran:
    """Run the console script with pipes around it."""
    done = subprocess.run(
        [*program, *words],
        cwd=cwd,
        input=typed,
        capture_output=True,
        env=os.environ | dict(environ or {}),
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


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
    master, slave = pty.openpty()
    with subprocess.Popen(
        [SCRIPT, *words],
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=os.environ | {"TERM": "xterm", "COLUMNS": str(width)} | dict(environ or {}),
    ) as process:
        os.close(slave)
        seen, fresh = b"", 0
        until = time.monotonic() + 60
        while time.monotonic() < until:
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
        code = process.wait(timeout=60)
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
