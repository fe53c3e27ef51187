"""What a host's own calls leave in memory: as much as is bounded, and the newest of it."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.audit import echo
from support.tools import ADA, plugin
from toolseam import Host, ToolResult
from toolseam.providers import ProviderError
from toolseam.testing import ScriptedProvider
from toolseam_plugins.inspector import _seen
from toolseam_plugins.inspector._runs import Runs
from toolseam_plugins.inspector._seen import Seen
from toolseam_plugins.inspector._stored import Stored

Told = list[tuple[str, str]]


def seen_of(host: Host) -> tuple[Seen, Told]:
    """Return what is seen of a host, and what was told of it."""
    told: Told = []
    return Seen(host, lambda kind, run, _: told.append((kind, run.id))), told


@pytest.fixture
def host() -> Iterator[Host]:
    """A host with a tool that says much."""
    big = plugin(lambda arguments: ToolResult.text("x" * 40_000), name="big")
    with Host(tools=[echo(), big]) as made:
        yield made


def test_the_oldest_steps_make_room(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted, the run keeps its numbers, and what is left is not called whole."""
    monkeypatch.setattr(_seen, "STEPS", 3)
    seen, _ = seen_of(host)
    session = host.session(actor=ADA)
    for _ in range(5):
        session.call("echo", {"text": "hi"})
    run = seen.run(session.run_id)

    assert run is not None
    assert [entry.n for entry in seen.entries(run)] == [3, 4, 5]
    assert (run.count, seen.dropped, run.is_whole) == (5, 2, False)
    assert seen.entry(f"{run.id}:1") is None
    assert seen.entry(f"{run.id}:5") is not None


def test_big_steps_make_room_sooner(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded in bytes too."""
    monkeypatch.setattr(_seen, "BYTES", 100_000)
    seen, _ = seen_of(host)
    for _ in range(10):
        host.call("big", actor=ADA)

    assert seen.dropped == 8


def test_runs_of_which_nothing_is_left_are_forgotten(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of runs is bounded as that of steps is."""
    monkeypatch.setattr(_seen, "STEPS", 3)
    monkeypatch.setattr(_seen, "RUNS", 4)
    seen, _ = seen_of(host)
    for _ in range(20):
        host.session(actor=ADA).call("echo", {"text": "hi"})

    assert len(seen.runs()) <= 5


class Contended(deque[Any]):
    """Steps during each walk of which another thread makes a call."""

    def __init__(self, steps: Any, host: Host, session: Any) -> None:
        super().__init__(steps)
        self.makes: Any = lambda: session.call("echo", {"text": "hi"})

    def __iter__(self) -> Iterator[Any]:
        """Give the steps, each after a call of somebody who waits at most for our end."""
        for each in super().__iter__():
            thread = threading.Thread(target=self.makes)
            thread.start()
            thread.join(0.1)
            yield each


def test_a_run_is_looked_at_while_its_host_goes_on(host: Host) -> None:
    """Calls of other threads wait for the copy, and are in none that was begun before."""
    seen, _ = seen_of(host)
    session = host.session(actor=ADA)
    session.call("echo", {"text": "hi"})
    run = seen.run(session.run_id)
    assert run is not None
    run.steps = Contended(run.steps, host, session)
    shown = Runs(seen, Stored(host)).one(session.run_id, 0, 10)

    assert shown["run"]["owner"] == "ada"
    assert len(shown["steps"]) == 1


def test_the_answer_of_a_run_is_kept_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the step that it is the text of, whose bytes are counted, and goes with it."""
    seen, _ = seen_of(host)
    runs = Runs(seen, Stored(host))
    long, short = (
        host.session(actor=ADA).run(ScriptedProvider([text]), "?").id for text in ("x" * 9_000, "y")
    )
    found = runs.one(long, 0, 10)["run"]["answer_json"]
    facts = seen.run(long).facts  # type: ignore[union-attr]
    monkeypatch.setattr(_seen, "BYTES", 5_000)
    host.call("echo", {"text": "hi"}, actor=ADA)

    assert found == json.dumps("x" * 9_000)
    assert "x" * 9_000 not in repr(facts)
    assert runs.one(long, 0, 10)["run"]["answer_json"] is None
    assert runs.one(short, 0, 10)["run"]["answer_json"] == '"y"'


def test_a_run_that_ends_without_words_has_an_empty_answer(host: Host) -> None:
    """It is over, and nothing was said at its end."""
    seen, _ = seen_of(host)
    run = host.session(actor=ADA).run(ScriptedProvider([ProviderError("No.")]), "?")
    shown = Runs(seen, Stored(host)).one(run.id, 0, 10)["run"]

    assert (shown["status"], shown["answer_json"]) == ("failed", '""')


def test_whoever_is_closed_hears_nothing(host: Host) -> None:
    """The host goes on without it."""
    seen, told = seen_of(host)
    seen.close()
    host.session(actor=ADA).run(ScriptedProvider(["done"]), "What?")

    assert (seen.runs(), told) == ([], [])


def test_a_session_that_began_before_is_not_whole(host: Host) -> None:
    """Its first steps were seen by nobody."""
    session = host.session(actor=ADA)
    session.call("echo", {"text": "hi"})
    seen, _ = seen_of(host)
    session.call("echo", {"text": "hi"})
    run = seen.run(session.run_id)

    assert run is not None
    assert not run.is_whole


def test_a_late_end_of_nothing_that_was_given_up_marks_nothing(host: Host) -> None:
    """It may have made room."""
    from toolseam._steps import Live

    seen, told = seen_of(host)
    session = host.session(actor=ADA)
    session.call("echo", {"text": "hi"})
    host._state.listeners.tell(Live("late", session.run_id, "echo"))
    run = seen.run(session.run_id)

    assert run is not None
    assert [entry.late for entry in run.steps] == [False]
    assert told[-1] == ("late", session.run_id)


@settings(max_examples=15)
@given(st.integers(0, 12), st.integers(1, 5), st.integers(0, 3))
def test_any_page_size_gives_every_run_once(count: int, size: int, same: int) -> None:
    """Newest first, also of runs that began in the same moment."""
    with Host(tools=[echo()]) as host:
        seen, _ = seen_of(host)
        for _ in range(count):
            host.session(actor=ADA).call("echo", {"text": "hi"})
        for run in seen.runs()[:same]:
            run.began = 7.0
        runs = Runs(seen, Stored(host))
        listed: list[dict[str, Any]] = []
        before: str | None = ""
        while before is not None:
            page = runs.page(before, size, "")
            assert len(page["runs"]) <= size
            listed += page["runs"]
            before = page["next"]

    found = [(run["began"], run["id"]) for run in listed]
    assert found == sorted(found, reverse=True)
    assert len({run["id"] for run in listed}) == len(listed) == count


@settings(max_examples=15)
@given(st.integers(0, 12), st.integers(1, 5))
def test_any_page_size_gives_every_step_once(count: int, size: int) -> None:
    """Oldest first, and the last page says that it is."""
    with Host(tools=[echo()]) as host:
        seen, _ = seen_of(host)
        session = host.session(actor=ADA)
        for _ in range(count + 1):
            session.call("echo", {"text": "hi"})
        runs = Runs(seen, Stored(host))
        listed: list[int] = []
        after: int | None = 0
        while after is not None:
            page = runs.one(session.run_id, after, size)
            listed += [step["n"] for step in page["steps"]]
            after = page["next"]

    assert listed == list(range(1, count + 2))
