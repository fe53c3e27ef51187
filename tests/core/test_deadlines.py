import asyncio
import signal
import threading
import time
import types
from collections.abc import Callable, Generator, Iterator
from typing import Any

import attrs
import pytest

from support.tools import ADA, Counted, CountedAsync, approved, fine, plugin
from toolseam import Actor, Host, ToolError, ToolResult, hookimpl

MAY_APPLY = "may still apply"


def until(true: Callable[[], Any], seconds: float = 5.0) -> bool:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a blocking tool waits for; opened at the end, so that no thread is left."""
    event = threading.Event()
    yield event
    event.set()


def blocking(gate: threading.Event, runs: list[int], **spec: Any) -> Any:
    """Return a sync tool that waits for the gate."""

    def execute(arguments: object) -> ToolResult:
        runs.append(1)
        gate.wait(10)
        return fine()

    return plugin(execute, **spec)


def late_notes(host: Host) -> list[str]:
    """Return the texts of the host's late notes."""
    return [note.text for note in host._trace.notes if note.kind == "late"]


@pytest.mark.parametrize("how", ["call", "acall"])
def test_an_overrunning_sync_tool_is_left_to_itself(how: str, gate: threading.Event) -> None:
    """timeout for the caller; its late value is dropped, its late end is a note of the trace."""
    runs: list[int] = []
    host = Host(tools=[blocking(gate, runs)])

    began = time.monotonic()
    if how == "call":
        result = host.call("probe", timeout=0.05)
    else:
        result = asyncio.run(host.acall("probe", timeout=0.05))

    assert time.monotonic() - began < 20
    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert MAY_APPLY not in result.content
    assert not late_notes(host)
    gate.set()
    assert until(lambda: late_notes(host))
    assert late_notes(host) == ["finished after it was given up"]
    assert (len(host.steps), host.steps[0].status, runs) == (1, "timeout", [1])


@pytest.mark.parametrize("how", ["call", "acall"])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_overrunning_write_may_still_apply(how: str, kind: str, gate: threading.Event) -> None:
    """The text says so, and the effect is unknown (decisions)."""

    async def sleep(arguments: object) -> ToolResult:
        await asyncio.sleep(10)
        return fine()

    tool = blocking(gate, []) if kind == "sync" else plugin(sleep)
    host = Host(tools=[tool], settings={"tools": {"probe": {"effect": "unknown"}}, "enable": []})
    approval = approved(host, "probe")

    if how == "call":
        result = host.call("probe", actor=ADA, approval=approval, timeout=0.1)
    else:
        result = asyncio.run(host.acall("probe", actor=ADA, approval=approval, timeout=0.1))

    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert MAY_APPLY in result.content
    assert host.steps[-1].effect == "unknown"


def test_the_tools_own_deadline_holds() -> None:
    """timeout_s of the specification is an explicit deadline, which the context shows."""
    seen: list[float | None] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        seen.append(context.deadline - time.monotonic())
        return fine()

    host = Host(tools=[plugin(execute, timeout_s=20), plugin(execute, name="other", timeout_s=20)])
    host.call("probe")
    host.call("other", timeout=5)

    assert 19 < (seen[0] or 0) <= 20
    assert 4 < (seen[1] or 0) <= 5


def test_without_a_deadline_a_sync_call_stays_in_its_thread() -> None:
    """A thread hop would cost a hundred times the seam, and there is no deadline to show."""
    seen: list[Any] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        seen.extend([threading.get_ident(), context.deadline, context.cancelled()])
        return fine()

    Host(tools=[plugin(execute)]).call("probe")

    assert seen == [threading.get_ident(), None, False]


def test_a_tool_can_ask_whether_anybody_waits(gate: threading.Event) -> None:
    """cancelled() turns true when the caller gives up."""
    seen: list[bool] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        seen.append(context.cancelled())
        gate.wait(10)
        seen.append(context.cancelled())
        return fine()

    host = Host(tools=[plugin(execute)])
    host.call("probe", timeout=0.05)
    gate.set()

    assert until(lambda: len(seen) == 2)
    assert seen == [False, True]


