"""The loop: a provider is asked, its calls are answered, until it has no more (policy-and-runs).

One coroutine drives a run; the synchronous `session.run` gives it an event loop of its own.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolseam._context_fit import fit
from toolseam._errors import ToolseamError
from toolseam._journal import Stopped, replied
from toolseam._messages import AssistantMessage, Finish, ProviderError, Reply, Request
from toolseam._policy import is_too_far
from toolseam._replies import reply_of
from toolseam._run_state import dump, message_json
from toolseam._runs import PendingCall, Run, RunChange, RunStatus, RunStep, Termination, run_step
from toolseam._text import short
from toolseam._turns import answer_turn, refuse_turn, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolseam._messages import Provider, ProviderFault, ToolCall
    from toolseam._run_state import RunState
    from toolseam._runs import Decision

T = TypeVar("T")
_FAILED = {
    Termination.POLICY_DENIED,
    Termination.APPROVAL_DENIED,
    Termination.CONTRACT_ERROR,
    Termination.PROVIDER_FAILED,
}
_TRUNCATED = {
    Termination.MAX_ROUNDS,
    Termination.BUDGET_EXHAUSTED,
    Termination.CONTEXT_TRUNCATED,
}


async def drive(run: RunState, decided: Mapping[int, Decision] | None = None) -> Run:
    """Take a run as far as it goes: to its end, or to people.

    Args:
        run: a fresh run, or one that waited.
        decided: what people said of the turn that waits, by position.

    Raises `asyncio.CancelledError` when the task is cancelled, after the run was ended as
    `cancelled`; what else may be raised is a defect, and ends it as `contract_error`.
    """
    store = run.conversation.state.store
    if run.told is not None:
        # Not before: a stream that nobody listens to is no run.
        facts, run.told = run.told, None
        store.begin(run.id, facts)
    tell_run(run)
    try:
        ended = await _drive(run, decided)
    except Stopped:
        ended = cancelled(run)
    except Exception:
        _end_at_once(run, _ended(run, Termination.CONTRACT_ERROR))
        raise
    except BaseException:
        # Here and now: whoever stopped the run waits for nothing any more.
        _end_at_once(run, cancelled(run))
        raise
    try:
        if ended.status.is_terminal:
            # A store may wait for a disk or a network, and the loop must not.
            await to_its_end(lambda: store.end(ended))
    finally:
        _tell_end(run, ended)
    return ended


def _end_at_once(run: RunState, ended: Run) -> None:
    """Store an end, and tell of it, unless another process goes on with the run."""
    if run.journal is None or not run.journal.gone:
        run.conversation.state.store.end(ended)
    _tell_end(run, ended)


def _tell_end(run: RunState, ended: Run) -> None:
    # The store may have found out only as it was told.
    if run.journal is None or not run.journal.gone:
        tell_run(run, ended)


def tell_run(run: RunState, now: Run | None = None) -> None:
    """Tell who listens to runs how this one stands."""
    listeners = run.conversation.state.run_listeners
    if listeners.told:
        status = RunStatus.RUNNING if now is None else now.status
        listeners.tell(RunChange(run.id, status, run.facts, now))


def cancelled(run: RunState) -> Run:
    """Return a run as it is when somebody has stopped it."""
    return _ended(run, Termination.CANCELLED)


async def to_its_end(work: Callable[[], T]) -> T:
    """Do it in a thread and wait for it, cancelled or not: it may not happen after the end.

    Raises what it raises, and `asyncio.CancelledError` once it is over.
    """
    job = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(job)
    except asyncio.CancelledError:
        await asyncio.wait({job})
        job.exception()  # nobody is left to be told
        raise


async def _drive(run: RunState, decided: Mapping[int, Decision] | None) -> Run:
    if run.turn:
        waiting = await _answered(run, run.turn, decided or {})
        if waiting is not None:
            return waiting
    while True:
        stopped = _stopped(run)
        if stopped is not None:
            return _ended(run, stopped)
        closing = run.round >= run.max_rounds
        reply = await _asked_or_ended(run, closing=closing)
        if isinstance(reply, Run):
            return reply
        calls = () if closing else reply.calls
        run.messages.append(AssistantMessage(reply.text, calls, reply.extra))
        if not calls:
            reason = Termination.MAX_ROUNDS if closing else Termination.COMPLETED
            return _ended(run, reason, answer=reply.text)
        run.cut_off = reply.finish is Finish.LENGTH
        # The calls are looked at before any of them runs; some may have to wait for people.
        if _may_wait(run, calls):
            # Previews are a plugin's code, and the loop does not wait for that.
            seen = await asyncio.to_thread(scan, run, calls)
            if any(each.needs_approval for each in seen):
                return await _suspended(run, calls, seen)
        waiting = await _answered(run, calls, {})
        if waiting is not None:
            return waiting


def _may_wait(run: RunState, calls: tuple[ToolCall, ...]) -> bool:
    """Tell whether people may have to decide about any call of a turn."""
    tools = map(run.conversation.state.registry.get, (call.name for call in calls))
    return any(tool is not None and tool.requires_approval for tool in tools)


async def _answered(
    run: RunState, turn: tuple[ToolCall, ...], decided: Mapping[int, Decision]
) -> Run | None:
    """Answer a turn; a run comes back if that ended it, or holds it."""
    names = [call.name for call in turn]
    run.messages += await answer_turn(run, turn, decided)
    run.turn, run.pending = (), ()
    conversation = run.conversation
    # Reads never hold a run, and a thread costs a tenth of a millisecond.
    store, tools = conversation.state.store, map(conversation.state.registry.get, names)
    wrote = any(tool is not None and not tool.reads for tool in tools)
    if run.held:
        held = _result(run, RunStatus.HELD, None)
        await to_its_end(lambda: store.hold(held))
        return held
    if wrote and await asyncio.to_thread(store.holds, run.id):
        return _result(run, RunStatus.HELD, None)
    if conversation.stopped:
        return _ended(run, Termination.CONTRACT_ERROR)
    denied = [each for each in decided.values() if each.verdict == "deny"]
    if denied and run.stop_on_denial:
        return _ended(run, Termination.APPROVAL_DENIED)
    return None


def _stopped(run: RunState) -> Termination | None:
    """Return what forbids another request, before anything is sent."""
    # Also what a resume, a fallback or the host's own messages bring is held to the mark.
    if _is_past_the_mark(run) and not run.conversation.state.policy.observe:
        return Termination.POLICY_DENIED
    budget = run.budget
    spent = budget.tokens is not None and run.usage.total_tokens >= budget.tokens
    late = budget.seconds is not None and run.elapsed_s >= budget.seconds
    return Termination.BUDGET_EXHAUSTED if spent or late else None


def _is_past_the_mark(run: RunState) -> bool:
    return is_too_far(run.conversation.zone, run.conversation.mark)


async def _asked_or_ended(run: RunState, *, closing: bool) -> Reply | Run:
    try:
        return await _asked(run, closing=closing)
    except _NoRoom:
        return _ended(run, Termination.CONTEXT_TRUNCATED)
    except TimeoutError:
        return _ended(run, Termination.BUDGET_EXHAUSTED)
    except ProviderError as error:
        return _ended(run, Termination.PROVIDER_FAILED, fault=error.fault)


class _NoRoom(Exception):
    """The newest turn does not fit what the model can read."""


async def _asked(run: RunState, *, closing: bool) -> Reply:
    """Make one request, of the first provider of the chain that answers."""
    messages, dropped = fit(run.messages, run.budget.context_tokens)
    if messages is None:
        raise _NoRoom
    run.round += 1
    if dropped:
        _note(run, "context", {"dropped_messages": dropped}, {}, 0.0)
    tools = () if closing else run.conversation.offered()
    request = Request(tuple(messages), tools, run.max_output_tokens, run.options)
    failure: ProviderError | None = None
    for number, provider in enumerate(run.providers):
        _note_request(run, provider, request)
        started = time.perf_counter()
        ask = partial(_within_budget, run, provider, request)
        try:
            if run.journal is None:
                reply = await ask()
            else:
                reply = await replied(run, run.journal, number, ask)
        except TimeoutError:
            out = Termination.BUDGET_EXHAUSTED.value
            _note_failure(run, provider, out, time.perf_counter() - started)
            raise
        except ProviderError as error:
            _note_failure(run, provider, error.fault.value, time.perf_counter() - started)
            if not error.fault.retriable:
                raise
            failure = error
            continue
        run.usage = run.usage + reply.usage
        _note_reply(run, provider, reply, time.perf_counter() - started)
        return reply
    raise cast("ProviderError", failure)


async def _within_budget(run: RunState, provider: Provider, request: Request) -> Reply:
    async with asyncio.timeout(_left_s(run)):
        return await reply_of(provider, request, run.emit if run.streaming else None)


def _left_s(run: RunState) -> float | None:
    """Return the seconds that the budget leaves for a request, None if it has no bound."""
    seconds = run.budget.seconds
    return None if seconds is None else max(0.0, seconds - run.elapsed_s)


# -- what the run leaves behind -------------------------------------------------------------------


def _note(
    run: RunState, kind: str, facts: Mapping[str, Any], content: object, seconds: float
) -> RunStep:
    """Leave a step that is no tool call, in the run and in its store, and show it."""
    number = run.conversation.trace.next_number()
    made = run_step(kind, run.id, number, run.round, seconds, facts, content)
    run.steps.append(made)
    run.conversation.state.store.note(made)
    run.conversation.state.run_listeners.tell(made)
    run.emit(made)
    return made


def _note_request(run: RunState, provider: Provider, request: Request) -> None:
    new = run.messages[run.sent :]
    run.sent = len(run.messages)
    facts: dict[str, Any] = {
        "provider": short(provider.name),
        "messages": len(request.messages),
        "tools": len(request.tools),
        "mark": run.conversation.mark.value,
    }
    if _is_past_the_mark(run):
        facts["observed"] = Termination.POLICY_DENIED.value
    _note(run, "request", facts, {"new_messages": [message_json(message) for message in new]}, 0.0)


def _note_reply(run: RunState, provider: Provider, reply: Reply, seconds: float) -> None:
    facts = {
        "provider": short(provider.name),
        "finish": reply.finish.value,
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "calls": [short(str(call.name)) for call in reply.calls],
    }
    message = message_json(AssistantMessage(reply.text, reply.calls))
    content = {"text": reply.text, "thinking": reply.thinking, "calls": message["calls"]}
    _note(run, "llm", facts, content, seconds)


def _note_failure(run: RunState, provider: Provider, fault: str, seconds: float) -> None:
    facts = {"provider": short(provider.name), "finish": "failed", "fault": fault}
    _note(run, "llm", facts, {}, seconds)


def note_decision(run: RunState, shown: PendingCall, decision: Decision) -> None:
    """Leave the step of a person's decision, before anything of the turn runs."""
    facts = {
        "event": "decided",
        "position": shown.position,
        "tool": shown.tool,
        "verdict": decision.verdict,
        "decided_by": short(decision.actor.name),
    }
    edited = None if decision.arguments is None else dict(decision.arguments)
    _note(run, "approval", facts, {"reason": decision.reason, "edited": edited}, 0.0)


