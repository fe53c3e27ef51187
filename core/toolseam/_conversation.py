"""One conversation: who speaks, what it may be offered, what was withdrawn from it (§5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam._context import Actor
from toolseam._errors import ErrorCode
from toolseam._levels import DataClass, Zone
from toolseam._policy import Receiver
from toolseam._result import refusal
from toolseam._text import short
from toolseam._trace import RunTrace

if TYPE_CHECKING:
    from toolseam._binding import BoundTool
    from toolseam._result import ToolResult
    from toolseam._spec import ToolSpec
    from toolseam._state import HostState

MAX_DEPTH = 3
WITHDRAWN = "broke the result contract; it has run once and will not run again"


class Conversation:
    """The state of one session; `own` is the host's own code, where nothing lasts over a call.

    Calls of the host's own code share the `trace` that is given.
    """

    __slots__ = (
        "_outer",
        "actor",
        "admitted",
        "allowed",
        "depth",
        "exposed",
        "mark",
        "own",
        "state",
        "stopped",
        "trace",
        "withdrawn",
        "zone",
    )

    def __init__(
        self,
        state: HostState,
        *,
        actor: Actor | None,
        zone: Zone,
        tools: frozenset[str] | None = None,
        trace: RunTrace | None = None,
        keep: int | None = None,
    ) -> None:
        if actor is not None and not isinstance(actor, Actor):  # pyright: ignore[reportUnnecessaryIsInstance]
            # The gate asks only some tools for a role; to the others a bare name would do.
            raise TypeError(f"actor: {type(actor).__name__}, expected Actor or None")
        self.state = state
        self.actor = actor
        self.zone = zone
        self.allowed = tools
        self.own = trace is not None
        self.depth = 0
        self.mark = DataClass.PUBLIC_CONTENT
        self.stopped = False
        self.trace = RunTrace(state.listeners, keep=keep) if trace is None else trace
        self.withdrawn: set[int] = set()
        # Names that a provider was given instead of the tools' own.
        self.exposed: dict[str, str] = {}
        self._outer: Conversation | None = None
        # What the gate let through, and the epoch in which it did; stale once that has passed.
        self.admitted: dict[str, tuple[BoundTool, int]] = {}

    @property
    def run_id(self) -> str:
        """The run's unique id."""
        return self.trace.run_id

    @property
    def receiver(self) -> Receiver:
        """What the gate has to know of this conversation."""
        return Receiver(self.actor, self.zone, self.allowed, self.mark)

    def offered(self) -> tuple[ToolSpec, ...]:
        """Return what the gate lets through now, by name."""
        decide, receiver = self.state.policy.decide, self.receiver
        return tuple(
            tool.spec
            for tool in self.state.registry.tools()
            if decide(tool, receiver).allowed and not self.is_withdrawn(tool)
        )

    def another(self) -> Conversation:
        """Return a run of its own in the same session: who broke the contract stays withdrawn."""
        made = Conversation(self.state, actor=self.actor, zone=self.zone, tools=self.allowed)
        made.withdrawn = self.withdrawn
        return made

    def nested(self) -> Conversation:
        """Return the same conversation one call deeper: same actor, trace and withdrawals.

        A call of the host's own code is a session of its own, which begins here.
        """
        inner = object.__new__(Conversation)
        for name in Conversation.__slots__:
            setattr(inner, name, getattr(self, name))
        inner.depth = self.depth + 1
        inner.admitted = {}
        inner._outer = self
        if self.own:
            inner.own = False
            inner.withdrawn = set()
        return inner

    def admit(
        self, name: object, *, look: bool = False
    ) -> tuple[BoundTool | None, ToolResult | None]:
        """Ask the questions that need no argument: known, allowed, not withdrawn, not too often.

        An alias becomes the canonical tool first; every rule knows canonical names only. To
        `look` is no call, and is not counted.
        """
        # Taken before the questions: what changes meanwhile makes the answer stale by itself.
        admitted, epoch = self.admitted, self.state.epoch
        tool = self.state.registry.get(name) if isinstance(name, str) else None
        if tool is None:
            return None, refusal(ErrorCode.NOT_FOUND, f"There is no tool {short(name)!r}.")
        verdict = self.state.policy.decide(tool, self.receiver)
        if not verdict.allowed:
            message = f"{tool.name} is not available here ({verdict.reason})."
            denied = refusal(ErrorCode.PERMISSION_DENIED, message, reason=verdict.reason)
            return tool, denied
        if self.stopped:
            message = "The run has ended, since a tool broke the result contract."
            return tool, refusal(ErrorCode.CONTRACT_ERROR, message, reason="stopped")
        if self.depth > MAX_DEPTH:
            message = f"Tools may call tools at most {MAX_DEPTH} deep."
            return tool, refusal(ErrorCode.PERMISSION_DENIED, message, reason="depth")
        if self.is_withdrawn(tool):
            return tool, withdrawn(tool)
        rates = self.state.rates
        if rates is not None and rates.applies(tool):
            most = rates.take(tool, self.actor, look=look)
            return tool, None if most is None else too_often(tool, most)
        if not verdict.observed_only:
            admitted[tool.name] = (tool, epoch)
        return tool, None

    def is_withdrawn(self, tool: BoundTool) -> bool:
        """Tell whether the plugin object was withdrawn, here or for the host's life."""
        return tool.key in self.withdrawn or tool.key in self.state.withdrawn

    def withdraw(self, tool: BoundTool) -> None:
        """Withdraw a plugin object, under every name it has, from this conversation."""
        if self.own:
            return
        self.withdrawn.add(tool.key)
        self.stopped = self.stopped or self.state.stop_on_contract_error
        self.admitted = {}
        if self._outer is not None:
            self._outer.withdraw(tool)

    def raise_mark(self, data_class: DataClass) -> None:
        """Remember the highest class of what this conversation has read."""
        if self.own or data_class.rank <= self.mark.rank:
            return
        self.mark = data_class
        self.admitted = {}
        if self._outer is not None:
            self._outer.raise_mark(data_class)


def too_often(tool: BoundTool, most: int) -> ToolResult:
    """Return the answer to a call beyond the rate."""
    message = f"{tool.name} was called too often: {most:,} calls a minute are allowed. Try later."
    return refusal(ErrorCode.UNAVAILABLE, message, retriable=True, reason="rate")


def withdrawn(tool: BoundTool) -> ToolResult:
    """Return the fixed answer of a tool that broke the contract before."""
    message = f"{tool.name} {WITHDRAWN}"
    return refusal(ErrorCode.CONTRACT_ERROR, message, reason="withdrawn")
