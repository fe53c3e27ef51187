"""Checks of how a tool waits, and of what its answers depend on."""

from __future__ import annotations

import asyncio
import contextlib
import locale
import os
import re
import threading
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from toolseam import Actor, DataClass
from toolseam_plugins.conformance._model import Check, Failed, Level, NotApplicable
from toolseam_plugins.conformance._of_results import uncalled

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from toolseam_plugins.conformance._subject import Arguments, Outcome, Subject

    Told = tuple[str, str]
    """What a caller is told: the status, and the text."""

DEADLINE_S = 0.5
GRACE_S = 0.5
"""How long a tool may go on after its deadline, or after a cancellation."""

BLOCKED_S = 0.15
INLINE_S = 0.05
_TRIES = 3
_THREADS = 8
_NEAR, _FAR = "UTC", "Pacific/Kiritimati"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)")


def _sampled(subject: Subject) -> str | None:
    reason = uncalled(subject)
    return reason or (None if subject.samples else "no examples were given: examples={...}")


def _unless_reading(subject: Subject) -> str | None:
    if subject.fault is None and not subject.reads:
        return f"it is {subject.spec.effect.value}"
    return _sampled(subject)


def _unless_async(subject: Subject) -> str | None:
    if subject.fault is None and not subject.is_async:
        return "it is not async"
    return _sampled(subject)


def _unless_inline(subject: Subject) -> str | None:
    if subject.fault is None and not subject.spec.inline:
        return "it does not say inline=True"
    return _sampled(subject)


def _unless_parallel(subject: Subject) -> str | None:
    if subject.fault is None and not subject.spec.parallel_safe:
        return "it does not say parallel_safe=True"
    return _sampled(subject)


def _stops_at_deadline(subject: Subject) -> None:
    arguments = subject.samples[0]
    before = set(threading.enumerate())
    outcome = subject.call(arguments, timeout=DEADLINE_S)
    if outcome.told[0] != "timeout":
        return
    until = time.monotonic() + GRACE_S
    while any(t not in before and _works(t) for t in threading.enumerate()):
        if time.monotonic() > until:
            told = f"it is at work {GRACE_S:g} s after its deadline of {DEADLINE_S:g} s"
            raise Failed(told, subject.reproduce(arguments))
        time.sleep(0.02)


def _works(thread: threading.Thread) -> bool:
    """Tell whether a thread still runs something of a tool; an idle worker waits in the core."""
    return thread.is_alive() and _inside(thread)


def _inside(thread: threading.Thread) -> bool:
    import sys

    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the public way to ask
    while frame is not None:
        if frame.f_code.co_name in ("call", "acall") and frame.f_code.co_filename.endswith(
            "_tap.py"
        ):
            return True
        frame = frame.f_back
    return False


def _stops_when_cancelled(subject: Subject) -> None:
    arguments = subject.samples[0]
    approval = subject.approval(subject.host, arguments)

    async def run() -> tuple[bool, float]:
        task = asyncio.create_task(
            subject.host.acall(subject.name, arguments, actor=Actor.system, approval=approval)
        )
        await asyncio.sleep(0.02)
        if task.done():
            return True, 0.0
        task.cancel()
        started = time.monotonic()
        done, _ = await asyncio.wait({task}, timeout=GRACE_S)
        return bool(done), time.monotonic() - started

    async def bounded() -> bool:
        done, _ = await run()
        return done

    loop = asyncio.new_event_loop()
    try:
        ended = loop.run_until_complete(bounded())
        _give_up(loop)
    finally:
        loop.close()
    if not ended:
        told = f"it goes on {GRACE_S:g} s after it was cancelled"
        raise Failed(told, subject.reproduce(arguments))


