"""A run: a provider is asked, its calls are answered, and people decide in between."""

import asyncio
import json
from typing import Any

import attrs
import pytest

from support.tools import ADA, BOB, plugin
from toolseam import Host, ToolArtifact, ToolError, ToolResult, WireText
from toolseam._run_state import message_json, message_of
from toolseam._runs import Budget, Decision, Run, RunError, RunStatus, RunStep, Termination
from toolseam._steps import Step, step_json
from toolseam.providers import (
    AssistantMessage,
    Delta,
    Finish,
    ProviderError,
    ProviderFault,
    Reply,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from toolseam.testing import ScriptedProvider

SERVICE = attrs.evolve(ADA, service=True)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def say(arguments: Any) -> ToolResult:
    """Say a text again."""
    return ToolResult.text(f"said {arguments['text']}", data={"secret": "run-only"})


def echo(name: str = "echo", **more: Any) -> Any:
    """Return a tool that reads."""
    return plugin(say, name=name, parameters=TEXT, **more)


def writer(kept: list[str], name: str = "write") -> Any:
    """Return a tool that writes into a list, with a preview of what is there."""

    def execute(arguments: Any) -> ToolResult:
        kept.append(arguments["text"])
        return ToolResult.text(f"wrote {arguments['text']}")

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text(f"{len(kept)} kept; would keep {arguments['text']}")

    more = {"effect": "idempotent_write", "parameters": TEXT}
    return plugin(execute, name=name, preview=preview, **more)


def host_of(*tools: Any, **settings: Any) -> Host:
    """Return a host with these tools, the writes enabled."""
    return Host(tools=tools, settings={"enable": ["write", "wipe"], **settings})


def kinds(run: Run) -> list[str]:
    """Say what happened, in order."""
    return [
        f"{each.kind} {each.status}" if isinstance(each, Step) else each.kind for each in run.steps
    ]


def test_a_question_is_answered_by_way_of_a_tool() -> None:
    """The provider gets the seam's text of its call, and its last words are the answer."""
    provider = ScriptedProvider([("echo", {"text": "hi"}), "It said hi."])

    with host_of(echo()) as host:
        run = host.session(actor=ADA).run(provider, "What does it say?")

    assert (run.status, run.reason, run.answer) == ("completed", "completed", "It said hi.")
    assert kinds(run) == ["request", "llm", "tool ok", "request", "llm"]
    assert run.usage == Usage(2, 2)
    told = provider.requests[1].messages[-1]
    assert isinstance(told, ToolMessage)
    assert (told.text, type(told.text), told.is_error) == ("said hi", WireText, False)
    assert [spec.name for spec in provider.requests[0].tools] == ["echo"]


def test_a_message_takes_wire_text_alone() -> None:
    """Text that the seam did not issue is a TypeError, and never a message."""
    with pytest.raises(TypeError, match="WireText"):
        ToolMessage(ToolCall("echo"), "plain")  # type: ignore[arg-type]


@pytest.mark.parametrize("ids", [("a", "b"), (None, None), ("same", "same")])
def test_every_call_is_answered_in_its_place(ids: tuple[str | None, str | None]) -> None:
    """Whatever ids a provider gives, answers stand in the order of the calls, none lost (P16)."""
    calls = [ToolCall("echo", {"text": text}, id_) for text, id_ in zip("xy", ids, strict=True)]
    provider = ScriptedProvider([calls, "done"])

    with host_of(echo()) as host:
        run = host.session(actor=ADA).run(provider, "Twice.")

    answers = [each for each in run.messages if isinstance(each, ToolMessage)]
    assert [(each.text, each.call.id) for each in answers] == [
        ("said x", ids[0]),
        ("said y", ids[1]),
    ]
    steps = [each for each in run.steps if isinstance(each, Step)]
    assert [(each.round, each.position) for each in steps] == [(1, 0), (1, 1)]
    assert len({each.id for each in steps}) == 2


def test_a_failed_sibling_loses_nobody() -> None:
    """Of two calls of one turn the first fails, and both are answered as they came out."""

    def fail(arguments: Any) -> ToolResult:
        raise ToolError("No such shelf.", "not_found")

    provider = ScriptedProvider([[("fail", {}), ("echo", {"text": "x"})], "done"])

    with host_of(plugin(fail, name="fail", parallel_safe=True), echo(parallel_safe=True)) as host:
        run = host.session(actor=ADA).run(provider, "Both.")

    answers = [each for each in run.messages if isinstance(each, ToolMessage)]
    assert [(str(each.text), each.is_error) for each in answers] == [
        ("Error (not_found): No such shelf.", True),
        ("said x", False),
    ]


def test_parallel_safe_calls_run_at_once() -> None:
    """Two calls that wait for each other finish only if both run."""
    met = asyncio.Event()
    waiting: list[str] = []

    async def meet(arguments: Any) -> ToolResult:
        waiting.append("x")
        if len(waiting) == 2:
            met.set()
        await asyncio.wait_for(met.wait(), 5)
        return ToolResult.text("met")

    provider = ScriptedProvider([[("meet", {}), ("meet", {})], "done"])

    with host_of(plugin(meet, name="meet", parallel_safe=True)) as host:
        run = host.session(actor=ADA).run(provider, "Meet.")

    assert kinds(run)[2:4] == ["tool ok", "tool ok"]


def test_a_cap_of_rounds_ends_with_one_request_without_tools() -> None:
    """At the cap the model is asked once more, without tools, and the run says truncated."""
    provider = ScriptedProvider([("echo", {"text": "a"}), ("echo", {"text": "b"}), "So far."])

    with host_of(echo()) as host:
        run = host.session(actor=ADA).run(provider, "On and on.", max_rounds=2)

    assert (run.status, run.reason, run.truncated) == ("completed", "max_rounds", True)
    assert run.answer == "So far."
    assert provider.requests[-1].tools == ()


@pytest.mark.parametrize("rounds", [0, 21, -1])
def test_rounds_have_a_range(rounds: int) -> None:
    """Fewer than one or more than 20 rounds are a ValueError before anybody is asked."""
    provider = ScriptedProvider(["x"])

    with host_of() as host, pytest.raises(ValueError, match="1 to 20"):
        host.session().run(provider, "q", max_rounds=rounds)
    assert provider.requests == []


def test_a_budget_of_tokens_stops_the_next_request() -> None:
    """When the tokens are used up no further request is made."""
    provider = ScriptedProvider([("echo", {"text": "a"}), "never"])

    with host_of(echo()) as host:
        run = host.session(actor=ADA).run(provider, "q", budget=Budget(tokens=2))

    assert (run.status, run.reason, run.truncated) == ("completed", "budget_exhausted", True)
    assert len(provider.requests) == 1


def test_a_budget_of_calls_refuses_the_next_call() -> None:
    """A call beyond the budget is answered without being made, and the run goes on."""
    turn = [("echo", {"text": "a"}), ("echo", {"text": "b"})]
    provider = ScriptedProvider([turn, "done"])

    with host_of(echo()) as host:
        run = host.session(actor=ADA).run(provider, "q", budget=Budget(calls=1))

    assert kinds(run)[2:4] == ["tool ok", "tool unavailable"]
    assert run.answer == "done"


def test_the_same_call_is_not_made_a_third_time_in_a_row() -> None:
    """Twice it runs; the third time it is answered with a note, and counts as a conflict."""
    asked = ("echo", {"text": "again"})
    provider = ScriptedProvider([asked, asked, asked, ("echo", {"text": "other"}), asked, "done"])

    with host_of(echo()) as host:
        run = host.session(actor=ADA).run(provider, "q", max_rounds=6)

    tools = [each.status for each in run.steps if isinstance(each, Step)]
    assert tools == ["ok", "ok", "conflict", "ok", "ok"]


@pytest.mark.parametrize("fault", [ProviderFault.CONNECTION, ProviderFault.RATE_LIMIT])
def test_the_next_provider_is_asked_where_one_cannot_be_reached(fault: ProviderFault) -> None:
    """A retriable failure goes on to the next of the chain."""
    first = ScriptedProvider([ProviderError("Nobody there.", fault)])
    second = ScriptedProvider(["Here."], name="second")

    with host_of() as host:
        run = host.session().run([first, second], "Anybody?")

    assert (run.answer, kinds(run)) == ("Here.", ["request", "llm", "request", "llm"])


def test_a_failure_that_stays_ends_the_run() -> None:
    """A refused key is not tried elsewhere; its kind is kept, and no text of an SDK."""
    first = ScriptedProvider([ProviderError("Refused.", ProviderFault.AUTH)])
    second = ScriptedProvider(["never"])

    with host_of() as host:
        run = host.session().run([first, second], "q")

    assert (run.status, run.reason, run.fault) == ("failed", "provider_failed", "auth")
    assert second.requests == []


def test_a_provider_that_raises_or_lies_is_a_failure() -> None:
    """What is no reply, and any exception, ends the run as `provider_failed`."""

    class Odd:
        name = "odd"

        def __init__(self, made: Any) -> None:
            self.made = made

        def complete(self, request: Any) -> Any:
            if isinstance(self.made, Exception):
                raise self.made
            return self.made

    with host_of() as host:
        for made in (ValueError("key sk-canary"), {"text": "x"}, None):
            run = host.session().run(Odd(made), "q")
            assert (run.status, run.reason, run.fault) == ("failed", "provider_failed", "unknown")
            assert "canary" not in repr(run)


def test_a_turn_that_was_cut_off_runs_no_write() -> None:
    """After `length` nothing that may write runs; a read with whole arguments does."""
    kept: list[str] = []
    calls = (
        ToolCall("write", '{"text": "a"}', "1"),
        ToolCall("echo", '{"text": "b"}', "2"),
        ToolCall("echo", '{"text": "c', "3"),
    )
    provider = ScriptedProvider([Reply(calls=calls, finish=Finish.LENGTH), "done"])

    with host_of(echo(), writer(kept)) as host:
        run = host.session(actor=ADA).run(provider, "q")

    statuses = [each.status for each in run.steps if isinstance(each, Step)]
    assert statuses == ["invalid_arguments", "ok", "invalid_arguments"]
    assert (kept, run.answer) == ([], "done")


# -- approval -------------------------------------------------------------------------------------


def waiting(host: Host, provider: ScriptedProvider) -> Run:
    """Run until people have to decide."""
    run = host.session(actor=ADA).run(provider, "Write it.")
    assert run.status is RunStatus.WAITING_FOR_APPROVAL
    return run


def test_a_write_waits_with_the_whole_turn() -> None:
    """Nothing of the turn runs before a person decided, reads before the write included."""
    kept: list[str] = []
    turn = [("echo", {"text": "x"}), ("write", {"text": "y"})]
    provider = ScriptedProvider([turn, "done"])

    with host_of(echo(), writer(kept)) as host:
        run = waiting(host, provider)

        assert [each.needs_approval for each in run.pending] == [False, True]
        assert run.pending[1].lines == ("0 kept; would keep y",)
        assert not any(isinstance(each, Step) for each in run.steps)
        decision = Decision.approve(run.pending[1], actor=ADA)
        ended = host.session().resume(run.id, [decision], provider)

    assert (kept, ended.answer, ended.id) == (["y"], "done", run.id)
    assert [each.status for each in ended.steps if isinstance(each, Step)] == ["ok", "ok"]


def test_a_denial_is_told_with_its_reason() -> None:
    """The model hears that a person refused, and why; nothing ran."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "Fine."])

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        denied = Decision.deny(run.pending[0], actor=BOB, reason="not today")
        ended = host.session().resume(run.id, [denied], provider)

    told = provider.requests[-1].messages[-1]
    assert str(told.text) == "Error (approval_denied): A person refused this call: not today."
    assert (kept, ended.answer, ended.reason) == ([], "Fine.", "completed")


def test_a_denial_may_end_the_run() -> None:
    """With `stop_on_denial` a refusal is the end, and every call is still answered."""
    provider = ScriptedProvider([("write", {"text": "y"}), "never"])

    with host_of(writer([])) as host:
        run = host.session(actor=ADA).run(provider, "q", stop_on_denial=True)
        ended = host.session().resume(run.id, [Decision.deny(run.pending[0], actor=BOB)], provider)

    assert (ended.status, ended.reason) == ("failed", "approval_denied")
    assert isinstance(ended.messages[-1], ToolMessage)


def test_edited_arguments_run_and_are_told() -> None:
    """An edit approves what it changes to, in one step, and the model is told of it."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        edited = Decision.edit(run.pending[0], {"text": "z"}, actor=ADA)
        host.session().resume(run.id, [edited], provider)

    told = str(provider.requests[-1].messages[-1].text)
    assert kept == ["z"]
    assert told.splitlines() == [
        "(A person changed the arguments of this call before it was made.)",
        "wrote z",
    ]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda p: [], "invalid_arguments"),
        (lambda p: [Decision.approve(p, actor=ADA)] * 2, "invalid_arguments"),
        (lambda p: [Decision(7, "approve", ADA, p.digest)], "invalid_arguments"),
        (lambda p: [Decision(0, "approve", ADA, "0" * 64)], "conflict"),
        (
            lambda p: [Decision.approve(p, actor=attrs.evolve(ADA, service=True))],
            "permission_denied",
        ),
        (lambda p: [Decision.edit(p, {"words": "z"}, actor=ADA)], "invalid_arguments"),
    ],
)
def test_a_decision_that_does_not_fit_leaves_the_run_waiting(make: Any, code: str) -> None:
    """A missing, doubled, foreign or stale decision is refused, and a good one still works."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        with pytest.raises(RunError) as refused:
            host.session().resume(run.id, make(run.pending[0]), provider)
        assert (refused.value.code, kept) == (code, [])
        good = Decision.approve(run.pending[0], actor=ADA)
        assert host.session().resume(run.id, [good], provider).answer == "done"


def test_what_changed_since_is_a_conflict() -> None:
    """A preview that says something else on resume waits for a new decision."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        kept.append("somebody else's")
        with pytest.raises(RunError, match="has changed"):
            host.session().resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)

    assert kept == ["somebody else's"]


