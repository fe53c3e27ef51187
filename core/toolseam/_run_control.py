"""Beginning runs and going on with them: who may decide, and what he decides about."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypedDict, cast

import attrs

from toolseam._conversation import Conversation
from toolseam._errors import ToolseamError
from toolseam._jsontext import decode, encode
from toolseam._levels import DataClass, Zone
from toolseam._loop import cancelled, drive, note_decision, tell_run, to_its_end
from toolseam._messages import Message, Provider, SystemMessage, UserMessage
from toolseam._replies import sound_messages
from toolseam._run_state import RunState, decision_of, kept_decision, load, restore
from toolseam._runs import (
    CONTENT_LIMIT,
    DEFAULT_ROUNDS,
    MAX_ROUNDS,
    Budget,
    Decision,
    PendingCall,
    Run,
    RunError,
    WaitingRun,
)
from toolseam._steps import Live
from toolseam._trace import RunTrace
from toolseam._turns import pending, refusal_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence

    from toolseam._context import Actor
    from toolseam._journal import Journal
    from toolseam._run_state import Event, Kept
    from toolseam._state import HostState

    Providers = Provider | Sequence[Provider]


def farthest(zone: Zone, providers: tuple[Provider, ...]) -> Zone:
    """Return the least trusted of a session's zone and those that its providers declare."""
    zones = [zone, *(Zone(found) for p in providers if (found := getattr(p, "zone", None)))]
    return min(zones, key=lambda each: each.ceiling.rank)


class RunOptions(TypedDict, total=False):
    """How a run is asked; every key may be absent.

    `instructions` is what the host tells the model first; `mark` the class of what is handed in,
    question or messages; `max_rounds` 1 to 20, 5 by default; `budget` see `Budget`;
    `max_output_tokens` and `options`, plain JSON, go to the provider; `stop_on_denial` ends the
    run where a person refuses; `journal` keeps what is finished, for who makes a run durable.
    """

    instructions: str | None
    mark: DataClass | str | None
    max_rounds: int
    budget: Budget | None
    max_output_tokens: int | None
    options: Mapping[str, Any] | None
    stop_on_denial: bool
    journal: Journal | None


def begin_run(  # noqa: PLR0913 - each is one of the words that a run is asked with
    conversation: Conversation,
    providers: Providers,
    question: str | None,
    messages: Iterable[Message] | None,
    *,
    instructions: str | None = None,
    mark: DataClass | str | None = None,
    max_rounds: int = DEFAULT_ROUNDS,
    budget: Budget | None = None,
    max_output_tokens: int | None = None,
    options: Mapping[str, Any] | None = None,
    stop_on_denial: bool = False,
    journal: Journal | None = None,
) -> RunState:
    """Return a fresh run; raises `ValueError` or `TypeError` for arguments that fit no run."""
    if (question is None) == (messages is None):
        raise TypeError("a run takes a question or messages, and not both")
    if not 1 <= max_rounds <= MAX_ROUNDS:
        raise ValueError(f"max_rounds: expected 1 to {MAX_ROUNDS}")
    chain = _chain(providers)
    said: list[Message] = [SystemMessage(instructions)] if instructions else []
    said += [UserMessage(question)] if question is not None else list(messages or ())
    said = sound_messages(said)
    if mark is not None:
        conversation.raise_mark(DataClass(mark))
    elif messages is not None:
        # What the host hands in without a word on it may hold anything.
        conversation.raise_mark(DataClass.SECRET_ADJACENT)
    conversation.zone = farthest(conversation.zone, chain)
    if journal is not None:
        conversation.trace = RunTrace(conversation.state.listeners, run_id=journal.run_id)
    run = RunState(
        conversation,
        chain,
        said,
        budget or Budget(),
        max_rounds,
        max_output_tokens,
        _plain_options(options),
        stop_on_denial=stop_on_denial,
        journal=journal,
    )
    run.told = run.facts
    return run


def _plain_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    given = dict(options or {})
    try:
        encode(given, root="options")
    except ToolseamError as error:
        # A run that waits has to keep them.
        raise ValueError(str(error) or "options: too long") from None
    return given


