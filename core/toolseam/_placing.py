"""Where a tool's body runs: the operator's rule, and what carries it there (contract §5).

A tool that runs apart has hooks of ours in the place of its own: they hand the recorded arguments
over as bytes, once, and judge what comes back. The seam does not know the difference.
"""

from __future__ import annotations

import asyncio
import copy
import sys
from concurrent.futures import Future
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import orjson

from toolseam._body import (
    Lost,
    NotStarted,
    Raised,
    asked,
    outcome_of,
    request_of,
    run_body,
    was_refused,
)
from toolseam._call import Facilities, Refused
from toolseam._errors import SettingsError
from toolseam._levels import Zone
from toolseam._outcome import rose
from toolseam._result import ToolError, ToolResult, failed
from toolseam._result_json import encode_result
from toolseam._text import short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor

    from toolseam._binding import BoundTool
    from toolseam._body import Ask
    from toolseam._call import Call
    from toolseam._context import ToolContext
    from toolseam._levels import DataClass
    from toolseam._runners import Runners, There

INLINE, THREAD, PROCESS, SANDBOX = "inline", "thread", "process", "sandbox"
OURS = (INLINE, THREAD, PROCESS, SANDBOX)
NO_IMPORT = (
    "it stands in no module that could be imported elsewhere, as those of a script's own, of"
    " mounted servers or made at run time; they run inline or in a thread"
)
_LOOK_S = 0.05
"""How often whoever waits for a body looks whether somebody still waits for him."""


def place_of(rules: Mapping[str, str], tool: BoundTool) -> str:
    """Return where the operator wants a tool's body: by name, else group, else class, else `*`."""
    data_class: DataClass = tool.data_class
    for key in (tool.name, f"group:{tool.spec.group}", f"class:{data_class.value}", "*"):
        if key in rules:
            return rules[key]
    return INLINE


class Places:
    """Puts the bodies of tools where the operator wants them.

    Args:
        rules: `[runs_in]`.
        runners: give what carries a tool's body to a place.
        words: gives the words of a tool's settings, as JSON text, for wherever its body runs.
        timeout_s: what a body may take that has no deadline of its own.
    """

    def __init__(
        self,
        rules: Mapping[str, str],
        runners: Runners,
        words: Callable[[BoundTool], str | None],
        timeout_s: float,
    ) -> None:
        self._rules = rules
        self._runners = runners
        self._words = words
        self._timeout_s = timeout_s

    def put(self, tool: BoundTool) -> None:
        """Have a tool's hooks run where the operator wants them."""
        place = place_of(self._rules, tool) if self._rules else INLINE
        tool.place = place
        if place == INLINE:
            return
        if place == THREAD:
            tool.timeout_s = min(tool.timeout_s or self._timeout_s, self._timeout_s)
            return
        away = Away(tool, self._runners, self._words, self._timeout_s)
        if place not in OURS:  # an executor's futures are done by themselves
            tool.awaited = _standing_for(copy.copy(tool), away.aexecute, is_async=True)
        if tool.preview is not None:
            tool.preview = away.preview
        _standing_for(tool, away.execute)


def _standing_for(
    tool: BoundTool, execute: Callable[..., Any], *, is_async: bool = False
) -> BoundTool:
    """Have a hook of ours stand for the tool's: it needs the context, the body makes the class."""
    tool.execute = execute
    tool.wants_context = True
    tool.make = None
    tool.is_async = is_async
    return tool


class Away:
    """The hooks of a tool whose body runs apart."""

    def __init__(
        self,
        tool: BoundTool,
        runners: Runners,
        words: Callable[[BoundTool], str | None],
        timeout_s: float,
    ) -> None:
        self._tool = tool
        self._runners = runners
        self._words = words
        self._timeout_s = timeout_s
        self._looked = False
        self._found: str | None = None

    def execute(self, arguments: object, context: ToolContext) -> ToolResult:  # noqa: ARG002
        """Run the tool's `execute` apart, and wait for it."""
        return outcome_of(self.answer(context, "execute"))

    def preview(self, arguments: object, context: ToolContext) -> ToolResult:  # noqa: ARG002
        """Run the tool's `preview` apart, and wait for it."""
        answer = self.answer(context, "preview")
        result = outcome_of(answer)
        if was_refused(answer):  # an approver is told so in the same words as inline
            raise Refused(result)
        return result

    async def aexecute(self, arguments: object, context: ToolContext) -> ToolResult:  # noqa: ARG002
        """Run the tool's `execute` apart, and await it."""
        until = self._until(context)
        while isinstance(there := self._there(), Future):
            await asyncio.wrap_future(there)  # it takes seconds, and the loop must not
        future = self._submit(there, context, "execute", until)
        task = asyncio.current_task()
        cancels = 0 if task is None else task.cancelling()
        try:
            answer: object = await asyncio.wrap_future(cast("Future[object]", future))
        except asyncio.CancelledError:
            future.cancel()
            if rose(task, cancels):
                raise
            raise Lost("worker_died", "its engine gave it up") from None
        except TimeoutError:
            raise _not_our_clock() from None
        except Exception as error:  # noqa: BLE001 - another's future raises as it likes
            raise known(error) from None
        return outcome_of(answer)

    def answer(self, context: ToolContext, hook: str) -> bytes:
        """Run a hook apart and return the bytes of its answer."""
        call, _ = whole(context)
        until = self._until(context)
        while isinstance(there := self._there(), Future):
            there.result(max(0.0, until - monotonic()))
        future = self._submit(there, context, hook, until)
        try:
            while True:
                try:
                    return future.result(max(0.0, min(_LOOK_S, until - monotonic())))
                except TimeoutError:
                    if not future.done() and not call.abandoned and monotonic() < until:
                        continue
                    if not future.done():
                        raise
                    return _settled(future)
        except Exception as error:  # noqa: BLE001 - another's future raises as it likes
            future.cancel()
            raise known(error) from None
        except BaseException:
            future.cancel()
            raise

    def _target(self) -> str | None:
        if not self._looked:
            self._found = target_of(self._tool)
            self._looked = True
        return self._found

    def _until(self, context: ToolContext) -> float:
        return monotonic() + self._timeout_s if context.deadline is None else context.deadline

    def _there(self) -> There | Future[None]:
        """Return what carries the body, or what tells that its start has ended."""
        if self._target() is None:
            raise NotStarted("no_import", NO_IMPORT)
        return self._runners.runner(self._tool.place, self._tool)

    def _submit(self, there: There, context: ToolContext, hook: str, until: float) -> Future[bytes]:
        runner, version = there
        call, tool = whole(context)
        if call.abandoned or monotonic() >= until:  # while it was being reached
            raise TimeoutError
        actor = context.actor
        head = {
            "target": self._target(),
            "name": tool.name,
            "distribution": tool.distribution,
            "version": version,
            "hook": hook,
            "settings": self._words(tool),
            "run_id": context.run_id,
            "call_id": context.call_id,
            "step_id": context.step_id,
            "remaining": until - monotonic(),
            "actor": None if actor is None else [actor.name, sorted(actor.roles), actor.service],
        }
        request = request_of(head, cast("bytes", call.arguments))
        return runner.submit(request, owner=tool.distribution, ask=_Lent(call, tool).ask)


