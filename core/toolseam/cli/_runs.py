"""A run on the command line: what it leaves as JSON, in words and as an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam._runs import RunStatus, Termination
from toolseam._steps import Step, step_json
from toolseam.cli._consent import shown
from toolseam.cli._terminal import note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam._runs import PendingCall, Run

FAILED = 1
BROKEN = 3
WAITS = 4

_FAULTS = {
    "connection": "it could not be reached",
    "rate_limit": "it takes no more requests for now",
    "server_error": "it failed by itself",
    "auth": "it does not accept the key",
    "client_error": "it does not accept the request",
    "configuration": "it is not set up",
}


def exit_code(run: Run) -> int:
    """Return 0 for an answer, 4 for a run that waits, 3 where a tool broke the contract, else 1."""
    if run.status is RunStatus.COMPLETED:
        return 0
    if not run.status.is_terminal:
        return WAITS
    return BROKEN if run.reason is Termination.CONTRACT_ERROR else FAILED


def run_json(run: Run) -> dict[str, Any]:
    """Return a run as `--json` prints it."""
    return {
        "run": run.id,
        "status": run.status.value,
        "reason": None if run.reason is None else run.reason.value,
        "fault": None if run.fault is None else run.fault.value,
        "answer": run.answer,
        "truncated": run.truncated,
        "rounds": run.rounds,
        "usage": {
            "input_tokens": run.usage.input_tokens,
            "output_tokens": run.usage.output_tokens,
        },
        "mark": run.mark.value,
        "pending": [pending_json(each) for each in run.pending],
        "steps": [step_json(step) for step in run.steps if isinstance(step, Step)],
    }


def pending_json(each: PendingCall) -> dict[str, Any]:
    """Return a call that waits as `--json` prints it."""
    return {
        "position": each.position,
        "tool": each.tool,
        "arguments": each.arguments,
        "needs_approval": each.needs_approval,
        "preview": list(each.lines),
        "preview_failed": each.failed,
        "preview_cut": each.cut,
        "refused": each.refused,
    }


def say_end(run: Run) -> None:
    """Say beside the answer how the run ended, unless it has one and nothing cut it short."""
    for line in _ended(run):
        note(line)


def _ended(run: Run) -> Iterator[str]:
    if run.status is RunStatus.WAITING_FOR_APPROVAL:
        yield from _waits(run)
    elif run.status is RunStatus.HELD:
        yield "The run is held: a write was made, and what came of it could not be stored."
        yield "Look whether it was done, and say so on a terminal:"
        yield f"  toolseam held {run.id}"
    elif run.reason is Termination.MAX_ROUNDS:
        yield f"Stopped after {run.rounds} rounds (`--max-rounds`); the answer is what there is."
    elif run.reason is Termination.PROVIDER_FAILED:
        fault = "" if run.fault is None else run.fault.value
        yield f"The provider failed: {_FAULTS.get(fault, 'it gave no answer')} ({fault})."
    elif run.reason is Termination.POLICY_DENIED:
        yield f"Nothing more was sent: {run.mark} was read, and the provider's zone may not get it."
    elif run.reason is Termination.CONTRACT_ERROR:
        yield "A tool broke the contract, and `on_contract_error` stops the run."
    elif run.reason is not Termination.COMPLETED and run.reason is not None:
        yield f"The run ended: {run.reason}."


def _waits(run: Run) -> Iterator[str]:
    asked = [each for each in run.pending if each.needs_approval]
    for each in asked:
        yield ""
        yield from shown(each)
    what = "a call waits" if len(asked) == 1 else f"{len(asked)} calls wait"
    yield ""
    yield f"Nothing of this turn has run: {what} for a person. To decide, on a terminal:"
    yield f"  toolseam approve {run.id}"
