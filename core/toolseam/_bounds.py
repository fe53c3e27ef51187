"""The two channels are bounded here, independently of each other (contract §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from toolseam._artifacts import fault_of, marker
from toolseam._render import failure_text
from toolseam._result import ToolError, ToolResult, build, omitted
from toolseam._run_only import EMPTY_OBJECT, NO_ARTIFACTS, RunOnly, hold, peek
from toolseam._text import bound

if TYPE_CHECKING:
    from toolseam._artifacts import ToolArtifact


class Sizes(Protocol):
    """The caps in bytes; settings may lower them, never switch them off."""

    @property
    def content_bytes(self) -> int:
        """Content, and a failure's whole text."""
        ...

    @property
    def message_bytes(self) -> int:
        """A failure's message."""
        ...

    @property
    def artifact_bytes(self) -> int:
        """The whole list of artifacts."""
        ...

    @property
    def data_bytes(self) -> int:
        """Data, and metadata."""
        ...


class Bounded(NamedTuple):
    """A result whose every channel fits, and what the step has to say of it."""

    result: ToolResult
    truncated: bool
    original_size: int | None
    notes: tuple[str, ...]


def bound_result(result: ToolResult, sizes: Sizes) -> Bounded:
    """Return `result` with every channel cleaned and within its cap; never fails (§7)."""
    notes = [f"{name} left out: too large" for name in omitted(result)]
    data = _fitting(result.data, sizes.data_bytes, "data", notes)
    metadata = _fitting(result.metadata, sizes.data_bytes, "metadata", notes)
    artifacts = _artifacts(result.artifacts, sizes.artifact_bytes, notes)
    failure, output = result.failure, ""
    if failure is None:
        content, truncated = bound(result.content, sizes.content_bytes)
        if content is result.content and not notes:
            return Bounded(result, truncated, None, ())
    else:
        room = sizes.content_bytes - len(f"Error ({failure.code.value}): ")
        longest = min(sizes.message_bytes, room)
        content, truncated = failure_text(
            failure.code,
            failure.message,
            result.partial_output,
            limit=sizes.content_bytes,
            message_limit=longest,
        )
        message, _ = bound(failure.message, longest)
        head, _ = failure_text(failure.code, message, limit=sizes.content_bytes)
        output = content[len(head) + 1 :]
        # A fresh copy: no traceback, cause or context of the one that was raised.
        failure = ToolError(
            message, failure.code, retriable=failure.retriable, metadata=metadata or EMPTY_OBJECT
        )
        metadata = failure.metadata
    size = _size(result) if truncated else None
    bounded = build(
        content,
        failure,
        data,
        metadata if metadata is not None else EMPTY_OBJECT,
        artifacts,
        output,
        (),
    )
    return Bounded(bounded, truncated, size, tuple(notes))


def _fitting(
    held: RunOnly[Any] | None, limit: int, name: str, notes: list[str]
) -> RunOnly[Any] | None:
    if held is None or len(peek(held)) <= limit:
        return held
    notes.append(f"{name} left out: too large")
    return None


def _artifacts(held: RunOnly[ToolArtifact], limit: int, notes: list[str]) -> RunOnly[ToolArtifact]:
    artifacts: tuple[ToolArtifact, ...] = peek(held)
    if not artifacts:
        return NO_ARTIFACTS
    fault = fault_of(artifacts, limit)
    if fault is None:
        return held
    notes.append(f"artifacts left out: {fault}")
    return hold((marker(fault),))


def _size(result: ToolResult) -> int:
    """Return the bytes that the tool's text had before it was cut."""
    if result.failure is None:
        return len(result.content.encode("utf-8", "replace"))
    said = f"{result.failure.message}{result.partial_output}"
    return len(said.encode("utf-8", "replace"))
