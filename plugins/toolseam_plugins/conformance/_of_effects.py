"""Checks of what a call does besides answering."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from toolseam import Actor, ToolError
from toolseam_plugins.conformance._model import Check, Failed, Level
from toolseam_plugins.conformance._of_results import over, uncalled

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam_plugins.conformance._subject import Arguments, Outcome, Subject

_GRACE_S = 0.5
_WORKER = "toolseam-worker"
_UNOBSERVED = "observe= was not given"


def _unless_reading(subject: Subject) -> str | None:
    return uncalled(subject) or (None if subject.reads else f"it is {subject.spec.effect.value}")


def _unless_observed_reading(subject: Subject) -> str | None:
    return _unless_reading(subject) or (_UNOBSERVED if subject.observe is None else None)


def _unless_idempotent(subject: Subject) -> str | None:
    reason = uncalled(subject)
    if reason is None and subject.spec.effect != "idempotent_write":
        reason = f"it is {subject.spec.effect.value}"
    if reason is None and subject.observe is None:
        reason = _UNOBSERVED
    return reason or (None if subject.samples else "no examples were given: examples={...}")


def _without_preview(subject: Subject) -> str | None:
    reason = uncalled(subject)
    if reason is not None:
        return reason
    tool = subject.host.tool(subject.name)
    if tool is None or tool.preview is None:
        return "it has no preview"
    return None if subject.samples else "no examples were given: examples={...}"


def _unless_observed_preview(subject: Subject) -> str | None:
    return _without_preview(subject) or (_UNOBSERVED if subject.observe is None else None)


def _read_only_writes_nothing(outcome: Outcome) -> str | None:
    found = [*outcome.did("write"), *outcome.did("child")]
    return f"a read_only tool {found[0]}" if found else None


def _observed(subject: Subject) -> object:
    observe: Callable[[], object] | None = subject.observe
    return None if observe is None else observe()


def _read_only_changes_nothing(subject: Subject) -> None:
    for arguments in (*subject.samples, *(o.arguments for o in subject.hostile[:3])):
        before = _observed(subject)
        subject.call(arguments)
        if _observed(subject) != before:
            told = "what observe() shows differs after a call of a read_only tool"
            raise Failed(told, subject.reproduce(arguments))


def _twice_is_once(subject: Subject) -> None:
    for arguments in subject.samples:
        subject.call(arguments)
        once = _observed(subject)
        subject.call(arguments)
        if _observed(subject) != once:
            told = "what observe() shows after two calls is not what it shows after one"
            raise Failed(told, subject.reproduce(arguments))


def _preview_changes_nothing(subject: Subject) -> None:
    for arguments in subject.samples:
        before = _observed(subject)
        _preview(subject, arguments)
        if _observed(subject) != before:
            told = "what observe() shows differs after a preview"
            raise Failed(told, subject.reproduce(arguments))


def _preview_answers(subject: Subject) -> None:
    for arguments in subject.samples:
        lines, failed = _preview(subject, arguments)
        said = "\n".join(lines)
        broke = "raised" in said or "broke the contract" in said
        if failed and broke:
            raise Failed(f"the preview of an example {said[:300]}", subject.reproduce(arguments))


def _preview(subject: Subject, arguments: Arguments) -> tuple[tuple[str, ...], bool]:
    try:
        made = subject.host.preview(subject.name, arguments, actor=Actor.system)
    except ToolError as error:
        return (error.message,), False
    return made.lines, made.failed


def _prints_nothing(outcome: Outcome) -> str | None:
    if not outcome.printed:
        return None
    return f"execute printed {outcome.printed[:120]!r} to standard output"


def _leaves_process_alone(outcome: Outcome) -> str | None:
    return f"execute changes {' and '.join(outcome.changed)}" if outcome.changed else None


def _leaves_no_thread(subject: Subject) -> None:
    for arguments in subject.samples:
        before = set(threading.enumerate())
        subject.call(arguments)
        until = time.monotonic() + _GRACE_S
        while found := [thread for thread in threading.enumerate() if _is_left(thread, before)]:
            if time.monotonic() > until:
                told = f"the thread {found[0].name!r} runs on after the call"
                raise Failed(told, subject.reproduce(arguments))
            time.sleep(0.01)


def _is_left(thread: threading.Thread, before: set[threading.Thread]) -> bool:
    """Tell whether a thread is new, and not one of the host's own."""
    return thread not in before and thread.is_alive() and thread.name != _WORKER


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        slug="read-only-writes-nothing",
        level=Level.MUST,
        clause="§3",
        title="A `read_only` tool writes no file and starts no process.",
        why="It is on by default and nobody approves its calls.",
        mend="Declare the effect that it has, or work in memory.",
        applies=_unless_reading,
        run=over(_read_only_writes_nothing),
    ),
    Check(
        slug="read-only-changes-nothing",
        level=Level.MUST,
        clause="§3",
        title="What the author observes is the same after calls of a `read_only` tool.",
        why="It is on by default and nobody approves its calls.",
        mend="Declare the effect that it has; open databases for reading only.",
        applies=_unless_observed_reading,
        run=_read_only_changes_nothing,
    ),
    Check(
        slug="idempotent-twice-is-once",
        level=Level.MUST,
        clause="§3",
        title="Two equal calls of an `idempotent_write` leave what one leaves.",
        why="A host may be told to make such a call again after a time-out.",
        mend="Write the state that is asked for, or declare `non_idempotent_write`.",
        applies=_unless_idempotent,
        run=_twice_is_once,
    ),
    Check(
        slug="preview-changes-nothing",
        level=Level.MUST,
        clause="§2",
        title="What the author observes is the same after a preview.",
        why="The preview is made before anybody has approved anything.",
        mend="Work out what would change, and change nothing.",
        applies=_unless_observed_preview,
        run=_preview_changes_nothing,
    ),
    Check(
        slug="preview-answers",
        level=Level.MUST,
        clause="§2",
        title="The preview of an example is a `ToolResult`.",
        why="An approver is shown that the preview failed, and has nothing to judge by.",
        mend="End every branch in `return ToolResult.text(...)` or `ToolResult.error(...)`.",
        applies=_without_preview,
        run=_preview_answers,
    ),
    Check(
        slug="prints-nothing",
        level=Level.MUST,
        clause="§5",
        title="`execute` prints nothing to standard output.",
        why="A protocol or a pipe may live there, and a stray line breaks it.",
        mend="Put it into the content, or use `context.logger`.",
        applies=uncalled,
        run=over(_prints_nothing),
    ),
    Check(
        slug="leaves-process-alone",
        level=Level.MUST,
        clause="§5",
        title="`execute` changes nothing that the process's code shares.",
        why="Other tools run in the same process, at the same time.",
        mend="Pass folder, environment and encoding to what needs them.",
        applies=uncalled,
        run=over(_leaves_process_alone),
    ),
    Check(
        slug="leaves-no-thread",
        level=Level.SHOULD,
        clause="§5",
        title="No thread runs on after a call.",
        why="It outlives the answer, the deadline and the host.",
        mend="Join it, or open what needs it by `context.resource`, whose `close` ends it.",
        applies=uncalled,
        run=_leaves_no_thread,
    ),
)
