"""The store, on both databases: what is kept of runs and sessions, and what waits."""

import asyncio
import json
import threading
from decimal import Decimal
from typing import Any, get_args

import attrs
import pytest

from support.audit import Kept, echo, host, waiting, writer
from support.tools import ADA, BOB, approved, plugin
from toolseam import Actor, ToolError, ToolResult, json_safe
from toolseam._policy import Reason
from toolseam.providers import ProviderError, ProviderFault
from toolseam.runs import Decision, RunError, RunStatus
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import _rows, _store

WHO = "SELECT kind, status, reason, owner, rounds, lost FROM run ORDER BY began"
WHAT = "SELECT seq, kind, tool, status, effect, actor FROM run_step ORDER BY run_id, seq"


def test_a_run_is_kept_with_every_step(kept: Kept) -> None:
    """Its row says who, how it ended and with what; its steps are numbered without a gap."""
    provider = ScriptedProvider([("echo", {"text": "hi"}), "It said hi."])

    with host(kept, echo()) as made:
        made.session(actor=ADA).run(provider, "What does it say?")

    assert kept.rows(WHO) == [("run", "completed", "completed", "ada", 2, 0)]
    assert kept.rows(WHAT) == [
        (1, "request", None, None, None, None),
        (2, "llm", None, "calls", None, None),
        (3, "tool", "echo", "ok", "none", "ada"),
        (4, "request", None, None, None, None),
        (5, "llm", None, "stop", None, None),
    ]


def test_calls_outside_runs_are_kept_too(kept: Kept) -> None:
    """The host's own calls, and each session's, are a row each, refusals included."""
    with host(kept, echo()) as made:
        made.call("echo", {"text": "a"}, actor=ADA)
        made.call("echo", {"word": "b"}, actor=BOB)
        made.session(actor=ADA).call("nothing", {})

    found = kept.rows("SELECT tool, status, actor FROM run_step ORDER BY at")
    assert found == [
        ("echo", "ok", "ada"),
        ("echo", "invalid_arguments", "bob"),
        ("nothing", "not_found", "ada"),
    ]
    assert [row[:2] for row in kept.rows(WHO)] == [("session", "session")] * 2


