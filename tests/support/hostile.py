"""Values made to exhaust, crash or fool whoever encodes them; a program that tries them out.

It reads names of values, line by line, and answers each with what `Tried` holds, as JSON. Each
value is tried in a process of its own, which has the imports already.
"""

import json
import math
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolseam import (
    ContractViolation,
    ToolArtifact,
    ToolResult,
    decode_result,
    encode_result,
    json_safe,
    render_tool_result,
)
from toolseam._artifacts import fault_of
from toolseam._result import omitted
from toolseam._tables import ARTIFACT_BYTES

MEMORY = 3 * 1024**3
SECONDS = 60
# Python itself would print these for seconds or for ever: no channel that asks for `str` is tried.
NEVER_PRINTED = (
    "shared",
    "shared surrogate",
    "shared tuples",
    "shared dicts",
    "references to one long text",
    "deep and wide",
    "many integers",
    "many bad members",
    "many empty lists",
)


def deep(kind: type, levels: int = 100_000) -> Any:
    """Nest an empty container that many times."""
    value: Any = kind()
    for _ in range(levels):
        value = {"k": value} if kind is dict else kind((value,))
    return value


def shared(leaf: object, kind: type = list) -> Any:
    """Make sixty levels that spell out to 2**60 leaves."""
    value: Any = leaf
    for _ in range(60):
        value = {"a": value, "b": value} if kind is dict else kind((value, value))
    return value


def cycle(kind: type) -> Any:
    """Make a container that holds itself."""
    value: Any = kind()
    if kind is dict:
        value["k"] = [value]
    else:
        value.append((value,))
    return value


class Lying(dict[str, Any]):
    """A dict whose methods tell of other members than it has."""

    def items(self) -> Any:
        """Give one harmless member."""
        return [("ok", 1)]

    keys = values = __iter__ = items


class LyingList(list[Any]):
    """A list that says that it is empty."""

    def __len__(self) -> int:
        """Say nothing."""
        return 0

    def __iter__(self) -> Any:
        """Give nothing."""
        return iter(())


class Loud(str):
    """A text whose own methods raise."""

    __slots__ = ()

    def __str__(self) -> str:
        """Raise, as a broken plugin's class might."""
        raise RuntimeError("asked")

    __repr__ = __format__ = encode = replace = isascii = __str__  # type: ignore[assignment]


class Mute:
    """An object that cannot be printed at all."""

    def __repr__(self) -> str:
        """Raise something that nobody expects of a repr."""
        raise RecursionError


class Number(int):
    """An integer whose comparison lies."""

    def __le__(self, other: object) -> bool:
        """Always agree."""
        return True

    __ge__ = __le__


VALUES: dict[str, Callable[[], Any]] = {
    "long text": lambda: "x" * 5_000_000,
    "long NUL text": lambda: "\x00" * 2_000_000,
    "long surrogate text": lambda: "\ud800" * 2_000_000,
    "text that grows by escapes": lambda: "\x00" * 49_000,
    "surrogates": lambda: ["\ud800"] * 16_000,
    "surrogate keys": lambda: {chr(0xD800) + str(n): n for n in range(5_000)},
    "colliding surrogate keys": lambda: {chr(0xD800): 1, chr(0xD801): 2},
    "long key": lambda: {"k" * 5_000_000: 1},
    "long bad key": lambda: {"k" * 5_000_000: object()},
    "deep list": lambda: deep(list),
    "deep tuple": lambda: deep(tuple),
    "deep dict": lambda: deep(dict),
    "deep and wide": lambda: [deep(tuple, 60)] * 20_000,
    "cyclic list": lambda: cycle(list),
    "cyclic dict": lambda: cycle(dict),
    "shared": lambda: shared("x"),
    "shared tuples": lambda: shared(1, tuple),
    "shared dicts": lambda: shared(None, dict),
    "shared surrogate": lambda: shared("\ud800"),
    "references to one long text": lambda: ["x" * 49_000] * 20_000,
    "huge integer": lambda: 10**1_000_000,
    "huge integers": lambda: [10**10_000] * 10_000,
    "NaN at the end": lambda: [[1.5] * 8 for _ in range(1_000)] + [[0.5] * 7 + [math.nan]],
    "infinity": lambda: {"a": -math.inf},
    "large table": lambda: [["cell"] * 8 for _ in range(60_000)],
    "many integers": lambda: [1] * 2_000_000,
    "many bad members": lambda: [object()] * 2_000_000,
    "many empty lists": lambda: [[] for _ in range(1_000_000)],
    "lying dict": lambda: Lying(a=object(), b="x" * 5_000_000),
    "lying list": lambda: LyingList(["x" * 5_000_000]),
    "lying integer": lambda: Number(2**70),
    "loud text": lambda: Loud("abc"),
    "loud key": lambda: {Loud("abc"): 1},
    "mute": Mute,
    "mute members": lambda: [Mute()] * 10,
    "bytes": lambda: b"\x00" * 5_000_000,
    "sets": lambda: [{n} for n in range(10_000)],
    "generator": lambda: (n for n in range(10)),
    "type": lambda: dict,
    "endless iterator": lambda: iter(int, 1),
}


