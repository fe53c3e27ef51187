"""Whoever listens to runs is told at once how each stands, and what it does besides calls."""

import asyncio
import threading
import time
from typing import Any

import pytest

from support.tools import ADA, fine, plugin
from toolseam import Host, ToolArtifact, ToolResult
from toolseam._run_store import MemoryStore
from toolseam.providers import Endpoint, ProviderError
from toolseam.runs import Decision, Run, RunChange, RunStep
from toolseam.testing import ScriptedProvider


def writer() -> Any:
    """Return a tool that needs a person's approval."""
    return plugin(fine_of, name="write", effect="idempotent_write", preview=fine_of)


def fine_of(arguments: Any) -> ToolResult:
    """Answer that all is well."""
    return fine()


def heard(host: Host) -> list[RunStep | RunChange]:
    """Return the list of everything that is told of runs from now on."""
    told: list[RunStep | RunChange] = []
    host.listen_to_runs(told.append)
    return told


def words(told: list[RunStep | RunChange]) -> list[str]:
    """Say what was told, in order."""
    return [str(each.status) if isinstance(each, RunChange) else each.kind for each in told]


def test_a_run_is_told_from_its_beginning_to_its_end() -> None:
    """It is running, asks, is answered, and has completed; facts and the run come with that."""
    with Host() as host:
        told = heard(host)
        run = host.session(actor=ADA).run(ScriptedProvider(["done"]), "What?")

    assert words(told) == ["running", "request", "llm", "completed"]
    first, last = told[0], told[-1]
    assert isinstance(first, RunChange)
    assert isinstance(last, RunChange)
    assert first.facts == {"actor": "ada", "zone": "external_global", "provider": "scripted"}
    assert (first.run, last.run, first.run_id) == (None, run, run.id)


def test_a_run_that_waits_is_told_and_told_again_when_it_goes_on() -> None:
    """What people are asked and what they said are steps of it."""
    provider = ScriptedProvider([[("write", {})], "done"])
    with Host(tools=[writer()], settings={"enable": ["write"]}) as host:
        run = host.session(actor=ADA).run(provider, "Write.")
        told = heard(host)
        denied = [Decision.deny(run.pending[0], actor=ADA)]
        host.session().resume(run.id, denied, provider)

    assert words(told) == ["approval", "running", "request", "llm", "completed"]


def test_a_run_that_is_cancelled_is_told_as_that() -> None:
    """Whoever stops it, the last word about it comes."""

    class Slow:
        name = "slow"
        zone = "local"

        async def complete(self, request: object) -> Any:
            await asyncio.sleep(30)

    async def stopped(host: Host) -> None:
        task = asyncio.create_task(host.session(actor=ADA).arun(Slow(), "What?"))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Host() as host:
        told = heard(host)
        asyncio.run(stopped(host))

    assert words(told) == ["running", "request", "cancelled"]


class Kept(MemoryStore):
    """A store that takes its time."""

    def __init__(self, reached: threading.Event, *, at: str) -> None:
        super().__init__()
        self.reached = reached
        self.at = at

    def _wait(self, where: str) -> None:
        if where == self.at:
            self.reached.set()
            time.sleep(0.2)

    def end(self, run: Run) -> None:
        """Store the end of a run."""
        self._wait("end")
        super().end(run)

    def claim(self, run_id: str, state: bytes) -> None:
        """Give a run to whoever goes on with it."""
        self._wait("claim")
        super().claim(run_id, state)


@pytest.mark.parametrize(("at", "last"), [("end", "completed"), ("claim", "cancelled")])
def test_a_run_that_is_cancelled_while_it_is_stored_comes_to_an_end(at: str, last: str) -> None:
    """Nobody is left to think that it still runs, or waits."""
    reached = threading.Event()
    provider = ScriptedProvider([[("write", {})], "done"])

    async def stopped(host: Host) -> None:
        session = host.session(actor=ADA)
        run = await session.arun(provider, "Write.")
        denied = [Decision.deny(run.pending[0], actor=ADA)]
        task = asyncio.create_task(session.aresume(run.id, denied, provider))
        await asyncio.to_thread(reached.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Host(tools=[writer()], settings={"enable": ["write"]}) as host:
        host._state.store = Kept(reached, at=at)
        told = heard(host)
        asyncio.run(stopped(host))

    assert words(told)[-1] == last


def test_whoever_listens_no_more_is_told_nothing() -> None:
    """What `listen_to_runs` returns ends it."""
    told: list[object] = []
    with Host() as host:
        host.listen_to_runs(told.append)()
        host.session(actor=ADA).run(ScriptedProvider(["done"]), "What?")

    assert told == []


def test_the_providers_of_a_run_that_waits_are_made_again() -> None:
    """None of them where host code made one of its own: it has to resume the run itself."""
    script: list[Any] = [[("write", {})], "done"]
    ours, own = ScriptedProvider(script), ScriptedProvider(script)
    ours.name = "openai:m"
    ours.endpoint = Endpoint("openai:m", "openai", "m", "http://127.0.0.1:1/v1")  # type: ignore[attr-defined]

    with Host(tools=[writer()], settings={"enable": ["write"]}) as host:
        for provider in (ours, own):
            host.session(actor=ADA).run(provider, "Write.")
        first, second = host.waiting_runs()
        made = host.providers_of(first)

        assert [each.name for each in made] == ["openai:m"]
        assert host.providers_of(second) == ()


def test_a_provider_whose_key_is_gone_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before anybody decides."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    provider = ScriptedProvider([[("write", {})], "done"])
    provider.name = "openai:m"
    provider.endpoint = Endpoint("openai:m", "openai", "m")  # type: ignore[attr-defined]

    with Host(tools=[writer()], settings={"enable": ["write"]}) as host:
        host.session(actor=ADA).run(provider, "Write.")
        waiting = host.waiting_runs()[0]

        with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
            host.providers_of(waiting)


def test_a_host_says_whether_it_is_closed() -> None:
    """Whoever shows it ends with it."""
    host = Host()

    assert not host.closed
    host.close()
    assert host.closed


def test_a_step_tells_the_size_of_each_channel() -> None:
    """In bytes, as they are held to their caps."""

    def sized(arguments: Any) -> ToolResult:
        text = ToolArtifact.text("label", "é")
        return ToolResult.text("é€", text, data={"a": 1}, metadata={"b": [2]})

    with Host(tools=[plugin(sized, name="sized")]) as host:
        host.call("sized", {}, actor=ADA)
        host.call("nope", actor=ADA)
        sizes, refused = (step.sizes for step in host.steps)

    encoded = '[{"type":"text","label":"label","data":{"text":"é"}}]'.encode()
    assert sizes == {
        "content": 5,
        "artifacts": len(encoded),
        "arguments": 2,
        "data": 7,
        "metadata": 9,
    }
    assert (refused["arguments"], refused["data"]) == (0, 0)
