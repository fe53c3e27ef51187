"""What must not pass a type checker: each line carries the error that both are to find there.

An ignore that ignores nothing is an error itself, so a line that passes is found.
"""

import attrs

import toolseam
from toolseam import Host, ToolArtifact, ToolError, ToolResult, ToolSpec, WireText, tool


def send(text: WireText) -> None:
    """Stand for a message sink of a provider."""


def leak(host: Host, result: ToolResult) -> None:
    send("any text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    send(result.content)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    send(host.call("add").content)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def change(result: ToolResult, artifact: ToolArtifact) -> None:
    result.content = "other"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    artifact.label = "other"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def misspell() -> None:
    toolseam.ToolResults  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def misuse() -> None:
    ToolResult.text(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ToolResult.error("no", artifacts=[])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    ToolError(404)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@attrs.frozen
class Arguments:
    name: str


def undeclared() -> ToolSpec:
    return ToolSpec(name="x", description="x", parameters=Arguments)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


@tool(effect="read_only")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
def text(name: str) -> str:
    """Answer with text, which is no result."""
    return name
