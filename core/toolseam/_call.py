"""One attempt on its way through the seam, and what it lends to the tool (contract §2, §5)."""

from __future__ import annotations

import functools
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam._context import ToolContext
from toolseam._errors import ErrorCode
from toolseam._policy import is_too_far
from toolseam._result import ToolError, failed
from toolseam._steps import Live
from toolseam._text import short
from toolseam._trace import LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam._approval import Approval
    from toolseam._binding import BoundTool
    from toolseam._conversation import Conversation
    from toolseam._levels import Zone
    from toolseam._render import WireText
    from toolseam._result import ToolResult
    from toolseam._steps import Step


@attrs.frozen
class Place:
    """Where in a run a call stands: its round, its position in the turn, the provider's name.

    `note` is a line that the provider is told before the answer.
    """

    round: int
    position: int
    alias: str | None = None
    note: str = ""


class Call:
    """One attempt: on its way through the seam, and afterwards what the trace keeps of it.

    A class attribute is what holds until it is set: most calls are refused nothing, cut nowhere,
    and pay for nothing else.
    """

    conversation: Conversation
    given_name: object
    number: int
    started: int
    ended: int
    result: ToolResult

    tool: BoundTool | None = None
    approval: Approval | None = None
    arguments: bytes | None = None
    value: Any = None
    repairs: tuple[str, ...] = ()
    deadline: float | None = None
    for_wire: bool | Place = False
    abandoned = False
    ran = False
    effect = "none"
    reason: str | None = None
    truncated = False
    original_size: int | None = None
    notes: tuple[str, ...] = ()
    wire: WireText | None = None
    masked = 0
    step: Step | None = None


_blank = cast("Callable[[], Call]", functools.partial(object.__new__, Call))


def begin(conversation: Conversation, name: object) -> Call:
    """Begin an attempt; a constructor of the class would cost as much as validation."""
    call = _blank()
    call.started = perf_counter_ns()
    call.conversation = conversation
    call.given_name = name
    call.number = conversation.trace.next_number()
    return call


def given_to(call: Call, tool: BoundTool) -> Any:  # noqa: ANN401
    """Return what `execute` gets: a fresh dict, or an instance of the tool's attrs class."""
    make = tool.make
    if make is None:
        return call.value
    try:
        return make(call.value)
    except (ValueError, TypeError) as error:
        # The text is the author's own, written for whoever calls the tool.
        message = str(error) or f"The arguments were refused ({short(type(error).__name__)})."
        raise Refused(failed(ToolError(message, ErrorCode.INVALID_ARGUMENTS))) from None


class Refused(Exception):
    """Carries a result that ends the call before `execute`; no fault of anybody."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


def context_of(call: Call, tool: BoundTool) -> ToolContext:
    conversation = call.conversation
    number = _number(call) if tool.requires_approval else call.number
    return ToolContext(
        tool=tool.spec,
        actor=conversation.actor,
        run_id=conversation.run_id,
        call_id=f"{conversation.run_id}:{number}",
        deadline=call.deadline,
        settings=conversation.state.settings_of(tool),
        logger=LOGGER.getChild(tool.name),
        call=Facilities(call, tool),
    )


def _number(call: Call) -> int | str:
    """Return what is the same from a call's preview to the attempt that it was approved for."""
    place = call.for_wire
    if isinstance(place, Place) and place.round:
        # A run asks again in each round, and the first call of each one stands at the same place.
        return f"{place.round}.{place.position}"
    return call.number if call.approval is None else call.approval.position


class Facilities:
    """What the seam lends to the context of one call."""

    __slots__ = ("_call", "_inner", "_tool")

    def __init__(self, call: Call, tool: BoundTool) -> None:
        self._call = call
        self._tool = tool
        self._inner: Conversation | None = None

    def whole(self) -> tuple[Call, BoundTool]:
        """Return the attempt itself, and its tool."""
        return self._call, self._tool

    def progress(self, done: float, total: float | None, text: str) -> None:
        """Note progress in the trace, live only."""
        conversation = self._call.conversation
        conversation.trace.note(
            Live("progress", conversation.run_id, self._tool.name, done, total, short(text, 200))
        )

    def step_id(self) -> str:
        """Return the id of the step that this attempt will leave."""
        return f"{self._call.conversation.run_id}:{self._call.number}"

    def cancelled(self) -> bool:
        """Tell whether the call was given up."""
        deadline = self._call.deadline
        return self._call.abandoned or (deadline is not None and monotonic() > deadline)

    def secret(self, name: str) -> str:
        """Return a secret that the operator granted."""
        return self._call.conversation.state.secrets(self._tool, name)

    def resource(self, key: str, opener: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Return what was opened once for this host and distribution."""
        resources = self._call.conversation.state.resources
        return resources.get(self._tool.distribution, key, opener)

    def send_to(self, zone: Zone) -> None:
        """Hold a zone that is known in the call only to the rule for `sends_to`."""
        conversation = self._call.conversation
        if is_too_far(zone, conversation.mark) and not conversation.state.policy.observe:
            message = f"{self._tool.name} is not available here (sends_to)."
            code, reason = ErrorCode.PERMISSION_DENIED, {"reason": "sends_to"}
            raise ToolError(message, code, metadata=reason)

    def nested(self, name: str, arguments: Any) -> ToolResult:  # noqa: ANN401
        """Call another tool in the caller's run."""
        perform, _ = self._call.conversation.state.seam
        result: ToolResult = perform(self._deeper(), name, arguments).result
        return result

    async def anested(self, name: str, arguments: Any) -> ToolResult:  # noqa: ANN401
        """Await another tool in the caller's run."""
        _, aperform = self._call.conversation.state.seam
        result: ToolResult = (await aperform(self._deeper(), name, arguments)).result
        return result

    def _deeper(self) -> Conversation:
        outer = self._call.conversation
        if not outer.own:
            return outer.nested()
        # One call of the host's own code is one session: what it withdraws stays withdrawn.
        if self._inner is None:
            self._inner = outer.nested()
        return self._inner
