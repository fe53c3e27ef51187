"""Wrappers around `execute`, sync and async alike (contract §2).

pluggy orders the wrappers; the seam drives their protocol itself, since pluggy would hand the
wrapper of an async tool a coroutine, and would not tell which wrapper changed the arguments or
the outcome.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pluggy

from toolseam._binding import MARK, Broken, fault_of, mark_of
from toolseam._errors import LoadError
from toolseam._hooks import PROJECT, PluginHooks
from toolseam._jsontext import encode
from toolseam._text import short

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    Outcome = tuple[Any, BaseException | None]

_HOOKS = frozenset(n for n in vars(PluginHooks) if not n.startswith("_"))


class Wrapper:
    """One wrapper of one host plugin; `calls` gives its generator for one call."""

    __slots__ = ("_function", "_names", "distribution", "plugin")

    def __init__(self, function: Callable[..., Any], plugin: object, distribution: str) -> None:
        self._function = function
        self._names = tuple(inspect.signature(function).parameters)
        self.plugin = plugin
        self.distribution = distribution

    def begin(self, given: dict[str, Any]) -> Generator[None, Any, Any]:
        """Start the wrapper: everything before its `yield` has run when this returns."""
        generator: Generator[None, Any, Any] = self._function(**{n: given[n] for n in self._names})
        try:
            next(generator)
        except StopIteration:
            raise Broken("$", "a wrapper did not yield", ran=False, wrapper=self) from None
        return generator


class HostPlugins:
    """The host plugins in pluggy's order; immutable once the host is loaded."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(PluginHooks)
        self._distributions: dict[int, str] = {}

    def add(self, plugin: object, distribution: str) -> None:
        """Verify a host plugin and register it, all or nothing; raises `LoadError`."""
        check_plugin(plugin)
        box = _Identity(plugin)
        self._manager.register(box, name=f"{distribution}:{id(plugin)}")
        self._distributions[id(plugin)] = distribution

    def remove(self, plugin: object) -> None:
        """Take a host plugin out again, with all its hooks."""
        self._manager.unregister(name=f"{self._distributions.pop(id(plugin))}:{id(plugin)}")

    @property
    def hook(self) -> Any:  # noqa: ANN401 - pluggy's relay has no type
        """Pluggy's callers, for all hooks but `execute`."""
        return self._manager.hook

    def wrappers(self) -> tuple[Wrapper, ...]:
        """Return the wrappers, outermost first."""
        return tuple(
            Wrapper(impl.function, impl.plugin.plugin, self._distributions[id(impl.plugin.plugin)])
            for impl in reversed(self._manager.hook.execute.get_hookimpls())
        )


class _Identity:
    """What pluggy sees of a host plugin: its hooks, compared by identity."""

    def __init__(self, plugin: object) -> None:
        self.plugin = plugin
        for name, function in _marked(plugin).items():
            setattr(self, name, function)


def _marked(plugin: object) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name in dir(plugin):
        candidate = getattr(plugin, name, None)
        if mark_of(candidate) is not None:
            found[name] = candidate  # type: ignore[assignment]
    return found


def check_plugin(plugin: object) -> None:
    """Refuse a host plugin that pluggy would skip, or that does with `execute` but wrap it (§2)."""
    marked = _marked(plugin)
    if not marked:
        message = "implements no hook; mark one with @hookimpl"
        raise LoadError(message)
    for name, function in marked.items():
        options = mark_of(function) or {}
        hook = options.get("specname") or name
        if hook not in _HOOKS:
            message = f"{short(name)!r} is no hook of a host plugin; there are {', '.join(sorted(_HOOKS))}"
            raise LoadError(message)
        if not inspect.isroutine(function):
            message = f"{name} is a {short(type(function).__name__)}; pluggy calls functions only"
            raise LoadError(message)
        if hook == "execute":
            _check_wrapper(function, options)


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
    for parameter in inspect.signature(function).parameters.values():
        named = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if not named or parameter.name not in ("arguments", "context"):
            message = f"execute: a wrapper may name arguments and context, not {parameter}"
            raise LoadError(message)


def through(
    wrappers: tuple[Wrapper, ...], given: dict[str, Any], text: bytes, run: Callable[[], Any]
) -> Any:  # noqa: ANN401
    """Run a sync tool inside its wrappers and return what the outermost one gives."""
    begun, outcome = _begin(wrappers, given, text)
    if outcome is None:
        try:
            outcome = (run(), None)
        except BaseException as error:  # noqa: BLE001 - a wrapper may see any outcome
            outcome = (None, error)
    return _end(begun, outcome)


async def athrough(
    wrappers: tuple[Wrapper, ...],
    given: dict[str, Any],
    text: bytes,
    run: Callable[[], Awaitable[Any]],
) -> Any:  # noqa: ANN401
    """Run an async tool inside its wrappers: `yield` gives what it returned, awaited."""
    begun, outcome = _begin(wrappers, given, text)
    if outcome is None:
        try:
            outcome = (await run(), None)
        except BaseException as error:  # noqa: BLE001 - a wrapper may see any outcome
            outcome = (None, error)
    return _end(begun, outcome)


_Begun = list[tuple[Wrapper, "Generator[None, Any, Any]"]]


def _begin(
    wrappers: tuple[Wrapper, ...], given: dict[str, Any], text: bytes
) -> tuple[_Begun, Outcome | None]:
    """Start the wrappers, outermost first; an outcome means that the tool must not run."""
    begun: _Begun = []
    for wrapper in wrappers:
        try:
            begun.append((wrapper, wrapper.begin(given)))
            if encode(given["arguments"], limit=len(text)) != text:
                raise Broken("arguments", "a wrapper changed them", ran=False, wrapper=wrapper)
        except Broken as broken:
            _abandon(begun)
            raise broken from None
        except BaseException as error:  # noqa: BLE001 - the outer wrappers see it
            return begun, (None, error)
    return begun, None


def _abandon(begun: _Begun) -> None:
    for _, generator in reversed(begun):
        try:
            generator.close()
        except BaseException:  # noqa: BLE001, S110 - the call has failed already
            pass


def _end(begun: _Begun, outcome: Outcome) -> Any:  # noqa: ANN401
    """Hand the outcome out through the wrappers, innermost first; blame the first to spoil it."""
    value, error = outcome
    blamed: Wrapper | None = None
    for wrapper, generator in reversed(begun):
        sound = error is not None or not fault_of(value)[1]
        try:
            if error is None:
                generator.send(value)
            else:
                generator.throw(error)
        except StopIteration as stop:
            value, error = stop.value, None
            if sound and blamed is None and fault_of(value)[1]:
                blamed = wrapper
        except BaseException as raised:  # noqa: BLE001 - the outer wrappers see it
            value, error = None, raised
        else:
            _abandon(begun)
            raise Broken("$", "a wrapper yielded twice", wrapper=wrapper)
    if error is not None:
        raise error
    path, reason = fault_of(value)
    if reason and blamed is not None:
        raise Broken(path, f"a wrapper returned {reason}", wrapper=blamed)
    return value


__all__ = ["MARK", "HostPlugins", "Wrapper", "athrough", "check_plugin", "through"]
