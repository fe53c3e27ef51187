"""Wrappers around `execute`, sync and async alike (contract §2).

pluggy orders the wrappers; the seam drives their protocol itself, since pluggy would hand the
wrapper of an async tool a coroutine, and would not tell which wrapper changed the arguments or
the outcome.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import TYPE_CHECKING, Any, cast

import pluggy

from toolseam._binding import (
    attribute_of,
    check_function,
    check_parameters,
    mark_of,
    names_of,
)
from toolseam._errors import LoadError
from toolseam._hooks import PROJECT, PluginHooks
from toolseam._jsontext import TooLarge, Unencodable, encode
from toolseam._judgement import Broken, as_broken
from toolseam._loading import contract_fault
from toolseam._text import short

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator

    from toolseam._result import ToolResult

    Judge = Callable[[object], ToolResult]
    Outcome = tuple[Any, BaseException | None]

_PARAMETERS = {
    "execute": ("arguments", "context"),
    "toolseam_close": ("host",),
    "toolseam_executor": ("name", "settings"),
    "toolseam_open": ("host",),
    "toolseam_provider": ("endpoint",),
    "toolseam_run_store": ("host",),
    "toolseam_step": ("step",),
    "toolseam_tools": ("settings", "operator"),
}


class Wrapper:
    """One wrapper of one host plugin; `begin` gives its generator for one call."""

    __slots__ = ("_function", "_names", "distribution", "plugin")

    def __init__(self, function: Callable[..., Any], plugin: object, distribution: str) -> None:
        self._function = function
        self._names = names_of(function)
        self.plugin = plugin
        self.distribution = distribution

    def begin(self, given: dict[str, Any]) -> Generator[None, Any, Any]:
        """Start the wrapper: everything before its `yield` has run when this returns."""
        generator: Generator[None, Any, Any] = self._function(*[given[n] for n in self._names])
        try:
            next(generator)
        except StopIteration:
            raise Broken("$", "a wrapper did not yield", wrapper=self) from None
        return generator


class HostPlugins:
    """The host plugins in pluggy's order; immutable once the host is loaded."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(PluginHooks)
        self._distributions: dict[int, str] = {}

    def add(self, plugin: object, distribution: str) -> None:
        """Verify a host plugin and register it, all or nothing; raises `LoadError`."""
        if id(plugin) in self._distributions:
            return
        check_plugin(plugin)
        box = _Identity(plugin)
        self._manager.register(box, name=f"{distribution}:{id(plugin)}")
        self._distributions[id(plugin)] = distribution

    def remove(self, plugin: object) -> None:
        """Take a host plugin out again, with all its hooks."""
        self._manager.unregister(name=f"{self._distributions.pop(id(plugin))}:{id(plugin)}")

    def implementations(self, hook: str) -> Iterator[tuple[object, Callable[..., Any]]]:
        """Give each plugin that implements a hook, in pluggy's order, and what calls it."""
        for impl in reversed(getattr(self._manager.hook, hook).get_hookimpls()):
            boxed: Any = impl.plugin
            yield boxed.plugin, _caller(impl.function)

    def wrappers(self) -> tuple[Wrapper, ...]:
        """Return the wrappers, outermost first."""
        found: list[Wrapper] = []
        for impl in reversed(self._manager.hook.execute.get_hookimpls()):
            boxed: Any = impl.plugin
            source = self._distributions[id(boxed.plugin)]
            found.append(Wrapper(impl.function, boxed.plugin, source))
        return tuple(found)


def _caller(function: Callable[..., Any]) -> Callable[..., Any]:
    names = names_of(function)

    def call(**given: object) -> Any:  # noqa: ANN401
        return function(*[given[name] for name in names])

    return call


class _Identity:
    """What pluggy sees of a host plugin: its hooks, compared by identity."""

    def __init__(self, plugin: object) -> None:
        self.plugin = plugin
        for name, function in _marked(plugin).items():
            setattr(self, name, function)


def _marked(plugin: object) -> dict[str, Callable[..., Any]]:
    found = {name: attribute_of(plugin, name) for name in dir(plugin)}
    return {name: function for name, function in found.items() if mark_of(function) is not None}


def check_plugin(plugin: object) -> None:
    """Refuse a host plugin that pluggy would skip, or that does with `execute` but wrap it (§2)."""
    if inspect.isclass(plugin):
        raise LoadError(f"{short(plugin.__name__)} is a class; name an instance of it")
    if fault := contract_fault(plugin):
        raise LoadError(fault)
    marked = _marked(plugin)
    if not marked:
        raise LoadError("implements no hook; mark one with @hookimpl")
    for name, function in marked.items():
        options = mark_of(function) or {}
        hook = options.get("specname") or name
        if hook not in _PARAMETERS:
            known = ", ".join(sorted(_PARAMETERS))
            raise LoadError(f"{short(name)!r} is no hook of a host plugin; there are {known}")
        if hook == "execute":
            _check_wrapper(function, options)
        elif options.get("wrapper") or options.get("hookwrapper"):
            raise LoadError(f"{hook}: only execute may be wrapped")
        else:
            check_function(function, hook, _PARAMETERS[hook])