@pytest.mark.parametrize("timeout", [0, -1.0])
def test_a_deadline_that_has_passed_is_a_timeout(timeout: float, gate: threading.Event) -> None:
    """Zero is no word for endless, and what came too late is not begun."""
    runs: list[int] = []
    gate.set()
    later = CountedAsync(fine, name="later")
    host = Host(tools=[blocking(gate, runs), later])

    for name in ("probe", "later"):
        assert host.call(name, timeout=timeout).failure.code == "timeout"  # type: ignore[union-attr]
        found = asyncio.run(host.acall(name, timeout=timeout))
        assert found.failure.code == "timeout"  # type: ignore[union-attr]
    assert (runs, later.count) == ([], 0)
    assert len(host.steps) == 4


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), 86_400, "5"])
def test_a_timeout_that_no_clock_can_wait_for_raises(timeout: Any) -> None:
    """It is the caller's mistake, and is not told as the tool's: nothing runs, nothing is noted."""
    probe = Counted(fine)
    host = Host(tools=[probe])

    with pytest.raises(ValueError, match="expected seconds"):
        host.call("probe", timeout=timeout)
    with pytest.raises(ValueError, match="expected seconds"):
        asyncio.run(host.acall("probe", timeout=timeout))
    assert probe.count == 0
    assert host.steps == ()


def test_what_was_given_up_in_the_queue_never_runs(gate: threading.Event) -> None:
    """A call whose deadline passed before a thread was free has no effect, then or later."""
    runs: list[int] = []
    waiting = Counted(fine, name="late")
    host = Host(tools=[blocking(gate, runs), waiting], settings={"limits": {"threads": 1}})

    host.call("probe", timeout=0.05)
    assert host.call("late", timeout=0.05).failure.code == "timeout"  # type: ignore[union-attr]
    gate.set()
    assert until(lambda: late_notes(host))

    assert host.call("late", timeout=5).success
    assert waiting.count == 1


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_write_given_up_while_it_waited_for_its_turn_never_runs(
    kind: str, gate: threading.Event
) -> None:
    """The caller was told that nothing happened, and nothing does."""
    runs: list[int] = []

    async def wait(arguments: object) -> ToolResult:
        runs.append(1)
        while not gate.is_set():
            await asyncio.sleep(0.005)
        return fine()

    tool = (
        blocking(gate, runs, effect="unknown") if kind == "sync" else plugin(wait, effect="unknown")
    )
    host = Host(tools=[tool])
    first, second = approved(host, "probe"), approved(host, "probe")
    thread = threading.Thread(
        target=lambda: host.call("probe", actor=ADA, approval=first, timeout=10)
    )
    thread.start()
    assert until(lambda: runs)

    result = host.call("probe", actor=ADA, approval=second, timeout=0.05)
    gate.set()
    thread.join()
    time.sleep(0.05)

    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert MAY_APPLY not in result.content
    assert host.steps[0].effect == "none"
    assert runs == [1]


@pytest.mark.parametrize("how", ["call", "acall"])
def test_a_full_house_is_unavailable(how: str, gate: threading.Event) -> None:
    """reason busy and retriable; an abandoned thread counts until it ends."""
    runs: list[int] = []
    limits = {"threads": 1, "waiting": 0}
    host = Host(
        tools=[blocking(gate, runs), Counted(fine, name="other")], settings={"limits": limits}
    )
    host.call("probe", timeout=0.05)

    def ask() -> ToolResult:
        if how == "call":
            return host.call("other", timeout=5)
        return asyncio.run(host.acall("other"))

    busy = ask()
    assert (busy.failure.code, busy.metadata["reason"]) == ("unavailable", "busy")  # type: ignore[union-attr]
    assert busy.failure.retriable  # type: ignore[union-attr]
    gate.set()
    assert until(lambda: ask().success)


