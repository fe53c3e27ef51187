"""What is checked: one tool, where it comes from, and a host of its own to call it through."""

from __future__ import annotations

import asyncio
import contextlib
import io
import time
import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import attrs

from toolseam import Actor, Host, Step, ToolError, ToolResult, ToolseamError
from toolseam.testing import Heard, Target, breach, tap
from toolseam_plugins.conformance import _generate
from toolseam_plugins.conformance._audit import audit
from toolseam_plugins.conformance._child import Before, Child, start
from toolseam_plugins.conformance._footprint import changed, footprint, restore
from toolseam_plugins.conformance._model import Failed, NotApplicable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from toolseam import Approval, ToolSpec

    Arguments = Mapping[str, Any]
    Origin = Literal["example", "generated", "hostile"]

COUNT = 25
"""How many generated arguments a tool is called with, and how many hostile ones."""

PATIENCE_S = 1.0
"""After this long no further generated arguments are tried: a slow tool gets fewer of them."""

_FEWEST = 3
_APPROVER = Actor("approver", {"admin"})


@attrs.frozen(eq=False)
class Outcome:
    """One call: what the hook gave, what the host made of it, and what else happened meanwhile.

    `heard` is None where the hook was not reached; `fault` is path and reason why what it returned
    is no sound result. `result` and `step` are None where something escaped from
    the host, which then stands in `escaped`. `noted` is what the interpreter said, `printed` what
    went to standard output, `changed` names what the process shares and was left otherwise.
    """

    origin: Origin
    arguments: Arguments
    heard: Heard | None
    fault: tuple[str, str] | None
    result: ToolResult | None
    step: Step | None
    escaped: BaseException | None
    seconds: float
    printed: str
    noted: tuple[tuple[str, str], ...]
    changed: tuple[str, ...]

    @property
    def value(self) -> Any:  # noqa: ANN401
        """What the hook returned."""
        return None if self.heard is None else self.heard.value

    @property
    def sound(self) -> ToolResult | None:
        """What the hook returned, where its members can be relied on."""
        if type(self.value) is not ToolResult:
            return None
        broken = self.fault is not None and not self.fault[0].startswith(("data", "failure.code"))
        return None if broken else self.value

    @property
    def raised(self) -> BaseException | None:
        """What the hook raised."""
        return None if self.heard is None else self.heard.error

    @property
    def told(self) -> tuple[str, str]:
        """Status and content, as somebody who compares two calls wants them."""
        if self.result is None:
            return type(self.escaped).__name__, ""
        failure = self.result.failure
        return "ok" if failure is None else failure.code.value, self.result.content

    def did(self, kind: str) -> list[str]:
        """List what the interpreter said of one kind."""
        return [text for noted, text in self.noted if noted == kind]

    @property
    def returned(self) -> bool:
        """Whether the hook was reached and returned something."""
        return self.heard is not None and self.heard.error is None