async def _suspended(
    run: RunState, turn: tuple[ToolCall, ...], seen: tuple[PendingCall, ...]
) -> Run:
    """Keep the whole turn, and give it to people."""
    run.turn, run.pending = turn, seen
    for each in seen:
        facts = {
            "position": each.position,
            "tool": each.tool,
            "needs_approval": each.needs_approval,
            "refused": each.refused,
            "preview_failed": each.failed,
            "preview_cut": each.cut,
        }
        content = {"arguments": each.arguments, "preview": list(each.lines)}
        _note(run, "approval", {"event": "asked", **facts}, content, 0.0)
    try:
        state = dump(run)
        await to_its_end(lambda: run.conversation.state.store.suspend(run.id, state))
    except ToolseamError:
        # Nobody must wait for a decision that can never be given.
        run.turn, run.pending = (), ()
        run.messages += refuse_turn(run, turn)
        return _ended(run, Termination.APPROVAL_DENIED)
    return _result(run, RunStatus.WAITING_FOR_APPROVAL, None)


def _ended(
    run: RunState,
    reason: Termination,
    *,
    answer: str = "",
    fault: ProviderFault | None = None,
) -> Run:
    if reason is Termination.CANCELLED:
        status = RunStatus.CANCELLED
    else:
        status = RunStatus.FAILED if reason in _FAILED else RunStatus.COMPLETED
    return _result(run, status, reason, answer, fault)


def _result(
    run: RunState,
    status: RunStatus,
    reason: Termination | None,
    answer: str = "",
    fault: ProviderFault | None = None,
) -> Run:
    return Run(
        run.id,
        status,
        reason,
        answer,
        reason in _TRUNCATED,
        tuple(run.messages),
        run.pending,
        tuple(run.steps),
        run.usage,
        run.round,
        run.conversation.mark,
        fault,
    )
