import asyncio
import logging
import types
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from support.tools import ADA, Counted, CountedAsync, approved, fine, plugin
from toolseam import (
    Actor,
    ContractViolation,
    ErrorCode,
    Host,
    Step,
    ToolArtifact,
    ToolError,
    ToolResult,
)
from toolseam._run_only import hold, peek

FIXED = "probe broke the result contract; it has run once and will not run again"


@pytest.fixture(params=["call", "acall", "call, deadline", "acall, deadline", "context.call"])
def way(request: pytest.FixtureRequest) -> str:
    """The ways on which a call can go through the seam."""
    return request.param


@pytest.fixture(params=[Counted, CountedAsync], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> type[Counted]:
    """A sync and an async tool."""
    return request.param


def go(host: Host, way: str, arguments: Any = None, **more: Any) -> tuple[ToolResult, Step]:
    """Call `probe` on one of the ways; return its result and its step."""
    more = {"actor": ADA, **more}
    timeout = 30.0 if "deadline" in way else None
    if way.startswith("acall"):
        result = asyncio.run(host.acall("probe", arguments, timeout=timeout, **more))
    else:
        result = host.call("probe", arguments, timeout=timeout, **more)
    return result, host.steps[-1]


def nested(host_tools: list[Any], **more: Any) -> Host:
    """Return a host with a tool `outer` that calls `probe` through its context."""

    def execute(arguments: object, context: Any) -> ToolResult:
        return ToolResult.text(context.call("probe").content)

    return Host(tools=[*host_tools, plugin(execute, name="outer")], **more)


def run(tool: Any, way: str, **more: Any) -> tuple[Host, ToolResult, Step]:
    """Call a reading tool on one of the ways in a fresh host."""
    if way == "context.call":
        host = nested([tool], **more)
        host.call("outer", actor=ADA)
        step = next(s for s in host.steps if s.tool == "probe")
        return host, step.result, step
    host = Host(tools=[tool], **more)
    result, step = go(host, way)
    return host, result, step


# -- the rows of the table ---------------------------------------------------------------------


def test_a_call_that_works_leaves_one_step(way: str, kind: type[Counted]) -> None:
    """The hook runs once, and the step says ok and what it did."""
    tool = kind(fine)

    _, result, step = run(tool, way)

    assert (result.content, tool.count) == ("fine", 1)
    assert (step.status, step.effect, step.tool) == ("ok", "none", "probe")
    assert step.result is result or way == "context.call"


def refusing(
    name: str = "probe", arguments: Any = None, prepare: Any = None, **spec: Any
) -> tuple[Counted, Host, Any]:
    """Return a tool, a host, and what makes the call that the host refuses."""
    tool = Counted(fine, **spec)
    host = Host(tools=[tool])
    return tool, host, lambda actor=ADA: host.call(name, arguments, actor=actor)


def test_an_unknown_name_runs_nothing() -> None:
    """not_found, with the name cut to 64 characters everywhere."""
    tool, host, call = refusing(name="x" * 5_000)

    result = call()

    assert result.failure.code == "not_found"
    assert tool.count == 0
    assert "x" * 64 in result.content
    assert "x" * 65 not in result.content
    assert host.steps[-1].tool == "x" * 64


@pytest.mark.parametrize("name", [None, 7, b"probe", ["probe"], "", "Probe", "probe ", "\x1b[31m"])
def test_what_is_no_name_is_not_found(name: Any) -> None:
    """Anything but a tool's own name is a refusal with a step, never an exception."""
    host = Host(tools=[Counted(fine)])

    result = host.call(name, actor=ADA)

    assert result.failure.code == "not_found"  # type: ignore[union-attr]
    assert "\x1b" not in result.content + host.steps[-1].tool
    assert len(host.steps) == 1


def test_policy_refuses_before_anything_runs() -> None:
    """permission_denied, with the reason in the metadata."""
    tool, host, call = refusing(requires_admin=True)

    result = call(Actor("bob"))

    assert (result.failure.code, result.metadata["reason"]) == (
        "permission_denied",
        "requires_admin",
    )
    assert (tool.count, host.steps[-1].effect) == (0, "none")


def test_bad_arguments_run_nothing() -> None:
    """invalid_arguments names the key, and no plugin code ran."""
    tool, host, call = refusing(arguments={"nope": 1})

    result = call()

    assert result.failure.code == "invalid_arguments"
    assert "nope" in result.content
    assert (tool.count, host.steps[-1].effect) == (0, "none")


def test_a_write_without_approval_runs_nothing() -> None:
    """approval_denied, and neither preview nor execute ran."""
    previews: list[int] = []

    def preview(arguments: object, context: object) -> ToolResult:
        previews.append(1)
        return fine()

    runs: list[int] = []

    def execute(arguments: object) -> ToolResult:
        runs.append(1)
        return fine()

    host = Host(tools=[plugin(execute, preview=preview, effect="unknown")])
    result = host.call("probe", actor=Actor.system)

    assert result.failure.code == "approval_denied"  # type: ignore[union-attr]
    assert (previews, runs, host.steps[-1].effect) == ([], [], "none")


def test_an_alias_is_the_canonical_tool() -> None:
    """Result and step name the tool; the alias stands beside it."""
    tool = Counted(fine, aliases=("clear",))
    host = Host(tools=[tool])

    host.call("clear")
    host.call("probe")

    assert [(s.tool, s.alias) for s in host.steps] == [("probe", "clear"), ("probe", None)]


def test_the_order_of_the_questions_is_the_contracts() -> None:
    """A call that fails on every count is told the first: policy, withdrawn, arguments, consent."""
    tool = Counted(lambda: None, effect="unknown", requires_admin=True)
    host = Host(tools=[tool])
    bad = {"nope": 1}

    assert host.call("probe", bad, actor=Actor("bob")).failure.code == "permission_denied"  # type: ignore[union-attr]
    assert host.call("probe", bad, actor=ADA).failure.code == "invalid_arguments"  # type: ignore[union-attr]
    assert host.call("probe", actor=ADA).failure.code == "approval_denied"  # type: ignore[union-attr]
    host.call("probe", actor=ADA, approval=approved(host, "probe"))
    assert host.call("probe", bad, actor=Actor("bob")).failure.code == "permission_denied"  # type: ignore[union-attr]
    assert host.call("probe", bad, actor=ADA).metadata["reason"] == "withdrawn"
    assert tool.count == 1


# -- wrong returns -----------------------------------------------------------------------------


@attrs.frozen
class LookAlike:
    """Has all members of a result, and is none."""

    content: str = "fine"
    failure: None = None
    data: None = None
    metadata: Any = None
    artifacts: tuple[()] = ()
    success: bool = True
    is_error: bool = False


def liar() -> Any:
    """Return an object that claims to be a ToolResult."""
    return type("Liar", (), {"__class__": property(lambda self: ToolResult), "content": "x"})()


def tampered(**members: Any) -> Callable[[], ToolResult]:
    """Return what makes a sound result whose members were then changed."""

    def give() -> ToolResult:
        result = ToolResult.text("fine", ToolArtifact.text("t", "x"), data={"n": 1})
        for name, value in members.items():
            object.__setattr__(result, name, value)
        return result

    return give


def tampered_failure(**members: Any) -> Callable[[], ToolResult]:
    """Return what makes a failing result whose failure was then changed."""

    def give() -> ToolResult:
        result = ToolResult.error("bad", "not_found")
        for name, value in members.items():
            object.__setattr__(result.failure, name, value)
        return result

    return give


def both() -> ToolResult:
    """Return a failure that carries data all the same."""
    result = ToolResult.error("bad", "not_found")
    object.__setattr__(result, "data", hold(b"{}"))
    return result


def bent_artifact() -> ToolResult:
    """Return a result with an artifact that was changed after it was made."""
    artifact = ToolArtifact.text("t", "x")
    object.__setattr__(artifact, "_label", "bent")
    return ToolResult.text("fine", artifact)


async def coroutine() -> ToolResult:
    """Be a coroutine."""
    return fine()


def generator() -> Any:
    """Be a generator."""
    yield fine()


async def stream() -> Any:
    """Be an async generator."""
    yield fine()


def subclass() -> Any:
    """Try to be a subclass of ToolResult."""
    return type("Mine", (ToolResult,), {})


def raises(make: Callable[[], BaseException]) -> Callable[[], Any]:
    """Return a function that raises."""

    def give() -> Any:
        raise make()

    return give


WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "fine",
    "bytes": lambda: b"fine",
    "dict": lambda: {"content": "fine"},
    "tuple": lambda: (fine(), None),
    "list": lambda: [fine()],
    "number": lambda: 0,
    "the class": lambda: ToolResult,
    "look-alike": LookAlike,
    "liar": liar,
    "namespace": lambda: types.SimpleNamespace(content="fine", failure=None),
    "an error, returned": lambda: ToolError("bad"),
    "coroutine": coroutine,
    "generator": generator,
    "started generator": lambda: next(iter([generator()])),
    "async generator": stream,
    "unbuilt": lambda: object.__new__(ToolResult),
    "content no text": tampered(content=None),
    "content a subclass": tampered(content=type("S", (str,), {})("x")),
    "data plain": tampered(data={"n": 1}),
    "data of artifacts": tampered(data=hold((ToolArtifact.text("a", "b"),))),
    "metadata plain": tampered(metadata={}),
    "metadata of artifacts": tampered(metadata=hold(())),
    "artifacts plain": tampered(artifacts=[]),
    "artifacts of bytes": tampered(artifacts=hold(b"{}")),
    "artifacts of text": tampered(artifacts=hold(("x",))),
    "artifact bent": bent_artifact,
    "failure text": tampered(failure="not_found"),
    "failure ValueError": tampered(failure=ValueError("x")),
    "failure beside data": tampered(failure=ToolError("x", "not_found")),
    "data beside failure": both,
    "output no text": tampered(_output=None),
    "omitted junk": tampered(_omitted=None),
    "failure message": tampered_failure(message=7),
    "failure code": tampered_failure(code="not_found"),
    "failure metadata": tampered_failure(metadata={}),
    "contract_error returned": lambda: ToolResult.error("x", "contract_error"),
    "contract_error raised": raises(lambda: ToolError("x", "contract_error")),
    "tampered error raised": raises(lambda: bent_error()),
    "ContractViolation raised": raises(lambda: ContractViolation("data.x", "bad")),
    "data of a wrong kind": lambda: ToolResult.text("x", data=object()),
    "metadata of a wrong kind": lambda: ToolResult.text("x", metadata=[1]),  # type: ignore[arg-type]
    "artifact of a wrong kind": lambda: ToolResult.text("x", {"type": "text"}),  # type: ignore[arg-type]
    "an unknown code": lambda: ToolResult.error("x", "out_of_luck"),
}