def _settled(future: Future[bytes]) -> bytes:
    try:
        return future.result()
    except TimeoutError:
        raise _not_our_clock() from None


def _not_our_clock() -> Lost:
    """What an engine calls a timeout is no deadline of the call."""
    return Lost("worker_died", "TimeoutError")


def whole(context: ToolContext) -> tuple[Call, BoundTool]:
    """Return the attempt that a context was built for."""
    return cast("Facilities", context._call).whole()  # noqa: SLF001 - the core's own


def known(error: Exception) -> Exception:
    """Return what the seam knows: whatever else a future raises means that the body was lost."""
    ours = (Lost, NotStarted, Raised, SettingsError, ToolError, TimeoutError)
    if isinstance(error, ours) or type(error).__module__.startswith("toolseam."):
        return error
    return Lost("worker_died", short(type(error).__name__))


class _Lent:
    """Answers what a body asks of its host; nothing is lent to a call that was given up."""

    def __init__(self, call: Call, tool: BoundTool) -> None:
        self._call = call
        self._facilities = Facilities(call, tool)

    def ask(self, message: bytes) -> bytes:
        """Return the answer to one question; raises `Lost` for one that is not known."""
        word, values = asked(message)
        if self._call.abandoned:
            raise Lost("given_up")
        try:
            return orjson.dumps({"ok": self._answer(word, values)})
        except ToolError as error:
            return orjson.dumps({"error": encode_result(failed(error))})

    def _answer(self, word: str, values: list[Any]) -> object:
        kinds: list[type[Any]] = [type(value) for value in values]
        lent = self._facilities
        if word == "secret" and kinds == [str]:
            return lent.secret(values[0])
        if word == "call" and kinds == [str, str]:
            return encode_result(lent.nested(values[0], values[1]))
        if word == "send_to" and kinds == [str] and values[0] in tuple(Zone):
            lent.send_to(Zone(values[0]))
            return None
        if word == "progress" and len(kinds) == 3 and kinds[2] is str:  # noqa: PLR2004
            done, total = (_number(value) for value in values[:2])
            lent.progress(done or 0.0, total, values[2])
            return None
        raise Lost("worker_protocol", "it asked for something that is not known")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def target_of(tool: BoundTool) -> str | None:
    """Return `module` or `module:name` by which a tool can be imported elsewhere, or None."""
    plugin = tool.plugin
    if isinstance(plugin, ModuleType):
        return plugin.__name__ if _importable(plugin) else None
    homes = (_home(tool.hooks["execute"]), _home(plugin), _home(type(plugin)))
    # An instance may stand in any module, say one that its class was imported into.
    for home in dict.fromkeys([*homes, *sys.modules]):
        module = sys.modules.get(home)
        if not isinstance(module, ModuleType) or not _importable(module):
            continue
        for name, value in list(vars(module).items()):
            if value is plugin:
                return f"{module.__name__}:{name}"
    return None


def _home(thing: object) -> str:
    name = getattr(thing, "__module__", None)
    return name if isinstance(name, str) else ""


def _importable(module: ModuleType) -> bool:
    """A program's own module, or one that was replaced, is another one when imported again."""
    name = module.__name__
    return name != "__main__" and sys.modules.get(name) is module


class ExecutorRunner:
    """Carries bodies over any `concurrent.futures.Executor`; nothing leads back to the host."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.refuses = False

    def submit(self, request: bytes, *, owner: str, ask: Ask) -> Future[bytes]:  # noqa: ARG002
        """Hand a body to the executor; raises `NotStarted` where it takes none."""
        try:
            return self._executor.submit(run_body, request)
        except Exception as error:  # noqa: BLE001 - another's code raises as it likes
            self.refuses = True
            raise NotStarted("executor", f"it raised {short(type(error).__name__)}") from None

    def close(self) -> None:
        """Shut the executor down, and wait for nobody."""
        self._executor.shutdown(wait=False, cancel_futures=True)