def test_an_owner_who_lost_his_right_is_refused() -> None:
    """With the roles that the owner has now, a call that he may no longer make is not made."""
    kept: list[str] = []
    asked = attrs.evolve(ADA, roles=frozenset())
    provider = ScriptedProvider([("wipe", {"text": "y"}), "done"])

    def execute(arguments: Any) -> ToolResult:
        kept.append("wiped")
        return say(arguments)

    more = {"effect": "idempotent_write", "requires_admin": True}
    with host_of(plugin(execute, name="wipe", parameters=TEXT, **more)) as host:
        run = waiting(host, provider)
        decisions = [Decision.approve(run.pending[0], actor=ADA)]
        with pytest.raises(RunError) as refused:
            host.session().resume(run.id, decisions, provider, owner=BOB)
        ended = host.session().resume(run.id, decisions, provider, owner=asked)

    assert refused.value.code == "permission_denied"
    statuses = [each.status for each in ended.steps if isinstance(each, Step)]
    assert (kept, statuses, ended.answer) == ([], ["permission_denied"], "done")


def test_a_budget_of_seconds_ends_a_slow_provider() -> None:
    """A provider that takes longer than what is left ends the run, and is not waited for."""

    class Slow:
        name = "slow"

        async def complete(self, request: Any) -> Reply:
            await asyncio.sleep(60)
            return Reply("late")

    with host_of() as host:
        run = host.session().run(Slow(), "q", budget=Budget(seconds=0.05))

    assert (run.status, run.reason, run.truncated) == ("completed", "budget_exhausted", True)