def _check_wrapper(function: Callable[..., Any], options: dict[str, Any]) -> None:
    if options.get("hookwrapper"):
        message = "execute: hookwrapper=True is the old protocol; use hookimpl(wrapper=True)"
        raise LoadError(message)
    if not options.get("wrapper"):
        message = "execute: a host plugin may only wrap it, with hookimpl(wrapper=True)"
        raise LoadError(message)
    if not inspect.isgeneratorfunction(function):
        message = "execute: a wrapper is a plain generator function with one yield"
        raise LoadError(message)
    check_parameters(function, "execute", _PARAMETERS["execute"])


def through(
    wrappers: tuple[Wrapper, ...],
    given: dict[str, Any],
    text: bytes,
    run: Callable[[], ToolResult],
    judge: Judge,
) -> ToolResult:
    """Run a sync tool inside its wrappers and return what the outermost one gives.

    Args:
        wrappers: outermost first.
        given: a copy of the arguments for the wrappers alone, and the context.
        text: the recorded arguments, which no wrapper may change.
        run: calls the tool, once, and judges what it returns.
        judge: raises `Broken` for what is no sound result of this tool.
    """
    begun, outcome = _begin(wrappers, given, text)
    if outcome is None:
        try:
            outcome = (run(), None)
        except BaseException as error:  # noqa: BLE001 - a wrapper may see any outcome
            outcome = (None, error)
    return _end(begun, outcome, judge)


async def athrough(
    wrappers: tuple[Wrapper, ...],
    given: dict[str, Any],
    text: bytes,
    run: Callable[[], Awaitable[ToolResult]],
    judge: Judge,
) -> ToolResult:
    """Run an async tool inside its wrappers: `yield` gives what it returned, awaited."""
    begun, outcome = _begin(wrappers, given, text)
    if outcome is None:
        try:
            outcome = (await run(), None)
        except BaseException as error:  # noqa: BLE001 - a wrapper may see any outcome
            outcome = (None, error)
    return _end(begun, outcome, judge)


_Begun = list[tuple[Wrapper, "Generator[None, Any, Any]"]]


def _begin(
    wrappers: tuple[Wrapper, ...], given: dict[str, Any], text: bytes
) -> tuple[_Begun, Outcome | None]:
    """Start the wrappers, outermost first; an outcome means that the tool must not run."""
    begun: _Begun = []
    for wrapper in wrappers:
        try:
            begun.append((wrapper, wrapper.begin(given)))
            if _changed(given["arguments"], text):
                raise Broken(  # noqa: TRY301 - undone below, with what a wrapper itself may raise
                    "arguments", "a wrapper changed them", wrapper=wrapper
                )
        except Broken as broken:
            _abandon(begun)
            raise broken from None
        except BaseException as error:  # noqa: BLE001 - the outer wrappers see it
            return begun, (None, as_broken(error, wrapper) or error)
    return begun, None


def _changed(arguments: object, text: bytes) -> bool:
    try:
        return encode(arguments, limit=len(text)) != text
    except (TooLarge, Unencodable):
        return True


def _abandon(begun: _Begun) -> None:
    for _, generator in reversed(begun):
        with contextlib.suppress(BaseException):  # the call has failed already
            generator.close()


def _end(  # noqa: C901 - pluggy's wrapper protocol, in one place
    begun: _Begun, outcome: Outcome, judge: Judge
) -> ToolResult:
    """Hand the outcome out through the wrappers, innermost first; blame the first to spoil it."""
    value, error = outcome
    final = None if error is None else _final(error)
    blamed: Broken | None = None
    for wrapper, generator in reversed(begun):
        try:
            if error is None:
                generator.send(value)
            else:
                generator.throw(error)
        except StopIteration as stop:
            if error is not None or stop.value is not value:
                value, error = stop.value, None
                blamed = _spoilt(value, judge, wrapper, blamed)
        except BaseException as raised:  # noqa: BLE001 - the outer wrappers see it
            if raised is not error:
                value, error, blamed = None, as_broken(raised, wrapper) or raised, None
        else:
            _abandon(begun)
            raise final or Broken("$", "a wrapper yielded twice", wrapper=wrapper)
    if final is not None:
        raise final
    if error is not None:
        raise error
    if blamed is not None:
        raise blamed
    return cast("ToolResult", value)


def _final(error: BaseException) -> BaseException | None:
    """Return what no wrapper can swallow: a breach of the contract, and what ends the host."""
    broken = as_broken(error)
    if broken is not None:
        return broken
    passing = isinstance(error, Exception | SystemExit | asyncio.CancelledError)
    return None if passing else error


def _spoilt(value: object, judge: Judge, wrapper: Wrapper, before: Broken | None) -> Broken | None:
    """Return who is to blame for a value that a wrapper put in the place of another one."""
    try:
        judge(value)
    except Broken as broken:
        reason = f"a wrapper returned {broken.reason}"
        return before or Broken(broken.path, reason, wrapper=wrapper)
    return None
