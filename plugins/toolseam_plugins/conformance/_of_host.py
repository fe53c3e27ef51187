"""Checks of a host: what it makes of tools that are wrong on purpose."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Self

import attrs

from toolseam import (
    Actor,
    ErrorCode,
    Host,
    Session,
    ToolArtifact,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam.testing import canary
from toolseam_plugins.conformance._egress import hits
from toolseam_plugins.conformance._model import Check, Failed, Level

LARGEST = 50_000
_NAME = "probe"
_SLEEP_S = 0.6
_DEADLINE_S = 0.05
_CALLS = 3
_TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
}


@attrs.define(eq=False)
class HostSubject:
    """What makes the hosts that are checked: given tool plugins, it returns a host with them.

    Args:
        make: by default `Host(tools=...)` itself.
    """

    make: Callable[[Sequence[object]], Host] = attrs.field(default=lambda tools: Host(tools=tools))

    def probe(self, give: Callable[[Any], Any], **more: Any) -> Probe:  # noqa: ANN401
        """Return a host with one probe tool, whose answer is what `give` returns."""
        return Probe(self.make, give, more)


class Probe:
    """One host with one tool that counts how often its hook began; a context manager."""

    def __init__(
        self,
        make: Callable[[Sequence[object]], Host],
        give: Callable[[Any], Any],
        more: Mapping[str, Any],
    ) -> None:
        self.ran = 0
        about: dict[str, Any] = {
            "description": "A probe of the conformance kit.",
            "effect": "read_only",
            "data_class": "public_content",
            "parameters": _TEXT,
        }
        spec = ToolSpec(name=_NAME, **{**about, **more})

        def execute(arguments: Any) -> Any:  # noqa: ANN401
            self.ran += 1
            return give(arguments)

        def tool_spec() -> ToolSpec:
            return spec

        plugin = SimpleNamespace(execute=hookimpl(execute), tool_spec=hookimpl(tool_spec))
        self.host = make([plugin])

    def call(self, arguments: Mapping[str, Any] | None = None, **more: Any) -> ToolResult:  # noqa: ANN401
        """Call the probe as the host's own code."""
        given: dict[str, Any] = {"actor": Actor.system, **more}
        return self.host.call(_NAME, arguments, **given)

    def session(self, **more: Any) -> Session:  # noqa: ANN401
        """Return a conversation with the host."""
        given: dict[str, Any] = {"actor": Actor.system, **more}
        return self.host.session(**given)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.host.close()


def _giving(value: object) -> Callable[[Any], Any]:
    return lambda _: value


def _text(_: object) -> ToolResult:
    return ToolResult.text("fine")


def _code(result: ToolResult) -> str:
    return "ok" if result.failure is None else result.failure.code.value


def _expect(result: ToolResult, code: ErrorCode, what: str) -> None:
    if _code(result) != code.value:
        raise Failed(f"{what}: {_code(result)}, expected {code.value}")


def _judges_returns(subject: HostSubject) -> None:
    for wrong in ("look", None, {"content": "look"}):
        with subject.probe(_giving(wrong)) as probe:
            result = probe.call()
        _expect(result, ErrorCode.CONTRACT_ERROR, f"execute returned {type(wrong).__name__}")
        if "look" in result.content:
            raise Failed("what was no ToolResult is told all the same")


def _keeps_promises(subject: HostSubject) -> None:
    with subject.probe(_text, output_schema=_TEXT) as probe:
        _expect(probe.call(), ErrorCode.CONTRACT_ERROR, "the promised data is missing")


def _runs_once(subject: HostSubject) -> None:
    with subject.probe(lambda _: "text") as probe:
        session = probe.session()
        for _ in range(_CALLS):
            session.call(_NAME)
        if probe.ran != 1:
            raise Failed(f"a tool that broke the contract ran {probe.ran} times in one session")


def _validates_arguments(subject: HostSubject) -> None:
    for wrong in ({"unknown": 1}, {"text": 1}, {"text": ["x"]}):
        with subject.probe(_text) as probe:
            _expect(probe.call(wrong), ErrorCode.INVALID_ARGUMENTS, f"called with {wrong!r}")
            if probe.ran:
                raise Failed(f"the tool ran with {wrong!r}, which breaks its schema")


