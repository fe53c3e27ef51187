"""S3: what broke the contract once has no second chance, whatever name or way is tried."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.tools import ADA, approved, spec
from toolseam import Host, Session, ToolError, ToolResult, ToolSpec, hookimpl

NAMES = ("wipe", "clear", "wipe", "purge", "clear", "wipe")
FIXED = "wipe broke the result contract; it has run once and will not run again"


class Wipe:
    """A destructive tool that counts its runs in a file and returns nothing."""

    def __init__(self, counter: Path) -> None:
        self._counter = counter

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Return a specification with two further names."""
        return spec("wipe", effect="unknown", aliases=("clear", "purge"))

    @hookimpl
    def execute(self, arguments: object) -> Any:
        """Append one byte to the file."""
        with self._counter.open("ab") as file:
            file.write(b"x")


class AsyncWipe(Wipe):
    """The same, awaited."""

    @hookimpl
    async def execute(self, arguments: object) -> Any:
        """Append one byte to the file, after a moment in which others run."""
        await asyncio.sleep(0.005)
        with self._counter.open("ab") as file:
            file.write(b"x")


class Relay:
    """A tool that calls another one for its caller."""

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Return a specification with the other tool's name as argument."""
        return spec("relay", parameters={"properties": {"name": {"type": "string"}}})

    @hookimpl
    def execute(self, arguments: dict[str, str], context: Any) -> ToolResult:
        """Call the tool and tell its code."""
        failure = context.call(arguments["name"]).failure
        return ToolResult.text(f"{failure.code} {failure.metadata.value}")


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """The file that the tool appends to."""
    file = tmp_path / "counter"
    file.touch()
    return file


@pytest.fixture(params=[Wipe, AsyncWipe], ids=["sync", "async"])
def host(request: pytest.FixtureRequest, counter: Path) -> Host:
    """A host with the destructive tool and the relay."""
    return Host(tools=[request.param(counter), Relay()])


def granted(host: Host, session: Session, name: str) -> Any:
    """Return the approval that the fixture grants for any call that may still be previewed."""
    try:
        return host.approve(session.preview(name), actor=ADA)
    except ToolError:
        return None


def held(host: Host, results: list[ToolResult], counter: Path, steps: Any) -> None:
    """Hold all that was seen to S3: one run, one breach, the rest withdrawn without effect."""
    assert counter.stat().st_size == 1
    assert [r.failure.code for r in results if r.failure] == ["contract_error"] * len(results)
    reasons = [r.metadata.value.get("reason") for r in results]
    assert sorted(reasons, key=str) == sorted([None] + ["withdrawn"] * (len(results) - 1), key=str)
    assert {r.failure.message for r in results if r.failure} == {FIXED}
    mine = [step for step in steps if step.tool == "wipe"]
    assert sorted(step.effect for step in mine) == ["none"] * (len(results) - 1) + ["unknown"]
    assert len(host.violations) == 1


def test_one_after_the_other_in_a_session(host: Host, counter: Path) -> None:
    """Six calls under three names, each approved: the counter says one."""
    session = host.session(actor=ADA)

    results = [session.call(n, approval=granted(host, session, n)) for n in NAMES]

    held(host, results, counter, session.steps)


def test_as_wire_text(host: Host, counter: Path) -> None:
    """What the provider is told says that it ran once."""
    session = host.session(actor=ADA, zone="local")

    told = [session.call_wire(n, approval=granted(host, session, n)) for n in NAMES]

    assert {str.__str__(text) for text, _ in told} == {f"Error (contract_error): {FIXED}"}
    held(host, [step.result for _, step in told], counter, session.steps)


def test_by_the_hosts_own_code(host: Host, counter: Path) -> None:
    """Each call is a session of its own, and a write stays withdrawn all the same."""
    results = []
    for name in NAMES:
        try:
            approval = approved(host, name)
        except ToolError:
            approval = None
        results.append(host.call(name, actor=ADA, approval=approval))

    held(host, results, counter, host.steps)


def test_threads_in_one_session(host: Host, counter: Path) -> None:
    """All six are approved before the first begins, and begin together."""
    session = host.session(actor=ADA)
    approvals = [granted(host, session, n) for n in NAMES]

    with ThreadPoolExecutor(6) as pool:
        jobs = [
            pool.submit(session.call, n, approval=a) for n, a in zip(NAMES, approvals, strict=True)
        ]
        results = [job.result() for job in jobs]

    held(host, results, counter, session.steps)


def test_threads_of_the_hosts_own_code(host: Host, counter: Path) -> None:
    """Sessions of their own, at once, half of them with a deadline."""
    approvals = [approved(host, n) for n in NAMES]

    def call(i: int) -> ToolResult:
        timeout = 20 if i % 2 else None
        return host.call(NAMES[i], actor=ADA, approval=approvals[i], timeout=timeout)

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(call, range(6)))

    held(host, results, counter, host.steps)


def test_tasks_in_one_session(host: Host, counter: Path) -> None:
    """asyncio.gather over acall and acall_wire, all approved before."""
    session = host.session(actor=ADA)
    approvals = [granted(host, session, n) for n in NAMES]

    async def wire(name: str, approval: Any) -> ToolResult:
        _, step = await session.acall_wire(name, approval=approval)
        return step.result

    async def main() -> list[ToolResult]:
        ways: list[Callable[..., Awaitable[ToolResult]]] = [session.acall, wire]
        calls = zip(NAMES, approvals, ways * 3, strict=True)
        return await asyncio.gather(
            *(way(name, approval=approval) for name, approval, way in calls)
        )

    held(host, asyncio.run(main()), counter, session.steps)


def test_tasks_and_threads_over_several_sessions(host: Host, counter: Path) -> None:
    """Two loops in two threads, a session each: still one run in the host's life."""
    sessions = [host.session(actor=ADA) for _ in range(2)]
    approvals = [[granted(host, s, n) for n in NAMES[:3]] for s in sessions]

    def loop(i: int) -> list[ToolResult]:
        async def main() -> list[ToolResult]:
            calls = zip(NAMES, approvals[i], strict=False)
            return await asyncio.gather(*(sessions[i].acall(n, approval=a) for n, a in calls))

        return asyncio.run(main())

    with ThreadPoolExecutor(2) as pool:
        results = [r for found in pool.map(loop, range(2)) for r in found]

    held(host, results, counter, [step for s in sessions for step in s.steps])


def test_through_another_tool(host: Host, counter: Path) -> None:
    """context.call has no approval to give, before and after the breach."""
    session = host.session(actor=ADA)

    before = [session.call("relay", {"name": n}).content for n in NAMES]
    session.call("wipe", approval=granted(host, session, "wipe"))
    after = [session.call("relay", {"name": n}).content for n in NAMES]

    assert before == ["approval_denied {}"] * 6
    assert after == ["contract_error {'reason': 'withdrawn'}"] * 6
    assert counter.stat().st_size == 1


def test_a_reading_tool_through_another_tool() -> None:
    """A relay that asks again in the same session gets the withdrawal, not a second run."""
    runs: list[int] = []

    class Bad:
        @hookimpl
        def tool_spec(self) -> ToolSpec:
            return spec("bad")

        @hookimpl
        def execute(self, arguments: object) -> Any:
            runs.append(1)

    session = Host(tools=[Bad(), Relay()]).session(actor=ADA)
    told = [session.call("relay", {"name": "bad"}).content for _ in range(3)]

    assert told[0] == "contract_error {}"
    assert told[1:] == ["contract_error {'reason': 'withdrawn'}"] * 2
    assert runs == [1]
