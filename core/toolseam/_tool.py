"""`@tool`: the plugin object out of a typed function (contract §2)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

import attrs

from toolseam._context import ToolContext
from toolseam._errors import SpecError, publish
from toolseam._hooks import hookimpl
from toolseam._levels import DataClass, Effect
from toolseam._result import ToolResult
from toolseam._spec import ToolSpec

Function = Callable[..., Any]
ToolFunction = Callable[..., ToolResult | Awaitable[ToolResult]]


class FunctionTool:
    """The plugin object that `@tool` makes; calling it calls the function."""

    def __init__(self, function: Function, spec: ToolSpec, context: str | None) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = spec.name
        self.__module__ = function.__module__
        self._spec = spec
        self.execute = hookimpl(_hook(function, _names(spec), context))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return self.function(*args, **kwargs)

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Return the specification made from the function."""
        return self._spec


def tool(
    *,
    effect: Effect | str,
    data_class: DataClass | str = DataClass.SECRET_ADJACENT,
    **more: Any,  # noqa: ANN401 - members of ToolSpec
) -> Callable[[ToolFunction], FunctionTool]:
    """Make a tool of a typed function: its name, its docstring, its parameters (§2).

    Args:
        effect: one of `Effect`.
        data_class: one of `DataClass`.
        more: further members of `ToolSpec`, for example `name=` or `group=`.

    A parameter annotated `ToolContext` is given the context. Raises `SpecError` at decoration for
    a function without docstring, a parameter without annotation, or a return annotation other
    than `ToolResult`.
    """

    def decorate(function: ToolFunction) -> FunctionTool:
        name = more.get("name") or function.__name__
        _check_kind(function, name)
        hints = _hints(function, name)
        _check_return(hints.pop("return", None), name)
        parameters, context = _parameters(function, hints, name)
        described: dict[str, Any] = {"description": _description(function, name), **more}
        described["name"] = name
        spec = ToolSpec(effect=effect, data_class=data_class, parameters=parameters, **described)
        return FunctionTool(function, spec, context)

    return decorate


def _names(spec: ToolSpec) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(cast("Any", spec.parameters)))


def _hook(function: Function, names: tuple[str, ...], context: str | None) -> Function:
    """Return the `execute` hook; pluggy passes what it names, so it names no more than needed."""

    def call(arguments: object, given: object = None) -> Any:  # noqa: ANN401
        fields = {name: getattr(arguments, name) for name in names}
        if context is not None:
            fields[context] = given
        return function(**fields)

    async def acall(arguments: object, given: object = None) -> Any:  # noqa: ANN401
        return await call(arguments, given)

    waits = inspect.iscoroutinefunction(function)
    return _HOOKS[waits, context is not None](acall if waits else call)


def _plain(call: Function) -> Function:
    def execute(arguments: object) -> Any:  # noqa: ANN401
        return call(arguments)

    return execute


def _plain_context(call: Function) -> Function:
    def execute(arguments: object, context: object) -> Any:  # noqa: ANN401
        return call(arguments, context)

    return execute


def _waiting(call: Function) -> Function:
    async def execute(arguments: object) -> Any:  # noqa: ANN401
        return await call(arguments)

    return execute


def _waiting_context(call: Function) -> Function:
    async def execute(arguments: object, context: object) -> Any:  # noqa: ANN401
        return await call(arguments, context)

    return execute


_HOOKS = {
    (False, False): _plain,
    (False, True): _plain_context,
    (True, False): _waiting,
    (True, True): _waiting_context,
}


def _hints(function: Function, name: str) -> dict[str, Any]:
    import typing

    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        message = f"tool {name!r}: the annotation {error.name!r} is not known at module level"
        raise SpecError(message) from None


def _check_kind(function: Function, name: str) -> None:
    inner = inspect.unwrap(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise SpecError(f"tool {name!r}: a generator cannot be a tool; return one ToolResult")
    if inspect.iscoroutinefunction(inner) and not inspect.iscoroutinefunction(function):
        raise SpecError(
            f"tool {name!r}: async behind a decorator that hides it; make the decorator async"
        )


def _check_return(hint: object, name: str) -> None:
    if hint is not ToolResult:
        message = (
            f"tool {name!r}: annotate the return as `-> ToolResult` and end in "
            f"`return ToolResult.text(...)`; a plain value would leave the host guessing"
        )
        raise SpecError(message)


def _description(function: Function, name: str) -> str:
    text = inspect.getdoc(function)
    if not text:
        message = f"tool {name!r}: a docstring is needed, it tells the model what the tool does"
        raise SpecError(message)
    return text


def _parameters(function: Function, hints: dict[str, Any], name: str) -> tuple[type, str | None]:
    """Return an attrs class with one field a parameter, and the name of the context parameter."""
    fields: dict[str, Any] = {}
    context: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name)
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise SpecError(
                f"tool {name!r}: {parameter} cannot be described; name each parameter, and let "
                f"none be positional only"
            )
        if hint is ToolContext:
            if context is not None:
                raise SpecError(f"tool {name!r}: two parameters ask for the context; one is enough")
            context = parameter.name
            continue
        if hint is None:
            message = f"tool {name!r}: parameter {parameter.name!r} needs an annotation"
            raise SpecError(message)
        if parameter.name == "self":
            raise SpecError(f"tool {name!r}: a parameter cannot be called 'self'; rename it")
        default = attrs.NOTHING if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = attrs.field(default=default, type=hint, kw_only=True)
    return attrs.make_class("Arguments", fields, frozen=True, slots=True), context


publish(globals(), "tool")