def test_a_run_is_resumed_once() -> None:
    """A second resume of the same run finds nobody waiting."""
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer([])) as host:
        run = waiting(host, provider)
        decisions = [Decision.approve(run.pending[0], actor=ADA)]
        host.session().resume(run.id, decisions, provider)
        with pytest.raises(RunError) as refused:
            host.session().resume(run.id, decisions, provider)

    assert refused.value.code == "not_found"


def two_writes() -> ScriptedProvider:
    """Return a provider that wants to write twice in one turn."""
    return ScriptedProvider([[("write", {"text": "a"}), ("write", {"text": "b"})], "done"])


def test_people_may_decide_one_by_one_before_anybody_resumes() -> None:
    """What was said of each call is kept, and the resume needs no more of it."""
    kept: list[str] = []
    provider = two_writes()

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        session = host.session()
        first = session.decide(run.id, [Decision.approve(run.pending[0], actor=ADA)])
        second = session.decide(run.id, [Decision.deny(run.pending[1], actor=BOB, reason="no")])
        assert (first, second, kept) == (False, True, [])
        session.resume(run.id, [], provider)

    told = [str(each.text) for each in provider.requests[-1].messages[-2:]]
    assert kept == ["a"]
    assert told == ["wrote a", "Error (approval_denied): A person refused this call: no."]


