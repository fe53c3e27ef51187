"""The checks of an adapter: of whatever hands a session's tools to a program of somebody else."""

from __future__ import annotations

import asyncio
import inspect
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam_plugins.conformance._egress_traffic import make_host, planted
from toolseam_plugins.conformance._model import Check, Failed, Level, NotApplicable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from toolseam import Session, Step  # noqa: TC004 - nobody resolves it

    Drive = Callable[[Session], str | bytes | Awaitable[str | bytes]]

_RUN_ONLY = ("data", "metadata", "failure_metadata", "artifact_")
_THROWN = ("exception", "look_alike")
_SECRETS = ("settings", "environment")


@attrs.frozen
class _Talk:
    """What a session was asked and what was heard of it, or why that did not come to its end."""

    offered: frozenset[str]
    steps: tuple[Step, ...]
    heard: bytes
    out: tuple[str, ...]
    fault: str | None


class AdapterSubject:
    """An adapter that is driven once, over a session whose tools hold canaries.

    Args:
        drive: given the session, calls every tool that it offers as the adapter does, and returns
            all that left the adapter, or awaits to.
    """

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    @cached_property
    def talk(self) -> _Talk:
        """What came of the one conversation."""
        with planted(make_host) as traffic:
            session = traffic.session()
            fault, heard = None, b""
            try:
                heard = _bytes(_ended(self._drive(session)))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the check says what it was
                fault = f"{type(error).__name__}: {error}"[:300]
            birds = traffic.planted.items()
            out = tuple(place for place, bird in birds if bird.is_in(heard))
            offered = frozenset(spec.name for spec in session.tools())
            return _Talk(offered | set(traffic.names), session.steps, heard, out, fault)

    @property
    def whole(self) -> _Talk:
        """The conversation, if it came to its end."""
        if self.talk.fault is not None:
            raise NotApplicable("the adapter did not come to its end; `adapter-runs` says why")
        return self.talk


def _ended(given: object) -> object:
    if not inspect.isawaitable(given):
        return given

    async def whole() -> object:
        return await given

    return asyncio.run(whole())


def _bytes(heard: object) -> bytes:
    if isinstance(heard, str):
        return heard.encode("utf-8", "surrogatepass")
    if isinstance(heard, bytes | bytearray):
        return bytes(heard)
    raise TypeError(f"the drive returned {type(heard).__name__}, expected all that left, as bytes")


def _runs(subject: AdapterSubject) -> None:
    fault = subject.talk.fault
    if fault is not None:
        raise Failed(f"the adapter raised {fault}")


def _calls_every_tool(subject: AdapterSubject) -> str:
    talk = subject.whole
    missing = talk.offered - {step.tool for step in talk.steps}
    if missing:
        raise Failed(f"it did not call {', '.join(sorted(missing))}")
    return f"{len(talk.steps)} calls of {len(talk.offered)} tools"


def _sends_wire_text(subject: AdapterSubject) -> None:
    unmasked = [step.tool for step in subject.whole.steps if step.wire is None]
    if unmasked:
        raise Failed(f"{unmasked[0]} was called by `call`, which issues no wire text")


def _tells_every_answer(subject: AdapterSubject) -> str:
    talk = subject.whole
    for step in talk.steps:
        text = step.result.content if step.wire is None else str(step.wire)
        forms = (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
        if not any(form.encode() in talk.heard for form in forms):
            raise Failed(f"the answer of {step.tool} ({step.status}) was not heard as it was told")
    return f"{len(talk.heard):,} bytes heard"


def _keeps(places: Iterable[str]) -> Callable[[AdapterSubject], None]:
    def run(subject: AdapterSubject) -> None:
        out = [place for place in subject.whole.out if place.startswith(tuple(places))]
        if out:
            raise Failed(f"came out: {', '.join(out)}")

    return run


_MEND = (
    "Hand on the text that `call_wire` or `acall_wire` returns, and of the step no more than its"
    " status."
)

CHECKS: tuple[Check[AdapterSubject], ...] = tuple(
    Check(slug, Level.MUST, clause, title, why, mend, cast("Any", run))
    for slug, clause, title, why, mend, run in (
        (
            "adapter-runs",
            "§5",
            "A conversation comes to its end, whatever its tools do.",
            "A failure of a tool is an answer; an exception ends somebody's agent.",
            "Answer every call, and raise nothing of it; the drive returns all bytes that left.",
            _runs,
        ),
        (
            "adapter-calls-every-tool",
            "§5",
            "Every tool that a session offers can be called by way of the adapter.",
            "What is not called is not proved, and a tool that is offered has to answer.",
            "Offer what `session.tools()` or `session.schemas` says, and call each in the drive.",
            _calls_every_tool,
        ),
        (
            "adapter-sends-wire-text",
            "§6",
            "Every call is made for a provider, which masks the shapes of secrets.",
            "`call` is for the host's own code: what it returns is not masked.",
            "Call by `call_wire` or `acall_wire`.",
            _sends_wire_text,
        ),
        (
            "adapter-tells-every-answer",
            "§6",
            "The model is told each answer as it was issued, failures too.",
            "An agent that is not told of a failure goes on as if there were none.",
            "Pass the text on unchanged; the drive returns what was sent, not what was logged.",
            _tells_every_answer,
        ),
        (
            "adapter-keeps-run-only",
            "§1",
            "Data, metadata and artifacts do not leave with the answer.",
            "They may hold what a model must not read.",
            _MEND,
            _keeps(_RUN_ONLY),
        ),
        (
            "adapter-keeps-exceptions",
            "§5",
            "What a tool raised, or returned against the contract, does not leave.",
            "Texts of exceptions carry paths, queries and passwords.",
            _MEND,
            _keeps(_THROWN),
        ),
        (
            "adapter-keeps-secrets",
            "§1",
            "Settings and environment do not leave.",
            "They hold keys and passwords.",
            "Send what was asked for, and nothing of the process.",
            _keeps(_SECRETS),
        ),
    )
)