def test_the_default_deadline_of_acall_is_watched_in_place() -> None:
    """limits.timeout_s ends an async tool in the caller's own task, which lives on."""

    async def execute(arguments: object) -> ToolResult:
        await asyncio.sleep(30)
        return fine()

    host = Host(tools=[plugin(execute)], settings={"limits": {"timeout_s": 0.1}})

    async def main() -> tuple[ToolResult, int]:
        result = await host.acall("probe")
        await asyncio.sleep(0)
        task = asyncio.current_task()
        return result, 0 if task is None else task.cancelling()

    began = time.monotonic()
    result, cancelling = asyncio.run(main())

    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert cancelling == 0
    assert time.monotonic() - began < 20


def test_a_tool_that_swallows_the_watch_has_timed_out_all_the_same() -> None:
    """A value that comes after the deadline is dropped."""

    async def execute(arguments: object) -> ToolResult:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            pass
        return fine()

    host = Host(tools=[plugin(execute)], settings={"limits": {"timeout_s": 0.1}})

    assert asyncio.run(host.acall("probe")).failure.code == "timeout"  # type: ignore[union-attr]


def test_a_sync_tool_has_the_default_deadline_in_acall(gate: threading.Event) -> None:
    """From a loop nothing is waited for without an end."""
    host = Host(tools=[blocking(gate, [])], settings={"limits": {"timeout_s": 0.05}})

    assert asyncio.run(host.acall("probe")).failure.code == "timeout"  # type: ignore[union-attr]


def test_nested_async_calls_leave_no_cancellation_behind() -> None:
    """A call inside a call is cancelled once, not twice, when the time is over."""

    async def inner(arguments: object) -> ToolResult:
        await asyncio.sleep(30)
        return fine()

    async def outer(arguments: object, context: Any) -> ToolResult:
        await context.acall("inner")
        return fine()

    tools = [plugin(inner, name="inner"), plugin(outer)]
    host = Host(tools=tools, settings={"limits": {"timeout_s": 0.1}})

    async def main() -> tuple[ToolResult, int]:
        result = await host.acall("probe", actor=ADA)
        for _ in range(3):
            await asyncio.sleep(0)
        task = asyncio.current_task()
        return result, 0 if task is None else task.cancelling()

    result, cancelling = asyncio.run(main())

    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert cancelling == 0


def test_an_async_tool_is_not_waited_for() -> None:
    """Under an explicit deadline one that resists is left in its task, and noted when it ends."""

    async def execute(arguments: object) -> ToolResult:
        end = time.monotonic() + 60
        while not looked.is_set() and time.monotonic() < end:
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                pass
        ended.set()
        return fine()

    host = Host(tools=[plugin(execute)])
    looked, ended = asyncio.Event(), asyncio.Event()

    async def main() -> tuple[ToolResult, bool]:
        result = await host.acall("probe", timeout=0.05)
        waited = ended.is_set()
        looked.set()
        await asyncio.wait_for(ended.wait(), 60)
        await asyncio.sleep(0.05)
        return result, waited

    result, waited = asyncio.run(main())

    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert not waited
    assert late_notes(host) == ["finished after it was given up"]


def test_an_async_tool_under_a_sync_deadline_is_cancelled() -> None:
    """call with a timeout ends the tool at its deadline, in the thread where its loop runs."""
    ended: list[str] = []

    async def execute(arguments: object) -> ToolResult:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return fine()

    host = Host(tools=[plugin(execute)])
    result = host.call("probe", timeout=0.1)

    assert result.failure.message == "probe did not answer within 0.1 s."  # type: ignore[union-attr]
    assert until(lambda: ended)


@pytest.mark.parametrize("how", ["call", "acall"])
def test_a_late_breach_is_still_a_breach(how: str, gate: threading.Event) -> None:
    """What a write returns too late is judged, named and withdrawn."""

    def execute(arguments: object) -> Any:
        gate.wait(10)

    host = Host(tools=[plugin(execute, effect="unknown")])
    approval = approved(host, "probe")
    if how == "call":
        host.call("probe", actor=ADA, approval=approval, timeout=0.05)
    else:
        asyncio.run(host.acall("probe", actor=ADA, approval=approval, timeout=0.05))
    gate.set()

    assert until(lambda: host.violations)
    assert host.call("probe", actor=ADA).metadata["reason"] == "withdrawn"
    assert len(host.violations) == 1
    assert (host.steps[0].status, host.steps[0].reason) == ("timeout", None)