def test_an_edit_may_wait_for_its_resume() -> None:
    """The arguments of an earlier edit are those that run."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        host.session().decide(run.id, [Decision.edit(run.pending[0], {"text": "z"}, actor=ADA)])
        host.session().resume(run.id, [], provider)

    assert kept == ["z"]


@pytest.mark.parametrize("door", ["decide", "resume"])
def test_the_first_word_on_a_call_stands(door: str) -> None:
    """Deciding about a call that was decided is a conflict, and nothing runs."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        session = host.session()
        session.decide(run.id, [Decision.deny(run.pending[0], actor=BOB)])
        again = [Decision.approve(run.pending[0], actor=ADA)]
        with pytest.raises(RunError) as refused:
            session.decide(run.id, again) if door == "decide" else session.resume(
                run.id, again, provider
            )
        session.resume(run.id, [], provider)

    assert (refused.value.code, kept) == ("conflict", [])


def test_a_kept_decision_that_no_longer_fits_is_dropped() -> None:
    """When the preview has changed since, the run waits for new decisions."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer(kept)) as host:
        run = waiting(host, provider)
        session = host.session()
        session.decide(run.id, [Decision.approve(run.pending[0], actor=ADA)])
        kept.append("somebody else's")
        with pytest.raises(RunError, match="has changed"):
            session.resume(run.id, [], provider)
        with pytest.raises(RunError, match="needs a decision"):
            session.resume(run.id, [], provider)
        session.resume(run.id, [Decision.deny(run.pending[0], actor=BOB)], provider)

    assert kept == ["somebody else's"]


def test_a_run_that_went_on_meanwhile_is_not_claimed() -> None:
    """A claim names the state that was looked at; another one is a conflict."""
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])

    with host_of(writer([])) as host:
        run = waiting(host, provider)
        store = host._state.store
        with pytest.raises(RunError) as refused:
            store.claim(run.id, b"another state")
        store.claim(run.id, store.look(run.id))

    assert refused.value.code == "conflict"


def test_four_eyes_are_a_setting() -> None:
    """With it the owner of a run does not approve his own call, and somebody else does."""
    kept: list[str] = []
    provider = ScriptedProvider([("write", {"text": "y"}), "done"])
    eve = attrs.evolve(ADA, name="eve")

    with host_of(writer(kept), approval={"four_eyes": True}) as host:
        run = waiting(host, provider)
        with pytest.raises(RunError) as refused:
            host.session().resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)
        host.session().resume(run.id, [Decision.approve(run.pending[0], actor=eve)], provider)

    assert (refused.value.code, kept) == ("permission_denied", ["y"])


# -- the mark, contract errors, cancellation, streaming --------------------------------------------


def test_no_provider_below_the_mark_is_asked() -> None:
    """Content that a far provider may not get ends the run before anything is sent to it."""
    near = ScriptedProvider([("echo", {"text": "x"})], zone="local")
    far = ScriptedProvider(["never"], zone="external_global")

    with host_of(echo(data_class="source_code"), writer([])) as host:
        first = host.session(actor=ADA, zone="local").run(near, "q")
        assert (first.reason, first.mark) == ("provider_failed", "source_code")
        handed = host.session(actor=ADA, zone="local").run(
            far, messages=first.messages, mark=first.mark
        )
        undeclared = host.session(actor=ADA, zone="local").run(far, messages=[UserMessage("x")])

    assert (handed.status, handed.reason) == ("failed", "policy_denied")
    assert undeclared.reason == "policy_denied"
    assert far.requests == []


def test_the_farthest_of_a_chain_counts() -> None:
    """A tool that a fallback may not hear of is not offered to the first provider either."""
    near, far = ScriptedProvider(["x"], zone="local"), ScriptedProvider(["x"])
    far.zone = "external_global"

    with host_of(echo(data_class="source_code")) as host:
        host.session(actor=ADA, zone="local").run([near, far], "q")

    assert near.requests[0].tools == ()


def test_a_breach_of_the_contract_can_end_the_run() -> None:
    """With `on_contract_error = "stop"` the run ends, and the tool ran once."""
    ran: list[int] = []

    def wrong(arguments: Any) -> Any:
        ran.append(1)
        return "text"

    for setting, ending in (("stop", "contract_error"), ("continue", "completed")):
        provider = ScriptedProvider([("wrong", {}), ("wrong", {}), "done"])
        with Host(
            tools=[plugin(wrong, name="wrong")], settings={"on_contract_error": setting}
        ) as host:
            run = host.session(actor=ADA).run(provider, "q")
        assert run.reason == ending
    assert len(ran) == 2


def test_cancelling_ends_the_run_and_the_task() -> None:
    """A run that is cancelled in the middle of a tool ends as a cancelled task."""
    started = asyncio.Event()
    heard: list[str] = []

    async def rest(arguments: Any) -> ToolResult:
        started.set()
        await asyncio.sleep(60)
        return ToolResult.text("rested")

    async def main(host: Host) -> bool:
        host.listen(lambda step: heard.append(getattr(step, "status", "")))
        provider = ScriptedProvider([("rest", {}), "never"])
        task = asyncio.create_task(host.session(actor=ADA).arun(provider, "q"))
        await started.wait()
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    with host_of(plugin(rest, name="rest")) as host:
        assert asyncio.run(main(host))
    assert heard == ["cancelled"]


@pytest.mark.parametrize("turns", range(12))
def test_a_run_may_be_cancelled_at_any_moment(turns: int) -> None:
    """Wherever the loop stands, the task ends cancelled, and a finished run is left finished."""
    kept: list[str] = []

    async def main(host: Host) -> tuple[bool, bool]:
        script = [("echo", {"text": "a"}), [("echo", {"text": "b"}), ("echo", {"text": "c"})], "d"]
        task = asyncio.create_task(host.session(actor=ADA).arun(ScriptedProvider(script), "q"))
        for _ in range(turns):
            await asyncio.sleep(0.001 if turns % 2 else 0)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled(), not task.cancelled() and task.result().answer == "d"

    with host_of(echo(), writer(kept)) as host:
        cancelled, finished = asyncio.run(main(host))
        # Whoever was cancelled leaves a host that works.
        assert host.session(actor=ADA).run(ScriptedProvider(["x"]), "q").answer == "x"

    assert cancelled != finished


def test_a_stream_shows_everything_and_then_the_run() -> None:
    """Steps, words and progress come as they happen; the last thing is the run."""

    def slow(arguments: Any, context: Any) -> ToolResult:
        context.progress(1, 2, "half")
        return ToolResult.text("slow")

    async def main(host: Host) -> list[Any]:
        provider = ScriptedProvider([("slow", {}), "two words"])
        return [each async for each in host.session(actor=ADA).astream(provider, "q")]

    with host_of(plugin(slow, name="slow")) as host:
        found = asyncio.run(main(host))

    assert isinstance(found[-1], Run)
    assert [each.text for each in found if isinstance(each, Delta)] == ["two", "words"]
    assert [getattr(each, "kind", "") for each in found if not isinstance(each, Delta | Run)] == [
        "request", "llm", "progress", "tool", "request", "llm",
    ]  # fmt: skip


def test_who_stops_listening_cancels_the_run() -> None:
    """Leaving the stream in the middle ends the run."""
    ended: list[str] = []

    async def rest(arguments: Any) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return ToolResult.text("rested")

    async def main(host: Host) -> None:
        provider = ScriptedProvider([("rest", {}), "never"])
        stream = host.session(actor=ADA).astream(provider, "q")
        async for event in stream:
            if isinstance(event, RunStep) and event.kind == "llm":
                await asyncio.sleep(0.05)
                break
        await stream.aclose()  # type: ignore[attr-defined]

    with host_of(plugin(rest, name="rest")) as host:
        asyncio.run(main(host))
    assert ended == ["cancelled"]


def test_running_inside_a_loop_names_the_other_door() -> None:
    """`run` where an event loop runs is a RuntimeError that names `arun`."""

    async def main(host: Host) -> None:
        with pytest.raises(RuntimeError, match="arun"):
            host.session().run(ScriptedProvider(["x"]), "q")

    with host_of() as host:
        asyncio.run(main(host))


def test_an_error_tells_of_no_missing_loop() -> None:
    """What `run` and `resume` raise came of nothing else, so a traceback shows that alone."""
    with host_of() as host, pytest.raises(RunError) as refused:
        host.session().resume("nobody", [], ScriptedProvider(["x"]))

    assert refused.value.__context__ is None


def test_what_does_not_fit_the_model_is_left_out_whole() -> None:
    """Old turns go first and whole; a newest turn that does not fit ends the run."""
    script = [("echo", {"text": "a" * 900}), ("echo", {"text": "b" * 900}), "done"]
    provider = ScriptedProvider(script)

    with host_of(echo()) as host:
        run = host.session(actor=ADA).run(provider, "q", budget=Budget(context_tokens=900))
        tight = host.session(actor=ADA).run(
            ScriptedProvider(script), "q", budget=Budget(context_tokens=256)
        )

    assert run.answer == "done"
    sent = provider.requests[-1].messages
    assert [type(each).__name__ for each in sent] == [
        "UserMessage",
        "AssistantMessage",
        "ToolMessage",
    ]
    assert (tight.status, tight.reason, tight.truncated) == ("completed", "context_truncated", True)


def test_nothing_of_the_run_only_is_kept_while_a_run_waits() -> None:
    """The state of a run that waits holds no data and no artifact of the calls before."""
    provider = ScriptedProvider([("echo", {"text": "x"}), ("write", {"text": "y"}), "done"])

    with host_of(echo(), writer([])) as host:
        run = waiting(host, provider)
        state = host._state.store.look(run.id)

    assert b"said x" in state
    assert b"run-only" not in state


def test_a_question_or_messages_and_not_both() -> None:
    """Neither and both are a TypeError."""
    with host_of() as host:
        for words in ({}, {"question": "q", "messages": [UserMessage("q")]}):
            with pytest.raises(TypeError, match="question or messages"):
                host.session().run(ScriptedProvider(["x"]), **words)


def test_messages_go_on_from_before() -> None:
    """A conversation that is handed in with its class is gone on with."""
    provider = ScriptedProvider(["And yours?"])
    before = [UserMessage("Hello"), AssistantMessage("Hello."), UserMessage("My name is Ada.")]

    with host_of() as host:
        run = host.session().run(provider, messages=before, mark="public_content")

    assert run.messages[:3] == tuple(before)
    assert (run.answer, run.reason) == ("And yours?", Termination.COMPLETED)


def test_markup_is_data_in_a_run_and_stays_as_it_is() -> None:
    """What would break out of a page is kept to the letter, as strict JSON (P05)."""
    evil = '</script><img src=x onerror="window.__hit=1">'

    def execute(arguments: Any) -> ToolResult:
        table = ToolArtifact.table("<b>label</b>", ["<b>Qty</b>"], [[evil]])
        return ToolResult.text(evil, table, data={"note": "<!--<script>", "sep": "a\u2028b"})

    provider = ScriptedProvider([("evil", {"text": '"><svg onload=1>'}), evil])

    with host_of(plugin(execute, name="evil", parameters=TEXT)) as host:
        run = host.session(actor=ADA).run(provider, evil)

    (step,) = (each for each in run.steps if isinstance(each, Step))
    assert step.data is not None
    assert step.data.value == {"note": "<!--<script>", "sep": "a\u2028b"}
    assert step.artifacts[0].rows == [[evil]]
    assert json.loads(json.dumps(step_json(step)))["arguments"] == {"text": '"><svg onload=1>'}
    messages = [message_json(each) for each in run.messages]
    assert [message_of(each) for each in json.loads(json.dumps(messages))] == list(run.messages)
    assert (run.answer, str(run.messages[2].text)) == (evil, evil)


def test_a_failure_reaches_the_provider_as_one() -> None:
    """The error flag of a message is the typed status, with a text that is not blank (P06)."""

    def locked(arguments: Any) -> ToolResult:
        raise ToolError("bin A7 is locked", metadata={"remote": {"code": "LOCKED"}})

    provider = ScriptedProvider([("locked", {}), "done"])

    with host_of(plugin(locked, name="locked")) as host:
        run = host.session(actor=ADA).run(provider, "q")

    told = run.messages[2]
    assert isinstance(told, ToolMessage)
    assert (told.is_error, str(told.text)) == (True, "Error (execution_error): bin A7 is locked")
    assert "LOCKED" not in str(run.messages)