def test_the_intent_of_a_write_is_there_while_it_runs(kept: Kept) -> None:
    """Whoever looks in the middle sees a write of unknown effect; afterwards it is that one row."""
    seen: list[Any] = []

    def execute(arguments: Any) -> ToolResult:
        seen.extend(kept.rows(WHAT))
        return ToolResult.text("written")

    slow = plugin(execute, name="write", effect="idempotent_write", preview=execute)

    with host(kept, slow) as made:
        approval = approved(made, "write", {})
        seen.clear()
        assert made.call("write", {}, actor=ADA, approval=approval).success

    # The preview is made once more before the intent is stored.
    assert seen[-1] == (1, "tool", "write", "intended", "unknown", "ada")
    assert kept.rows(WHAT) == [(1, "tool", "write", "ok", "done", "ada")]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_run_waits_in_one_process_and_goes_on_in_another(kept: Kept, is_async: bool) -> None:
    """Another host resumes it from the store alone; its steps continue their numbers."""
    done: list[str] = []
    provider = ScriptedProvider(["done"])
    with host(kept, writer(done)) as made:
        run = waiting(made)
    assert kept.rows(WHO)[0][:4] == ("run", "waiting_for_approval", None, "ada")

    with host(kept, writer(done)) as made:
        session = made.session()
        said = [Decision.approve(each, actor=ADA) for each in session.waiting(run.id)]
        if is_async:
            ended = asyncio.run(session.aresume(run.id, said, provider))
        else:
            ended = session.resume(run.id, said, provider)

    assert (ended.status, done) == ("completed", ["y"])
    numbers = [row[0] for row in kept.rows("SELECT seq FROM run_step ORDER BY seq")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert kept.rows(WHO)[0][:4] == ("run", "completed", "completed", "ada")
    assert kept.rows("SELECT state FROM run") == [(None,)]
    decided = kept.rows("SELECT wait, position, verdict, decided_by, sealed FROM run_decision")
    assert decided == [(1, 0, "approve", "ada", None)]


def test_a_run_may_wait_more_than_once(kept: Kept) -> None:
    """Each wait has decisions of its own."""
    done: list[str] = []
    turns = ("write", {"text": "a"}), ("write", {"text": "b"})
    provider = ScriptedProvider([*turns, "done"])

    with host(kept, writer(done)) as made:
        session = made.session(actor=ADA)
        run = session.run(provider, "q")
        for _ in range(2):
            said = [Decision.approve(each, actor=ADA) for each in session.waiting(run.id)]
            run = session.resume(run.id, said, provider)

    assert (run.status, done) == ("completed", ["a", "b"])
    assert kept.rows("SELECT wait FROM run_decision ORDER BY wait") == [(1,), (2,)]


def test_people_decide_in_processes_of_their_own(kept: Kept) -> None:
    """Decisions wait in the store, sealed, until somebody goes on; the first word stands."""
    done: list[str] = []
    with host(kept, writer(done)) as made:
        run = waiting(made)
    with host(kept, writer(done)) as made:
        session = made.session()
        (asked,) = session.waiting(run.id)
        assert session.decide(run.id, [Decision.deny(asked, actor=BOB, reason="not today")])
        with pytest.raises(RunError) as refused:
            session.decide(run.id, [Decision.approve(asked, actor=ADA)])
        assert refused.value.code == "conflict"
    assert b"not today" not in kept.bytes()

    provider = ScriptedProvider(["Fine."])
    with host(kept, writer(done)) as made:
        made.session().resume(run.id, [], provider)

    told = str(provider.requests[0].messages[-1].text)
    assert (done, told.endswith("not today.")) == ([], True)


def test_of_many_that_resume_a_run_one_does(kept: Kept) -> None:
    """Eight threads of two hosts resume the same run at once: it goes on once."""
    done: list[str] = []
    with host(kept, writer(done)) as one, host(kept, writer(done)) as two:
        run = waiting(one)
        ready = threading.Barrier(8)
        codes: list[str] = []

        def resume(made: Any) -> None:
            session = made.session()
            said = [Decision.approve(each, actor=ADA) for each in session.waiting(run.id)]
            ready.wait()
            try:
                session.resume(run.id, said, ScriptedProvider(["done"]))
            except RunError as error:
                codes.append(error.code)

        threads = [threading.Thread(target=resume, args=(made,)) for made in (one, two) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert done == ["y"]
    assert len(codes) == 7
    assert set(codes) <= {"conflict", "not_found"}


def test_what_waits_is_listed_who_waits_longest_first(kept: Kept) -> None:
    """In any process, and no longer than it waits."""
    with host(kept, writer([])) as made:
        runs = [waiting(made).id for _ in range(3)]

    with host(kept, writer([])) as made:
        assert [each.id for each in made.waiting_runs()] == runs
        said = [Decision.deny(each, actor=BOB) for each in made.session().waiting(runs[1])]
        made.session().resume(runs[1], said, ScriptedProvider(["fine"]))
        assert [each.id for each in made.waiting_runs()] == [runs[0], runs[2]]


@pytest.mark.parametrize(("first", "then"), [("full", "metadata"), ("metadata", "full")])
def test_a_run_over_two_levels_says_the_laxest(kept: Kept, first: str, then: str) -> None:
    """Some of its content is there, so its row says so."""
    with host(kept, writer([]), level=first) as made:
        run = waiting(made)
    with host(kept, writer([]), level=then) as made:
        said = [Decision.approve(run.pending[0], actor=ADA)]
        made.session().resume(run.id, said, ScriptedProvider(["done"]))

    assert kept.rows("SELECT level FROM run") == [("full",)]


def test_structured_values_are_strict_json(kept: Kept) -> None:
    """Every digit of an integer is there; what JSON cannot hold is a row that says so (P01)."""
    values = {"big": 9007199254740993, "price": Decimal("19.90"), "peak": float("inf")}
    tools = [
        plugin(lambda arguments: ToolResult.text("x", data=json_safe(values)), name="safe"),
        plugin(lambda arguments: ToolResult.text("x", data=values), name="raw"),
    ]

    with host(kept, *tools, level="full") as made:
        made.call("safe", actor=ADA)
        made.call("raw", actor=ADA)

    found = kept.rows("SELECT status, content FROM run_step ORDER BY seq")
    assert [row[0] for row in found] == ["ok", "contract_error"]
    data = {"big": 9007199254740993, "price": "19.90", "peak": "Infinity"}
    assert json.loads(found[0][1], parse_constant=pytest.fail)["data"] == data
    assert "9007199254740993" in found[0][1]


def test_an_outcome_is_stored_though_its_intent_was_marked(kept: Kept) -> None:
    """Another start took this process for dead: the outcome is a row of its own then."""

    def execute(arguments: Any) -> ToolResult:
        kept.rows("UPDATE run_step SET status = 'interrupted'")
        return ToolResult.text("written")

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text("would write")

    slow = plugin(execute, name="write", effect="idempotent_write", preview=preview)

    with host(kept, slow) as made:
        made.call("write", {}, actor=ADA, approval=approved(made, "write", {}))

    assert [row[3:5] for row in kept.rows(WHAT)] == [("interrupted", "unknown"), ("ok", "done")]


def test_many_sessions_are_remembered_by_the_database_alone(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the store no longer knows of a session it asks for, and adds no second row."""
    monkeypatch.setattr(_store, "_KNOWN", 2)
    with host(kept, echo()) as made:
        sessions = [made.session(actor=ADA) for _ in range(5)]
        for session in sessions * 2:
            session.call("echo", {"text": "x"})
        store: Any = made._state.store
        assert len(store._known) == 2

    found = kept.rows("SELECT run_id, max(seq) FROM run_step GROUP BY run_id")
    assert {row[1] for row in found} == {2}
    assert kept.rows("SELECT count(*) FROM run") == [(5,)]


def test_a_claim_names_the_state_that_was_looked_at(kept: Kept) -> None:
    """Another one is a conflict, and the run waits on as it did."""
    with host(kept, writer([])) as made:
        run = waiting(made)
        store = made._state.store
        with pytest.raises(RunError) as refused:
            store.claim(run.id, b"another state")
        assert refused.value.code == "conflict"
        store.claim(run.id, store.look(run.id))


def test_a_kept_decision_that_no_longer_fits_is_dropped(kept: Kept) -> None:
    """When the preview has changed since, the run waits for new decisions."""
    seen = ["before"]

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text(seen[0])

    slow = plugin(preview, name="write", effect="unknown", preview=preview)
    provider = ScriptedProvider([("write", {}), "done"])
    with host(kept, slow) as made:
        session = made.session(actor=ADA)
        run = session.run(provider, "q")
        session.decide(run.id, [Decision.approve(run.pending[0], actor=ADA)])
        seen[0] = "after"
        with pytest.raises(RunError) as refused:
            session.resume(run.id, [], provider)
        assert refused.value.code == "conflict"
        session.decide(run.id, [Decision.deny(run.pending[0], actor=BOB)])

    assert kept.rows("SELECT verdict FROM run_decision") == [("deny",)]


@pytest.mark.parametrize("who", ["a\nb", "x\x00", "日本", "n" * 300])
def test_an_actor_of_any_name(kept: Kept, who: str) -> None:
    """One line of at most 64 characters, and a run of his waits and goes on."""
    done: list[str] = []
    actor = Actor(who, {"admin"})
    with host(kept, writer(done)) as made:
        session = made.session(actor=actor)
        provider = ScriptedProvider([("write", {"text": "y"}), "done"])
        run = session.run(provider, "q")
        session.resume(run.id, [Decision.approve(run.pending[0], actor=actor)], provider)

    ((owner,),) = kept.rows("SELECT owner FROM run")
    assert (done, owner.isprintable(), len(owner) <= 64) == (["y"], True, True)


def test_a_row_that_no_database_takes_is_counted(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    """A step of a shape that nobody foresaw costs a row, never a call."""
    with host(kept, echo()) as made:
        session = made.session(actor=ADA)
        session.call("echo", {"text": "x"})
        store: Any = made._state.store
        step: Any = session.steps[0]
        store.step(attrs.evolve(step, version="\udce9"))
        store.step(attrs.evolve(step, position=2**70))
        store.step(attrs.evolve(step, result=None))
        store._writer._rests_until = 0.0
        session.call("echo", {"text": "y"})

    assert kept.rows("SELECT count(*) FROM run_step") == [(2,)]
    assert kept.rows("SELECT lost FROM run") == [(3,)]
    assert caplog.text.count("could not be stored") == 3


def test_terminal_is_terminal(kept: Kept) -> None:
    """What has ended is not ended again, nor suspended, looked at or claimed."""
    with host(kept) as made:
        run = made.session(actor=ADA).run(ScriptedProvider(["done"]), "q")
        store = made._state.store
        store.end(made.session().run(ScriptedProvider([]), "q"))
        store.end(attrs.evolve(run, status=RunStatus.CANCELLED))
        for ask in (
            lambda: store.suspend(run.id, b"{}"),
            lambda: store.look(run.id),
            lambda: store.claim(run.id, b"{}"),
            lambda: store.decisions(run.id),
            lambda: store.forget(run.id),
            lambda: store.decide(run.id, []),
        ):
            with pytest.raises(RunError) as refused:
                ask()
            assert refused.value.code in {"not_found", "unavailable"}

    assert [row[1:3] for row in kept.rows(WHO)] == [
        ("completed", "completed"),
        ("failed", "provider_failed"),
    ]


def test_how_a_run_ended_is_kept(kept: Kept) -> None:
    """Its reason, its fault, its tokens and its mark."""
    auth = ProviderError("No.", ProviderFault.AUTH)

    with host(kept) as made:
        made.session(actor=ADA).run(ScriptedProvider([auth]), "q")

    columns = "status, reason, fault, input_tokens, mark, truncated"
    assert kept.rows(f"SELECT {columns} FROM run") == [
        ("failed", "provider_failed", "auth", 0, "public_content", 0)
    ]


def test_a_cancelled_run_is_kept_as_that(kept: Kept) -> None:
    """Who cancels the task finds a run that was cancelled, and its call too (P07)."""
    started = asyncio.Event()

    async def rest(arguments: Any) -> ToolResult:
        started.set()
        await asyncio.sleep(60)
        return ToolResult.text("rested")

    async def main(made: Any) -> bool:
        provider = ScriptedProvider([("rest", {}), "never"])
        task = asyncio.create_task(made.session(actor=ADA).arun(provider, "q"))
        await started.wait()
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    with host(kept, plugin(rest, name="rest")) as made:
        assert asyncio.run(main(made))

    assert kept.rows(WHO)[0][1:3] == ("cancelled", "cancelled")
    assert kept.rows(WHAT)[-1][1:4] == ("tool", "rest", "cancelled")


@pytest.mark.parametrize("raised", [SystemExit(3), ValueError("no"), TimeoutError()])
def test_whatever_a_tool_raises_leaves_one_row(kept: Kept, raised: BaseException) -> None:
    """One finished row each (P07), and the host goes on."""

    def fail(arguments: Any) -> ToolResult:
        raise raised

    with host(kept, plugin(fail, name="fail"), echo()) as made:
        made.call("fail", actor=ADA)
        made.call("echo", {"text": "x"}, actor=ADA)

    code = "timeout" if isinstance(raised, TimeoutError) else "execution_error"
    assert [row[3] for row in kept.rows(WHAT)] == [code, "ok"]


def test_ctrl_c_leaves_a_row_and_goes_on_up(kept: Kept) -> None:
    """It is recorded as cancelled and reaches the caller (P07)."""

    def stop(arguments: Any) -> ToolResult:
        raise KeyboardInterrupt

    with host(kept, plugin(stop, name="stop")) as made, pytest.raises(KeyboardInterrupt):
        made.call("stop", actor=ADA)

    assert [row[3] for row in kept.rows(WHAT)] == ["cancelled"]


HOSTILE = [
    "\x00",
    "caf\udce9.txt",
    "\ud83d\ude80 \ud83d",
    "a\u202eb",
    "",
    "\n \n",
    "\x1b]52;c\x07",
    "日本",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_hostile_text_is_kept(kept: Kept, text: str) -> None:
    """NUL, half a surrogate pair and the rest cost no row on either database (P02, P04)."""

    def give(arguments: Any) -> ToolResult:
        return ToolResult.text(text, data={"x": text}, metadata={"reason": text})

    def fail(arguments: Any) -> ToolResult:
        raise ToolError(text or "x", metadata={"reason": text})

    with host(kept, plugin(give, name="give"), plugin(fail, name="fail"), level="full") as made:
        made.call("give", actor=ADA)
        made.call("fail", actor=ADA)
        made.call(text, actor=ADA)
        made.call("give", f'{{"{text}": 1}}', actor=ADA)
        made.session(actor=ADA).run(ScriptedProvider([(text, {"a": text}), text]), text or "q")

    assert kept.rows("SELECT lost FROM run WHERE lost > 0") == []
    (steps,) = kept.rows("SELECT count(*) FROM run_step WHERE kind = 'tool'")[0]
    assert steps == 5
    assert kept.rows("SELECT status FROM run WHERE kind = 'run'")[0][0] == "completed"


def test_none_of_content_is_a_contract_error_row(kept: Kept) -> None:
    """A tool that returns None leaves a row that says so (P04)."""
    with host(kept, plugin(lambda arguments: None, name="none")) as made:
        made.call("none", actor=ADA)

    assert [row[3] for row in kept.rows(WHAT)] == ["contract_error"]


def test_a_disabled_audit_keeps_nothing(kept: Kept) -> None:
    """With `enabled = false` there is no store, though the plugin is named."""
    with host(kept, echo(), enabled=False) as made:
        made.call("echo", {"text": "x"}, actor=ADA)
        assert type(made._state.store).__name__ == "MemoryStore"


def test_numbers_have_no_gap_from_many_threads(kept: Kept) -> None:
    """16 threads make 25 calls each: 400 rows, numbered 1 to 400 (P34)."""
    with host(kept, echo()) as made:
        session = made.session(actor=ADA)

        def work() -> None:
            for number in range(25):
                assert session.call("echo", {"text": str(number)}).success

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert [row[0] for row in kept.rows("SELECT seq FROM run_step ORDER BY seq")] == list(
        range(1, 401)
    )


def test_a_reason_of_our_own_is_a_fact(kept: Kept) -> None:
    """Why a call was refused is kept at every level, whatever the gate said."""
    assert set(get_args(Reason)) <= _rows._REASONS
    with host(kept, echo(data_class="editor_content")) as made:
        made.call("echo", {"text": "x"})

    assert [json.loads(row[0])["reason"] for row in kept.rows("SELECT facts FROM run_step")] == [
        "no_actor"
    ]
