"""A distribution of tools that a command line has to cope with."""

from pathlib import Path

import attrs

from support.dist_info import tools, write_dist

LAB = '''\
"""Tools that a command line has to cope with."""

import asyncio
import sys
import time
from pathlib import Path

from toolseam import ErrorCode, ToolArtifact, ToolContext, ToolError, ToolResult, tool


@tool(effect="read_only", data_class="public_content")
def echo(
    text: str = "",
    count: int = 1,
    ratio: float = 0.5,
    loud: bool = False,
    names: list[str] | None = None,
    sizes: list[int] | None = None,
    either: int | str = 0,
    table: dict[str, int] | None = None,
) -> ToolResult:
    """Give the arguments back."""
    given = [text, count, ratio, loud, names, sizes, either, table]
    return ToolResult.text(repr(given), data=given)


@tool(effect="read_only", data_class="public_content")
def hostile() -> ToolResult:
    """Answer with escape sequences everywhere."""
    evil = "\\x1b]0;pwned\\x07\\x1b[2J\\x9b31m\\u202eabc\\rX"
    return ToolResult.text(
        f"content {evil}",
        ToolArtifact.table(f"label {evil}", [f"head {evil}"], [[f"cell {evil}"]]),
        ToolArtifact.text("text", f"text {evil}"),
        data={"key": f"data {evil}"},
    )


@tool(effect="read_only", data_class="public_content")
def talks() -> ToolResult:
    """Print as well as answer."""
    print("printed")
    sys.stdout.write("written\\n")
    return ToolResult.text("answered")


@tool(effect="read_only", data_class="public_content")
def refuses(output: str = "") -> ToolResult:
    """Refuse."""
    return ToolResult.error("Not today.", ErrorCode.CONFLICT, output=output, retriable=True)


@tool(effect="read_only", data_class="public_content")
def raises() -> ToolResult:
    """Raise."""
    raise ValueError("secret text")


@tool(effect="read_only", data_class="public_content")
def breaks() -> ToolResult:
    """Break the contract."""
    return "text"


@tool(effect="read_only", data_class="public_content")
async def waits() -> ToolResult:
    """Answer after a moment."""
    await asyncio.sleep(0)
    return ToolResult.text("awaited")


@tool(effect="read_only", data_class="public_content")
def large() -> ToolResult:
    """Answer with a lot."""
    return ToolResult.text("\\n".join(str(n) for n in range(8_000)))


@tool(effect="read_only", data_class="public_content")
def proceeds(context: ToolContext) -> ToolResult:
    """Report progress, before and after a second has passed."""
    context.progress(1, 3, "early")
    time.sleep(1.1)
    context.progress(2, 3, "late\x1b[2J")
    return ToolResult.text("done")


@tool(effect="read_only", data_class="public_content")
def rests() -> ToolResult:
    """Say that it runs, and take a minute."""
    Path("started").touch()
    time.sleep(60)
    return ToolResult.text("rested")


@tool(effect="read_only", data_class="system_diagnostics", enabled_by_default=False)
def sleeper() -> ToolResult:
    """Be off by default."""
    return ToolResult.text("awake")
'''
WRITER = '''\
"""A tool that writes a file, with a preview."""

from pathlib import Path

import attrs

from toolseam import ToolContext, ToolResult, ToolSpec, hookimpl

@attrs.frozen
class Arguments:
    text: str


@hookimpl
def tool_spec() -> ToolSpec:
    return ToolSpec(
        name="writes", description="Write a file.", parameters=Arguments,
        effect="idempotent_write", data_class="public_content",
    )


@hookimpl
def preview(arguments: Arguments, context: ToolContext) -> ToolResult:
    return ToolResult.text(f"would write {arguments.text}")


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    Path("written.txt").write_text(arguments.text)
    return ToolResult.text("Written.")
'''
NAMES = (
    *("echo", "hostile", "talks", "refuses", "raises", "breaks", "waits", "large"),
    "proceeds",
    "rests",
    "sleeper",
)


@attrs.frozen
class Lab:
    """Where the distribution `acme-lab` lies, and what to run a command with to see it."""

    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        """The environment in which Python finds it."""
        return {"PYTHONPATH": str(self.folder)}


def make_lab(folder: Path) -> Lab:
    """Write the distribution `acme-lab` into a folder that is to be on the path."""
    targets = {name: f"acme_lab:{name}" for name in NAMES} | {"writes": "acme_writer"}
    write_dist(folder, "acme_lab", points=tools(**targets))
    (folder / "acme_lab.py").write_text(LAB)
    (folder / "acme_writer.py").write_text(WRITER)
    return Lab(folder)