def _chain(providers: Providers) -> tuple[Provider, ...]:
    found = providers if isinstance(providers, list | tuple) else (providers,)
    chain = tuple(cast("Sequence[Provider]", found))
    if not chain:
        raise ValueError("a run needs a provider")
    return chain


def resume_run(
    state: HostState,
    run_id: str,
    decisions: Iterable[Decision],
    providers: Providers,
    owner: Actor | None = None,
) -> tuple[RunState, dict[int, Decision]]:
    """Take a run that waits and hold what people said to the rules; nothing has run yet.

    What was said before, by `decide_run`, counts as if it were said now.

    Raises `RunError`: `not_found` for no such run, `invalid_arguments` for decisions that do not
    fit the turn, `permission_denied` for who may not decide, `conflict` for what has changed.
    """
    chain = _chain(providers)
    return _gone_on(state, _taken(state, run_id, list(decisions), chain, owner), chain, owner)


@attrs.frozen
class Taken:
    """A run that waits no more: its state, and what people said of each call that waited."""

    run_id: str
    state: bytes
    decided: Mapping[int, Decision]


def _taken(
    state: HostState,
    run_id: str,
    said: list[Decision],
    chain: tuple[Provider, ...],
    owner: Actor | None,
) -> Taken:
    looked = state.store.look(run_id)
    run = _rebuilt(state, run_id, load(looked), chain, owner)
    before = _said_before(state, run_id)
    try:
        decided = _decided(run, before)
    except RunError:
        state.store.forget(run_id)  # it waits for new decisions
        raise
    if not decided.keys().isdisjoint(_positions(said)):
        raise RunError("Somebody has decided about this call.", "conflict")
    decided |= _decided(run, said)
    _refuse_gaps(run, decided)
    _keep(state, run_id, said)
    state.store.claim(run_id, looked)
    return Taken(run_id, looked, decided)


def _gone_on(
    state: HostState, taken: Taken, chain: tuple[Provider, ...], owner: Actor | None
) -> tuple[RunState, dict[int, Decision]]:
    kept = load(taken.state)
    run = _rebuilt(state, taken.run_id, kept, chain, owner)
    run.conversation.raise_mark(kept.mark)
    for position, decision in taken.decided.items():
        note_decision(run, run.pending[position], decision)
    return run, dict(taken.decided)


async def aresume_run(
    state: HostState,
    run_id: str,
    decisions: Iterable[Decision],
    providers: Providers,
    owner: Actor | None = None,
    journal: Journal | None = None,
) -> tuple[RunState, dict[int, Decision]]:
    """Take a run from an event loop; who is cancelled meanwhile has cancelled the run too."""
    if journal is not None:
        return await _resumed(state, journal, list(decisions), _chain(providers), owner)
    taken: list[RunState] = []

    def take() -> tuple[RunState, dict[int, Decision]]:
        found = resume_run(state, run_id, decisions, providers, owner)
        taken.append(found[0])
        return found

    try:
        return await to_its_end(take)
    except asyncio.CancelledError:
        for run in taken:
            stopped = cancelled(run)
            state.store.end(stopped)
            tell_run(run, stopped)
        raise


async def _resumed(
    state: HostState,
    journal: Journal,
    said: list[Decision],
    chain: tuple[Provider, ...],
    owner: Actor | None,
) -> tuple[RunState, dict[int, Decision]]:
    """Take a run that has a journal: who repeats it holds no decision to the rules again.

    What was approved has been done by then, perhaps, and its preview says something else.
    """

    def take() -> bytes:
        try:
            taken = _taken(state, journal.run_id, said, chain, owner)
        except RunError as error:
            return encode({"refused": [str(error), error.code]})
        texts = [kept_decision(each).text.decode() for each in taken.decided.values()]
        return encode({"state": taken.state.decode(), "decided": texts}, limit=2 * CONTENT_LIMIT)

    found = decode(await journal.once("taken", lambda: to_its_end(take)))
    if "refused" in found:
        raise RunError(*found["refused"])
    decided = [decision_of(text.encode()) for text in found["decided"]]
    by_position = {decision.position: decision for decision in decided}
    taken = Taken(journal.run_id, found["state"].encode(), by_position)
    run, said_now = _gone_on(state, taken, chain, owner)
    run.journal = journal
    return run, said_now


