"""The edges of a run: what people are asked, what cancels it, and what ends it early."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import pytest

from support.tools import ADA, BOB, plugin
from toolseam import Host, Step, ToolResult, hookimpl
from toolseam._run_store import MemoryStore
from toolseam.providers import (
    AssistantMessage,
    Reply,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from toolseam.runs import Budget, Decision, Run, RunError, RunStatus, RunStep
from toolseam.testing import ScriptedProvider

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
WRITE = ("write", {"text": "y"})


class Shelf:
    """Things that tools put somewhere, and a host with those tools."""

    def __init__(self, *plugins: Any, **settings: Any) -> None:
        self.done: list[str] = []
        self.host = Host(
            tools=[
                self.tool("echo"),
                self.tool("write", effect="idempotent_write", preview=self._preview()),
                self.tool("raised", parallel_safe=True, preview=self._preview()),
            ],
            plugins=plugins,
            settings={
                "enable": ["write", "raised"],
                "tools": {"raised": {"effect": "idempotent_write"}},
                **settings,
            },
        )

    def tool(self, name: str, **more: Any) -> Any:
        """Return a tool that says in `done` what it did."""

        def execute(arguments: Any) -> ToolResult:
            self.done.append(f"{name} {arguments['text']}")
            return ToolResult.text("done")

        return plugin(execute, name=name, parameters=TEXT, **more)

    def _preview(self) -> Any:
        def preview(arguments: Any) -> ToolResult:
            return ToolResult.text(f"after {len(self.done)}")

        return preview

    def run(self, script: list[Any], **options: Any) -> Run:
        """Run a script as far as it goes, with everything approved."""
        provider = ScriptedProvider(script)
        run = self.host.session(actor=ADA).run(provider, "q", **options)
        while run.status is RunStatus.WAITING_FOR_APPROVAL:
            asked = [each for each in run.pending if each.needs_approval]
            said = [Decision.approve(each, actor=ADA) for each in asked]
            run = self.host.session().resume(run.id, said, provider)
        return run


def statuses(run: Run) -> list[str]:
    """Say how the calls of a run came out."""
    return [each.status for each in run.steps if isinstance(each, Step)]


# -- what people are asked ------------------------------------------------------------------------


def test_a_read_that_is_held_to_be_a_write_keeps_its_approval() -> None:
    """Beside another parallel_safe call too, where the operator raised its effect."""
    shelf = Shelf()
    provider = ScriptedProvider([[("raised", {"text": "a"}), ("raised", {"text": "b"})], "done"])

    with shelf.host as host:
        run = host.session(actor=ADA).run(provider, "q")
        said = [
            Decision.approve(run.pending[0], actor=ADA),
            Decision.deny(run.pending[1], actor=ADA, reason="no"),
        ]
        ended = host.session().resume(run.id, said, provider)

    assert (shelf.done, statuses(ended)) == (["raised a"], ["ok", "approval_denied"])


def test_the_call_id_is_one_calls_alone() -> None:
    """The idempotency key of a write is that of its preview, and of no write of another round."""
    seen: list[tuple[str, str]] = []

    def note(word: str) -> Any:
        def hook(arguments: Any, context: Any) -> ToolResult:
            seen.append((word, context.call_id.removeprefix(context.run_id)))
            return ToolResult.text("done")

        return hook

    more = {"parameters": TEXT, "effect": "non_idempotent_write"}
    shelf = Shelf()
    shelf.host = Host(
        tools=[plugin(note("runs"), preview=note("shows"), name="noted", **more)],
        settings={"enable": ["noted"]},
    )
    both = [("noted", {"text": "a"}), ("noted", {"text": "b"})]
    with shelf.host:
        shelf.run([both, ("noted", {"text": "c"}), "Done."])

    assert [key for word, key in seen if word == "runs"] == [":1.0", ":1.1", ":2.0"]
    assert {key for word, key in seen if word == "shows"} == {":1.0", ":1.1", ":2.0"}


def test_nobody_is_asked_about_a_call_that_is_made_again_and_again() -> None:
    """A write that people refused twice is answered by the loop the third time."""
    shelf = Shelf()
    provider = ScriptedProvider([WRITE, WRITE, WRITE, "Fine."])

    with shelf.host as host:
        run = host.session(actor=ADA).run(provider, "q")
        for _ in range(2):
            no = Decision.deny(run.pending[0], actor=BOB)
            run = host.session().resume(run.id, [no], provider)

    assert (run.answer, shelf.done) == ("Fine.", [])
    told = str(run.messages[-2].text)
    assert told.startswith("Error (conflict): The same call was asked for twice in a row")


def test_the_same_call_in_other_words_is_the_same() -> None:
    """Spaces, escapes and the form that a provider gives arguments in make no other call."""
    shelf = Shelf()
    forms: list[Any] = [{"text": "a"}, '{"text":"a"}', '{ "text": "\\u0061" }', '{"text":"b"}']

    with shelf.host:
        run = shelf.run([*(("echo", form) for form in forms), "done"])

    assert statuses(run) == ["ok", "ok", "conflict", "ok"]


def test_nobody_is_asked_about_a_call_beyond_the_budget() -> None:
    """When the calls are used up a write is answered with that at once."""
    shelf = Shelf()

    with shelf.host:
        script = [("echo", {"text": "a"}), WRITE, "done"]
        run = shelf.run(script, budget=Budget(calls=1))

    assert (statuses(run), shelf.done) == (["ok", "unavailable"], ["echo a"])


def test_only_calls_that_run_count_towards_the_budget() -> None:
    """A name that is unknown and arguments that do not fit use up nothing."""
    shelf = Shelf()
    turn: list[Any] = [
        ("nobody", {}),
        ("echo", {}),
        ("echo", {"text": "a"}),
        ("echo", {"text": "b"}),
    ]

    with shelf.host:
        run = shelf.run([turn, "done"], budget=Budget(calls=1))

    assert statuses(run) == ["not_found", "invalid_arguments", "ok", "unavailable"]


def test_an_edit_of_a_call_whose_world_has_changed_is_a_conflict() -> None:
    """Who edits what he saw is held to that it is still so; looking again helps."""
    shelf = Shelf()
    provider = ScriptedProvider([WRITE, "done"])

    with shelf.host as host:
        session = host.session(actor=ADA)
        run = session.run(provider, "q")
        shelf.done.append("somebody else's")
        with pytest.raises(RunError, match="has changed") as error:
            session.resume(
                run.id, [Decision.edit(run.pending[0], {"text": "z"}, actor=ADA)], provider
            )
        assert error.value.code == "conflict"
        again = session.revised(run.id, run.pending[0])
        session.resume(run.id, [Decision.edit(again, {"text": "z"}, actor=ADA)], provider)

    assert shelf.done == ["somebody else's", "write z"]


@pytest.mark.parametrize("verdict", ["refuse", "", "APPROVE", None])
def test_a_verdict_that_is_none_is_no_approval(verdict: Any) -> None:
    """Only the three words are taken, and only from an actor."""
    with pytest.raises(ValueError, match="verdict"):
        Decision(0, verdict, ADA, "0" * 64)
    with pytest.raises(TypeError, match="actor"):
        Decision(0, "approve", "ada", "0" * 64)  # type: ignore[arg-type]


# -- the mark -------------------------------------------------------------------------------------


def test_a_question_has_the_class_that_the_host_declares() -> None:
    """What a person asks may hold as much as messages do, and goes no farther."""
    provider = ScriptedProvider(["never"])

    with Shelf().host as host:
        session = host.session(actor=ADA, zone="external_global")
        run = session.run(provider, "what is in settings.py?", mark="source_code")

    assert (run.status, run.reason, run.mark) == ("failed", "policy_denied", "source_code")
    assert provider.requests == []


# -- how it ends ----------------------------------------------------------------------------------


class Slow(MemoryStore):
    """A store that takes its time, and remembers what it was told."""

    def __init__(self, *slow: str) -> None:
        super().__init__()
        self.slow = slow
        self.told: list[str] = []

    @hookimpl
    def toolseam_run_store(self) -> MemoryStore:
        """Return itself."""
        return self

    def begin(self, run_id: str, facts: Mapping[str, object]) -> None:
        """Remember."""
        self.told.append("begin")

    def suspend(self, run_id: str, state: bytes) -> None:
        """Keep it, sooner or later."""
        self._wait("suspend")
        super().suspend(run_id, state)

    def claim(self, run_id: str, state: bytes) -> None:
        """Take it, and be slow afterwards."""
        super().claim(run_id, state)
        self._wait("claim")

    def end(self, run: Run) -> None:
        """Remember."""
        self.told.append(f"end {run.status.value}")
        super().end(run)

    def _wait(self, what: str) -> None:
        self.told.append(what)
        if what in self.slow:
            time.sleep(0.3)


async def cancelled_at(store: Slow, what: str, going: Any) -> None:
    """Cancel a run as soon as its store is told of something."""
    task = asyncio.ensure_future(going)
    while what not in store.told:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_run_that_is_cancelled_while_it_is_kept_does_not_wait() -> None:
    """The store hears of the end last, and nobody is asked about a run that is over."""
    store = Slow("suspend")

    with Shelf(store).host as host:
        going = host.session(actor=ADA).arun(ScriptedProvider([WRITE]), "q")
        asyncio.run(cancelled_at(store, "suspend", going))
        assert host.waiting_runs() == ()

    assert store.told == ["begin", "suspend", "end cancelled"]


def test_a_run_that_is_cancelled_while_it_is_taken_is_over() -> None:
    """Who cancels a resume has cancelled the run, though nothing of it ran."""
    store, provider = Slow("claim"), ScriptedProvider([WRITE, "never"])
    shelf = Shelf(store)

    with shelf.host as host:
        run = host.session(actor=ADA).run(provider, "q")
        yes = Decision.approve(run.pending[0], actor=ADA)
        going = host.session().aresume(run.id, [yes], provider)
        asyncio.run(cancelled_at(store, "claim", going))

    assert store.told == ["begin", "suspend", "claim", "end cancelled"]
    assert shelf.done == []


def test_a_stream_that_nobody_listens_to_is_no_run() -> None:
    """A run begins with the first look at its stream."""
    store = Slow()

    with Shelf(store).host as host:
        stream = host.session(actor=ADA).astream(ScriptedProvider(["x"]), "q")
        assert store.told == []

        async def listen() -> None:
            async for _ in stream:
                pass

        asyncio.run(listen())

    assert store.told == ["begin", "end completed"]


def test_a_turn_that_cannot_be_kept_is_answered() -> None:
    """Every call of it, so that the conversation can go on elsewhere."""
    big = Reply(calls=(ToolCall(*WRITE),), extra={"x": "y" * 3_000_000})
    before = [UserMessage("x" * 7_000_000), AssistantMessage("a", (), {"x": "y" * 3_900_000})]
    shelf = Shelf()

    with shelf.host as host:
        first = [*before, AssistantMessage("b", (), {"x": "y" * 3_900_000}), UserMessage("q")]
        session = host.session(actor=ADA, zone="local")
        run = session.run(ScriptedProvider([big]), messages=first)
        assert host.waiting_runs() == ()

    assert (run.status, run.reason) == ("failed", "approval_denied")
    assert isinstance(run.messages[-1], ToolMessage)
    assert (statuses(run), shelf.done) == (["approval_denied"], [])


def test_a_store_that_breaks_does_not_leave_a_run_open() -> None:
    """What a store may not raise comes up to the host, after the run was ended."""

    class Broken(Slow):
        def note(self, step: RunStep) -> None:
            raise ValueError("full")

    store = Broken()

    with Shelf(store).host as host, pytest.raises(ValueError, match="full"):
        host.session(actor=ADA).run(ScriptedProvider(["x"]), "q")

    assert store.told == ["begin", "end failed"]


def test_a_store_that_does_not_close_leaves_nothing_else_open() -> None:
    """What tools opened is closed all the same, and the host hears of the store."""

    class Stuck(Slow):
        def close(self) -> None:
            raise ValueError("stuck")

    class Opened:
        def close(self) -> None:
            closed.append("resource")

    def execute(arguments: Any, context: Any) -> ToolResult:
        context.resource("it", Opened)
        return ToolResult.text("opened")

    closed: list[str] = []
    host = Host(tools=[plugin(execute)], plugins=[Stuck()])
    assert host.call("probe", {}, actor=ADA).failure is None

    with pytest.raises(ValueError, match="stuck"):
        host.close()
    assert closed == ["resource"]


def test_previews_hold_up_nobody() -> None:
    """A preview is a plugin's code: it may take its time, and have an event loop of its own."""
    shelf = Shelf()
    previewed: list[float] = []

    async def inside() -> None:
        await asyncio.sleep(0.3)

    def preview(arguments: Any) -> ToolResult:
        asyncio.run(inside())
        previewed.append(time.monotonic())
        return ToolResult.text("slowly")

    slow = shelf.tool("slow", effect="idempotent_write", preview=preview)

    async def main(host: Host) -> int:
        ticks = 0
        going = asyncio.ensure_future(
            host.session(actor=ADA).arun(ScriptedProvider([("slow", {"text": "y"})]), "q")
        )
        while not going.done():
            ticks += 1
            await asyncio.sleep(0.01)
        assert not going.result().pending[0].failed
        return ticks

    with Host(tools=[slow], settings={"enable": ["slow"]}) as host:
        assert asyncio.run(main(host)) > 5


