"""One step is one attempt: what the trace keeps of it (policy-and-runs, Steps)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam._artifacts import encoded_list
from toolseam._errors import ErrorCode, publish
from toolseam._jsontext import decode
from toolseam._render import issue
from toolseam._run_only import RunOnly, hold, peek
from toolseam._text import short

if TYPE_CHECKING:
    from toolseam._artifacts import ToolArtifact
    from toolseam._binding import BoundTool
    from toolseam._call import Call
    from toolseam._render import WireText
    from toolseam._result import ToolResult


@attrs.frozen(eq=False, repr=False)
class Step:
    """One attempt to call a tool, refusals included; immutable.

    `status` is `ok` or the failure's code, `effect` is `none`, `done` or `unknown`. Sizes are in
    bytes, `duration_s` in seconds. `arguments` and `result` read like what they hold, and no
    serialiser opens them. `actor` is the name of who acted.
    """

    id: str
    kind: str
    run_id: str
    tool: str
    alias: str | None
    distribution: str
    version: str
    arguments: RunOnly[Any] | None
    repairs: tuple[str, ...]
    status: str
    effect: str
    result: ToolResult
    wire: WireText | None
    truncated: bool
    original_size: int | None
    masked: int
    duration_s: float
    notes: tuple[str, ...]
    reason: str | None
    round: int = 0
    position: int = 0
    actor: str | None = None

    @property
    def data(self) -> RunOnly[Any] | None:
        """The result's data."""
        return self.result.data

    @property
    def metadata(self) -> RunOnly[Any]:
        """The result's metadata."""
        return self.result.metadata

    @property
    def artifacts(self) -> RunOnly[ToolArtifact]:
        """The result's artifacts."""
        return self.result.artifacts

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each channel, as they are held to their caps; none of them is opened."""
        held = {"arguments": self.arguments, "data": self.data, "metadata": self.metadata}
        return {
            "content": len(self.result.content.encode("utf-8", "replace")),
            "artifacts": len(encoded_list(peek(self.artifacts))),
            **{name: 0 if each is None else len(peek(each)) for name, each in held.items()},
        }

    def __repr__(self) -> str:
        return f"<Step {self.id} {self.tool} {self.status}>"


@attrs.frozen(eq=False, repr=False)
class Intent:
    """A write that is about to run: approved, admitted, and not begun.

    `id` is that of the step that will follow, and the other members read as there.
    """

    id: str
    run_id: str
    tool: str
    alias: str | None
    distribution: str
    version: str
    arguments: RunOnly[Any]
    repairs: tuple[str, ...]
    round: int
    position: int
    actor: str | None

    def __repr__(self) -> str:
        return f"<Intent {self.id} {self.tool}>"


@attrs.frozen(eq=False)
class Live:
    """A live note of a call: `progress`, `late` or `dropped`; shown, and never stored."""

    kind: str
    run_id: str
    tool: str
    done: float = 0.0
    total: float | None = None
    text: str = ""


publish(globals(), "Intent", "Step")


def step(call: Call) -> Step:
    """Return the step of a finished attempt; made when somebody looks, not while it runs."""
    if call.step is not None:
        return call.step
    failure, tool = call.result.failure, call.tool
    run_id = call.conversation.run_id
    round_number, position = _place(call)
    return Step(
        id=f"{run_id}:{call.number}",
        kind="tool",
        run_id=run_id,
        tool=short(call.given_name) if tool is None else tool.name,
        alias=_alias(call),
        distribution="" if tool is None else tool.distribution,
        version="" if tool is None else tool.version,
        arguments=None if call.arguments is None else hold(call.arguments),
        repairs=call.repairs,
        status="ok" if failure is None else failure.code.value,
        effect=call.effect,
        result=call.result,
        wire=_told(call),
        truncated=call.truncated,
        original_size=call.original_size,
        masked=call.masked,
        duration_s=(call.ended - call.started) / 1e9,
        notes=call.notes,
        reason=call.reason,
        round=round_number,
        position=position,
        actor=_actor(call),
    )


def intent(call: Call) -> Intent:
    """Return what a store is told of an approved write before it runs."""
    tool, run_id = cast("BoundTool", call.tool), call.conversation.run_id
    round_number, position = _place(call)
    return Intent(
        id=f"{run_id}:{call.number}",
        run_id=run_id,
        tool=tool.name,
        alias=_alias(call),
        distribution=tool.distribution,
        version=tool.version,
        arguments=hold(cast("bytes", call.arguments)),
        repairs=call.repairs,
        round=round_number,
        position=position,
        actor=_actor(call),
    )


def hand_over(call: Call) -> tuple[WireText, Step]:
    """Return what the provider is told, and the step that the listeners saw.

    The trace keeps neither: of a text that is the content itself a second copy would be half of
    what a long session holds.
    """
    wire, made = cast("WireText", call.wire), step(call)
    call.step = None
    if wire == call.result.content:
        call.wire = None
    return wire, made


def _told(call: Call) -> WireText | None:
    return issue(call.result.content) if call.wire is None and call.for_wire else call.wire


def _place(call: Call) -> tuple[int, int]:
    place = call.for_wire
    return (0, 0) if isinstance(place, bool) else (place.round, place.position)


def _actor(call: Call) -> str | None:
    actor = call.conversation.actor
    return None if actor is None else actor.name


def _alias(call: Call) -> str | None:
    """Return the name under which the tool was called, if that is not its own."""
    if not isinstance(call.for_wire, bool) and call.for_wire.alias is not None:
        return short(call.for_wire.alias)
    if call.tool is None or call.given_name == call.tool.name:
        return None
    return short(call.given_name)


def step_json(found: Step) -> dict[str, Any]:
    """Return a step as plain JSON for a person who asked for it, run-only channels included."""
    arguments = None if found.arguments is None else decode(peek(found.arguments))
    return {
        "id": found.id,
        "tool": found.tool,
        "distribution": found.distribution,
        "version": found.version,
        "arguments": arguments,
        "repairs": list(found.repairs),
        "status": found.status,
        "effect": found.effect,
        "truncated": found.truncated,
        "original_size": found.original_size,
        "masked": found.masked,
        "duration_s": found.duration_s,
        "notes": list(found.notes),
        "reason": found.reason,
    }


NO_EFFECT = frozenset(
    {
        ErrorCode.INVALID_ARGUMENTS,
        ErrorCode.NOT_FOUND,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.APPROVAL_DENIED,
        ErrorCode.CONFLICT,
        ErrorCode.UNAVAILABLE,
    }
)
