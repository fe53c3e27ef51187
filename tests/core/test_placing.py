"""Where bodies run is the operator's setting, and the seam keeps every promise (contract §5)."""

from __future__ import annotations

import asyncio
import datetime as dt
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support import apart
from support.tools import ADA, Counted, approved, fine
from toolseam import Host, ToolResult, ToolseamError, hookimpl
from toolseam._errors import SettingsError


@pytest.fixture
def pool() -> Iterator[Executor]:
    """An executor of threads, named so that they are known."""
    with ThreadPoolExecutor(4, thread_name_prefix="elsewhere") as made:
        yield made


def host_on(pool: Executor, **settings: object) -> Host:
    """A host all of whose bodies go to an executor."""
    words = {"runs_in": {"*": "pool"}} | settings
    return Host(tools=apart.TOOLS, executors={"pool": pool}, settings=words)


def test_the_nearest_rule_says_where(pool: Executor) -> None:
    """A tool's own rule goes before its group's, that before its class's, that before `*`."""
    tools = [apart.thread]

    def ran(**rules: str) -> str:
        given = {"runs_in": {key.replace("__", ":"): place for key, place in rules.items()}}
        with Host(tools=tools, executors={"pool": pool}, settings=given) as host:
            return host.call("thread").content.partition("_")[0].partition("-")[0]

    here = threading.current_thread().name
    group = apart.thread.tool_spec().group
    assert ran() == here
    assert ran(**{"*": "pool"}) == "elsewhere"
    assert ran(**{"*": "pool", "class__public_content": "inline"}) == here
    assert ran(**{"class__public_content": "inline", f"group__{group}": "pool"}) == "elsewhere"
    assert ran(**{f"group__{group}": "pool", "thread": "inline"}) == here
    assert ran(thread="thread") == "toolseam"


def test_a_place_that_nobody_names_is_refused_at_start() -> None:
    """The error names the key, and what was probably meant."""
    with pytest.raises(SettingsError, match=r"runs_in\.echo: .*'proces'.*'process'"):
        Host(settings={"runs_in": {"echo": "proces"}})
    with pytest.raises(SettingsError, match="inline"):
        Host(executors={"inline": ThreadPoolExecutor(1)})


def test_a_workspace_has_no_say(tmp_path: Path) -> None:
    """Where bodies run, and what a sandbox lets in, is the operator's alone."""
    for line in (
        '[runs_in]\n"*" = "inline"',
        "[process]\nmemory_mb = 99999",
        '[sandbox.echo]\nread = ["/"]',
        '[executors.far]\naddress = "tcp://127.0.0.1:1"',
    ):
        (tmp_path / "toolseam.toml").write_text(line)
        with pytest.raises(SettingsError, match=r"toolseam\.toml"):
            Host.load(tmp_path)


def test_every_channel_comes_back(pool: Executor) -> None:
    """A result is the same as inline, sync and async, of sync and async tools, and typed."""
    with host_on(pool) as host, Host(tools=apart.TOOLS) as here:
        for name, given in (("echo", {"text": "a", "times": 2}), ("later", {"text": "b"})):
            want = here.call(name, given)
            assert host.call(name, given) == want
            assert asyncio.run(host.acall(name, given)) == want
            assert host.call(name, given, timeout=30) == want
            session = host.session(actor=ADA)
            text, step = session.call_wire(name, given)
            assert (text, step.result) == (want.content, want)