def _give_up(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left a few times more, so that nothing is destroyed while it is pending."""
    for _ in range(100):
        left = asyncio.all_tasks(loop)
        if not left:
            return
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.wait(left, timeout=0.05))


def _never_blocks_the_loop(subject: Subject) -> None:
    arguments = subject.samples[0]
    longest = min(_longest_gap(subject, arguments) for _ in range(_tries(subject)))
    if longest > BLOCKED_S:
        told = f"the event loop stood still for {longest:.2f} s while it ran"
        raise Failed(told, subject.reproduce(arguments))


def _tries(subject: Subject) -> int:
    """Return how often a measurement may be taken again; a write is made once."""
    return _TRIES if subject.reads else 1


def _longest_gap(subject: Subject, arguments: Arguments) -> float:
    approval = subject.approval(subject.host, arguments)

    async def run() -> float:
        gaps: list[float] = []
        over = asyncio.Event()

        async def beat() -> None:
            before = time.perf_counter()
            while not over.is_set():
                await asyncio.sleep(0.005)
                now = time.perf_counter()
                gaps.append(now - before)
                before = now

        pulse = asyncio.create_task(beat())
        await asyncio.sleep(0)
        await subject.host.acall(subject.name, arguments, actor=Actor.system, approval=approval)
        over.set()
        await pulse
        return max(gaps)

    return asyncio.run(run())


def _inline_never_waits(subject: Subject) -> None:
    for arguments in subject.samples:
        fastest = min(subject.call(arguments).seconds for _ in range(_tries(subject)))
        if fastest > INLINE_S:
            told = f"an inline tool took {fastest:.3f} s, at most {INLINE_S:g} s are asked for"
            raise Failed(told, subject.reproduce(arguments))


def _parallel_safe_holds(subject: Subject) -> None:
    steady = subject.steady
    found: list[tuple[Outcome, str]] = []
    together = threading.Barrier(_THREADS)

    def work(place: int) -> None:
        together.wait()
        for turn in range(_TRIES):
            outcome = steady[(place + turn) % len(steady)]
            result = subject.host.call(subject.name, outcome.arguments, actor=Actor.system)
            status = "ok" if result.failure is None else result.failure.code.value
            if (status, result.content) != outcome.told:
                found.append((outcome, result.content))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for outcome, content in found:
        _differs(subject, outcome, content, f"for {_THREADS} callers at once")


def _same_in_time_zone(subject: Subject) -> None:
    def ask(outcome: Outcome, zone: str) -> Told:
        with _time_zone(zone):
            status, content = subject.call(outcome.arguments).told
        # A tool may well tell local time with its offset, and name the zone.
        return status, _MOMENT.sub(_in_utc, content).replace(_FAR, _NEAR)

    for outcome in subject.steady:
        near, far = partial(ask, outcome, _NEAR), partial(ask, outcome, _FAR)
        _hold_alike(subject, outcome, near, far, f"in the time zone {_FAR}")


def _in_utc(moment: re.Match[str]) -> str:
    try:
        return datetime.fromisoformat(moment[0]).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return moment[0]


def _same_in_locale(subject: Subject) -> None:
    def ask(outcome: Outcome) -> Told:
        with _other_locale():
            return subject.call(outcome.arguments).told

    with _other_locale() as name:
        where = f"in the locale {name}"
    for outcome in subject.steady:
        _hold_alike(
            subject, outcome, partial(_told, subject, outcome), partial(ask, outcome), where
        )


def _sync_and_async_agree(subject: Subject) -> None:
    for outcome in subject.steady:
        called = partial(_told, subject, outcome)
        awaited = partial(_told, subject, outcome, awaited=True)
        _hold_alike(subject, outcome, called, awaited, "when it is called by `acall`")


def _told(subject: Subject, outcome: Outcome, *, awaited: bool = False) -> Told:
    return subject.call(outcome.arguments, awaited=awaited).told


def _hold_alike(
    subject: Subject,
    outcome: Outcome,
    one: Callable[[], Told],
    other: Callable[[], Told],
    where: str,
) -> None:
    """Fail where two ways to ask give two answers, each of them again and again."""
    first, second = one(), other()
    if first == second:
        return
    if any((one(), other()) != (first, second) for _ in range(_TRIES)):
        raise NotApplicable("its answers differ from call to call")
    if _measures(subject) and _without_numbers(first) == _without_numbers(second):
        raise NotApplicable("it measures the machine, and its numbers alone differ")
    told = f"the answer is another one {where}: {first[1][:80]!r} and {second[1][:80]!r}"
    raise Failed(told, subject.reproduce(outcome.arguments))


def _measures(subject: Subject) -> bool:
    """Tell whether a tool may count what the call itself needs: threads, open files, memory."""
    return subject.spec.data_class.rank >= DataClass.SYSTEM_DIAGNOSTICS.rank


def _without_numbers(told: Told) -> Told:
    return told[0], re.sub(r"\d+", "0", told[1])


def _fresh_process_agrees(subject: Subject) -> None:
    if subject.in_a_sandbox or subject.spec.settings is not None:
        raise NotApplicable("a fresh interpreter has not the host and settings that it needs")
    if subject.child.digest is None:
        raise NotApplicable("the import gave nothing that has a specification")
    found = subject.child.calls([outcome.arguments for outcome in subject.steady])
    for outcome, (status, content) in zip(subject.steady, found, strict=True):
        if (status, content) != outcome.told:
            _differs(subject, outcome, content, "in a fresh process")


def _differs(subject: Subject, outcome: Outcome, content: str, where: str) -> None:
    """Fail, unless the answer has become another one by itself meanwhile."""
    if subject.call(outcome.arguments).told != outcome.told:
        raise NotApplicable("its answers differ from call to call")
    told = f"the answer is another one {where}: {outcome.told[1][:80]!r} and {content[:80]!r}"
    raise Failed(told, subject.reproduce(outcome.arguments))


def _second_host_works(subject: Subject) -> None:
    if not subject.has_own_hosts:
        raise NotApplicable("one host was given; give a function that makes one")
    before = subject.steady
    subject.reopen()
    for outcome in before:
        status, content = subject.call(outcome.arguments).told
        if status != outcome.told[0]:
            told = f"after another host was closed it answers {status}: {content[:120]!r}"
            raise Failed(told, subject.reproduce(outcome.arguments))


@contextlib.contextmanager
def _time_zone(name: str) -> Generator[None]:
    before = os.environ.get("TZ")
    if not hasattr(time, "tzset"):
        raise NotApplicable("this system cannot change the time zone of a process")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


@contextlib.contextmanager
def _other_locale() -> Generator[str]:
    before = locale.setlocale(locale.LC_ALL)
    for name in ("de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR.UTF-8", "C.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        if locale.setlocale(locale.LC_ALL) != before:
            break
    else:
        raise NotApplicable("this system has no other locale")
    try:
        yield locale.setlocale(locale.LC_ALL)
    finally:
        locale.setlocale(locale.LC_ALL, before)


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        slug="stops-at-deadline",
        level=Level.SHOULD,
        clause="§5",
        title="A call whose deadline has passed ends by itself soon after.",
        why="The host gives it up, and its thread stays busy until it ends.",
        mend="Look at `context.cancelled()` now and then; give `context.deadline` to what waits.",
        applies=_sampled,
        run=_stops_at_deadline,
    ),
    Check(
        slug="stops-when-cancelled",
        level=Level.MUST,
        clause="§5",
        title="An async tool ends when it is cancelled.",
        why="A tool that swallows its cancellation keeps the loop of the host from closing.",
        mend="Let `asyncio.CancelledError` through; clean up in `finally`.",
        applies=_unless_async,
        run=_stops_when_cancelled,
    ),
    Check(
        slug="never-blocks-the-loop",
        level=Level.MUST,
        clause="§5",
        title=f"An async tool never holds the event loop for more than {BLOCKED_S:g} s.",
        why="Every other conversation of the server stands still meanwhile.",
        mend="Await the async variant, use `asyncio.to_thread`, or write `def execute`.",
        applies=_unless_async,
        run=_never_blocks_the_loop,
    ),
    Check(
        slug="inline-never-waits",
        level=Level.MUST,
        clause="§3",
        title=f"A tool that says `inline=True` answers within {INLINE_S * 1000:g} ms.",
        why="It runs in the event loop itself.",
        mend="Take `inline=True` back.",
        applies=_unless_inline,
        run=_inline_never_waits,
    ),
    Check(
        slug="parallel-safe-holds",
        level=Level.MUST,
        clause="§3",
        title=f"A tool that says `parallel_safe=True` answers {_THREADS} callers like one.",
        why="A host makes such calls at the same time.",
        mend="Keep no state between calls, guard it by a lock, or take the word back.",
        applies=_unless_parallel,
        run=_parallel_safe_holds,
    ),
    Check(
        slug="same-in-another-time-zone",
        level=Level.SHOULD,
        clause="§5",
        title="The answer does not depend on the time zone of the process.",
        why="A recorded run could be replayed on one machine only.",
        mend="Work in UTC, and say the offset.",
        applies=_unless_reading,
        run=_same_in_time_zone,
    ),
    Check(
        slug="same-in-another-locale",
        level=Level.SHOULD,
        clause="§5",
        title="The answer does not depend on the locale of the process.",
        why="Numbers and sorted lists would differ from one server to the next.",
        mend="Format with f-strings, sort by code points, and name encodings.",
        applies=_unless_reading,
        run=_same_in_locale,
    ),
    Check(
        slug="sync-and-async-agree",
        level=Level.MUST,
        clause="§5",
        title="`call` and `acall` give the same answer.",
        why="Tests call the one, servers the other.",
        mend="Depend neither on the thread nor on a running event loop.",
        applies=_unless_reading,
        run=_sync_and_async_agree,
    ),
    Check(
        slug="fresh-process-agrees",
        level=Level.SHOULD,
        clause="§5",
        title="The same call in a fresh process gives the same answer.",
        why="An executor may run the tool in a worker of its own.",
        mend="Depend on arguments, settings and resources, not on what the process did before.",
        applies=_unless_reading,
        run=_fresh_process_agrees,
    ),
    Check(
        slug="second-host-works",
        level=Level.MUST,
        clause="§2",
        title="The tool works in a second host after the first one was closed.",
        why="Tests, notebooks and reloads open many hosts in one process.",
        mend="Keep connections in `context.resource`, never in a global of the module.",
        applies=_unless_reading,
        run=_second_host_works,
    ),
)