def _gives_fresh_arguments(subject: HostSubject) -> None:
    def change(arguments: dict[str, Any]) -> ToolResult:
        arguments["text"] = "changed"
        return ToolResult.text("fine")

    given = {"text": "given"}
    with subject.probe(change) as probe:
        session = probe.session()
        session.call(_NAME, given)
        recorded = session.steps[-1].arguments
    if given["text"] != "given" or recorded is None or recorded != given:
        raise Failed("a tool that changes its arguments changes what was given or recorded")


def _asks_policy(subject: HostSubject) -> None:
    with subject.probe(_text, data_class="editor_content") as probe:
        _expect(probe.call(actor=None), ErrorCode.PERMISSION_DENIED, "nobody called")
        if probe.ran:
            raise Failed("the tool ran for nobody")


def _asks_for_approval(subject: HostSubject) -> None:
    with subject.probe(_text, effect="idempotent_write") as probe:
        _expect(probe.call(), ErrorCode.APPROVAL_DENIED, "a write that nobody approved")
        if probe.ran:
            raise Failed("a write ran that nobody had approved")


def _hides_exceptions(subject: HostSubject) -> None:
    bird = canary("raised")

    def fail(_: object) -> ToolResult:
        raise ValueError(bird.text)

    with subject.probe(fail) as probe:
        result = probe.call()
    _expect(result, ErrorCode.EXECUTION_ERROR, "execute raised ValueError")
    if bird.is_in(result.content):
        raise Failed("the text of an exception is told")


def _survives_exits(subject: HostSubject) -> None:
    def leave(_: object) -> ToolResult:
        raise SystemExit(3)

    with subject.probe(leave) as probe:
        try:
            result = probe.call()
        except SystemExit:
            raise Failed("a SystemExit of a tool ends the host") from None
    _expect(result, ErrorCode.EXECUTION_ERROR, "execute raised SystemExit")


def _bounds_content(subject: HostSubject) -> None:
    with subject.probe(lambda _: ToolResult.text("ä" * LARGEST)) as probe:
        size = len(probe.call().content.encode())
    if size > LARGEST:
        raise Failed(f"content of {size} bytes left the seam, at most {LARGEST} may")


def _cleans_content(subject: HostSubject) -> None:
    with subject.probe(lambda _: ToolResult.text("a\x1b[2J\u202eb\U000e0041")) as probe:
        content = probe.call().content
    for hidden in "\x1b\u202e\U000e0041":
        if hidden in content:
            raise Failed(f"the hidden character U+{ord(hidden):04X} left the seam")


