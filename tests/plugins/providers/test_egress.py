"""No adapter sends, and no state of a run that waits keeps, what is for the run alone."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from support.makers import MAKERS, Maker
from support.provider_recorder import Answer, Recorder, recording
from support.tools import ADA
from toolseam import Actor
from toolseam.runs import Decision, Run
from toolseam_plugins.conformance._egress_traffic import Traffic, make_host, planted

QUESTION = "What do they say?"


@pytest.fixture
def traffic() -> Iterator[Traffic]:
    """Give a host whose tools hold canaries in all that is for the run alone."""
    with planted(make_host) as found:
        yield found


def answers(maker: Maker, names: tuple[str, ...], *, streaming: bool) -> list[Answer]:
    """Ask for the tools that read, then for the one that writes beside one that reads; then end."""
    call = maker.call_in_pieces if streaming else maker.call
    reads = tuple((name, "{}", f"call_{number}") for number, name in enumerate(names))
    # Who resumes a run asks for whole answers.
    writes = ("writing", "{}", "call_w"), ("fine", "{}", "call_f")
    return [call(reads), call(writes), maker.say("They said it.")]


async def run_of(traffic: Traffic, provider: Any, *, streaming: bool) -> Run:
    """Run until somebody has to approve."""
    session = traffic.host.session(actor=Actor("ada", frozenset({"admin"})))
    if not streaming:
        return await session.arun(provider, QUESTION)
    *_, run = [each async for each in session.astream(provider, QUESTION)]
    assert isinstance(run, Run)
    return run


def spoken(traffic: Traffic, maker: Maker, recorder: Recorder, *, streaming: bool) -> bytes:
    """Return the state of the run while it waited; the run has come to its end."""
    run = asyncio.run(run_of(traffic, maker.at(recorder), streaming=streaming))
    assert run.status == "waiting_for_approval"
    state = traffic.host._state.store.look(run.id)
    decisions = [Decision.approve(each, actor=ADA) for each in run.pending if each.needs_approval]
    ended = traffic.host.session().resume(run.id, decisions, maker.at(recorder))
    assert (ended.status, ended.answer) == ("completed", "They said it.")
    return state


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_no_canary_goes_over_the_wire(traffic: Traffic, maker: Maker, streaming: bool) -> None:
    """Canaries in every run-only place, a run that waits and goes on: none in bytes or state."""
    names = tuple(name for name in traffic.names if name != "writing")
    with recording(*answers(maker, names, streaming=streaming)) as recorder:
        state = spoken(traffic, maker, recorder, streaming=streaming)

    assert len(recorder.heard) == 3
    for told in (b"Error (conflict): It failed.", b"Two secrets of", b"fine", QUESTION.encode()):
        assert told in recorder.raw
        assert told in state
    found = {place: bird.is_in(recorder.raw, state) for place, bird in traffic.planted.items()}
    assert found == dict.fromkeys(traffic.planted, False)
