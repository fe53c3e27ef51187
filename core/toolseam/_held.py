"""Runs that are held since nobody knows what a write did, and what people say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import attrs

from toolseam._errors import publish
from toolseam._runs import RunError
from toolseam._text import NAME_CHARACTERS, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from toolseam._context import Actor
    from toolseam._runs import Run
    from toolseam._state import HostState
    from toolseam._steps import Step

Verdict = Literal["done", "not_done"]


@attrs.frozen
class Told:
    """What a person says of a held call, as a store keeps it.

    Args:
        round: the call's.
        position: its place in the turn of that round.
        verdict: `done` or `not_done`.
        said_by: the name of who says so.
    """

    round: int
    position: int
    verdict: Verdict = attrs.field(validator=attrs.validators.in_(("done", "not_done")))
    said_by: str


@attrs.frozen
class HeldCall:
    """A write of a held run of which nobody knows what it did.

    Args:
        round: the round in which it was asked for.
        position: its place in the turn.
        tool: the tool's name.
        status: how the attempt ended, as far as that is known.
        actor: the name of who acted, or None.
        arguments: what it was called with, None where that was not kept.
        told: what a person has said of it, or None.
    """

    round: int
    position: int
    tool: str
    status: str
    actor: str | None = None
    arguments: dict[str, Any] | None = attrs.field(default=None, repr=False)
    told: Told | None = None


@attrs.frozen
class HeldRun:
    """A run that is held, as whoever knows what happened sees it.

    Args:
        id: the run.
        owner: the name of whose identity it has, or None.
        began: when it began, in UTC, where a store knows.
        reason: what holds it: `interrupted`, `fenced`, or None for an outcome that came late.
        goes_on: whether somebody takes it up again once every call is told; else it ends then.
        calls: those of which nobody knows what they did.
    """

    id: str
    owner: str | None
    began: datetime | None
    reason: str | None
    goes_on: bool
    calls: tuple[HeldCall, ...]

    @property
    def open(self) -> tuple[HeldCall, ...]:
        """The calls of which nobody has said anything yet."""
        return tuple(each for each in self.calls if each.told is None)


publish(globals(), "HeldCall", "HeldRun", "Told")


def settle(
    state: HostState, run_id: str, calls: Iterable[HeldCall], verdict: Verdict, actor: Actor
) -> bool:
    """Keep what a person says of calls of a held run; True if no call is left.

    What a call is the store says, and of those that are handed in only their places count.

    Raises `RunError`: `permission_denied` for who may not say, `not_found` for what is not held,
    else what the store raises.
    """
    if actor.service:
        raise RunError("A service account cannot know what happened.", "permission_denied")
    run = state.store.held_run(run_id)
    known = {(each.round, each.position): each for each in run.calls}
    places = [(call.round, call.position) for call in calls]
    if not known.keys() >= set(places):
        raise _no_such_call()
    # Who says nothing of any call still has a run end, or go on.
    _refuse_stranger(state, run, [known[place] for place in places] or run.calls, actor)
    return state.store.settle(
        run_id, [Told(*place, verdict, short(actor.name)) for place in places]
    )


def _refuse_stranger(
    state: HostState, run: HeldRun, said: Iterable[HeldCall], actor: Actor
) -> None:
    owns = run.owner is not None and _kept_name(run.owner) == _kept_name(actor.name)
    if state.four_eyes and owns:
        raise RunError("Somebody else has to approve (four_eyes).", "permission_denied")
    # Of a tool that is gone or disabled by now an administrator says it.
    if actor.is_admin:
        return
    for call in said:
        if not state.policy.may_approve(state.registry.get(call.tool), actor):
            raise RunError(f"{actor.name} may not say it of {call.tool}.", "permission_denied")
    if not run.calls and not owns:
        raise RunError(f"{actor.name} may not say it of this run.", "permission_denied")


def _kept_name(name: str) -> str:
    """Return a name as it is after a store has kept it, whatever that makes of it."""
    return "".join(each if each.isprintable() else "\ufffd" for each in name[:NAME_CHARACTERS])


def held_of(run: Run) -> HeldRun:
    """Return a run of this process as it is held: its writes with an unknown effect are open."""
    steps = (cast("Step", step) for step in run.steps if step.kind == "tool")
    unknown = [step for step in steps if step.effect == "unknown"]
    owner = next((step.actor for step in unknown), None)
    return HeldRun(run.id, owner, None, "fenced", True, tuple(map(_call_of, unknown)))


def _call_of(step: Step) -> HeldCall:
    arguments = None if step.arguments is None else step.arguments.value
    return HeldCall(step.round, step.position, step.tool, step.status, step.actor, arguments)


def settled(run: HeldRun, told: Sequence[Told]) -> HeldRun:
    """Return a held run with what people say of its calls.

    Raises `RunError`: `not_found` for no call of it, `conflict` where somebody has said it.
    """
    known = {(each.round, each.position): each for each in run.calls}
    for each in told:
        place = each.round, each.position
        if place not in known:
            raise _no_such_call()
        if known[place].told is not None:
            raise RunError("Somebody has said what this call did.", "conflict")
        known[place] = attrs.evolve(known[place], told=each)
    return attrs.evolve(run, calls=tuple(known.values()))


def _no_such_call() -> RunError:
    return RunError("No such call of this run is held.", "not_found")
