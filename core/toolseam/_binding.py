"""From a plugin object to a bound tool: everything is verified at load, nothing at the call (§2).

The bound tool is the only caller of the hook, and it judges every return (§5).
"""

from __future__ import annotations

import inspect
import threading
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast

import pluggy

from toolseam._errors import LoadError, ToolseamError
from toolseam._hooks import PROJECT, ToolHooks
from toolseam._jsontext import decode
from toolseam._judgement import Broken, dispose, fault_of
from toolseam._loading import contract_fault
from toolseam._run_only import peek
from toolseam._spec import ToolSpec
from toolseam._text import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam._arguments import Arguments
    from toolseam._levels import DataClass, Effect
    from toolseam._result import ToolResult
    from toolseam._validator import Validator

MARK = f"{PROJECT}_impl"
_TOOL_HOOKS = ("tool_spec", "execute", "preview")
_PARAMETERS = {
    "tool_spec": (),
    "execute": ("arguments", "context"),
    "preview": ("arguments", "context"),
}
_UNUSUAL = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


class BoundTool:
    """One tool, ready to be called; `key` is the plugin object's identity."""

    __slots__ = (
        "_hooks",
        "_promised",
        "awaited",
        "data_class",
        "distribution",
        "effect",
        "execute",
        "is_async",
        "key",
        "make",
        "name",
        "place",
        "plugin",
        "preview",
        "promises",
        "read",
        "reads",
        "requires_admin",
        "requires_approval",
        "spec",
        "timeout_s",
        "turn",
        "version",
        "wants_context",
    )

    def __init__(
        self,
        plugin: object,
        hooks: dict[str, Callable[..., Any]],
        spec: ToolSpec,
        distribution: str,
        version: str,
    ) -> None:
        """Take the hooks of `plugin` that `find_hooks` has verified."""
        self.plugin = plugin
        self._hooks = hooks
        self.key = id(plugin)
        self.spec = spec
        self.name = spec.name
        self.distribution = distribution
        self.version = version
        self.effect: Effect = spec.effect
        self.data_class: DataClass = spec.data_class
        self.requires_admin = spec.requires_admin
        self.requires_approval = spec.requires_approval
        self.reads = spec.effect == "read_only"
        self.timeout_s = spec.timeout_s
        self.promises = spec.output_schema is not None
        self.is_async = inspect.iscoroutinefunction(hooks["execute"])
        self.wants_context = "context" in names_of(hooks["execute"])
        # Writes of one plugin object take turns: what breaks the contract is never run twice.
        self.turn = threading.Lock()
        self._promised: Validator | None = None
        # Where its body runs, as `[runs_in]` has it.
        self.place = "inline"
        # The same tool for an event loop, where its body is awaited elsewhere.
        self.awaited: BoundTool | None = None
        # These replace themselves when they are first called: nothing is built before first use.
        self.execute: Callable[..., Any] = self._first_execute
        self.preview: Callable[..., Any] | None = (
            self._first_preview if "preview" in hooks else None
        )
        self.read: Callable[[Any], Arguments] = self._first_read
        attrs_class = isinstance(spec.parameters, type)
        self.make: Callable[[dict[str, Any]], Any] | None = (
            self._first_make if attrs_class else None
        )

    def _first_execute(self, **given: object) -> Any:  # noqa: ANN401
        """Register `execute` with pluggy and call it."""
        self.execute = self._registered().execute
        return self.execute(**given)

    def _first_preview(self, **given: object) -> Any:  # noqa: ANN401
        """Register `preview` with pluggy and call it."""
        call = self.preview = self._registered().preview
        return call(**given)

    def _registered(self) -> pluggy.HookRelay:
        """Register the hooks in a `PluginManager` of their own."""
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(ToolHooks)
        manager.register(_Box(self._hooks))
        return manager.hook

    def _first_read(self, raw: object) -> Arguments:
        """Build what judges and copies the arguments (§4)."""
        from toolseam._arguments import ArgumentReader

        self.read = ArgumentReader(self.spec.schema).read
        return self.read(raw)

    def _first_make(self, value: dict[str, Any]) -> object:
        """Build what makes the attrs instance of validated arguments."""
        from toolseam._structure import structurer

        self.make = structurer(cast("type", self.spec.parameters))
        return self.make(value)

    @property
    def hooks(self) -> dict[str, Callable[..., Any]]:
        """The hooks of the plugin object, by name."""
        return self._hooks

    def judge(self, value: object) -> ToolResult:
        """Return what the hook gave if it is a sound result of this tool, else raise `Broken`."""
        fault = fault_of(value)
        if fault is not None:
            raise Broken(*fault)
        result = cast("ToolResult", value)
        if self.promises and result.failure is None:
            self._keep_promise(result)
        return result

    def _keep_promise(self, result: ToolResult) -> None:
        if result.data is None:
            raise Broken("data", "an output schema promises data, and there is none")
        if self._promised is None:
            from toolseam._validator import validator_for

            self._promised = validator_for(self.spec.promised_schema or {})
        fault = self._promised.first_error(decode(peek(result.data)))
        if fault is not None:
            path, rule, _ = fault
            raise Broken(f"data{path[1:]}", f"breaks the output schema: {rule}")


