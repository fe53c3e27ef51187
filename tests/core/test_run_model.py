"""Any script of a model and any words of people: what holds of a run whatever happens."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tools import ADA, BOB, plugin
from toolseam import Host, Step, ToolError, ToolResult
from toolseam.providers import (
    AssistantMessage,
    Finish,
    ProviderError,
    ProviderFault,
    Reply,
    ToolCall,
    ToolMessage,
)
from toolseam.runs import Budget, Decision, PendingCall, Run, RunError, RunStatus, RunStep
from toolseam.testing import ScriptedProvider

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
EDITED = {"text": "edited"}


def say(arguments: Any) -> ToolResult:
    """Say a text again."""
    return ToolResult.text(f"said {arguments['text']}")


def fail(arguments: Any) -> ToolResult:
    """Find nothing."""
    raise ToolError("Nothing there.", "not_found")


def give_nothing(arguments: Any) -> None:
    """Break the contract."""


class World:
    """A host with tools of every kind, and what its writes did, in order."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.host = Host(
            tools=[
                plugin(say, name="echo", parameters=TEXT),
                plugin(say, name="safe", parameters=TEXT, parallel_safe=True),
                plugin(fail, name="fail", parallel_safe=True),
                plugin(give_nothing, name="broken"),
                self._writer("write"),
                self._writer("wipe", exact=False),
                self._writer("off"),
                # A read that the operator holds to be a write.
                self._writer("raised", effect="read_only", parallel_safe=True),
            ],
            settings={
                "enable": ["write", "wipe", "raised"],
                "tools": {"raised": {"effect": "unknown"}},
            },
        )

    def _writer(self, name: str, *, exact: bool = True, **more: Any) -> Any:
        def execute(arguments: Any) -> ToolResult:
            self.done.append((name, arguments["text"]))
            return ToolResult.text("done")

        def preview(arguments: Any) -> ToolResult:
            # That of one tool shows the world, and changes with it.
            return ToolResult.text(f"{arguments['text']} after {len(self.done) * exact}")

        claims = {"effect": "idempotent_write", "parameters": TEXT, **more}
        return plugin(execute, name=name, preview=preview, **claims)


ARGUMENTS = st.sampled_from(
    [
        {"text": "a"},
        {"text": "b"},
        '{"text": "a"}',
        '{"text":"a" }',
        '{"text": "cut o',
        '{"text": "half \\ud83d"}',
        {"text": "half \ud83d"},
        {"text": 2**70},
        {"text": float("nan")},
        {"words": "a"},
        "[]",
        "",
        None,
    ]
)
NAMES = ["echo", "safe", "fail", "write", "wipe", "raised", "broken", "off", "nobody", "", "x\ny"]
CALLS = st.builds(
    ToolCall,
    st.sampled_from(NAMES),
    ARGUMENTS,
    st.sampled_from(["a", "a", "b", None]),
)
TURNS = st.builds(
    Reply,
    calls=st.lists(CALLS, min_size=1, max_size=4).map(tuple),
    finish=st.sampled_from([Finish.CALLS, Finish.CALLS, Finish.CALLS, Finish.LENGTH]),
)
ENDS = st.sampled_from(
    ["done", ProviderError("No.", ProviderFault.AUTH), ProviderError("No.", ProviderFault.UNKNOWN)]
)
SCRIPTS = st.tuples(st.lists(TURNS, max_size=5), ENDS).map(lambda both: [*both[0], both[1]])
WORDS = st.lists(st.sampled_from(["approve", "approve", "deny", "edit"]), min_size=4, max_size=4)


def decision(pending: PendingCall, verdict: str) -> Decision:
    """Return a person's word."""
    if verdict == "deny":
        return Decision.deny(pending, actor=BOB, reason="no")
    if verdict == "edit":
        return Decision.edit(pending, EDITED, actor=ADA)
    return Decision.approve(pending, actor=ADA)


@attrs.frozen
class Played:
    """One run from its beginning to its end, over every wait."""

    run: Run
    steps: list[Any]
    done: list[tuple[str, str]]
    approved: list[tuple[str, str]]

    def told(self) -> list[Any]:
        """Return all that another way of driving the same run must show too."""
        steps = [
            (each.kind, each.round, each.position, each.tool, each.status, each.effect)
            if isinstance(each, Step)
            else (each.kind, each.round, dict(each.facts))
            for each in self.steps
        ]
        # Calls of one turn that run at once finish in any order.
        return [self.run.reason, self.run.messages, sorted(map(repr, steps)), self.done]


async def streamed(stream: AsyncIterator[Any]) -> Run:
    """Return the run at the end of a stream, which showed every step of it."""
    seen = [each async for each in stream]
    run: Run = seen[-1]
    assert [e for e in seen if isinstance(e, Step | RunStep)] == list(run.steps)
    return run


def play(way: str, script: list[Any], words: list[str], **options: Any) -> Played:
    """Drive a run to its end, deciding as the words say."""
    world = World()
    provider = ScriptedProvider(script)
    session = world.host.session(actor=ADA)
    if way == "run":
        run = session.run(provider, "q", **options)
    elif way == "arun":
        run = asyncio.run(session.arun(provider, "q", **options))
    else:
        run = asyncio.run(streamed(session.astream(provider, "q", **options)))
    steps, approved = list(run.steps), list[tuple[str, str]]()
    turn = itertools.cycle(words)
    while run.status is RunStatus.WAITING_FOR_APPROVAL:
        asked = [each for each in run.pending if each.needs_approval]
        said = [decision(each, next(turn)) for each in asked]
        approved += [
            (each.tool, (word.arguments or each.arguments)["text"])
            for each, word in zip(asked, said, strict=True)
            if word.verdict != "deny"
        ]
        if way == "run":
            run = session.resume(run.id, said, provider)
        else:
            run = asyncio.run(session.aresume(run.id, said, provider))
        steps += run.steps
    with pytest.raises(RunError) as over:
        session.resume(run.id, [], provider)
    assert over.value.code == "not_found"
    world.host.close()
    return Played(run, steps, world.done, approved)


def answered(run: Run) -> None:
    """Hold every call to exactly one answer, in the order of the calls."""
    left = iter(run.messages)
    for message in left:
        assert not isinstance(message, ToolMessage), "an answer to nothing"
        if isinstance(message, AssistantMessage):
            assert [next(left).call for _ in message.calls] == list(message.calls)  # type: ignore[union-attr]


@settings(max_examples=75)
@given(script=SCRIPTS, words=WORDS, calls=st.sampled_from([None, None, 2]))
def test_whatever_a_model_asks_and_people_say(
    script: list[Any], words: list[str], calls: int | None
) -> None:
    """Each call is answered once and in order, and no write runs but once for its approval."""
    options: dict[str, Any] = {"max_rounds": 4, "budget": Budget(calls=calls)}

    played = play("run", script, words, **options)

    answered(played.run)
    assert played.run.status.is_terminal
    assert not Counter(played.done) - Counter(played.approved)
    ids = [each.id for each in played.steps]
    assert len(set(ids)) == len(ids)
    tools = [each for each in played.steps if isinstance(each, Step)]
    made = [each for each in played.run.messages if isinstance(each, ToolMessage)]
    assert len(tools) == len(made)
    assert [each.is_error for each in made].count(True) == sum(s.status != "ok" for s in tools)
    assert sum(s.effect == "done" for s in tools) == len(played.done)
    assert play("arun", script, words, **options).told() == played.told()
    assert play("astream", script, words, **options).told() == played.told()