class Subject:
    """One tool under examination; it is called when a check first asks, and once for all checks.

    Args:
        target: the plugin and where it comes from.
        examples: arguments that the tool must do well with.
        host: a host that has the tool, or what makes one; by default a host of the kit's own.
        settings: an instance of the plugin's settings class.
        observe: returns something comparable that shows what the tool may change.
        seed: of the generated arguments.
        before: what the process looked like before the plugin was imported.
    """

    def __init__(
        self,
        target: Target,
        *,
        examples: Sequence[Arguments] = (),
        host: Host | Callable[[], Host] | None = None,
        settings: object = None,
        observe: Callable[[], object] | None = None,
        seed: int = 0,
        before: Before | None = None,
    ) -> None:
        self.target = target
        self.before = Before() if before is None else before
        self.examples = tuple(dict(one) for one in examples)
        self.settings = settings
        self.observe = observe
        self.seed = seed
        self._given_host = host
        self.ungenerated: str | None = None
        self._opened: list[Host] = []
        # Under pytest nobody knows which check is the last one.
        weakref.finalize(self, _close_all, self._opened)
        self._spec: ToolSpec | None = None
        self._host: Host | None = None
        self.fault = target.fault
        if self.fault is None:
            try:
                self._host = self._make_host()
                self._spec = self._find_spec(self._host)
            except (ToolseamError, LookupError) as error:
                self.fault = str(error)
            except Exception as error:  # noqa: BLE001 - what makes a host may raise as it likes
                self.fault = f"{type(error).__name__}: {error}"

    # -- what it is ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The tool's name, or its entry point's where the tool does not load."""
        return self.target.name if self._spec is None else self._spec.name

    @property
    def builtin(self) -> bool:
        """Whether the tool comes with toolseam."""
        return self.target.builtin

    @property
    def plugin(self) -> Any:  # noqa: ANN401
        """The plugin, a module or an object."""
        return self.target.plugin

    @property
    def spec(self) -> ToolSpec:
        """What the tool says of itself."""
        if self._spec is None:
            raise Failed(f"the tool does not load: {self.fault}")
        return self._spec

    @property
    def host(self) -> Host:
        """The host through which it is called."""
        if self._host is None:
            raise Failed(f"the tool does not load: {self.fault}")
        return self._host

    @property
    def reads(self) -> bool:
        """Whether it says that it changes nothing."""
        return self.spec.effect == "read_only"

    @property
    def is_async(self) -> bool:
        """Whether its hook is a coroutine function."""
        tool = self.host.tool(self.name)
        return tool is not None and tool.is_async

    @property
    def in_a_sandbox(self) -> bool:
        """Whether the author gave a place where the tool may do what it likes."""
        given = self._given_host is not None or self.settings is not None
        return given or self.observe is not None

    @property
    def has_host(self) -> bool:
        """Whether the author gave a host, or what makes one."""
        return self._given_host is not None

    @property
    def has_own_hosts(self) -> bool:
        """Whether a further host can be made: the author did not give one that is built."""
        return not isinstance(self._given_host, Host)

    @cached_property
    def _child(self) -> Child | None:
        return start(self.target, self.before)

    @property
    def child(self) -> Child:
        """A fresh interpreter that imported the plugin and looked at it."""
        if self._child is None:
            raise NotApplicable("no fresh interpreter can import it: no module has it by a name")
        return self._child

    # -- hosts ---------------------------------------------------------------------------------

    def _make_host(self, settings: object = None) -> Host:
        if isinstance(self._given_host, Host) and settings is None:
            return self._given_host
        if self._given_host is not None and settings is None:
            made = self._given_host() if callable(self._given_host) else self._given_host
        else:
            given = self.settings if settings is None else settings
            own = () if given is None else (given,)
            made = Host(tools=[self.plugin], plugin_settings=own)
        self._opened.append(made)
        return made

    def fresh_host(self, settings: object = None) -> Host:
        """Return another host with the tool; `close` ends it with the others."""
        return self._make_host(settings)

    def reopen(self) -> None:
        """Close the host of the kit's own and go on with another one."""
        if self._host is not None:
            self._host.close()
            self._host = self._make_host()

    def _find_spec(self, host: Host) -> ToolSpec:
        wanted = self.target.name
        for tool in host.tools():
            if tool.plugin is self.plugin or (self._given_host is not None and tool.name == wanted):
                return tool.spec
        raise LookupError(f"the host that was given has no tool {wanted!r}")

    def close(self) -> None:
        """End the hosts that were made here, and the child process."""
        _close_all(self._opened)
        child = self.__dict__.pop("_child", None)
        if child is not None:
            child.close()

    # -- calling -------------------------------------------------------------------------------

    def call(
        self,
        arguments: Arguments,
        *,
        origin: Origin = "example",
        timeout: float | None = None,
        host: Host | None = None,
        awaited: bool = False,
    ) -> Outcome:
        """Call the tool once through a host, and keep what came before and after the seam."""
        place = self.host if host is None else host
        before = len(place.violations)
        printed = io.StringIO()
        result: ToolResult | None = None
        escaped: BaseException | None = None
        approval = self.approval(place, arguments)
        finished: list[object] = []
        with (
            _listening(place, finished),
            tap(place, self.name) as heard,
            contextlib.redirect_stdout(printed),
        ):
            shared = footprint()
            with audit() as noted:
                started = time.perf_counter()
                try:
                    result = self._perform(place, arguments, approval, timeout, awaited=awaited)
                except BaseException as error:  # noqa: BLE001 - what escapes is what is judged
                    escaped = error
                seconds = time.perf_counter() - started
            differs = changed(shared, footprint())
            if differs:
                restore(shared)
        step = self._own(finished, result)
        if len(place.violations) > before:
            place.readmit(self.name)
        last = heard[-1] if heard else None
        returned = last is not None and last.error is None
        fault = breach(place, self.name, last.value) if last is not None and returned else None
        return Outcome(
            origin,
            arguments,
            last,
            fault,
            result,
            step,
            escaped,
            seconds,
            printed.getvalue(),
            tuple(noted),
            tuple(differs),
        )

    def _own(self, finished: list[object], result: ToolResult | None) -> Step | None:
        """Find the step of a call among those of calls that it made, and of other people's.

        Where one result is two steps', the tool handed on what it got from itself, and ended last.
        """
        steps = (told for told in reversed(finished) if isinstance(told, Step))
        return next((s for s in steps if s.result is result and s.tool == self.name), None)

    def _perform(
        self,
        host: Host,
        arguments: Arguments,
        approval: Approval | None,
        timeout: float | None,
        *,
        awaited: bool,
    ) -> ToolResult:
        if awaited:
            return asyncio.run(
                host.acall(
                    self.name, arguments, actor=Actor.system, approval=approval, timeout=timeout
                )
            )
        return host.call(
            self.name, arguments, actor=Actor.system, approval=approval, timeout=timeout
        )

    def approval(self, host: Host, arguments: Arguments) -> Approval | None:
        """Return a person's word for a call, where the tool needs it."""
        if not self.spec.requires_approval:
            return None
        try:
            preview = host.preview(self.name, arguments, actor=Actor.system)
        except ToolError:
            return None  # the call is refused before any approval, and says why itself
        return host.approve(preview, actor=_APPROVER)

    # -- what it is called with ----------------------------------------------------------------

    @property
    def why_not_called(self) -> str | None:
        """Why the tool cannot be called at all here, or None."""
        if self.fault is not None:
            return "the tool does not load"
        if self.reads or self.in_a_sandbox or self.examples:
            return None
        return "it may write: give host=, settings=, observe= or examples="

    @property
    def why_not_generated(self) -> str | None:
        """Why the tool cannot be called with arguments that nobody wrote, or None."""
        if self.fault is None and not self.reads and not self.in_a_sandbox:
            return "it may write: give host=, settings= or observe="
        return self.why_not_called

    @cached_property
    def generated(self) -> tuple[Outcome, ...]:
        """Calls with arguments made of the schema; none for a tool that may write anywhere."""
        return self._try("generated", nasty=False)

    @cached_property
    def hostile(self) -> tuple[Outcome, ...]:
        """Calls with hostile values that fit the schema."""
        return self._try("hostile", nasty=True)

    @cached_property
    def exemplary(self) -> tuple[Outcome, ...]:
        """Calls with the examples."""
        return tuple(self.call(one) for one in self.examples)

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Calls with the examples, then with generated arguments."""
        return (*self.exemplary, *self.generated)

    @cached_property
    def all_outcomes(self) -> tuple[Outcome, ...]:
        """Calls with the examples, with generated and with hostile arguments."""
        return (*self.outcomes, *self.hostile)

    @cached_property
    def samples(self) -> tuple[Arguments, ...]:
        """At most three arguments to look closely with: examples, else generated ones."""
        if self.examples:
            return self.examples[:_FEWEST]
        return tuple(outcome.arguments for outcome in self.generated[:_FEWEST])

    @cached_property
    def steady(self) -> tuple[Outcome, ...]:
        """Calls with the samples whose answer does not change from call to call.

        Raises `NotApplicable` where there is none, or where calling twice may change something.
        """
        if not self.reads:
            raise NotApplicable("it may write, and two calls need not answer alike")
        twice = [(self.call(one), self.call(one)) for one in self.samples]
        found = tuple(first for first, second in twice if first.told == second.told)
        if not found:
            raise NotApplicable("its answers differ from call to call")
        return found

    def _try(self, origin: Origin, *, nasty: bool) -> tuple[Outcome, ...]:
        if self.why_not_generated is not None:
            return ()
        made: list[Outcome] = []
        try:
            given = _generate.samples(self.spec.schema, seed=self.seed, count=COUNT, nasty=nasty)
        except _generate.NoArguments as error:
            self.ungenerated = str(error)
            return ()
        until = time.monotonic() + PATIENCE_S
        for one in (*self._near_examples(given), *given):
            made.append(self.call(one, origin=origin))
            if len(made) >= _FEWEST and time.monotonic() > until:
                break
        return tuple(made)

    def _near_examples(self, given: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Give each example with one key as it was generated: most of these get somewhere."""
        for place, one in enumerate(given if self.examples else ()):
            keys = sorted(one)
            if keys:
                key = keys[place % len(keys)]
                yield {**self.examples[place % len(self.examples)], key: one[key]}

    # -- telling -------------------------------------------------------------------------------

    def reproduce(self, arguments: Arguments) -> str:
        """Return a command that makes a call again."""
        return _generate.reproduce(self.name, dict(arguments))

    def judge_each(
        self, outcomes: Sequence[Outcome], judge: Callable[[Outcome], str | None]
    ) -> None:
        """Raise `Failed` for the first outcome that `judge` finds fault with, shrunk."""
        for outcome in outcomes:
            fault = judge(outcome)
            if fault is None:
                continue
            smaller = None if outcome.origin == "example" else self._shrunk(outcome, judge)
            found = outcome if smaller is None else smaller
            fault = judge(found) or fault
            raise Failed(fault, self.reproduce(found.arguments))

    def _shrunk(self, outcome: Outcome, judge: Callable[[Outcome], str | None]) -> Outcome | None:
        """Look for the smallest generated arguments that have the same fault."""
        found: list[Outcome] = []
        until = time.monotonic() + PATIENCE_S

        def fails(arguments: dict[str, Any]) -> None:
            if time.monotonic() > until:
                return
            again = self.call(arguments, origin=outcome.origin)
            if judge(again) is not None:
                found.append(again)
                raise Failed("")

        falsified = _generate.falsify(
            self.spec.schema,
            fails,
            seed=self.seed,
            count=COUNT,
            nasty=outcome.origin == "hostile",
        )
        if falsified is None:
            return None
        return next((o for o in reversed(found) if o.arguments == falsified.arguments), None)


@contextlib.contextmanager
def _listening(host: Host, told: list[object]) -> Generator[None]:
    """Keep what a host tells meanwhile; to look through all of its steps costs more each time."""
    end = host.listen(told.append)
    try:
        yield
    finally:
        end()


def _close_all(hosts: list[Host]) -> None:
    while hosts:
        hosts.pop().close()