def judged(build: Callable[[], ToolResult]) -> str:
    """Build a result and say what became of the value; what is built must leave in bounds."""
    try:
        result = build()
    except ContractViolation as violation:
        if len(str(violation)) > 6_000:
            return "a violation that floods"
        return "violation"
    if len(render_tool_result(result).encode()) > 50_000 or len(repr(result)) > 500:
        return "out of bounds"
    if decode_result(encode_result(result)).success != result.success:
        return "another result"
    if omitted(result):
        return "omitted"
    shown = fault_of(result.artifacts._peek(), ARTIFACT_BYTES)  # type: ignore[arg-type]
    return "held" if shown is None else "fault"


def outcomes(name: str) -> dict[str, str]:
    """Put one value into every channel there is, and say what became of it in each."""
    value: Any = VALUES[name]()
    row = ToolArtifact.table
    found = {
        "data": judged(lambda: ToolResult.text("ok", data=value)),
        "metadata": judged(lambda: ToolResult.text("ok", metadata={"k": value})),
        "failure": judged(lambda: ToolResult.error("no", metadata={"k": value})),
        "by hand": judged(lambda: ToolResult.text("ok", ToolArtifact("table", "l", value))),
        "cell by hand": judged(
            lambda: ToolResult.text(
                "ok", ToolArtifact("table", "l", {"columns": ["a"], "rows": [[value]]})
            )
        ),
        "text": judged(lambda: ToolResult.text("ok", ToolArtifact.text("l", value))),
        "label": judged(lambda: ToolResult.text("ok", ToolArtifact.text(value, "x"))),
        "content": judged(lambda: ToolResult.text(value)),
        "message": judged(lambda: ToolResult.error(value, output=value)),
        "data by json_safe": judged(lambda: ToolResult.text("ok", data=json_safe(value))),
    }
    if name not in NEVER_PRINTED:
        for fit in (False, True):
            found[f"cell, fit={fit}"] = judged(
                lambda fit=fit: ToolResult.text("ok", row("l", ["a"], [[value]], fit=fit))  # type: ignore[misc]
            )
            found[f"cells, fit={fit}"] = judged(
                lambda fit=fit: ToolResult.text("ok", row("l", ["a"], [[value]] * 9_000, fit=fit))  # type: ignore[misc]
            )
        if name != "endless iterator":
            found["columns"] = judged(lambda: ToolResult.text("ok", row("l", value, [])))
    return found


def _try_out(name: str, answers: int) -> None:
    """Write the outcomes of one value, within bounds, and end this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(2 * SECONDS)
    code = 1
    try:
        os.write(answers, json.dumps({"found": outcomes(name)}).encode())
        code = 0
    except BaseException:
        os.write(answers, json.dumps({"error": traceback.format_exc()[-2_000:]}).encode())
    finally:
        os._exit(code)


def _answer(name: str) -> dict[str, Any]:
    """Try one value out in a process of its own, and say how that ended and what it found."""
    answers, theirs = os.pipe()
    child = os.fork()
    if not child:
        _try_out(name, theirs)
    os.close(theirs)
    with os.fdopen(answers) as lines:
        said = lines.read()
    _, status = os.waitpid(child, 0)
    return {"code": os.waitstatus_to_exitcode(status), **json.loads(said or "{}")}


@contextmanager
def trying() -> Generator[Callable[[str], dict[str, Any]]]:
    """Start the program, and give what asks it for one value after the other."""
    command = [sys.executable, "-m", "support.hostile"]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        asked, answered = program.stdin, program.stdout

        def ask(name: str) -> dict[str, Any]:
            asked.write(f"{name}\n")
            found: dict[str, Any] = json.loads(answered.readline())
            return found

        yield ask


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(line.rstrip("\n"))) + "\n")
        sys.stdout.flush()
