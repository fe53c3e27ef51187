"""What authors and hosts write; mypy and pyright must accept every line, strictly."""

from typing import Annotated

import attrs

from toolseam import (
    Actor,
    Arg,
    ErrorCode,
    Host,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    WireText,
    hookimpl,
    tool,
)


@attrs.frozen
class Arguments:
    name: str
    times: Annotated[int, Arg("How often.", ge=1, le=5)] = 1


@hookimpl
def tool_spec() -> ToolSpec:
    return ToolSpec(
        name="greet",
        description="Say hello.",
        parameters=Arguments,
        effect="read_only",
        data_class="public_content",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    if not arguments.name:
        raise ToolError("Nobody to greet.", ErrorCode.INVALID_ARGUMENTS, retriable=True)
    if context.cancelled():
        return ToolResult.error("Stopped.", ErrorCode.CANCELLED)
    table = ToolArtifact.table("Greetings", ["name"], [[arguments.name]], fit=True)
    return ToolResult.text(f"Hello, {arguments.name}", table, data={"name": arguments.name})


@tool(effect="read_only", data_class="public_content")
def add(a: int, b: int = 2) -> ToolResult:
    """Add two numbers."""
    return ToolResult.text(str(a + b), data={"sum": a + b})


@tool(effect="read_only", data_class="public_content")
async def wait(seconds: float) -> ToolResult:
    """Wait a moment."""
    return ToolResult.text(f"waited {seconds} s")


def send(text: WireText) -> None:
    """Stand for a message sink of a provider."""


def use(host: Host) -> str:
    result: ToolResult = host.call("add", {"a": 1}, actor=Actor.system)
    if result.failure is not None:
        return f"{result.failure.code}: {result.failure.message}"
    session = host.session(actor=Actor("ada", roles={"support"}), tools=["add"])
    wire, step = session.call_wire("add", '{"a": 1}')
    send(wire)
    return wire.upper() + step.status + result.content + result.unwrap()
