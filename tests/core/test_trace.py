import copy
import json
import logging
import threading
from typing import Any

import attrs
import orjson
import pytest

from support.tools import ADA, Counted, fine, plugin
from toolseam import Host, Step, ToolArtifact, ToolResult, WireText, hookimpl
from toolseam._steps import Live, step_json
from toolseam._trace import Listeners, RunTrace


def test_listeners_are_told_at_once() -> None:
    """A listener sees the step before the call returns, refusals included."""
    host = Host(tools=[Counted(fine)])
    seen: list[str] = []
    remove = host.listen(lambda step: seen.append(step.status))  # type: ignore[union-attr]

    host.call("probe")
    assert seen == ["ok"]
    host.call("nope")
    assert seen == ["ok", "not_found"]
    remove()
    host.call("probe")
    assert len(seen) == 2


def test_listener_and_caller_see_one_step() -> None:
    """It is made once for both; whoever asks the trace later is told the same of it."""
    host = Host(tools=[Counted(fine)])
    session = host.session()
    heard: list[object] = []
    host.listen(heard.append)

    _, step = session.call_wire("probe")

    (later,) = session.steps
    assert heard == [step]
    assert step.wire == later.wire == "fine"
    assert type(later.wire) is WireText
    assert later.id == step.id


@pytest.mark.parametrize("error", [ValueError("CAN"), SystemExit(3)])
def test_a_listener_that_raises_is_reported_never_felt(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """The call goes on, the other listeners are told, and the log has the type's name alone."""
    host = Host(tools=[Counted(fine)])
    seen: list[Any] = []

    def bad(step: object) -> None:
        raise error

    host.listen(bad)
    host.listen(seen.append)

    assert host.call("probe").success
    assert len(seen) == 1
    assert type(error).__name__ in caplog.text
    assert "CAN" not in caplog.text


def test_a_listener_that_was_added_twice_leaves_once() -> None:
    """Who takes his own away, however often, takes nobody else's."""
    listeners = Listeners[Live]()
    heard: list[Live] = []
    leave, _ = listeners.add(heard.append), listeners.add(heard.append)

    leave()
    leave()
    listeners.tell(Live("progress", "r", "t"))

    assert len(heard) == 1


def test_a_listener_may_leave_while_it_is_told() -> None:
    """Whoever was there when telling began is told."""
    listeners = Listeners[Live]()
    seen: list[str] = []
    removes = [listeners.add(lambda what: removes[1]()), listeners.add(lambda w: seen.append("b"))]

    listeners.tell(Live("progress", "r", "t"))
    listeners.tell(Live("progress", "r", "t"))

    assert seen == ["b"]


class Watching:
    """A host plugin that looks at steps and at the host's life."""

    def __init__(self, log: list[str], *, fails: bool = False) -> None:
        self._log, self._fails = log, fails

    def _say(self, text: str) -> None:
        self._log.append(text)
        if self._fails:
            raise OSError("CAN")

    @hookimpl
    def toolseam_open(self, host: Host) -> None:
        """Note the beginning."""
        self._say(f"open {len(host.tools())}")

    @hookimpl
    def toolseam_step(self, step: Step) -> None:
        """Note the step."""
        self._say(f"{step.tool} {step.status}")

    @hookimpl
    def toolseam_close(self, host: Host) -> None:
        """Note the end."""
        self._say("close")


def test_host_plugins_see_open_steps_and_close() -> None:
    """Each hook once, in order; notes are not steps."""
    log: list[str] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        context.progress(1)
        return fine()

    with Host(tools=[plugin(execute)], plugins=[Watching(log)]) as host:
        host.call("probe")
        host.call("nope")
    host.close()

    assert log == ["open 1", "probe ok", "nope not_found", "close"]


def test_a_failing_host_plugin_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """Its hooks are reported, the others are called, and what was open is closed."""
    good: list[str] = []
    bad: list[str] = []
    plugins = [Watching(good), Watching(bad, fails=True), Watching(good)]

    with Host(tools=[Counted(fine)], plugins=plugins) as host:
        assert host.call("probe").success

    assert bad == ["open 1", "probe ok", "close"]
    assert good == [text for text in bad for _ in range(2)]
    assert caplog.text.count("OSError") == 3
    assert "CAN" not in caplog.text


def test_the_hosts_own_calls_keep_the_last_256() -> None:
    """A host that lives for years does not grow."""
    host = Host(tools=[Counted(fine)])

    for _ in range(300):
        host.call("probe")

    assert len(host.steps) == 256
    assert host.steps[-1].id.endswith(":300")


def test_a_session_keeps_all_its_steps() -> None:
    """A conversation's record is whole."""
    session = Host(tools=[Counted(fine)]).session()

    for _ in range(300):
        session.call("probe")

    assert [s.id for s in session.steps] == [f"{session.run_id}:{i}" for i in range(1, 301)]


def one_step() -> Step:
    """Return a step with something in each channel."""

    def give() -> ToolResult:
        artifact = ToolArtifact.text("CANARY", "CANARY")
        return ToolResult.text("fine", artifact, data={"k": "CANARY"}, metadata={"m": "CANARY"})

    host = Host(tools=[Counted(give, parameters={"properties": {"a": {"type": "string"}}})])
    host.call("probe", {"a": "CANARY"})
    return host.steps[-1]


def test_a_step_is_immutable_and_shows_its_shape() -> None:
    """No field can be set, and the text has no byte of content or data."""
    step = one_step()

    for field in attrs.fields(Step):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(step, field.name, None)
    assert "CANARY" not in repr(step)
    assert step.data == {"k": "CANARY"}
    assert step.metadata == {"m": "CANARY"}
    assert step.artifacts[0].text == "CANARY"
    assert step.arguments == {"a": "CANARY"}


@pytest.mark.parametrize(
    "dump",
    [
        json.dumps,
        lambda s: json.dumps(s, default=repr),
        lambda s: json.dumps(s, default=str),
        orjson.dumps,
        lambda s: orjson.dumps(s, default=str),
        lambda s: repr(attrs.asdict(s)),
        lambda s: repr(copy.copy(s)),
    ],
)
def test_no_serialiser_opens_a_step(dump: Any) -> None:
    """What stays with the run comes out of no generic serialiser."""
    try:
        told = dump(one_step())
    except TypeError:
        return
    assert b"CANARY" not in (told if isinstance(told, bytes) else told.encode())


def test_step_json_is_plain() -> None:
    """For people who asked: the facts of a step as JSON."""
    found = json.loads(json.dumps(step_json(one_step())))

    assert (found["tool"], found["status"], found["arguments"]) == ("probe", "ok", {"a": "CANARY"})


def test_ids_are_unique_under_threads() -> None:
    """Eight threads in one session number their attempts without a gap."""
    session = Host(tools=[Counted(fine)]).session(actor=ADA)

    def work() -> None:
        for _ in range(50):
            session.call("probe")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    numbers = sorted(int(s.id.rpartition(":")[2]) for s in session.steps)
    assert numbers == list(range(1, 401))


def test_the_live_notes_are_bounded() -> None:
    """Progress that is told a thousand times is kept 256 times."""
    trace = RunTrace(Listeners())

    for i in range(1_000):
        trace.note(Live("progress", trace.run_id, "probe", i))

    assert len(trace.notes) == 256
    assert trace.notes[-1].done == 999


def test_two_traces_are_two_runs() -> None:
    """Each has an id that nothing else has."""
    assert RunTrace(Listeners()).run_id != RunTrace(Listeners()).run_id


def test_the_log_is_named_after_the_tool(caplog: pytest.LogCaptureFixture) -> None:
    """What a tool logs through its context stands under its own name."""

    def execute(arguments: object, context: Any) -> ToolResult:
        context.logger.warning("hello")
        return fine()

    with caplog.at_level(logging.WARNING):
        Host(tools=[plugin(execute)]).call("probe")

    assert [record.name for record in caplog.records] == ["toolseam.probe"]