# -- what the context lends --------------------------------------------------------------------


def chain(depth: list[str]) -> Any:
    """Return a tool that calls itself through its context as long as it may."""

    def execute(arguments: object, context: Any) -> ToolResult:
        depth.append(context.run_id)
        result = context.call("probe")
        return fine() if result.success else result

    return plugin(execute)


def test_tools_call_tools_three_deep() -> None:
    """The fourth level is refused, in the caller's run and with a step of its own."""
    depth: list[str] = []
    session = Host(tools=[chain(depth)]).session(actor=ADA)

    result = session.call("probe")

    assert result.metadata["reason"] == "depth"
    assert len(depth) == 4
    assert set(depth) == {session.run_id}
    assert len({step.id for step in session.steps}) == 5


def test_a_nested_call_has_the_callers_rights_and_no_more() -> None:
    """Same actor and allow-list; a write has nobody's approval there."""

    def execute(arguments: object, context: Any) -> ToolResult:
        codes = [context.call(name).failure.code for name in ("hidden", "admin", "write")]
        return ToolResult.text(" ".join(codes))

    tools = [
        plugin(execute),
        Counted(fine, name="hidden"),
        Counted(fine, name="admin", requires_admin=True),
        Counted(fine, name="write", effect="unknown"),
    ]
    host = Host(tools=tools)
    session = host.session(actor=Actor("bob"), tools=["probe", "admin", "write"])

    assert session.call("probe").content == "permission_denied permission_denied approval_denied"
    assert [t.count for t in tools[1:]] == [0, 0, 0]


def test_an_async_tool_awaits_another() -> None:
    """acall of the context stays in the caller's run too."""

    async def execute(arguments: object, context: Any) -> ToolResult:
        return await context.acall("inner")

    host = Host(tools=[plugin(execute), CountedAsync(fine, name="inner")])
    session = host.session(actor=ADA)

    assert asyncio.run(session.acall("probe")).content == "fine"
    assert [s.tool for s in session.steps] == ["inner", "probe"]


class Connection:
    """Something that must be opened once and closed."""

    def __init__(self, log: list[str], name: str, *, fails: bool = False) -> None:
        self._log, self._name, self._fails = log, name, fails
        log.append(f"open {name}")

    def close(self) -> None:
        """Close it, or fail to."""
        self._log.append(f"close {self._name}")
        if self._fails:
            raise OSError("cannot close")