def bent_error() -> ToolError:
    """Return an error whose message was changed after it was made."""
    error = ToolError("bad")
    object.__setattr__(error, "message", None)
    return error


@pytest.fixture(params=WRONG)
def wrong(request: pytest.FixtureRequest) -> Callable[[], Any]:
    """Each way to break the contract."""
    return WRONG[request.param]


def test_a_wrong_return_is_a_contract_error_once(
    wrong: Callable[[], Any], kind: type[Counted], caplog: pytest.LogCaptureFixture
) -> None:
    """Run once, the text fixed, reason and path in step, violations and log, then withdrawn."""
    tool = kind(wrong, effect="unknown")
    host = Host(tools=[tool])

    with caplog.at_level(logging.ERROR, "toolseam"):
        result = host.call("probe", actor=ADA, approval=approved(host, "probe"))

    step = host.steps[-1]
    assert (result.failure.code, result.failure.message) == ("contract_error", FIXED)  # type: ignore[union-attr]
    assert (tool.count, step.effect, step.status) == (1, "unknown", "contract_error")
    (violation,) = host.violations
    assert (violation.tool, violation.distribution, violation.wrapper) == (
        "probe",
        "host code",
        None,
    )
    assert step.reason == f"{violation.path}: {violation.reason}"
    assert violation.reason in caplog.text

    again = host.call("probe", actor=ADA)
    assert (again.failure.code, again.metadata["reason"]) == ("contract_error", "withdrawn")  # type: ignore[union-attr]
    assert (tool.count, host.steps[-1].effect) == (1, "none")
    assert host.steps[-1].reason is None


