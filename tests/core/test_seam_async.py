import asyncio
import contextlib
import contextvars
import inspect
import threading
import time
from typing import Any

import pytest

from support.tools import ADA, Counted, CountedAsync, approved, fine, plugin
from toolseam import Host, ToolResult, hookimpl

tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="none")


def test_sync_tools_do_not_hold_the_loop() -> None:
    """Context variables arrive, calls overlap, the loop goes on, nothing leaks back (P35)."""
    # Who holds the loop, or another call, keeps the third from coming.
    both = threading.Barrier(3)

    def execute(arguments: object) -> ToolResult:
        both.wait(60)
        seen = tenant.get()
        tenant.set("changed")
        return ToolResult.text(seen)

    host = Host(tools=[plugin(execute)])

    async def caller(name: str) -> tuple[str, str]:
        tenant.set(name)
        result = await host.acall("probe")
        return result.content, tenant.get()

    async def main() -> tuple[tuple[str, str], ...]:
        seen = asyncio.gather(caller("t-1"), caller("t-2"))
        async with asyncio.timeout(60):
            while both.n_waiting < 2:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(both.wait)
            return tuple(await seen)

    assert asyncio.run(main()) == (("t-1", "t-1"), ("t-2", "t-2"))


def test_call_on_an_async_tool_in_a_running_loop_names_acall() -> None:
    """Anything else would block that loop; nothing ran, and no approval was used up (P35)."""
    tool = CountedAsync(fine, effect="unknown")
    host = Host(tools=[tool])

    async def main() -> ToolResult:
        approval = approved(host, "probe")
        with pytest.raises(RuntimeError, match=r"acall\(\)"):
            host.call("probe", actor=ADA, approval=approval)
        assert tool.count == 0
        return await host.acall("probe", actor=ADA, approval=approval)

    assert asyncio.run(main()).success


def test_call_on_a_sync_tool_in_a_running_loop_works() -> None:
    """It runs where it is called, as synchronous code does."""
    host = Host(tools=[Counted(fine)])

    async def main() -> ToolResult:
        return host.call("probe")

    assert asyncio.run(main()).success


def test_an_inline_tool_runs_in_the_loop() -> None:
    """Short and never waiting: no thread is asked."""
    threads: list[int] = []

    def execute(arguments: object) -> ToolResult:
        threads.append(threading.get_ident())
        return fine()

    host = Host(tools=[plugin(execute, inline=True)])
    asyncio.run(host.acall("probe"))

    assert threads == [threading.get_ident()]


def test_an_inline_write_does_not_hold_the_loop() -> None:
    """A write may have to wait for its turn, so it runs in a thread whatever it says."""

    def execute(arguments: object) -> ToolResult:
        return ToolResult.text(threading.current_thread().name)

    host = Host(tools=[plugin(execute, inline=True, effect="idempotent_write")])

    async def main() -> list[ToolResult]:
        approvals = [approved(host, "probe") for _ in range(3)]
        return await asyncio.gather(
            *(host.acall("probe", actor=ADA, approval=a) for a in approvals)
        )

    assert [r.content for r in asyncio.run(main())] == ["toolseam-worker"] * 3


@pytest.mark.parametrize("kind", [Counted, CountedAsync])
def test_a_slow_preview_does_not_hold_the_loop(kind: type[Counted]) -> None:
    """What is shown to an approver may come from a database."""
    threads: list[str] = []

    def preview(arguments: object, context: object) -> ToolResult:
        threads.append(threading.current_thread().name)
        return ToolResult.text("would")

    tool = kind(fine, effect="unknown")
    tool.preview = hookimpl(preview)  # type: ignore[attr-defined]
    host = Host(tools=[tool])
    approval = approved(host, "probe")
    threads.clear()

    result = asyncio.run(host.acall("probe", actor=ADA, approval=approval))

    assert result.success
    assert threads == ["toolseam-worker"]


async def sleeping(arguments: object) -> ToolResult:
    """Sleep for longer than anybody waits."""
    await asyncio.sleep(10)
    return fine()


