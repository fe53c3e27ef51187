"""Tools whose bodies run somewhere else: importable by name, each does one thing."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any

import attrs

from toolseam import (
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
    tool,
)

PUBLIC = "public_content"


@tool(effect="read_only", data_class=PUBLIC)
def echo(text: str, times: int = 1) -> ToolResult:
    """Say a text, some times."""
    table = ToolArtifact.table("said", ["text"], [[text]])
    return ToolResult.text(text * times, table, data={"pid": os.getpid()}, metadata={"n": times})


@tool(effect="read_only", data_class=PUBLIC)
async def later(text: str) -> ToolResult:
    """Say a text after a moment."""
    await asyncio.sleep(0.01)
    return ToolResult.text(text)


@tool(effect="read_only", data_class=PUBLIC)
def thread() -> ToolResult:
    """Name the thread."""
    return ToolResult.text(threading.current_thread().name)


@tool(effect="read_only", data_class=PUBLIC)
def wrong(file: str) -> ToolResult:
    """Leave a mark in a file, and return no result."""
    with Path(file).open("a") as marks:
        marks.write("ran\n")
    return "a text"  # type: ignore[return-value]


@tool(effect="read_only", data_class=PUBLIC)
def raises(kind: str) -> ToolResult:
    """Raise what is asked for."""
    raise {
        "value": ValueError("postgresql://ada:hunter2hunter2@db/shop"),
        "exit": SystemExit(3),
        "time": TimeoutError(),
        "cancelled": asyncio.CancelledError(),
        "memory": MemoryError(),
        "keyboard": KeyboardInterrupt(),
        "tool": ToolError("no such row", ErrorCode.NOT_FOUND, metadata={"row": 7}),
        "contract": ToolError("mine", ErrorCode.CONTRACT_ERROR),
    }[kind]


@tool(effect="read_only", data_class=PUBLIC)
def asks(what: str, context: ToolContext) -> ToolResult:
    """Ask the host for something."""
    if what == "secret":
        return ToolResult.text(str(len(context.secret("key"))))
    if what == "send_to":
        context.send_to("external_global")
    if what == "call":
        return context.call("echo", {"text": "inner"})
    if what == "progress":
        context.progress(1, 2, "half")
    return ToolResult.text(what)


@tool(effect="read_only", data_class=PUBLIC)
def facts(context: ToolContext) -> ToolResult:
    """Tell what the context says."""
    actor = context.actor
    said = {
        "actor": None if actor is None else [actor.name, sorted(actor.roles), actor.service],
        "run": context.run_id,
        "call": context.call_id,
        "step": context.step_id,
        "left": None if context.deadline is None else context.deadline - time.monotonic(),
        "opened": context.resource("list", list) is context.resource("list", list),
    }
    return ToolResult.text("facts", data=said)


@tool(effect="read_only", data_class=PUBLIC)
def sleeps(seconds: float) -> ToolResult:
    """Sleep."""
    time.sleep(seconds)
    return ToolResult.text("awake")


@tool(effect="read_only", data_class=PUBLIC)
def stays(seconds: float, context: ToolContext) -> ToolResult:
    """Say that it has begun, and sleep."""
    context.progress(0, 1, "begun")
    time.sleep(seconds)
    return ToolResult.text("awake")


@attrs.frozen
class Place:
    """Settings of `where`."""

    words: tuple[str, ...] = ()
    deep: dict[str, Any] = attrs.field(factory=dict[str, Any])


@attrs.frozen
class Only:
    """Arguments that refuse what the schema lets through."""

    number: int

    def __attrs_post_init__(self) -> None:
        """Refuse odd numbers."""
        if self.number % 2:
            raise ValueError("an even number is meant")


class Where:
    """A tool with settings, and arguments of its own class."""

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe it."""
        return ToolSpec(
            name="where",
            description="Tell the settings.",
            parameters=Only,
            effect="read_only",
            data_class=PUBLIC,
            settings=Place,
        )

    @hookimpl
    def execute(self, arguments: Only, context: ToolContext) -> ToolResult:
        """Tell them."""
        place: Place = context.settings
        return ToolResult.text(f"{arguments.number}", data=[list(place.words), place.deep])


where = Where()


class Writes:
    """A write that marks a file, and says in its preview that it would."""

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe it."""
        return ToolSpec(
            name="writes",
            description="Leave a mark in a file.",
            parameters={"properties": {"file": {"type": "string"}}, "required": ["file"]},
            effect="non_idempotent_write",
            data_class=PUBLIC,
        )

    @hookimpl
    def preview(self, arguments: dict[str, str], context: ToolContext) -> ToolResult:
        """Say so."""
        return ToolResult.text(f"would mark {arguments['file']} for {context.call_id}")

    @hookimpl
    def execute(self, arguments: dict[str, str], context: ToolContext) -> ToolResult:
        """Do so."""
        with Path(arguments["file"]).open("a") as marks:
            marks.write(f"{context.call_id}\n")
        return ToolResult.text("marked")


@attrs.frozen
class Kind:
    """Arguments that refuse one of all kinds."""

    kind: str

    def __attrs_post_init__(self) -> None:
        """Refuse it."""
        if self.kind == "arguments":
            raise ValueError("not this kind")


class Doubts:
    """A write whose preview fails, in each way there is."""

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe it."""
        return ToolSpec(
            name="doubts",
            description="Fail to say what would be done.",
            parameters=Kind,
            effect="non_idempotent_write",
            data_class=PUBLIC,
        )

    @hookimpl
    def preview(self, arguments: Kind) -> ToolResult:
        """Fail."""
        if arguments.kind == "error":
            return ToolResult.error("it is locked", ErrorCode.CONFLICT)
        if arguments.kind == "broken":
            return "a text"  # type: ignore[return-value]
        raise {
            "value": ValueError("postgresql://ada:hunter2hunter2@db/shop"),
            "time": TimeoutError(),
            "cancelled": asyncio.CancelledError(),
            "tool": ToolError("no such row", ErrorCode.NOT_FOUND),
        }[arguments.kind]

    @hookimpl
    def execute(self, arguments: Kind) -> ToolResult:
        """Do nothing."""
        return ToolResult.text(arguments.kind)


writes = Writes()
doubts = Doubts()
TOOLS = (echo, later, thread, wrong, raises, asks, facts, sleeps, stays, where, writes, doubts)