@pytest.mark.parametrize(
    "name", ["None", "coroutine", "artifact bent", "contract_error raised", "data of a wrong kind"]
)
def test_a_wrong_return_of_a_reading_tool_has_no_effect(
    name: str, way: str, kind: type[Counted]
) -> None:
    """On each way through the seam it is counted once and told in the same words."""
    tool = kind(WRONG[name])

    host, result, step = run(tool, way)

    assert (result.content, tool.count) == (f"Error (contract_error): {FIXED}", 1)
    assert (step.status, step.effect) == ("contract_error", "none")
    assert len(host.violations) == 1


def test_no_subclass_of_a_result_can_exist() -> None:
    """The attempt raises inside the tool, which then has raised a TypeError."""
    _, result, step = run(Counted(subclass), "call")

    assert (step.status, result.failure.message) == (  # type: ignore[union-attr]
        "execution_error",
        "probe raised TypeError.",
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [coroutine, generator])
def test_a_coroutine_or_generator_is_closed(make: Callable[[], Any]) -> None:
    """Nothing is left behind that would be awaited by nobody."""
    kept: list[Any] = []

    def give() -> Any:
        kept.append(make())
        return kept[0]

    run(Counted(give), "call")

    state = getattr(kept[0], "cr_frame", None) or getattr(kept[0], "gi_frame", None)
    assert state is None