async def stubborn(arguments: object) -> ToolResult:
    """Swallow the first cancellation and go on."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(10)
    return fine()


async def turning(arguments: object) -> ToolResult:
    """Turn the cancellation into an ordinary error."""
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        raise ValueError("never mind") from None
    return fine()


def napping(arguments: object) -> ToolResult:
    """Work in a thread for a while."""
    time.sleep(0.2)
    return fine()


@pytest.mark.parametrize("execute", [sleeping, stubborn, turning, napping])
@pytest.mark.parametrize("timeout", [None, 30.0])
@pytest.mark.parametrize("effect", ["read_only", "unknown"])
def test_the_hosts_cancellation_is_recorded_and_raised_again(
    execute: Any, timeout: float | None, effect: str
) -> None:
    """cancelled in the trace, CancelledError to the host, even if the tool swallowed it (P07 d)."""
    begun: list[object] = []

    def begin(arguments: object) -> Any:
        begun.append(arguments)
        return execute(arguments)

    async def abegin(arguments: object) -> Any:
        return await begin(arguments)

    body = abegin if inspect.iscoroutinefunction(execute) else begin
    host = Host(tools=[plugin(body, effect=effect)])

    async def main() -> bool:
        approval = None if effect == "read_only" else approved(host, "probe")
        call = host.acall("probe", actor=ADA, approval=approval, timeout=timeout)
        task = asyncio.create_task(call)
        while not begun:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
    (step,) = host.steps
    assert step.status == "cancelled"
    assert step.effect == ("none" if effect == "read_only" else "unknown")


def test_a_call_during_clean_up_is_no_cancelled_call() -> None:
    """A host that is being cancelled may still call a tool: only a new cancellation counts."""
    host = Host(tools=[CountedAsync(fine)])

    async def main() -> list[str]:
        found: list[str] = []

        async def work() -> None:
            try:
                await asyncio.sleep(10)
            finally:
                found.append((await host.acall("probe")).content)
                found.append((await host.acall("probe", timeout=5)).content)

        task = asyncio.create_task(work())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return found

    assert asyncio.run(main()) == ["fine", "fine"]
    assert [s.status for s in host.steps] == ["ok", "ok"]


@pytest.mark.parametrize("timeout", [None, 30.0])
@pytest.mark.parametrize("kind", [Counted, CountedAsync])
def test_sys_exit_in_a_task_ends_the_call_alone(kind: type[Counted], timeout: float | None) -> None:
    """Nothing but a cancellation leaves a task: the loop and its other calls go on (P07 b)."""

    def leave() -> Any:
        raise SystemExit(3)

    host = Host(tools=[kind(leave), CountedAsync(fine, name="good")])

    async def main() -> list[Any]:
        return await asyncio.gather(
            *(host.acall("probe", timeout=timeout) for _ in range(3)),
            *(host.acall("good", timeout=timeout) for _ in range(3)),
        )

    found = asyncio.run(main())

    assert [r.success for r in found] == [False] * 3 + [True] * 3
    assert [r.failure.code for r in found[:3]] == ["execution_error"] * 3
    assert len(host.steps) == 6


def test_one_cancelled_call_loses_no_other() -> None:
    """Concurrent calls of one loop are independent of each other."""
    host = Host(tools=[plugin(sleeping), CountedAsync(fine, name="good")])

    async def main() -> tuple[bool, str]:
        task = asyncio.create_task(host.acall("probe"))
        other = asyncio.create_task(host.acall("good"))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), (await other).content

    assert asyncio.run(main()) == (True, "fine")


def test_async_writes_of_one_tool_take_turns() -> None:
    """They do not overlap, and the loop goes on meanwhile."""
    inside, most = 0, 0

    async def execute(arguments: object) -> ToolResult:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.02)
        inside -= 1
        return fine()

    host = Host(tools=[plugin(execute, effect="unknown")])

    async def main() -> list[ToolResult]:
        approvals = [approved(host, "probe") for _ in range(4)]
        return await asyncio.gather(
            *(host.acall("probe", actor=ADA, approval=a) for a in approvals)
        )

    assert all(r.success for r in asyncio.run(main()))
    assert most == 1


def test_async_reads_of_one_tool_overlap() -> None:
    """Fifty waits of 50 ms take about one."""

    async def execute(arguments: object) -> ToolResult:
        await asyncio.sleep(0.05)
        return fine()

    host = Host(tools=[plugin(execute)])

    async def main() -> float:
        began = time.monotonic()
        await asyncio.gather(*(host.acall("probe") for _ in range(50)))
        return time.monotonic() - began

    assert asyncio.run(main()) < 1.0


def test_an_async_tool_sees_the_callers_context_from_sync_code() -> None:
    """Context variables reach the tool, with and without a deadline."""

    async def execute(arguments: object) -> ToolResult:
        return ToolResult.text(tenant.get())

    host = Host(tools=[plugin(execute)])
    token = tenant.set("t-9")
    try:
        found = [host.call("probe").content, host.call("probe", timeout=5).content]
    finally:
        tenant.reset(token)

    assert found == ["t-9", "t-9"]


def test_a_closed_loop_wakes_nobody() -> None:
    """A thread that ends after the loop has gone is dropped in silence."""
    release = threading.Event()

    def execute(arguments: object) -> ToolResult:
        release.wait(5)
        return fine()

    host = Host(tools=[plugin(execute)])

    async def main() -> None:
        task = asyncio.create_task(host.acall("probe"))
        await asyncio.sleep(0.02)
        task.cancel()

    asyncio.run(main())
    release.set()
    deadline = time.monotonic() + 5
    trace = host._trace
    while not trace.notes and time.monotonic() < deadline:
        time.sleep(0.01)

    assert [note.kind for note in trace.notes] == ["late"]


@pytest.mark.parametrize("make", [Counted, CountedAsync])
def test_a_call_that_waited_while_its_tool_broke_the_contract_does_not_begin(
    make: type[Counted],
) -> None:
    """Of reads that were let through together the one breaks, and those that come later refuse."""
    tool = make(lambda: "no result")
    host = Host(tools=[tool], settings={"limits": {"threads": 1, "waiting": 20}})
    session = host.session(actor=ADA)

    async def main() -> list[ToolResult]:
        return await asyncio.gather(*(session.acall("probe", timeout=5) for _ in range(8)))

    results = asyncio.run(main())

    reasons = [each.metadata.value.get("reason") for each in results]
    assert tool.count == 1
    assert reasons == [None, *["withdrawn"] * 7]
    assert {each.failure.code for each in results if each.failure} == {"contract_error"}
    assert [step.effect for step in session.steps] == ["none"] * 8


def test_calls_that_had_begun_end_by_themselves() -> None:
    """A read that runs beside the one that breaks is judged by what it returns itself."""
    both = threading.Barrier(2, timeout=10)
    given = iter(["no result", fine()])
    turn = threading.Lock()

    def give() -> Any:
        both.wait()
        with turn:
            return next(given)

    tool = Counted(give)
    session = Host(tools=[tool]).session(actor=ADA)

    async def main() -> list[ToolResult]:
        return await asyncio.gather(*(session.acall("probe", timeout=10) for _ in range(2)))

    results = asyncio.run(main())

    assert tool.count == 2
    assert sorted(each.success for each in results) == [False, True]
    assert session.call("probe").metadata["reason"] == "withdrawn"