class _Box:
    """What pluggy sees of a plugin: just its hooks, compared by identity."""

    def __init__(self, hooks: dict[str, Callable[..., Any]]) -> None:
        for name, function in hooks.items():
            setattr(self, name, function)

    def __dir__(self) -> list[str]:
        # pluggy asks for every attribute; what `object` has would be half the cost of registering.
        return list(vars(self))


def bind(plugin: object, *, name: str | None, distribution: str, version: str) -> BoundTool:
    """Verify a tool plugin and bind it, all or nothing (§2).

    Raises `LoadError`, whose text is the reason, for anything that pluggy would skip in silence
    or call wrongly, for a specification that is refused, and for a name that is not `name`.
    """
    if fault := contract_fault(plugin):
        raise LoadError(fault)
    hooks = find_hooks(plugin)
    for needed in ("tool_spec", "execute"):
        if needed not in hooks:
            message = f"implements no {needed}; mark it with @hookimpl"
            raise LoadError(message)
    spec = _spec_of(hooks["tool_spec"])
    if name is not None and spec.name != name:
        told = f"the entry point is named {short(name)!r}, its tool {spec.name!r}"
        message = f"{told}; make them equal"
        raise LoadError(message)
    return BoundTool(plugin, hooks, spec, distribution, version)


def _spec_of(tool_spec: Callable[[], object]) -> ToolSpec:
    try:
        spec = tool_spec()
    except KeyboardInterrupt:
        raise
    except ToolseamError as error:
        message = f"tool_spec is refused: {short(str(error), 400)}"
        raise LoadError(message) from None
    except BaseException as error:
        message = f"tool_spec raised {short(type(error).__name__)}"
        raise LoadError(message) from error
    if type(spec) is not ToolSpec:
        dispose(spec)
        message = f"tool_spec returned {short(type(spec).__name__)}, expected ToolSpec"
        raise LoadError(message)
    return spec


def find_hooks(plugin: object) -> dict[str, Callable[..., Any]]:
    """Return the hooks that a tool plugin implements, by name; refuse what would be skipped."""
    if inspect.isclass(plugin):
        message = f"{short(plugin.__name__)} is a class; name an instance of it"
        raise LoadError(message)
    found: dict[str, Callable[..., Any]] = {}
    for attribute in dir(plugin):
        candidate = attribute_of(plugin, attribute)
        options = mark_of(candidate)
        if options is None:
            continue
        name = options.get("specname") or attribute
        if name not in _PARAMETERS:
            raise LoadError(_misspelt(attribute))
        if options.get("wrapper") or options.get("hookwrapper"):
            message = f"{attribute} is a wrapper; wrappers belong to the group toolseam.plugins"
            raise LoadError(message)
        if name in found:
            message = f"implements {name} twice"
            raise LoadError(message)
        check_function(candidate, name, _PARAMETERS[name])
        found[name] = candidate
    return found