def test_a_generator_that_resists_closing_is_still_dropped() -> None:
    """What its clean-up raises is not the host's trouble."""

    def stubborn() -> Any:
        try:
            yield 1
        finally:
            raise SystemExit(3)

    def give() -> Any:
        made = stubborn()
        next(made)
        return made

    _, _, step = run(Counted(give), "call")

    assert step.status == "contract_error"


PROMISE = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("give", "path"),
    [
        (lambda: ToolResult.text("x"), "data"),
        (lambda: ToolResult.text("x", data={"n": "1"}), "data.n"),
        (lambda: ToolResult.text("x", data={}), "data.n"),
        (lambda: ToolResult.text("x", data=[]), "data"),
        (lambda: ToolResult.text("x", data={"n": 1, "m": 2}), "data"),
        (lambda: ToolResult.text("x", data={"n": 1, "m": "x" * 60_000}), "data"),
    ],
    ids=["absent", "wrong type", "missing", "list", "extra", "too large"],
)
def test_a_broken_promise_is_a_contract_error(
    give: Callable[[], ToolResult], path: str, kind: type[Counted]
) -> None:
    """A success must carry data that fits the output schema; the value is told to nobody."""
    tool = kind(give, output_schema=PROMISE)

    host, _, step = run(tool, "call")

    assert (step.status, tool.count) == ("contract_error", 1)
    assert host.violations[0].path == path


def test_a_kept_promise_and_a_failure_are_sound() -> None:
    """Data that fits passes, and a failing tool owes no data."""
    kept = Counted(lambda: ToolResult.text("x", data={"n": 1}), output_schema=PROMISE)
    failing = Counted(lambda: ToolResult.error("bad", "not_found"), output_schema=PROMISE)

    assert run(kept, "call")[2].status == "ok"
    assert run(failing, "call")[2].status == "not_found"


# -- withdrawal --------------------------------------------------------------------------------


def test_a_reading_tool_is_withdrawn_for_the_session_only() -> None:
    """The conversation in which it broke the contract does not run it again; the next may."""
    tool = Counted(lambda: None)
    host = Host(tools=[tool])
    session, other = host.session(actor=ADA), host.session(actor=ADA)

    first, second = session.call("probe"), session.call("probe")
    other.call("probe")

    assert first.failure.code == second.failure.code == "contract_error"  # type: ignore[union-attr]
    assert second.metadata["reason"] == "withdrawn"
    assert tool.count == 2
    assert "probe" not in [spec.name for spec in session.tools()]


