import asyncio
import types
from collections.abc import Callable, Generator
from typing import Any

import pytest

from support.tools import ADA, Counted, CountedAsync, approved, fine, plugin
from toolseam import ContractViolation, ErrorCode, Host, ToolError, ToolResult, hookimpl
from toolseam._errors import LoadError


def wrapper(body: Callable[..., Generator[None, Any, Any]]) -> Any:
    """Return a host plugin that wraps execute with this generator function."""
    return types.SimpleNamespace(execute=hookimpl(wrapper=True)(body))


def called(tool: Any, *wrappers: Any, arguments: Any = None) -> tuple[Host, ToolResult]:
    """Call a tool, sync or async, from synchronous code inside wrappers."""
    host = Host(tools=[tool], plugins=wrappers)
    return host, host.call("probe", arguments, actor=ADA)


@pytest.fixture(params=[Counted, CountedAsync], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> type[Counted]:
    """A sync and an async tool: wrappers make no difference between them."""
    return request.param


def noting(notes: list[str], name: str) -> Any:
    """Return a wrapper that writes down when it ran and what it saw."""

    def body(arguments: Any) -> Generator[None, Any, Any]:
        notes.append(f"{name} before")
        result = yield
        notes.append(f"{name} after {result.content}")
        return result

    return wrapper(body)


def test_wrappers_nest_and_see_what_the_tool_returned(kind: type[Counted]) -> None:
    """The last registered is outermost, and yield gives the value, awaited."""
    notes: list[str] = []
    tool = kind(fine)

    _, result = called(tool, noting(notes, "inner"), noting(notes, "outer"))

    assert result.content == "fine"
    assert tool.count == 1
    assert notes == ["outer before", "inner before", "inner after fine", "outer after fine"]


def test_pluggys_order_holds() -> None:
    """tryfirst is outermost and trylast innermost, whatever the order of registration."""
    notes: list[str] = []

    def first() -> Generator[None, Any, Any]:
        notes.append("first")
        return (yield)

    outer = types.SimpleNamespace(execute=hookimpl(wrapper=True, tryfirst=True)(first))
    called(Counted(fine), outer, noting(notes, "later"))

    assert notes[:2] == ["first", "later before"]


def test_a_wrapper_may_replace_the_outcome(kind: type[Counted]) -> None:
    """A sound result in the place of another one is what the caller gets."""

    def body() -> Generator[None, Any, Any]:
        yield
        return ToolResult.text("replaced")

    tool = kind(fine)
    host, result = called(tool, wrapper(body))

    assert (result.content, tool.count, host.violations) == ("replaced", 1, ())


def raising(error: BaseException) -> Callable[[], Any]:
    """Return a function that raises."""

    def give() -> Any:
        raise error

    return give


def test_a_wrapper_may_swallow_what_the_tool_raised(kind: type[Counted]) -> None:
    """An ordinary exception is an outcome like any other."""

    def body() -> Generator[None, Any, Any]:
        try:
            return (yield)
        except ValueError:
            return ToolResult.error("mended", ErrorCode.NOT_FOUND)

    _, result = called(kind(raising(ValueError("x"))), wrapper(body))

    assert result.failure == ToolError("mended", ErrorCode.NOT_FOUND)


def test_a_wrapper_may_refuse_before_the_tool() -> None:
    """What it raises before its yield is the outcome, and the tool does not run."""

    def body() -> Generator[None, Any, Any]:
        raise ToolError("not now", ErrorCode.UNAVAILABLE)
        yield

    tool = Counted(fine)
    host, result = called(tool, wrapper(body))

    assert result.failure == ToolError("not now", ErrorCode.UNAVAILABLE)
    assert (tool.count, host.steps[-1].effect, host.violations) == (0, "none", ())


def test_a_wrapper_may_raise_after_the_tool(kind: type[Counted]) -> None:
    """What it raises after its yield is the outcome of a tool that has run."""

    def body() -> Generator[None, Any, Any]:
        yield
        raise KeyError("sk-x")

    tool = kind(fine)
    _, result = called(tool, wrapper(body))

    assert (result.failure.code, tool.count) == ("execution_error", 1)  # type: ignore[union-attr]
    assert "KeyError" in result.content
    assert "sk-x" not in result.content


def test_an_outer_wrapper_sees_what_an_inner_one_raised() -> None:
    """Exceptions travel outwards, before the tool as well as after it."""
    seen: list[str] = []

    def outer() -> Generator[None, Any, Any]:
        try:
            return (yield)
        except OSError as error:
            seen.append(str(error))
            raise

    def inner() -> Generator[None, Any, Any]:
        raise OSError("inner")
        yield

    called(Counted(fine), wrapper(inner), wrapper(outer))

    assert seen == ["inner"]


def left_out(host: Host, tool: Counted, reason: str) -> None:
    """Hold a host to what follows a wrapper's breach: it is named and gone, the tool stays."""
    before = tool.count
    (violation,) = host.violations
    assert (violation.tool, violation.wrapper) == ("probe", "host code")
    assert reason in violation.reason
    step = host.steps[-1]
    assert (step.status, step.metadata["reason"]) == ("contract_error", "wrapper")
    assert reason in (step.reason or "")

    assert host.call("probe").content == "fine"
    assert tool.count == before + 1


@pytest.mark.parametrize("junk", [None, "text", {"content": "x"}, 7])
def test_junk_of_a_wrapper_is_its_own_breach(kind: type[Counted], junk: Any) -> None:
    """The wrapper is named and left out from then on, the tool stays."""

    def body() -> Generator[None, Any, Any]:
        yield
        return junk

    tool = kind(fine)
    host, result = called(tool, wrapper(body))

    assert result.failure.code == "contract_error"  # type: ignore[union-attr]
    assert tool.count == 1
    left_out(host, tool, f"a wrapper returned {type(junk).__name__}")


def test_the_first_wrapper_to_spoil_the_outcome_is_named() -> None:
    """An outer wrapper that hands junk on is not to blame for it."""
    notes: list[str] = []

    def body() -> Generator[None, Any, Any]:
        yield
        return None

    def outer() -> Generator[None, Any, Any]:
        result = yield
        notes.append(type(result).__name__)
        return result

    spoiling = wrapper(body)
    tool = Counted(fine)
    host, _ = called(tool, spoiling, wrapper(outer))
    host.call("probe")

    assert len(host.violations) == 1
    assert notes == ["NoneType", "ToolResult"]


@pytest.mark.parametrize("error", [ContractViolation("data", "x"), "contract_error"])
def test_a_breach_raised_by_a_wrapper_is_not_the_tools(kind: type[Counted], error: Any) -> None:
    """A wrapper that fails to build its result withdraws itself, not the tool."""

    def body() -> Generator[None, Any, Any]:
        yield
        raise error if isinstance(error, Exception) else ToolError("x", error)

    tool = kind(fine)
    host, _ = called(tool, wrapper(body))

    left_out(host, tool, "x" if isinstance(error, Exception) else "only the framework")


def test_a_breach_raised_before_the_tool_is_the_wrappers() -> None:
    """Then the text says that the tool did not run."""

    def body() -> Generator[None, Any, Any]:
        ToolResult.text("x", data=object())
        yield

    tool = Counted(fine)
    host, result = called(tool, wrapper(body))

    assert tool.count == 0
    assert "was not run" in result.content
    left_out(host, tool, "object is no JSON value")


def test_a_replacement_that_breaks_the_promise_is_the_wrappers_breach() -> None:
    """The tool kept its output schema, the wrapper's result does not."""

    def body() -> Generator[None, Any, Any]:
        yield
        return ToolResult.text("no data")

    promise = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = Counted(lambda: ToolResult.text("fine", data={"n": 1}), output_schema=promise)
    host, _ = called(tool, wrapper(body))

    left_out(host, tool, "promises data")


@pytest.mark.parametrize("wrong", [None, "text"])
def test_a_wrapper_cannot_mend_a_breach_of_the_tool(kind: type[Counted], wrong: Any) -> None:
    """The tool's value is dropped unread: no wrapper sees it, and the tool is withdrawn."""
    seen: list[object] = []

    def body() -> Generator[None, Any, Any]:
        try:
            seen.append((yield))
        except BaseException as error:
            seen.append(type(error).__name__)
        return ToolResult.text("all is well")

    tool = kind(lambda: wrong, effect="unknown")
    host = Host(tools=[tool], plugins=[wrapper(body)])
    result = host.call("probe", actor=ADA, approval=approved(host, "probe"))

    assert result.failure.code == "contract_error"  # type: ignore[union-attr]
    assert seen == ["Broken"]
    assert [v.wrapper for v in host.violations] == [None]
    assert host.steps[-1].effect == "unknown"
    assert host.call("probe", actor=ADA).metadata["reason"] == "withdrawn"
    assert tool.count == 1


def test_a_wrapper_cannot_swallow_ctrl_c() -> None:
    """What the person at the keyboard wants passes through, recorded."""

    def body() -> Generator[None, Any, Any]:
        try:
            return (yield)
        except BaseException:
            return ToolResult.text("never mind")

    host = Host(tools=[Counted(raising(KeyboardInterrupt()))], plugins=[wrapper(body)])

    with pytest.raises(KeyboardInterrupt):
        host.call("probe")
    assert [step.status for step in host.steps] == ["cancelled"]


def test_a_wrapper_cannot_swallow_the_hosts_cancellation() -> None:
    """The host meant it: recorded as cancelled, and raised again."""

    def body() -> Generator[None, Any, Any]:
        try:
            return (yield)
        except BaseException:
            return ToolResult.text("never mind")

    async def execute(arguments: object) -> ToolResult:
        await asyncio.sleep(10)
        return fine()

    host = Host(tools=[plugin(execute)], plugins=[wrapper(body)])

    async def main() -> bool:
        task = asyncio.create_task(host.acall("probe"))
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
    assert [step.status for step in host.steps] == ["cancelled"]


def test_a_wrapper_that_does_not_yield_is_left_out(kind: type[Counted]) -> None:
    """It would have answered in the tool's place; the tool has not run."""

    def body() -> Generator[None, Any, Any]:
        if False:
            yield
        return ToolResult.text("mine")

    tool = kind(fine)
    host, result = called(tool, wrapper(body))

    assert tool.count == 0
    assert "was not run" in result.content
    left_out(host, tool, "did not yield")


def test_a_wrapper_that_yields_twice_is_left_out(kind: type[Counted]) -> None:
    """The tool ran once, and the others' clean-up is done."""
    closed: list[str] = []

    def twice() -> Generator[None, Any, Any]:
        yield
        yield

    def outer() -> Generator[None, Any, Any]:
        try:
            return (yield)
        finally:
            closed.append("outer")

    tool = kind(fine)
    host, result = called(tool, wrapper(twice), wrapper(outer))

    assert (tool.count, closed) == (1, ["outer"])
    assert "has run once" in result.content
    left_out(host, tool, "yielded twice")


def grows(arguments: dict[str, Any]) -> None:
    """Add a megabyte."""
    arguments["key"] = "x" * 1_000_000


def deepens(arguments: dict[str, Any]) -> None:
    """Put in what JSON cannot say."""
    arguments["key"] = object()


def swaps(arguments: dict[str, Any]) -> None:
    """Change one letter below the top."""
    arguments["nested"]["name"] = "all"


@pytest.mark.parametrize("change", [grows, deepens, swaps, dict.clear])
def test_changed_arguments_are_noticed_before_the_tool(
    kind: type[Counted], change: Callable[[dict[str, Any]], None]
) -> None:
    """What was approved is what runs, or nothing runs (H24, S4a)."""

    def body(arguments: dict[str, Any]) -> Generator[None, Any, Any]:
        if arguments:
            change(arguments)
        return (yield)

    schema = {
        "properties": {
            "key": {"type": "string"},
            "nested": {"properties": {"name": {"type": "string"}}, "type": "object"},
        }
    }
    tool = kind(fine, parameters=schema, effect="unknown")
    given = {"key": "one", "nested": {"name": "one"}}
    host = Host(tools=[tool], plugins=[wrapper(body)])
    approval = approved(host, "probe", given)

    result = host.call("probe", given, actor=ADA, approval=approval)

    assert tool.count == 0
    assert result.failure.code == "contract_error"  # type: ignore[union-attr]
    assert host.steps[-1].effect == "none"
    assert host.steps[-1].arguments == given
    assert host.violations[0].wrapper == "host code"


def test_the_tool_never_holds_what_a_wrapper_holds() -> None:
    """A wrapper that keeps the arguments and changes them later reaches nobody."""
    held: list[dict[str, Any]] = []

    def body(arguments: dict[str, Any]) -> Generator[None, Any, Any]:
        held.append(arguments)
        return (yield)

    def execute(arguments: dict[str, Any]) -> ToolResult:
        held[0]["key"] = "changed"
        return ToolResult.text(arguments["key"])

    tool = plugin(execute, parameters={"properties": {"key": {"type": "string"}}})
    _, result = called(tool, wrapper(body), arguments={"key": "one"})

    assert result.content == "one"


def test_a_wrapper_gets_the_context() -> None:
    """A wrapper may ask who calls which tool, also where the tool does not."""
    seen: list[str] = []

    def body(context: Any) -> Generator[None, Any, Any]:
        seen.append(f"{context.tool.name} {context.actor.name}")
        return (yield)

    called(Counted(fine), wrapper(body))

    assert seen == ["probe ada"]


def test_wrappers_do_not_run_for_refused_calls() -> None:
    """Nothing of a plugin runs before the call is admitted."""
    notes: list[str] = []
    host = Host(tools=[Counted(fine, data_class="source_code")], plugins=[noting(notes, "any")])

    host.call("probe")
    host.call("nope")
    host.call("probe", {"x": 1}, actor=ADA)

    assert not notes


def old_wrapper() -> Any:
    """Wrap in the old protocol."""
    yield


def plain(arguments: object) -> ToolResult:
    """Answer instead of the tool."""
    return fine()


def with_hook(name: str, function: Any, **options: Any) -> Any:
    """Return a host plugin with one marked function, a copy: a mark stays on its function."""
    copy = types.FunctionType(function.__code__, globals())
    return types.SimpleNamespace(**{name: hookimpl(**options)(copy)})


def too_much(arguments: object, extra: object) -> Any:
    """Ask for what there is not."""
    yield


def star(*arguments: object) -> Any:
    """Take what comes."""
    yield


async def later() -> Any:
    """Wrap as an async generator."""
    yield


class Unmade:
    """A host plugin that was not instantiated."""

    @hookimpl
    def toolseam_open(self) -> None:
        """Begin."""


@pytest.mark.parametrize(
    ("made", "fact"),
    [
        (with_hook("execute", old_wrapper, hookwrapper=True), "hookimpl(wrapper=True)"),
        (with_hook("execute", plain), "may only wrap"),
        (with_hook("execute", plain, specname="execute"), "may only wrap"),
        (with_hook("other", plain, specname="execute"), "may only wrap"),
        (with_hook("execute", plain, wrapper=True), "plain generator"),
        (with_hook("execute", later, wrapper=True), "plain generator"),
        (with_hook("execute", too_much, wrapper=True), "'extra'"),
        (with_hook("execute", star, wrapper=True), "*arguments"),
        (with_hook("toolseam_stepp", lambda step: None), "no hook of a host plugin"),
        (with_hook("toolseam_step", lambda wrong: None), "'wrong'"),
        (with_hook("toolseam_step", later), "generator"),
        (with_hook("toolseam_step", old_wrapper, wrapper=True), "only execute"),
        (types.SimpleNamespace(), "no hook"),
        (types.SimpleNamespace(toolseam_step=lambda step: None), "no hook"),
        (Unmade, "name an instance"),
        (types.SimpleNamespace(toolseam_api="99"), "99"),
    ],
)
def test_a_host_plugin_is_verified_at_load(made: Any, fact: str) -> None:
    """Whatever pluggy would skip, or would do with execute but wrap it, is refused."""
    with pytest.raises(LoadError) as error:
        Host(plugins=[made])

    assert fact in str(error.value)


def test_one_plugin_given_twice_wraps_once() -> None:
    """The same object is the same plugin."""
    notes: list[str] = []
    twice = noting(notes, "w")

    called(Counted(fine), twice, twice)

    assert notes == ["w before", "w after fine"]
