"""Values of a run: what it is bounded by, what it waits for, how it ended (policy-and-runs)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

import attrs

from toolseam._context import Actor
from toolseam._errors import ToolseamError, publish
from toolseam._jsontext import TooLarge, encode
from toolseam._run_only import RunOnly, hold

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from toolseam._levels import DataClass
    from toolseam._messages import Message, ProviderFault, Usage
    from toolseam._steps import Step

MAX_ROUNDS = 20
DEFAULT_ROUNDS = 5
CONTENT_LIMIT = 16_000_000
"""Bytes of what one step of a run keeps in memory."""


class RunStatus(StrEnum):
    """Where a run stands; the last three are terminal, and terminal is terminal.

    `held` waits for a person too: a write was made whose outcome could not be stored.
    """

    RUNNING = "running"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    HELD = "held"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """Whether nothing follows."""
        return self in {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED}


class Termination(StrEnum):
    """Why a run ended."""

    COMPLETED = "completed"
    MAX_ROUNDS = "max_rounds"
    BUDGET_EXHAUSTED = "budget_exhausted"
    POLICY_DENIED = "policy_denied"
    APPROVAL_DENIED = "approval_denied"
    CONTRACT_ERROR = "contract_error"
    PROVIDER_FAILED = "provider_failed"
    CANCELLED = "cancelled"
    CONTEXT_TRUNCATED = "context_truncated"


def _bound(least: float) -> Any:  # noqa: ANN401 - as attrs.field
    above = attrs.validators.ge(least)
    return attrs.field(default=None, validator=attrs.validators.optional(above))


@attrs.frozen
class Budget:
    """Bounds of a whole run, resumed parts included; None is unbounded.

    Args:
        tokens: input and output of all requests; when they are used up, no further one is made.
        calls: tool calls that are executed.
        seconds: of the clock on the wall, waiting for people not counted.
        context_tokens: what the model can read at once; older turns are dropped from what is
            sent, whole, and a run whose newest turn does not fit ends as `context_truncated`.
    """

    tokens: int | None = _bound(1)
    calls: int | None = _bound(1)
    seconds: float | None = _bound(0.001)
    context_tokens: int | None = _bound(256)


@attrs.frozen
class PendingCall:
    """One call of a turn that waits; those that need no approval stand with it.

    `arguments` are complete and out of the plugin's reach; `lines`, `failed` and `cut` are those
    of the preview; `digest` is what is approved, or None where no approval is needed. `refused`
    is the code with which the call will be answered whatever is decided, if it is known.
    """

    position: int
    call_id: str | None
    tool: str
    arguments: dict[str, Any]
    needs_approval: bool
    lines: tuple[str, ...] = ()
    failed: bool = False
    cut: bool = False
    digest: str | None = None
    refused: str | None = None


@attrs.frozen
class Decision:
    """A person's word on one call of a turn, by its position; made by the three functions.

    Approving and editing name the digest that the person saw: what has changed since is a
    `conflict`, and waits for a new decision. Any other verdict is a `ValueError`, and who is no
    `Actor` a `TypeError`.
    """

    position: int
    verdict: Literal["approve", "deny", "edit"] = attrs.field(
        validator=attrs.validators.in_(("approve", "deny", "edit"))
    )
    actor: Actor = attrs.field(validator=attrs.validators.instance_of(Actor))
    digest: str | None = None
    reason: str = ""
    arguments: Mapping[str, Any] | None = None

    @classmethod
    def approve(cls, pending: PendingCall, *, actor: Actor) -> Decision:
        """Approve a call as it stands."""
        return cls(pending.position, "approve", actor, pending.digest)

    @classmethod
    def deny(cls, pending: PendingCall, *, actor: Actor, reason: str = "") -> Decision:
        """Refuse a call; the model is told, with the reason."""
        return cls(pending.position, "deny", actor, pending.digest, reason)

    @classmethod
    def edit(cls, pending: PendingCall, arguments: Mapping[str, Any], *, actor: Actor) -> Decision:
        """Change the arguments and approve in one step; the model is told that they changed.

        `pending` is the call that waits, or what `session.revised` showed of the edited one: then
        exactly that is approved, its preview included.
        """
        return cls(pending.position, "edit", actor, pending.digest, arguments=dict(arguments))


@attrs.frozen
class KeptDecision:
    """A decision as a store keeps it: who said what, and the text that `decisions` gives back."""

    position: int
    verdict: str
    decided_by: str
    text: bytes = attrs.field(repr=False)


@attrs.frozen(eq=False, repr=False)
class RunStep:
    """What happened in a run besides tool calls; immutable.

    `kind` is `request`, `llm`, `approval`, `context` or `dropped`. `facts` are counts, names and
    codes, which every privacy level keeps; `content` is what they are of.
    """

    id: str
    kind: str
    run_id: str
    round: int
    duration_s: float
    facts: Mapping[str, Any]
    content: RunOnly[Any]

    def __repr__(self) -> str:
        return f"<RunStep {self.id} {self.kind}>"


@attrs.frozen(eq=False)
class Run:
    """A run as it stands now: ended, or waiting for people.

    Args:
        id: unique; the same over every resume.
        status: where it stands.
        reason: why it ended, None while it waits.
        answer: the model's last words, empty unless it completed.
        truncated: whether a bound cut it short.
        messages: all of the conversation.
        pending: the calls of the turn that waits, by position.
        steps: what happened since this part of the run began, in order.
        usage: tokens over all parts.
        rounds: requests over all parts.
        mark: the highest class of any content in the messages.
        fault: what kind of failure the provider had.
    """

    id: str
    status: RunStatus
    reason: Termination | None
    answer: str
    truncated: bool
    messages: tuple[Message, ...] = attrs.field(repr=False)
    pending: tuple[PendingCall, ...]
    steps: tuple[Step | RunStep, ...] = attrs.field(repr=False)
    usage: Usage
    rounds: int
    mark: DataClass
    fault: ProviderFault | None = None


@attrs.frozen(eq=False)
class RunChange:
    """A run stands otherwise than before: it began, goes on, waits, or has ended.

    Args:
        run_id: the run.
        status: where it stands now.
        facts: `actor`, `zone` and `provider`, by their names.
        run: the run as it stands, None while it is running.
    """

    run_id: str
    status: RunStatus
    facts: Mapping[str, object]
    run: Run | None = attrs.field(default=None, repr=False)


@attrs.frozen
class WaitingRun:
    """A run that waits for people, as whoever decides sees it.

    Args:
        id: the run.
        owner: whose identity it has, or None.
        since: when it began to wait, in UTC.
        providers: the names of those whom it asked.
        pending: the calls of the turn that waits, by position.
        decided: the positions of those that have been decided.
        endpoints: what `host.provider` needs to make each provider again, by keyword; None for one
            that it did not make.
    """

    id: str
    owner: Actor | None
    since: datetime
    providers: tuple[str, ...]
    pending: tuple[PendingCall, ...]
    decided: frozenset[int]
    endpoints: tuple[Mapping[str, Any] | None, ...] = attrs.field(default=(), repr=False)


class RunError(ToolseamError):
    """A run cannot be resumed as it was asked; nothing was executed.

    Args:
        message: one sentence.
        code: `not_found`, `conflict`, `permission_denied`, `invalid_arguments` or `unavailable`.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


publish(
    globals(),
    *("RunStatus", "Termination", "Budget", "PendingCall", "Decision", "RunStep", "Run"),
    *("RunError", "KeptDecision", "RunChange", "WaitingRun"),
)


def run_step(
    kind: str,
    run_id: str,
    number: int,
    round_number: int,
    duration_s: float,
    facts: Mapping[str, Any],
    content: object,
) -> RunStep:
    """Return a step of a run, its content held like every run-only value."""
    try:
        held = hold(encode(content, limit=CONTENT_LIMIT))
    except TooLarge:
        held = hold(encode({"left_out": f"more than {CONTENT_LIMIT:,} bytes"}))
    return RunStep(f"{run_id}:{number}", kind, run_id, round_number, duration_s, facts, held)