def test_each_call_of_host_code_is_a_session_of_its_own() -> None:
    """A reading tool that broke the contract once may be asked again by the host's own code."""
    tool = Counted(lambda: None)
    host = Host(tools=[tool])

    host.call("probe")
    host.call("probe")

    assert tool.count == 2


def test_within_one_call_of_host_code_the_withdrawal_holds() -> None:
    """context.call stays in the caller's session, also where that is one call."""
    tool = Counted(lambda: None)

    def execute(arguments: object, context: Any) -> ToolResult:
        context.call("probe")
        return ToolResult.text(context.call("probe").metadata["reason"])

    host = Host(tools=[tool, plugin(execute, name="outer")])
    result = host.call("outer", actor=ADA)

    assert (result.content, tool.count) == ("withdrawn", 1)


def test_a_writing_tool_is_withdrawn_until_readmitted() -> None:
    """For the host's life, in every session, under every name, until the operator says so."""
    tool = Counted(lambda: None, effect="unknown", aliases=("clear",))
    host = Host(tools=[tool])
    session = host.session(actor=ADA)
    host.call("probe", actor=ADA, approval=approved(host, "probe"))

    for call in (host.call("clear", actor=ADA), session.call("probe"), session.call("clear")):
        assert call.metadata["reason"] == "withdrawn"
    assert not session.tools()

    host.readmit("clear")
    host.call("probe", actor=ADA, approval=approved(host, "probe"))
    assert tool.count == 2


def test_readmitting_what_does_not_exist_is_an_error() -> None:
    """The operator is told that nothing has that name."""
    with pytest.raises(LookupError, match="nope"):
        Host(tools=[Counted(fine)]).readmit("nope")


def test_stop_ends_the_session() -> None:
    """With on_contract_error = "stop" no further tool runs in that session, in others it does."""
    bad, good = Counted(lambda: None), Counted(fine, name="good")
    host = Host(tools=[bad, good], settings={"on_contract_error": "stop"})
    session = host.session(actor=ADA)

    assert session.call("good").success
    session.call("probe")

    assert session.call("good").metadata["reason"] == "stopped"
    assert good.count == 1
    assert host.session(actor=ADA).call("good").success


# -- what tools raise --------------------------------------------------------------------------


def test_a_raised_tool_error_is_the_result(way: str, kind: type[Counted]) -> None:
    """Code, message, retriable and metadata arrive, in a fresh copy without a traceback."""
    made = ToolError("No x.", ErrorCode.NOT_FOUND, retriable=True, metadata={"k": 1})
    cause = ValueError("secret cause")

    def give() -> Any:
        raise made from cause

    _, result, step = run(kind(give), way)

    failure = result.failure
    assert failure == made
    assert failure is not made
    assert failure.__traceback__ is failure.__cause__ is failure.__context__ is None
    assert result.metadata == {"k": 1}
    assert step.status == "not_found"


def test_a_returned_failure_is_a_fresh_copy() -> None:
    """The one in the result was never raised, whatever happened to the tool's own."""
    kept: list[ToolResult] = []

    def give() -> ToolResult:
        kept.append(ToolResult.error("bad", "conflict", output="some"))
        return kept[0]

    _, result, _ = run(Counted(give), "call")

    assert result.failure == kept[0].failure
    assert result.failure is not kept[0].failure
    assert result.partial_output == "some"


def deep() -> Any:
    """Recurse without an end."""
    return deep()


