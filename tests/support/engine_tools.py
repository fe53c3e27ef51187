"""Tools whose bodies run in other processes; each begun body leaves a line in a file."""

import os
import sys
import time
from pathlib import Path

from support.tools import spec
from toolseam import ToolArtifact, ToolContext, ToolError, ToolResult, hookimpl, tool

READ = {"effect": "read_only", "data_class": "public_content"}
WRITE = {"effect": "non_idempotent_write", "data_class": "public_content"}


def begun(file: Path) -> list[int]:
    """Return the processes in which bodies began, one for each time."""
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def wait_for(file: Path, count: int = 1, seconds: float = 60) -> list[int]:
    """Wait until so many bodies have begun, and return their processes."""
    until = time.monotonic() + seconds
    while len(begun(file)) < count:
        assert time.monotonic() < until, f"{len(begun(file))} began, not {count}"
        time.sleep(0.01)
    return begun(file)


def looked_at(file: Path) -> Path:
    """Return the file in which previews leave their lines."""
    return file.with_suffix(".looked")


def leave_line(file: str) -> None:
    """Note that a body began, and where."""
    with Path(file).open("a") as lines:
        lines.write(f"{os.getpid()}\n")


@tool(**READ)
def fetch_rows(rows: int) -> ToolResult:
    """Give a text, a table and data, of so many rows."""
    cells = [[number, "é"] for number in range(rows)]
    table = ToolArtifact.table("rows", ["number", "letter"], cells, fit=True)
    return ToolResult.text("ä" * rows, table, data={"rows": rows}, metadata={"pid": os.getpid()})


@tool(**READ)
def fetch_nothing(file: str) -> ToolResult:
    """Return what is no result."""
    leave_line(file)
    return None  # type: ignore[return-value]


@tool(**READ)
def fetch_fault(file: str) -> ToolResult:
    """Raise, with a secret in the text."""
    leave_line(file)
    raise RuntimeError("postgresql://ada:hunter2hunter2@db/shop")


@tool(**READ)
def fetch_refusal(word: str) -> ToolResult:
    """Raise the error that a tool may raise."""
    raise ToolError(f"No {word} here.", metadata={"word": word})


@tool(**READ)
def fetch_late(file: str, seconds: float) -> ToolResult:
    """Begin, and take a while."""
    leave_line(file)
    time.sleep(seconds)
    return ToolResult.text("late")


@tool(**READ)
def fetch_noise(file: str, seconds: float) -> ToolResult:
    """Print by all ways there are, begin when there is nothing to read, and take a while."""
    print("noise")  # noqa: T201 - it is what is tested
    sys.stdout.flush()
    os.write(1, b"more noise\n")
    if os.read(0, 1) == b"":
        leave_line(file)
    time.sleep(seconds)
    return ToolResult.text("late")


@tool(**READ)
def fetch_large(size: int) -> ToolResult:
    """Give a text of so many characters."""
    return ToolResult.text("x" * size)


@tool(**READ)
def fetch_length(text: str) -> ToolResult:
    """Measure a text."""
    return ToolResult.text(str(len(text)))


@tool(**READ)
def fetch_secret(context: ToolContext) -> ToolResult:
    """Ask the host for a secret."""
    return ToolResult.text(context.secret("key"))


class ChangeLate:
    """A write with a preview that begins, and takes a while."""

    @hookimpl
    def tool_spec(self) -> object:
        """Return the specification."""
        text = {"type": "string"}
        parameters = {
            "type": "object",
            "properties": {"file": text, "seconds": {"type": "number"}},
            "required": ["file", "seconds"],
        }
        return spec("change_late", effect="non_idempotent_write", parameters=parameters)

    @hookimpl
    def preview(self, arguments: dict[str, object]) -> ToolResult:
        """Say what would be done, and leave a line too."""
        leave_line(str(looked_at(Path(str(arguments["file"])))))
        return ToolResult.text("it would change")

    @hookimpl
    def execute(self, arguments: dict[str, object]) -> ToolResult:
        """Begin, and take a while."""
        leave_line(str(arguments["file"]))
        time.sleep(float(str(arguments["seconds"])))
        return ToolResult.text("changed")


change_late = ChangeLate()
TOOLS = (
    fetch_rows,
    fetch_nothing,
    fetch_fault,
    fetch_refusal,
    fetch_late,
    fetch_noise,
    fetch_large,
    fetch_length,
    fetch_secret,
    change_late,
)