def test_a_resource_is_opened_once_and_closed_with_the_host() -> None:
    """Under concurrency there is one; the last opened is closed first, a failure stops nobody."""
    log: list[str] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        def slow() -> Connection:
            time.sleep(0.05)
            return Connection(log, "a", fails=True)

        first = context.resource("a", slow)
        assert context.resource("a", slow) is first
        return fine()

    def second(arguments: object, context: Any) -> ToolResult:
        context.resource("b", lambda: Connection(log, "b"))
        context.resource("plain", lambda: object())
        return fine()

    with Host(tools=[plugin(execute), plugin(second, name="second")]) as host:
        threads = [threading.Thread(target=host.call, args=("probe",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        host.call("second")
        assert log == ["open a", "open b"]

    assert log == ["open a", "open b", "close b", "close a"]


def test_an_opener_that_fails_is_asked_again() -> None:
    """What could not be opened is not remembered."""
    tries: list[int] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        def opener() -> str:
            tries.append(1)
            if len(tries) == 1:
                raise ToolError("The database is down.", "unavailable")
            return "open"

        return ToolResult.text(context.resource("a", opener))

    host = Host(tools=[plugin(execute)])

    assert host.call("probe").failure.code == "unavailable"  # type: ignore[union-attr]
    assert host.call("probe").content == "open"


def test_one_slow_opener_does_not_hold_up_another(gate: threading.Event) -> None:
    """Each key has a turn of its own."""
    started = threading.Event()

    def slow(arguments: object, context: Any) -> ToolResult:
        def opener() -> str:
            started.set()
            gate.wait(10)
            return "slow"

        return ToolResult.text(context.resource("slow", opener))

    def quick(arguments: object, context: Any) -> ToolResult:
        return ToolResult.text(context.resource("quick", lambda: "quick"))

    host = Host(tools=[plugin(slow), plugin(quick, name="quick")])
    thread = threading.Thread(target=host.call, args=("probe",))
    thread.start()
    started.wait(5)

    assert host.call("quick", timeout=6).content == "quick"
    gate.set()
    thread.join()


def test_a_secret_is_what_the_operator_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mapped to a variable and set: its value; else unavailable, naming neither."""
    monkeypatch.setenv("ACME_TOKEN", "canary-value")
    monkeypatch.delenv("ACME_EMPTY", raising=False)

    def execute(arguments: dict[str, Any], context: Any) -> ToolResult:
        return ToolResult.text(str(len(context.secret(arguments["name"]))))

    schema = {"properties": {"name": {"type": "string"}}}
    host = Host(
        tools=[plugin(execute, parameters=schema)],
        settings={"secrets": {"token": "ACME_TOKEN", "empty": "ACME_EMPTY"}},
    )

    assert host.call("probe", {"name": "token"}).content == "12"
    for name in ("empty", "other"):
        result = host.call("probe", {"name": name})
        assert (result.failure.code, result.metadata["reason"]) == ("unavailable", "no_secret")  # type: ignore[union-attr]
        assert "ACME" not in result.content


def test_progress_is_a_live_note() -> None:
    """Shown at once, bounded, and no step."""

    def execute(arguments: object, context: Any) -> ToolResult:
        context.progress(1, 3, "x" * 5_000 + "\x1b")
        return fine()

    host = Host(tools=[plugin(execute)])
    told: list[Any] = []
    host.listen(told.append)
    host.call("probe")

    note = told[0]
    assert (note.kind, note.tool, note.done, note.total) == ("progress", "probe", 1, 3)
    assert len(note.text) <= 200
    assert len(host.steps) == 1


def test_the_call_id_is_the_steps_id() -> None:
    """An idempotency key that the trace knows."""
    seen: list[str] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        seen.append(context.call_id)
        context.logger.warning("hello")
        return fine()

    host = Host(tools=[plugin(execute)])
    host.call("probe")

    assert seen == [host.steps[0].id]


def test_a_context_names_the_step_of_its_attempt() -> None:
    """A call that was approved keeps its call id; each attempt has a step of its own."""
    seen: list[tuple[str, str]] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        seen.append((context.step_id, context.call_id))
        return fine()

    host = Host(tools=[plugin(execute, effect="idempotent_write")])
    approval = approved(host, "probe")
    host.call("probe", actor=ADA, approval=approval)

    ((step_id, call_id),) = seen
    assert step_id == host.steps[0].id != call_id


# -- waiting for a turn, and Ctrl-C ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("how", ["call", "acall"])
def test_a_write_whose_turn_does_not_come_is_busy(
    kind: str, how: str, gate: threading.Event
) -> None:
    """It waits as long as acall would, then nothing has happened."""
    runs: list[int] = []

    async def wait(arguments: object) -> ToolResult:
        runs.append(1)
        while not gate.is_set():
            await asyncio.sleep(0.005)
        return fine()

    waits = plugin(wait, effect="unknown")
    tool = blocking(gate, runs, effect="unknown") if kind == "sync" else waits
    host = Host(tools=[tool], settings={"limits": {"timeout_s": 0.2}})
    first, second = approved(host, "probe"), approved(host, "probe")
    thread = threading.Thread(
        target=lambda: host.call("probe", actor=ADA, approval=first, timeout=20)
    )
    thread.start()
    assert until(lambda: runs)

    if how == "call":
        result = host.call("probe", actor=ADA, approval=second)
    else:
        result = asyncio.run(host.acall("probe", actor=ADA, approval=second, timeout=20))
    gate.set()
    thread.join()

    assert (result.failure.code, result.metadata["reason"]) == ("unavailable", "busy")  # type: ignore[union-attr]
    assert runs == [1]
    assert host.steps[0].effect == "none"


async def sleeping(arguments: object) -> ToolResult:
    """Sleep until somebody stops it."""
    await asyncio.sleep(10)
    return fine()


async def swallowing(arguments: object) -> ToolResult:
    """Sleep, and go on when it is stopped."""
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        pass
    return fine()


def napping(arguments: object) -> ToolResult:
    """Sleep in slices, so that a signal is seen."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        time.sleep(0.01)
    return fine()


@pytest.mark.parametrize("execute", [sleeping, swallowing, napping])
@pytest.mark.parametrize("timeout", [None, 20.0])
def test_ctrl_c_while_a_call_is_waited_for(execute: Any, timeout: float | None) -> None:
    """The person at the keyboard stops the call, not the tool: recorded, then raised (P07 c)."""
    host = Host(tools=[plugin(execute, effect="unknown")])
    approval = approved(host, "probe")
    here = threading.get_ident()
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(here, signal.SIGINT))
    timer.start()

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        host.call("probe", actor=ADA, approval=approval, timeout=timeout)

    assert time.monotonic() - began < 9
    assert [(s.status, s.effect) for s in host.steps] == [("cancelled", "unknown")]


def test_a_tool_that_cancels_itself_is_cancelled() -> None:
    """Under a deadline it has a task of its own, and nobody else's goes down with it."""

    async def execute(arguments: object) -> ToolResult:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return fine()

    host = Host(tools=[plugin(execute)])

    assert asyncio.run(host.acall("probe", timeout=5)).failure.code == "cancelled"  # type: ignore[union-attr]
    assert host.call("probe", timeout=5).failure.code == "cancelled"  # type: ignore[union-attr]
    assert len(host.steps) == 2


def test_a_call_outside_of_a_task_works() -> None:
    """A loop may drive a coroutine from a callback, where there is no task to watch."""
    found: list[ToolResult] = []
    host = Host(tools=[CountedAsync(fine)])

    async def main() -> None:
        def drive() -> None:
            try:
                host.acall("probe").send(None)
            except StopIteration as stop:
                found.append(stop.value)

        asyncio.get_running_loop().call_soon(drive)
        await asyncio.sleep(0.01)

    asyncio.run(main())

    assert found[0].content == "fine"


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_wrappers_do_not_run_a_call_that_was_given_up(kind: str, gate: threading.Event) -> None:
    """A wrapper that keeps a call past its deadline keeps it from the tool."""
    tool = Counted(fine) if kind == "sync" else CountedAsync(fine)

    def body() -> Generator[None, Any, Any]:
        gate.wait(10)
        return (yield)

    wrapper = types.SimpleNamespace(execute=hookimpl(wrapper=True)(body))
    host = Host(tools=[tool], plugins=[wrapper])

    result = host.call("probe", timeout=0.05)
    gate.set()
    time.sleep(0.1)

    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert tool.count == 0


@pytest.mark.parametrize("kind", [Counted, CountedAsync])
def test_what_was_given_up_while_its_arguments_were_made_never_runs(
    kind: type[Counted], gate: threading.Event
) -> None:
    """An author's own validation may take its time; the tool does not begin after that."""

    @attrs.frozen
    class Slow:
        def __attrs_post_init__(self) -> None:
            gate.wait(10)

    tool = kind(fine, parameters=Slow)
    host = Host(tools=[tool])

    result = host.call("probe", timeout=0.05)
    gate.set()
    time.sleep(0.1)

    assert result.failure.code == "timeout"  # type: ignore[union-attr]
    assert tool.count == 0


def test_a_loop_that_went_away_is_no_trouble_to_a_thread(gate: threading.Event) -> None:
    """A host that closes its loop over a call gets nothing, and the thread is free again."""
    runs: list[int] = []
    host = Host(tools=[blocking(gate, runs)], settings={"limits": {"threads": 1, "waiting": 0}})
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)
    task = loop.create_task(host.acall("probe"))
    while not runs:
        loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    gate.set()

    assert until(lambda: host.call("probe", timeout=5).success)
    assert not task.done()