def decide_run(state: HostState, run_id: str, decisions: Iterable[Decision]) -> bool:
    """Keep what people say of a run that waits, held to the rules; True if no call is left.

    Raises `RunError` as `resume_run` does, and `conflict` where somebody has decided before.
    """
    kept = load(state.store.look(run_id))
    run = _rebuilt(state, run_id, kept, ())
    said = list(decisions)
    _decided(run, said)
    _keep(state, run_id, said)
    return _asked(run).keys() == _positions(_said_before(state, run_id))


def _keep(state: HostState, run_id: str, said: list[Decision]) -> None:
    if said:
        state.store.decide(run_id, [kept_decision(each) for each in said])


def _said_before(state: HostState, run_id: str) -> list[Decision]:
    return [decision_of(text) for text in state.store.decisions(run_id)]


def _positions(decisions: Iterable[Decision]) -> set[int]:
    return {decision.position for decision in decisions}


def waiting(state: HostState, run_id: str) -> tuple[PendingCall, ...]:
    """Return the calls of a run that waits, as they were shown; raises `RunError`."""
    return load(state.store.look(run_id)).pending


def waiting_runs(state: HostState) -> tuple[WaitingRun, ...]:
    """Return the runs that wait; one that ended meanwhile, or cannot be read, is left out."""
    found: list[WaitingRun] = []
    for run_id in state.store.waiting_runs():
        with contextlib.suppress(RunError):
            found.append(waiting_run(state, run_id))
    return tuple(found)


def waiting_run(state: HostState, run_id: str) -> WaitingRun:
    """Return one of them; raises `RunError` `not_found`."""
    kept = load(state.store.look(run_id))
    return WaitingRun(
        run_id,
        kept.owner,
        datetime.fromtimestamp(kept.since, UTC),
        tuple(kept.facts["providers"]),
        kept.pending,
        frozenset(_positions(_said_before(state, run_id))),
        tuple(kept.facts["endpoints"]),
    )


def revised(
    state: HostState, run_id: str, position: int, arguments: Mapping[str, Any] | None
) -> PendingCall:
    """Return a call that waits as it would be now, previewed again, maybe with other arguments.

    Raises `RunError`: `not_found` where it does not wait, else the code of its refusal.
    """
    run = _rebuilt(state, run_id, load(state.store.look(run_id)), ())
    if position not in _asked(run):
        raise RunError(f"No call at {position} waits for a decision.", "not_found")
    return _with(run, position, arguments)


def _rebuilt(
    state: HostState,
    run_id: str,
    kept: Kept,
    chain: tuple[Provider, ...],
    owner: Actor | None = None,
) -> RunState:
    facts = kept.facts
    allowed = None if facts["tools"] is None else frozenset(facts["tools"])
    conversation = Conversation(
        state, actor=_owner(kept, owner), zone=farthest(kept.zone, chain), tools=allowed
    )
    trace = RunTrace(state.listeners, run_id=run_id, first_number=facts["next_number"] + 1)
    conversation.trace = trace
    conversation.mark = kept.mark
    for name in facts["withdrawn"]:
        tool = state.registry.get(name)
        if tool is not None:
            conversation.withdrawn.add(tool.key)
    return restore(kept, conversation, chain)


def _owner(kept: Kept, now: Actor | None) -> Actor | None:
    """Return who acts: the owner with the roles that he has now, if the host says so."""
    if now is None:
        return kept.owner
    if kept.owner is None or now.name != kept.owner.name:
        raise RunError("This is not the run's owner.", "permission_denied")
    return now


def _asked(run: RunState) -> dict[int, PendingCall]:
    return {each.position: each for each in run.pending if each.needs_approval}