def attribute_of(owner: object, name: str) -> Any:  # noqa: ANN401
    """Return an attribute, or None where asking raises: properties and proxies do as they like."""
    try:
        return getattr(owner, name, None)
    except (Exception, SystemExit):  # noqa: BLE001 - what raises is no hook
        return None


def mark_of(candidate: object) -> dict[str, Any] | None:
    """Return the options that `hookimpl` left on a function, or None."""
    options = attribute_of(candidate, MARK)
    return cast("dict[str, Any]", options) if isinstance(options, dict) else None


def _misspelt(attribute: str) -> str:
    import difflib

    close = difflib.get_close_matches(attribute, _TOOL_HOOKS, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(_TOOL_HOOKS)}"
    return f"{short(attribute)!r} is no hook of a tool{hint}"


def check_function(candidate: Any, name: str, allowed: tuple[str, ...]) -> None:  # noqa: ANN401
    """Refuse an implementation that pluggy would skip, or call with less than it declares."""
    if _plain_names(candidate) is None:
        _check_kind(candidate, name)
    check_parameters(candidate, name, allowed)
    if allowed[:1] == ("arguments",) and "arguments" not in names_of(candidate)[:1]:
        raise LoadError(f"{name} must take 'arguments' first")


def _check_kind(candidate: Any, name: str) -> None:  # noqa: ANN401
    if not inspect.isroutine(candidate):
        message = f"{name} is a {short(type(candidate).__name__)}; pluggy calls functions only"
        raise LoadError(message)
    inner = inspect.unwrap(candidate)
    # An Iterable is what toolseam_tools gives (§2), and `yield` the natural way to write one.
    yields = inspect.isgeneratorfunction(inner) and name != "toolseam_tools"
    if yields or inspect.isasyncgenfunction(inner):
        raise LoadError(f"{name} is a generator; return one value")
    if inspect.iscoroutinefunction(inner):
        if name != "execute":
            raise LoadError(f"{name} is async; only the execute of a tool may be")
        if not inspect.iscoroutinefunction(candidate):
            message = f"{name} is async behind a decorator that hides it; make the decorator async"
            raise LoadError(message)


def check_parameters(candidate: Any, name: str, allowed: tuple[str, ...]) -> None:  # noqa: ANN401
    """Refuse parameters that pluggy would pass nothing to, or that the hook does not have."""
    plain = _plain_names(candidate)
    if plain is not None and set(plain).issubset(allowed):
        return
    try:
        # Like pluggy, past a decorator that names what it wraps.
        given = tuple(inspect.signature(candidate).parameters.values())
    except (TypeError, ValueError):
        raise LoadError(f"{name} has no signature that can be read") from None
    for parameter in given:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            kind = parameter.kind.description
            message = f"{name}: {parameter} is {kind}; pluggy would pass nothing to it"
            raise LoadError(message)
        if parameter.name not in allowed:
            known = ", ".join(allowed) or "none"
            message = f"{name}: no parameter {parameter.name!r}; it may name {known}"
            raise LoadError(message)


def names_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of an implementation that was checked."""
    plain = _plain_names(function)
    return tuple(inspect.signature(function).parameters) if plain is None else plain


def _plain_names(candidate: object) -> tuple[str, ...] | None:
    """Return the parameters of a plain function or method, or None: then `inspect` is asked.

    Plain is what nearly every hook is: neither async nor a generator, nothing put around it, each
    parameter by position or by name. `inspect` would be a tenth of what binding a tool costs.
    """
    given = isinstance(candidate, MethodType)
    function = candidate.__func__ if isinstance(candidate, MethodType) else candidate
    if type(function) is not FunctionType or not {MARK}.issuperset(vars(function)):
        return None
    code = function.__code__
    if code.co_flags & _UNUSUAL or code.co_posonlyargcount or code.co_kwonlyargcount:
        return None
    return code.co_varnames[given : code.co_argcount] if given <= code.co_argcount else None