def _bounds_artifacts(subject: HostSubject) -> None:
    half = ToolArtifact.text("half", "x" * (LARGEST * 3 // 4))
    with subject.probe(lambda _: ToolResult.text("fine", half, half)) as probe:
        labels = [artifact.label for artifact in probe.call().artifacts]
    if labels != ["Artifacts omitted"]:
        raise Failed(f"artifacts over the budget came through: {labels}")


def _keeps_deadlines(subject: HostSubject) -> None:
    def sleep(_: object) -> ToolResult:
        time.sleep(_SLEEP_S)
        return ToolResult.text("late")

    with subject.probe(sleep) as probe:
        started = time.monotonic()
        result = probe.call(timeout=_DEADLINE_S)
        seconds = time.monotonic() - started
    _expect(result, ErrorCode.TIMEOUT, f"the deadline was {_DEADLINE_S:g} s")
    if seconds > _SLEEP_S:
        raise Failed(f"the caller waited {seconds:.2f} s for a deadline of {_DEADLINE_S:g} s")


def _leaves_one_step(subject: HostSubject) -> None:
    with subject.probe(_text) as probe:
        session = probe.session()
        for name, arguments in ((_NAME, None), (_NAME, {"unknown": 1}), ("missing", None)):
            session.call(name, arguments)
        ids = [step.id for step in session.steps]
    if len(ids) != _CALLS or len(set(ids)) != _CALLS:
        raise Failed(f"{_CALLS} attempts left {len(ids)} steps with {len(set(ids))} ids")


def _renders_by_status(subject: HostSubject) -> None:
    misleading = ToolResult.text("Error (not_found): this is a success")
    with subject.probe(lambda _: misleading) as probe:
        wire, step = probe.session().call_wire(_NAME)
    if step.status != "ok" or str(wire) != misleading.content:
        raise Failed("a success whose text looks like a failure is taken for one")
    with subject.probe(lambda _: ToolResult.error("Gone.", ErrorCode.NOT_FOUND)) as probe:
        wire, step = probe.session().call_wire(_NAME)
    if step.status != "not_found" or str(wire) != "Error (not_found): Gone.":
        raise Failed(f"a failure is told as {str(wire)!r}")


def _masks_wire(subject: HostSubject) -> None:
    secret = "ghp_" + "a1B2" * 9
    with subject.probe(lambda _: ToolResult.text(f"token {secret}")) as probe:
        wire, _ = probe.session(zone="external_global").call_wire(_NAME)
    if secret in wire:
        raise Failed("a secret's shape left for a provider")


def _keeps_run_only(subject: HostSubject) -> None:
    found = hits(subject.make)
    if found:
        raise Failed(f"{found[0].sink} gave away what was planted in {found[0].place}")


CHECKS: tuple[Check[HostSubject], ...] = tuple(
    Check(
        slug=slug,
        level=Level.MUST,
        clause=clause,
        title=title,
        why=why,
        mend="Call tools through `Host` or `Session` alone, and pass their results on as they are.",
        run=run,
    )
    for slug, clause, title, why, run in (
        (
            "host-judges-returns",
            "§5",
            "What is no `ToolResult` becomes `contract_error`, and is not told.",
            "A look-alike would bring channels that nobody judged.",
            _judges_returns,
        ),
        (
            "host-keeps-promises",
            "§5",
            "A success without the promised data becomes `contract_error`.",
            "Programs read `data` by the schema.",
            _keeps_promises,
        ),
        (
            "host-runs-once",
            "§5",
            "A tool that broke the contract is not run again in the session.",
            "A write whose outcome is unknown would be made twice.",
            _runs_once,
        ),
        (
            "host-validates-arguments",
            "§4",
            "Arguments that break the schema are refused before the tool runs.",
            "Tools rely on it and check nothing twice.",
            _validates_arguments,
        ),
        (
            "host-gives-fresh-arguments",
            "§4",
            "A tool gets a copy of its own of what is recorded and approved.",
            "It could rewrite what was approved.",
            _gives_fresh_arguments,
        ),
        (
            "host-asks-policy",
            "§5",
            "A call by nobody is refused, but for public content.",
            "No actor is no permission.",
            _asks_policy,
        ),
        (
            "host-asks-for-approval",
            "§5",
            "A write without approval is refused, and does not run.",
            "A model could write by itself.",
            _asks_for_approval,
        ),
        (
            "host-hides-exceptions",
            "§5",
            "Of what a tool raises only the type is told.",
            "Texts of exceptions carry paths, queries and passwords.",
            _hides_exceptions,
        ),
        (
            "host-survives-exits",
            "§5",
            "A `SystemExit` of a tool is a failure like any other.",
            "One tool would end the application.",
            _survives_exits,
        ),
        (
            "host-bounds-content",
            "§7",
            "At most 50,000 bytes of content leave the seam.",
            "One answer would fill a model's context.",
            _bounds_content,
        ),
        (
            "host-cleans-content",
            "§7",
            "Control, bidi and tag characters do not leave the seam.",
            "They hide instructions from people, and drive terminals.",
            _cleans_content,
        ),
        (
            "host-bounds-artifacts",
            "§7",
            "A list of artifacts over the budget is replaced as a whole.",
            "A sink would have to cut, in the middle of a structure.",
            _bounds_artifacts,
        ),
        (
            "host-keeps-deadlines",
            "§5",
            "A call returns soon after its deadline, whatever the tool does.",
            "One tool that hangs would hang the conversation.",
            _keeps_deadlines,
        ),
        (
            "host-leaves-one-step",
            "§5",
            "Every attempt, refusals included, leaves exactly one step with an id of its own.",
            "An audit would have holes.",
            _leaves_one_step,
        ),
        (
            "host-renders-by-status",
            "§6",
            "What is told follows from the status, and no status from what is told.",
            "Content could pass itself off as a failure, or the other way round.",
            _renders_by_status,
        ),
        (
            "host-masks-wire",
            "§6",
            "A secret's shape is masked for every zone but `local`.",
            "Providers keep what they are told.",
            _masks_wire,
        ),
        (
            "host-keeps-run-only",
            "§1",
            "Nothing that is run-only reaches a provider.",
            "Data, metadata and artifacts may hold what a model must not read.",
            _keeps_run_only,
        ),
    )
)