def test_a_request_that_ran_out_of_time_leaves_its_step() -> None:
    """Each request has the step of what came of it."""

    class Sleeping:
        name = "sleeping"

        async def complete(self, request: Any) -> Reply:
            await asyncio.sleep(5)
            return Reply("late")

    with Shelf().host as host:
        run = host.session(actor=ADA).run(Sleeping(), "q", budget=Budget(seconds=0.1))

    assert [each.kind for each in run.steps] == ["request", "llm"]
    last = run.steps[-1]
    assert isinstance(last, RunStep)
    assert last.facts["fault"] == "budget_exhausted"


def test_what_was_left_out_is_a_step_of_its_round() -> None:
    """The step that counts dropped messages belongs to the request that went without them."""
    long = [("echo", {"text": letter * 900}) for letter in "ab"]
    shelf = Shelf()

    with shelf.host:
        run = shelf.run([*long, "done"], budget=Budget(context_tokens=500))

    rounds = {each.kind: each.round for each in run.steps}
    assert rounds["context"] == rounds["request"] == 3


@pytest.mark.parametrize("stop", [KeyboardInterrupt, asyncio.CancelledError])
@pytest.mark.parametrize("where", ["tool", "preview", "provider"])
def test_a_stop_at_the_keyboard_goes_up_from_anywhere(
    where: str, stop: type[BaseException]
) -> None:
    """Ctrl-C reaches the host after the run was ended; a hook's own cancellation is the tool's."""
    store = Slow()

    def leave(arguments: Any) -> ToolResult:
        raise stop()

    class Leaving:
        name = "leaving"

        def complete(self, request: Any) -> Reply:
            raise stop()

    more: dict[str, Any] = {"preview": leave, "effect": "unknown"} if where == "preview" else {}
    tool = plugin(leave, **more)
    provider = Leaving() if where == "provider" else ScriptedProvider([("probe", {}), "done"])
    settings = {"enable": ["probe"]}

    with Host(tools=[tool], plugins=[store], settings=settings) as host:
        session = host.session(actor=ADA)
        if where != "provider" and stop is asyncio.CancelledError:
            told = session.run(provider, "q")
            assert statuses(told) == {"tool": ["cancelled"], "preview": []}[where]
            return
        with pytest.raises(stop):
            session.run(provider, "q")

    assert store.told == ["begin", "end cancelled"]
