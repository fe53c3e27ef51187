"""The live stream: each thing that happens is a line, and a slow reader is told what he missed."""

import asyncio
import json
import threading
import time
from typing import Any

import pytest

from support.audit import echo, waiting, writer
from support.inspecting import inspected, reading, until
from support.tools import ADA, plugin
from toolseam import Host, ToolContext, ToolResult
from toolseam.testing import ScriptedProvider
from toolseam_plugins.inspector import _stream
from toolseam_plugins.inspector._gate import Refused
from toolseam_plugins.inspector._stream import Stream, line_of


def test_a_call_of_the_host_is_told_while_it_happens() -> None:
    """Whoever makes it: the row has what a list shows."""
    with Host(tools=[echo()]) as host, inspected(host) as page, reading(page) as lines:
        host.call("echo", {"text": "hi"}, actor=ADA)
        told = until(lines, "step")[-1]
        row = page.get(f"/api/runs/{told['run']}")["steps"][0]

    assert told["step"] == row
    assert (row["tool"], row["status"]) == ("echo", "ok")


def test_a_run_is_told_from_its_beginning_to_its_end() -> None:
    """Its changes, and each of its steps."""
    provider = ScriptedProvider([("echo", {"text": "hi"}), "It said hi."])
    with Host(tools=[echo()]) as host, inspected(host) as page, reading(page) as lines:
        host.session(actor=ADA).run(provider, "What?")
        told = until(lines, "run", 2)

    assert [each["kind"] for each in told] == ["run", *["step"] * 5, "run"]
    assert [told[0]["run"]["status"], told[-1]["run"]["status"]] == ["running", "completed"]


def test_a_run_that_waits_is_told() -> None:
    """So that the page can show that somebody is asked."""
    with (
        Host(tools=[writer([])], settings={"enable": ["write"]}) as host,
        inspected(host) as page,
        reading(page) as lines,
    ):
        waiting(host)
        told = until(lines, "run", 2)

    assert told[-1]["run"]["status"] == "waiting_for_approval"


def test_progress_is_told() -> None:
    """With the words of the tool."""

    def works(arguments: Any, context: ToolContext) -> ToolResult:
        context.progress(1, 2, "half")
        return ToolResult.text("done")

    tool = plugin(works, name="works")
    with Host(tools=[tool]) as host, inspected(host) as page, reading(page) as lines:
        host.call("works", actor=ADA)
        told = until(lines, "progress")[-1]

    assert {key: told[key] for key in ("tool", "done", "total", "text")} == {
        "tool": "works",
        "done": 1.0,
        "total": 2.0,
        "text": "half",
    }


def test_a_call_that_ends_late_is_marked_as_that() -> None:
    """The step that was given up says so from then on."""
    go_on = threading.Event()

    def slow(arguments: Any) -> ToolResult:
        go_on.wait(10)
        return ToolResult.text("late")

    tool = plugin(slow, name="slow")
    with Host(tools=[tool]) as host, inspected(host) as page, reading(page) as lines:
        host.call("slow", actor=ADA, timeout=0.05)
        step = until(lines, "step")[-1]["step"]
        go_on.set()
        until(lines, "late")
        marked = page.get(f"/api/steps/{step['id']}")

    assert (step["status"], step["flags"]) == ("timeout", [])
    assert marked["flags"] == ["late"]


def test_the_stream_ends_with_the_host() -> None:
    """The last line says so."""
    with Host(tools=[echo()]) as host, inspected(host) as page, reading(page) as lines:
        host.close()
        assert until(lines, "end")[-1] == {"kind": "end"}
        assert list(lines) == []


def test_the_stream_ends_with_the_page() -> None:
    """Nobody waits for its readers to leave."""
    with Host(tools=[echo()]) as host, inspected(host) as page, reading(page) as lines:
        page.app.close()
        until(lines, "end")


def test_a_stream_lives_when_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line now and then says that it does."""
    monkeypatch.setattr(_stream, "_ALIVE_S", 0.1)
    monkeypatch.setattr(_stream, "_TICK_S", 0.05)
    with Host() as host, inspected(host) as page, reading(page) as lines:
        assert until(lines, "alive") == [{"kind": "alive"}]


def test_more_readers_than_may_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """And those that were there read on."""
    monkeypatch.setattr(_stream, "READERS", 1)
    with Host(tools=[echo()]) as host, inspected(host) as page, reading(page) as lines:
        assert page.get("/api/stream", 503)["error"]["code"] == "unavailable"
        host.call("echo", {"text": "hi"}, actor=ADA)
        until(lines, "step")


def test_a_slow_reader_is_told_how_much_he_missed() -> None:
    """What is kept for him is bounded; the rest is a number."""

    async def read() -> list[Any]:
        stream = Stream(lambda: False, lambda: None)
        lines = stream.lines()
        await anext(lines)
        for n in range(_stream.LINES + 7):
            stream.tell(line_of({"kind": "n", "n": n}))
        return (await anext(lines)).splitlines()

    told = [json.loads(line) for line in asyncio.run(read())]

    assert len(told) == _stream.LINES + 1
    assert [each["n"] for each in told[:-1]] == list(range(_stream.LINES))
    assert told[-1] == {"kind": "lost", "count": 7}


def test_what_another_process_stores_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is looked at now and then while somebody reads."""
    monkeypatch.setattr(_stream, "_LOOK_S", 0.0)
    monkeypatch.setattr(_stream, "_TICK_S", 0.01)
    heads = iter([b"old", b"old", b"new", None])

    async def read() -> bytes:
        stream = Stream(lambda: False, lambda: next(heads))
        lines = stream.lines()
        await anext(lines)
        return await anext(lines)

    assert asyncio.run(read()) == b'{"kind":"stored"}\n'


def test_a_line_for_a_reader_whose_loop_is_gone_is_dropped() -> None:
    """Whoever tells him goes on."""

    async def reader() -> Any:
        return _stream.Reader()

    asyncio.run(reader()).tell(b"{}\n")


def test_nobody_is_told_when_nobody_reads() -> None:
    """A host without readers makes no rows."""
    stream = Stream(lambda: True, lambda: None)
    stream.refuse_more()

    assert stream.is_read is False
    with pytest.raises(Refused):
        fill(stream)


def fill(stream: Stream) -> None:
    """Let as many read as may, and one more."""

    async def read() -> None:
        every = [stream.lines() for _ in range(_stream.READERS)]
        for lines in every:
            await anext(lines)
        stream.refuse_more()

    asyncio.run(read())


def test_reading_takes_no_time_from_the_host() -> None:
    """A thousand calls while somebody reads are told in order, none is lost."""
    with Host(tools=[echo()]) as host, inspected(host) as page, reading(page) as lines:
        session = host.session(actor=ADA)
        began = time.process_time()
        for _ in range(500):
            session.call("echo", {"text": "hi"})
        took = time.process_time() - began
        told = [line["step"]["n"] for line in until(lines, "step", 500)]

    assert told == list(range(1, 501))
    assert took < 5


def test_without_a_store_nothing_is_said_to_have_been_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page that nothing happened to is not told to ask again."""
    monkeypatch.setattr(_stream, "_LOOK_S", 0.0)
    monkeypatch.setattr(_stream, "_ALIVE_S", 0.05)

    async def told() -> list[str]:
        lines = Stream(lambda: False, lambda: None).lines()
        return [json.loads(await anext(lines))["kind"] for _ in range(4)]

    assert asyncio.run(told()) == ["hello", "alive", "alive", "alive"]