@pytest.mark.parametrize(
    ("give", "name"),
    [
        (raises(lambda: ValueError("CAN")), "ValueError"),
        (raises(lambda: SystemExit("CAN")), "SystemExit"),
        (raises(lambda: MemoryError("CAN")), "MemoryError"),
        (raises(lambda: RuntimeError("CAN")), "RuntimeError"),
        (raises(lambda: ExceptionGroup("CAN", [ToolError("CAN")])), "ExceptionGroup"),
        (raises(lambda: type("E" * 1_000_000, (Exception,), {})("CAN")), "E" * 64),
        (raises(lambda: type("\x1b]0;x\x07\n", (Exception,), {})("CAN")), "␛]0;x␇␊"),
        (deep, "RecursionError"),
    ],
    ids=["ValueError", "exit", "memory", "runtime", "group", "long", "hostile", "recursion"],
)
def test_what_a_tool_raises_is_told_by_its_type_alone(
    give: Callable[[], Any], name: str, way: str, kind: type[Counted]
) -> None:
    """execution_error with 64 clean characters of the type's name; the host goes on (P07 a, b)."""
    tool = kind(give)

    host, result, step = run(tool, way)

    assert result.content == f"Error (execution_error): probe raised {name}."
    assert (step.status, tool.count) == ("execution_error", 1)
    assert not host.violations
    assert host.call("probe", actor=ADA).failure.code == "execution_error"  # type: ignore[union-attr]


def test_the_log_has_text_and_traceback_redacted(caplog: pytest.LogCaptureFixture) -> None:
    """One record one line, a secret masked, control characters escaped."""
    secret = "sk-proj-" + "a1B2" * 10

    def give() -> Any:
        raise ValueError(f"x\nERROR root approved\x1b[31m {secret}")

    run(Counted(give), "call")

    (record,) = [r for r in caplog.records if r.name == "toolseam"]
    message = record.getMessage()
    assert "ValueError" in message
    assert "in give" in message
    assert "\n" not in message
    assert "\x1b" not in message
    assert secret not in message


def test_the_logger_is_silent_by_itself() -> None:
    """The library has a NullHandler, so that nothing falls through to stderr."""
    handlers = logging.getLogger("toolseam").handlers

    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)


@pytest.mark.parametrize("error", [TimeoutError("CAN"), TimeoutError()])
def test_a_timeout_error_is_a_timeout(error: Exception, way: str, kind: type[Counted]) -> None:
    """TimeoutError means timeout, without the text of whoever raised it (P07 f)."""
    _, result, step = run(kind(raises(lambda: error)), way)

    assert step.status == "timeout"
    assert "CAN" not in result.content


def test_a_cancellation_that_nobody_asked_for_is_a_result(way: str, kind: type[Counted]) -> None:
    """CancelledError out of the blue ends the call alone (P07 e)."""
    host, result, step = run(kind(raises(asyncio.CancelledError)), way)

    assert result.failure.code == step.status == "cancelled"  # type: ignore[union-attr]
    assert host.call("probe", actor=ADA).is_error


@pytest.mark.parametrize("error", [KeyboardInterrupt, type("Stop", (BaseException,), {})])
@pytest.mark.parametrize("how", ["call", "call, deadline", "acall", "acall, deadline"])
def test_ctrl_c_is_recorded_then_raised_again(
    error: type[BaseException], how: str, kind: type[Counted]
) -> None:
    """KeyboardInterrupt and other BaseExceptions are the host's, after exactly one step (P07 c)."""
    host = Host(tools=[kind(raises(error))])

    async def main() -> BaseException | None:
        try:
            await host.acall("probe", actor=ADA, timeout=30.0 if "deadline" in how else None)
        except error as caught:
            return caught
        return None

    if how.startswith("acall"):
        assert isinstance(asyncio.run(main()), error)
    else:
        with pytest.raises(error):
            go(host, how)
    assert [step.status for step in host.steps] == ["cancelled"]


@pytest.mark.parametrize(
    ("code", "effect"),
    [
        ("invalid_arguments", "none"),
        ("not_found", "none"),
        ("permission_denied", "none"),
        ("approval_denied", "none"),
        ("unavailable", "none"),
        ("conflict", "none"),
        ("timeout", "unknown"),
        ("cancelled", "unknown"),
        ("command_failed", "unknown"),
        ("execution_error", "unknown"),
    ],
)
def test_the_effect_of_a_failed_write_follows_its_code(code: str, effect: str) -> None:
    """Refusing codes had no effect, the others may have had one."""
    tool = Counted(lambda: ToolResult.error("bad", code), effect="idempotent_write")
    host = Host(tools=[tool])

    host.call("probe", actor=ADA, approval=approved(host, "probe"))

    assert host.steps[-1].effect == effect