def _decided(run: RunState, said: list[Decision]) -> dict[int, Decision]:
    """Hold decisions to the turn that waits, to who may decide, and to what was shown."""
    asked = _asked(run)
    decided = {decision.position: decision for decision in said}
    if len(decided) < len(said) or not decided.keys() <= asked.keys():
        raise RunError("The decisions do not fit the calls that wait.", "invalid_arguments")
    return {
        position: _held(run, asked[position], decision) for position, decision in decided.items()
    }


def _refuse_gaps(run: RunState, decided: Mapping[int, Decision]) -> None:
    if missing := sorted(_asked(run).keys() - decided.keys()):
        left = ", ".join(map(str, missing))
        raise RunError(f"Every call that waits needs a decision: {left}.", "invalid_arguments")


def _held(run: RunState, shown: PendingCall, decision: Decision) -> Decision:
    if decision.verdict == "deny":
        return decision
    _refuse_stranger(run, shown, decision.actor)
    if decision.verdict == "edit":
        return _edited(run, shown, decision)
    again = pending(run, shown.position, run.turn[shown.position])
    if decision.digest is None or decision.digest not in {shown.digest, again.digest}:
        raise _changed()
    # A call that would be refused by now is answered with that.
    if again.refused is None and again.digest != decision.digest:
        raise _different()
    return decision


def _edited(run: RunState, shown: PendingCall, decision: Decision) -> Decision:
    """Take edited arguments through §4 and the gate again, and approve what came of it."""
    again = _with(run, shown.position, decision.arguments or {})
    # Whoever has looked at the edited call names its digest, else that of the call that waits,
    # and then the call has to be what it was when he looked.
    if decision.digest != again.digest:
        before = pending(run, shown.position, run.turn[shown.position])
        if decision.digest != before.digest:
            raise _different() if decision.digest == shown.digest else _changed()
    return attrs.evolve(decision, digest=again.digest, arguments=again.arguments)


def _with(run: RunState, position: int, arguments: Mapping[str, Any] | None) -> PendingCall:
    asked = run.turn[position]
    if arguments is not None:
        asked = attrs.evolve(asked, arguments=dict(arguments))
    again = pending(run, position, asked)
    if again.refused is not None:
        which = "call" if arguments is None else "edited call"
        why = refusal_text(run, asked)
        raise RunError(f"The {which} would be refused ({again.refused}): {why}", again.refused)
    return again


def _different() -> RunError:
    return RunError("What the call would do has changed; look at it again.", "conflict")


def _changed() -> RunError:
    return RunError("This is not the call that waits; look at it again.", "conflict")


def _refuse_stranger(run: RunState, shown: PendingCall, actor: Actor) -> None:
    state = run.conversation.state
    tool = state.registry.get(shown.tool)
    owner = run.conversation.actor
    if state.four_eyes and owner is not None and actor.name == owner.name:
        raise RunError("Somebody else has to approve (four_eyes).", "permission_denied")
    if not state.policy.may_approve(tool, actor):
        raise RunError(f"{actor.name} may not approve {shown.tool}.", "permission_denied")


# -- driving --------------------------------------------------------------------------------------


def in_own_loop(make: Callable[[], Coroutine[Any, Any, Run]], instead: str) -> Run:
    """Run the loop from synchronous code; raises `RuntimeError` where an event loop runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError(f"an event loop is running here: await {instead}() instead")
    return asyncio.run(make())  # not above: what it raises would tell of a missing loop


async def events(
    run: RunState, decided: Mapping[int, Decision] | None = None
) -> AsyncIterator[Event | Run]:
    """Give everything that happens as it happens, and the run at the end.

    Who stops listening cancels the run.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    run.emit = queue.put_nowait
    run.streaming = True
    remove = run.conversation.state.listeners.add(_live(run, queue, asyncio.get_running_loop()))
    task = asyncio.create_task(drive(run, decided))
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield task.result()
    finally:
        remove()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def _live(
    run: RunState, queue: asyncio.Queue[Any], loop: asyncio.AbstractEventLoop
) -> Callable[[object], None]:
    def listen(what: object) -> None:
        # Tools report progress from their threads.
        if isinstance(what, Live) and what.run_id == run.id:
            loop.call_soon_threadsafe(queue.put_nowait, what)

    return listen