def test_what_breaks_the_contract_runs_once(pool: Executor, tmp_path: Path) -> None:
    """A wrong return is `contract_error` after exactly one call, and the tool is withdrawn."""
    marks = tmp_path / "marks"
    with host_on(pool) as host:
        session = host.session(actor=ADA)
        first = session.call("wrong", {"file": str(marks)})
        second = session.call("wrong", {"file": str(marks)})

        assert [r.failure.code for r in (first, second) if r.failure] == ["contract_error"] * 2
        assert marks.read_text() == "ran\n"
        assert [v.tool for v in host.violations] == ["wrong"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("value", "execution_error"),
        ("exit", "execution_error"),
        ("memory", "execution_error"),
        ("keyboard", "execution_error"),
        ("time", "timeout"),
        ("cancelled", "cancelled"),
        ("tool", "not_found"),
        ("contract", "contract_error"),
    ],
)
def test_what_a_body_raises_is_what_it_would_be_here(
    pool: Executor, kind: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each kind has its code, its text is told to nobody, and the log's line has no secret."""
    with host_on(pool) as host:
        failure = host.call("raises", {"kind": kind}).failure

    assert failure is not None
    assert failure.code == code
    assert "hunter2" not in failure.message + caplog.text
    assert ("ValueError" in caplog.text) is (kind == "value")


class Loses(Executor):
    """An executor that runs previews, and of each `execute` raises what it is told to."""

    def __init__(self, error: Exception, *, at_once: bool = False) -> None:
        self.error = error
        self.at_once = at_once
        self.given = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Take it, or not."""
        future: Future[Any] = Future()
        if b'"hook":"preview"' in args[0]:
            future.set_result(fn(*args))
            return future
        self.given += 1
        if self.at_once:
            raise self.error
        if isinstance(self.error, CancelledError):
            future.cancel()
        else:
            future.set_exception(self.error)
        return future


def outcomes(executor: Executor, file: Path) -> dict[str, tuple[str, str, str]]:
    """Read, read from a loop and write; return code, reason and effect of each."""
    with host_on(executor) as host:
        host.call("echo", {"text": "a"})
        asyncio.run(acall(host))
        given = {"file": str(file)}
        host.call("writes", given, actor=ADA, approval=approved(host, "writes", given))
        names = ("read", "awaited", "write")
        return {
            name: (step.status, step.result.metadata["reason"], step.effect)
            for name, step in zip(names, host.steps, strict=True)
        }


async def acall(host: Host) -> ToolResult:
    """Make a call from a loop."""
    return await host.acall("echo", {"text": "a"})


@pytest.mark.parametrize("error", [OSError("gone"), TimeoutError(), CancelledError()])
def test_a_body_that_was_lost_is_not_run_again(error: Exception, tmp_path: Path) -> None:
    """A read that was lost is `unavailable`; of a write nobody knows what it did.

    An engine's timeout is no deadline of the call, and what it gave up nobody here stopped.
    """
    lost = Loses(error)

    assert outcomes(lost, tmp_path / "marks") == {
        "read": ("unavailable", "worker_died", "none"),
        "awaited": ("unavailable", "worker_died", "none"),
        "write": ("execution_error", "worker_died", "unknown"),
    }
    assert lost.given == len(("read", "awaited", "write"))


def test_a_body_that_nobody_took_has_changed_nothing(tmp_path: Path) -> None:
    """An executor that refuses is `unavailable`, and a write is known not to have been made."""
    refused = ("unavailable", "executor", "none")

    assert outcomes(Loses(OSError("full"), at_once=True), tmp_path / "marks") == {
        "read": refused,
        "awaited": refused,
        "write": refused,
    }


class Starts:
    """A host plugin whose engine takes a while to start, or cannot be had."""

    def __init__(self, executor: Executor | None) -> None:
        self.executor = executor
        self.asked = 0
        self.gate = threading.Event()
        self.gate.set()

    @hookimpl
    def toolseam_executor(self, name: str) -> Executor:
        """Start it."""
        self.asked += 1
        time.sleep(0.3)
        self.gate.wait(60)
        if self.executor is None:
            raise ToolseamError("no engine here: start one")
        return self.executor


def starting(plugin: Starts) -> Host:
    """A host all of whose bodies go where a plugin takes them."""
    words = {"runs_in": {"*": "farm"}, "executors": {"farm": {}}}
    return Host(tools=apart.TOOLS, plugins=[plugin], settings=words)


def test_an_engine_is_started_beside_the_loop(pool: Executor) -> None:
    """While the first awaited call waits for its engine, the loop goes on."""
    plugin = Starts(pool)
    with starting(plugin) as host:
        assert asyncio.run(ticks(host, "echo", plugin.gate)).content == "a"


async def ticks(host: Host, name: str, gate: threading.Event) -> ToolResult:
    """Make a call from a loop, which lets the engine start after it had some turns."""
    gate.clear()
    call = asyncio.create_task(host.acall(name, {"text": "a"}))
    for _ in range(4):
        await asyncio.sleep(0.01)
    gate.set()
    return await call


def test_an_engine_is_started_again_beside_the_loop(pool: Executor) -> None:
    """The tool that meets its end, and another one after it, leave the loop to itself."""
    plugin = Starts(ThreadPoolExecutor(1))
    with starting(plugin) as host:
        assert [host.call(name, {"text": "a"}).content for name in ("echo", "later")] == ["a"] * 2
        assert plugin.executor is not None
        plugin.executor.shutdown()
        plugin.executor = pool
        assert host.call("echo", {"text": "a"}).metadata["reason"] == "executor"
        assert asyncio.run(ticks(host, "later", plugin.gate)).content == "a"


def test_nothing_begins_for_who_has_given_up(tmp_path: Path) -> None:
    """A call that is cancelled while its engine is started again finds it there and leaves it."""

    class Counts(Loses):
        previews = 0

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.previews += 1
            return super().submit(fn, *args)

    given = {"file": str(tmp_path / "marks")}
    plugin = Starts(ThreadPoolExecutor(1))
    late = threading.Event()
    with starting(plugin) as host:
        approval = approved(host, "writes", given)
        host._runners._made["farm"].refuses = True
        plugin.executor = engine = Counts(OSError("gone"))
        host.listen(lambda said: late.set() if said.kind == "late" else None)

        async def given_up() -> None:
            plugin.gate.clear()
            call = asyncio.create_task(host.acall("writes", given, actor=ADA, approval=approval))
            async with asyncio.timeout(60):
                while plugin.asked < 2:
                    await asyncio.sleep(0.01)
            call.cancel()
            await asyncio.wait({call})

        asyncio.run(given_up())
        plugin.gate.set()
        until = time.monotonic() + 60
        while not late.is_set() and not engine.previews and time.monotonic() < until:
            time.sleep(0.01)

    assert (engine.previews, engine.given) == (0, 0)


def test_an_engine_that_is_away_is_not_waited_for_by_each_call() -> None:
    """Its plugin says why, to the run and no model, and is not asked again at once."""
    plugin = Starts(None)
    with starting(plugin) as host:
        results = [host.call("echo", {"text": "a"}) for _ in range(3)]

    told = {"reason": "executor", "detail": "no engine here: start one"}
    assert [result.metadata for result in results] == [told] * 3
    assert "start one" not in results[0].content
    assert plugin.asked == 1


def test_a_start_outlives_the_deadline_of_who_began_it(pool: Executor) -> None:
    """A call whose deadline is nearer is `timeout`, and the next one finds what it began."""
    plugin = Starts(pool)
    plugin.gate.clear()
    with starting(plugin) as host:
        first = host.call("echo", {"text": "a"}, timeout=0.05).failure
        awaited = asyncio.run(host.acall("echo", {"text": "a"}, timeout=0.05)).failure
        plugin.gate.set()
        after = host.call("echo", {"text": "b"}, timeout=60)

    assert [failure.code for failure in (first, awaited) if failure] == ["timeout"] * 2
    assert after.content == "b"
    assert plugin.asked == 1


def test_a_write_that_waited_for_a_start_has_changed_nothing(
    pool: Executor, tmp_path: Path
) -> None:
    """Its deadline passes before its engine is there: it never begins, and its effect is none."""
    plugin = Starts(ThreadPoolExecutor(1))
    given = {"file": str(tmp_path / "marks")}
    with starting(plugin) as host:
        approval = approved(host, "writes", given)
        host._runners._made["farm"].refuses = True
        plugin.executor = pool
        result = host.call("writes", given, actor=ADA, approval=approval, timeout=0.05)
        after = host.call("echo", {"text": "b"})
        effect = host.steps[-2].effect

    assert after.content == "b"
    assert result.failure is not None
    assert (result.failure.code, effect) == ("timeout", "none")
    assert not (tmp_path / "marks").exists()


def test_nobody_waits_for_the_start_of_anothers_engine(pool: Executor) -> None:
    """While one place is being started, calls go to the others."""
    plugin = Starts(pool)
    words = {"runs_in": {"echo": "farm", "*": "pool"}, "executors": {"farm": {}}}
    tools, executors = apart.TOOLS, {"pool": pool}
    with Host(tools=tools, plugins=[plugin], executors=executors, settings=words) as host:
        plugin.gate.clear()
        assert host.call("echo", {"text": "a"}, timeout=0.05).failure
        assert host.call("thread").content.startswith("elsewhere")
        plugin.gate.set()


def test_what_is_started_for_a_host_that_closes_is_ended() -> None:
    """A start that is on its way when its host closes leaves no engine behind."""
    engine = ThreadPoolExecutor(1)
    plugin = Starts(engine)
    with starting(plugin) as host:
        host.call("echo", {"text": "a"}, timeout=0.05)

    with pytest.raises(RuntimeError):
        engine.submit(len, "")


def test_an_engine_that_takes_nothing_any_more_is_made_anew() -> None:
    """The call that met it is `unavailable`, and the next one has a new engine."""
    first = ThreadPoolExecutor(1)
    plugin = Starts(first)
    with starting(plugin) as host:
        host.call("echo", {"text": "a"})
        first.shutdown()
        plugin.executor = ThreadPoolExecutor(1)
        results = [host.call("echo", {"text": "b"}) for _ in range(3)]

    assert results[0].metadata["reason"] == "executor"
    assert [result.content for result in results[1:]] == ["b", "b"]
    assert plugin.asked == 2


class Ends(ThreadPoolExecutor):
    """An engine that takes nothing, and whose end is none."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(1)
        self.error = error
        self.ended = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Take it not."""
        raise OSError

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Raise instead."""
        self.ended += 1
        raise self.error


@pytest.mark.parametrize("error", [OSError(), SystemExit(), asyncio.CancelledError()])
def test_an_engine_that_ends_badly_is_replaced_all_the_same(
    pool: Executor, error: BaseException
) -> None:
    """Whatever the old one raises as it is shut down, the next call finds a new one."""
    plugin = Starts(Ends(error))
    with starting(plugin) as host:
        assert host.call("echo", {"text": "a"}).metadata["reason"] == "executor"
        plugin.executor = pool

        assert host.call("echo", {"text": "b"}).content == "b"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_start_that_is_broken_off_is_told(pool: Executor) -> None:
    """Nobody waits for ever for what no thread does any more, and it is tried again later."""
    plugin = Starts(Ends(KeyboardInterrupt()))
    with starting(plugin) as host:
        results = [host.call("echo", {"text": "a"}) for _ in range(2)]
        plugin.executor = pool
        host._runners._away.clear()
        after = host.call("echo", {"text": "b"})

    assert results[1].metadata == {"reason": "executor", "detail": "its start was broken off"}
    assert after.content == "b"


def test_an_engine_stays_known_until_its_end_has_begun(
    pool: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the machine gives no thread for a start, the old engine is ended with the next one."""
    old = Ends(OSError())
    plugin = Starts(old)
    with starting(plugin) as host:
        host.call("echo", {"text": "a"})
        plugin.executor = pool

        def refuse(thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as without:
            without.setattr(threading.Thread, "start", refuse)
            told = host.call("echo", {"text": "a"}).metadata
        after = host.call("echo", {"text": "b"})

    assert told == {"reason": "executor", "detail": "the machine gives no thread"}
    assert (after.content, old.ended) == ("b", 1)


def test_a_foreign_answer_is_no_result(tmp_path: Path) -> None:
    """What is no answer of a body ends the call as an error, whatever the engine gave."""

    class Lies(Loses):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_result(ToolResult.text("an object"))
            return super().submit(fn, *args) if b'"hook":"preview"' in args[0] else future

    refused = ("execution_error", "worker_protocol")
    assert outcomes(Lies(OSError()), tmp_path / "marks") == {
        "read": (*refused, "none"),
        "awaited": (*refused, "none"),
        "write": (*refused, "unknown"),
    }


def test_an_approved_write_runs_where_it_should(pool: Executor, tmp_path: Path) -> None:
    """Preview and execution are made there, once, under the same call id."""
    given = {"file": str(tmp_path / "marks")}
    with host_on(pool) as host:
        preview = host.preview("writes", given, actor=ADA)
        result = host.call("writes", given, actor=ADA, approval=host.approve(preview, actor=ADA))

    assert result.content == "marked"
    assert Path(given["file"]).read_text().strip() in " ".join(preview.lines)


def test_a_deadline_ends_the_wait(pool: Executor) -> None:
    """Sync or awaited, nobody waits past it, and the answer that comes later is dropped."""
    with host_on(pool, limits={"timeout_s": 0.2}) as host:
        for _ in range(2):
            began = time.monotonic()
            result = host.call("sleeps", {"seconds": 2})
            awaited = asyncio.run(host.acall("sleeps", {"seconds": 2}, timeout=0.1))
            assert [r.failure.code for r in (result, awaited) if r.failure] == ["timeout"] * 2
            assert time.monotonic() - began < 2


def test_awaited_bodies_take_no_thread_of_the_host() -> None:
    """Of an executor as many calls can be awaited at once as it carries, whatever `threads` is."""
    with ThreadPoolExecutor(40) as wide:
        limits = {"threads": 1, "waiting": 0}
        with host_on(wide, limits=limits) as host:

            async def all_at_once() -> list[ToolResult]:
                calls = [host.acall("sleeps", {"seconds": 0.05}) for _ in range(40)]
                return await asyncio.gather(*calls)

            assert {r.content for r in asyncio.run(all_at_once())} == {"awake"}


def test_a_wrapper_sees_a_body_that_runs_elsewhere(pool: Executor) -> None:
    """Wrappers stay with the host: they see the arguments and the judged result."""
    seen: list[object] = []

    class Looks:
        @hookimpl(wrapper=True)
        def execute(self, arguments: Any) -> Iterator[None]:
            result = yield
            seen.append((arguments, result))
            return result  # type: ignore[return-value]

    with Host(
        tools=apart.TOOLS,
        plugins=[Looks()],
        executors={"pool": pool},
        settings={"runs_in": {"*": "pool"}},
    ) as host:
        result = host.call("echo", {"text": "a"})

    assert seen == [({"text": "a", "times": 1}, result)]


def test_a_tool_without_a_name_runs_nowhere_else(pool: Executor) -> None:
    """It is never run in the host instead: the operator wanted it out of there."""
    probe = Counted(fine)
    with Host(tools=[probe], executors={"pool": pool}, settings={"runs_in": {"*": "pool"}}) as host:
        failure = host.call("probe").failure

    assert failure is not None
    assert (failure.code, failure.metadata["reason"]) == ("unavailable", "no_import")
    assert probe.count == 0


ELSEWHERE = """
from toolseam import ToolResult, ToolSpec, hookimpl

class Said:
    def __init__(self, name):
        self.name = name

    @hookimpl
    def tool_spec(self):
        return ToolSpec(
            name=self.name, description="Say it.", parameters={}, effect="read_only", inline=True,
            data_class="public_content",
        )

    @hookimpl
    def execute(self, arguments):
        return ToolResult.text(self.name)
"""


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of instances, whose class stands in another module."""
    (tmp_path / "said_class.py").write_text(ELSEWHERE)
    (tmp_path / "said_tools.py").write_text("from said_class import Said\nword = Said('word')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("said_tools")
    for name in ("said_class", "said_tools"):
        sys.modules.pop(name, None)


def test_an_instance_is_found_wherever_it_stands(pool: Executor, said: Any) -> None:
    """A tool made of a class that another module wrote has a name in its own module."""
    with Host(
        tools=[said.word], executors={"pool": pool}, settings={"runs_in": {"*": "pool"}}
    ) as h:
        assert h.call("word").content == "word"


def test_a_module_that_was_replaced_runs_nowhere_else(pool: Executor, said: Any) -> None:
    """What is imported under that name now is another tool, and is not run for this one."""
    sys.modules["said_tools"] = ModuleType("said_tools")
    with Host(
        tools=[said.word], executors={"pool": pool}, settings={"runs_in": {"*": "pool"}}
    ) as h:
        assert h.call("word").metadata["reason"] == "no_import"


def test_a_short_tool_that_runs_apart_never_blocks_the_loop(said: Any) -> None:
    """`inline` says that the body is short, not that its place is near."""

    class Late(Executor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            """Answer after a while."""
            future: Future[Any] = Future()
            threading.Timer(0.3, lambda: future.set_result(fn(*args))).start()
            return future

    async def ticks(host: Host) -> int:
        call, count = asyncio.create_task(host.acall("word")), 0
        while not call.done():
            await asyncio.sleep(0.01)
            count += 1
        assert (await call).content == "word"
        return count

    words = {"runs_in": {"*": "pool"}}
    with Host(tools=[said.word], executors={"pool": Late()}, settings=words) as host:
        assert asyncio.run(ticks(host)) > 3


def test_a_rule_for_a_class_that_is_none_is_refused_at_start() -> None:
    """It would leave in the host what the operator wants out of it."""
    for key in ("class:public_contnet", "klass:public_content"):
        with pytest.raises(SettingsError, match=f"runs_in.{key}"):
            Host(settings={"runs_in": {key: "process"}})


def test_settings_that_no_text_can_say_are_told(pool: Executor) -> None:
    """A date of the operator's file is not valid where the body runs, and nothing has run."""
    words = {"plugins": {"host code": {"deep": {"since": dt.date(2026, 1, 1)}}}}
    with host_on(pool, **words) as host:
        assert host.call("where", {"number": 2}).metadata["reason"] == "settings"


def test_settings_go_where_the_body_goes(pool: Executor) -> None:
    """A tool has its plugin's settings there; those that code gave as objects go nowhere."""
    words = {"plugins": {"host code": {"words": ["x"]}}}
    with host_on(pool, **words) as host:
        assert host.call("where", {"number": 2}).data == [["x"], {}]
        odd = host.call("where", {"number": 3}).failure
    with Host(
        tools=apart.TOOLS,
        executors={"pool": pool},
        settings={"runs_in": {"*": "pool"}},
        plugin_settings=[apart.Place(("x",))],
    ) as host:
        given = host.call("where", {"number": 2}).failure

    assert odd is not None
    assert odd.code == "invalid_arguments"
    assert given is not None
    assert (given.code, given.metadata) == ("unavailable", {"reason": "settings"})


def test_a_look_again_that_is_lost_changes_nothing(tmp_path: Path) -> None:
    """The call ends without having run, and the approval stays good for when there is room."""

    class Forgets(Executor):
        lost = False

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if self.lost:
                future.set_exception(OSError("gone"))
            else:
                future.set_result(fn(*args))
            return future

    engine = Forgets()
    given = {"file": str(tmp_path / "marks")}
    with host_on(engine) as host:
        approval = approved(host, "writes", given)
        engine.lost = True
        lost = host.call("writes", given, actor=ADA, approval=approval)
        engine.lost = False
        made = host.call("writes", given, actor=ADA, approval=approval)

        assert lost.failure is not None
        assert (lost.failure.code, host.steps[0].effect) == ("unavailable", "none")
        assert made.content == "marked"
    assert Path(given["file"]).read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("tool", "(the preview is refused: not_found: no such row)"),
        ("error", "(the preview is refused: conflict: it is locked)"),
        ("value", "(the preview raised ValueError)"),
        ("time", "(the preview raised TimeoutError)"),
        ("cancelled", "(the preview raised CancelledError)"),
        ("broken", "(the preview broke the contract: $: str, expected ToolResult)"),
        ("arguments", "(the arguments are refused: Error (invalid_arguments): not this kind)"),
    ],
)
def test_a_preview_that_fails_says_the_same_wherever_it_is_made(
    pool: Executor, kind: str, line: str
) -> None:
    """An approver reads the author's own words, though the body looked in another place."""
    with host_on(pool) as host, Host(tools=apart.TOOLS) as here:
        shown = [each.preview("doubts", {"kind": kind}, actor=ADA).lines for each in (host, here)]

    assert shown == [(line,)] * 2