def test_the_effect_of_a_write_that_worked_is_done() -> None:
    """Success means that it was done."""
    host = Host(tools=[Counted(fine, effect="idempotent_write")])

    host.call("probe", actor=ADA, approval=approved(host, "probe"))

    assert host.steps[-1].effect == "done"


# -- arguments ---------------------------------------------------------------------------------


@attrs.frozen
class Arguments:
    """Arguments with a rule of their own."""

    table: str
    names: list[str] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Refuse what the schema cannot express."""
        if self.table == "secret":
            raise ValueError("No such table here.")
        if self.table == "odd":
            raise TypeError


def test_what_an_attrs_class_refuses_is_invalid_arguments() -> None:
    """A ValueError or TypeError there is the author's own text, and execute was not called."""
    runs: list[int] = []
    host = Host(tools=[plugin(lambda arguments: runs.append(1), parameters=Arguments)])

    told = host.call("probe", {"table": "secret"})
    silent = host.call("probe", {"table": "odd"})

    assert told.content == "Error (invalid_arguments): No such table here."
    assert silent.failure.code == "invalid_arguments"  # type: ignore[union-attr]
    assert "TypeError" in silent.content
    assert not runs


def test_each_call_gets_a_fresh_copy() -> None:
    """What a tool does to its arguments reaches neither caller, nor record, nor the next call."""
    seen: list[Any] = []

    def execute(arguments: dict[str, Any]) -> ToolResult:
        seen.append(list(arguments["names"]))
        arguments["names"].append("more")
        return fine()

    schema = {"properties": {"names": {"type": "array", "default": ["a"]}}}
    host = Host(tools=[plugin(execute, parameters=schema)])
    given = {"names": ["x"]}

    host.call("probe", given)
    host.call("probe", given)
    host.call("probe")
    host.call("probe")

    assert seen == [["x"], ["x"], ["a"], ["a"]]
    assert given == {"names": ["x"]}
    assert [s.arguments for s in host.steps] == [given, given, {"names": ["a"]}, {"names": ["a"]}]


@pytest.mark.parametrize("raw", ["", "   ", None, "null", "{}", {}, b""])
def test_nothing_means_no_arguments(raw: Any) -> None:
    """Empty, blank, null and absent run a tool without arguments (P10, P14)."""
    assert Host(tools=[Counted(fine)]).call("probe", raw).success


def test_repairs_stand_in_the_step() -> None:
    """What was mended is noted, and the record holds what the tool got."""
    schema = {"properties": {"n": {"type": "integer"}}}
    host = Host(tools=[plugin(lambda arguments: fine(), parameters=schema)])

    host.call("probe", '{"n": "25"}')

    step = host.steps[-1]
    assert step.arguments == {"n": 25}
    assert len(step.repairs) == 1


# -- steps -------------------------------------------------------------------------------------


def test_every_attempt_has_a_step_with_a_unique_id() -> None:
    """Refusals included, in one order."""
    host = Host(tools=[Counted(fine)])

    for name in ("probe", "nope", "probe", "nope"):
        host.call(name)

    assert [s.status for s in host.steps] == ["ok", "not_found", "ok", "not_found"]
    assert len({s.id for s in host.steps}) == 4
    assert all(s.duration_s >= 0 for s in host.steps)


def test_peeking_at_data_gives_the_bytes_that_were_made() -> None:
    """Data passes the seam as it was encoded, untouched."""
    kept: list[ToolResult] = []

    def give() -> ToolResult:
        kept.append(ToolResult.text("x", data={"n": [1, 2]}))
        return kept[0]

    _, result, _ = run(Counted(give), "call")

    assert result.data is not None
    assert peek(result.data) is peek(kept[0].data)  # type: ignore[arg-type]
