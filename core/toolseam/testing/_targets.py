"""From a name that a person gives to the tool plugins that it means."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam._binding import attribute_of, mark_of
from toolseam._entrypoints import canonical, scan
from toolseam._errors import ToolseamError
from toolseam._loading import load
from toolseam._settings_keys import OperatorSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam._entrypoints import Record

BUILTINS = "builtins"


class TargetError(ToolseamError):
    """What was named is no distribution, entry point, module or object with a tool."""


@attrs.frozen(eq=False)
class Target:
    """One tool plugin and where it comes from; `plugin` is None where it could not be loaded.

    `value` is what the entry point names (`module` or `module:object`), else None; `fault` says
    why it could not be loaded.
    """

    name: str
    plugin: object | None
    distribution: str = ""
    version: str = ""
    value: str | None = None
    builtin: bool = False
    fault: str | None = None


def targets(named: object) -> tuple[Target, ...]:
    """Return every tool that a target means, which imports it: naming it is the word for it.

    Args:
        named: a distribution, an entry point, `builtins`, `module`, `module:object`, or the
            module or object itself.

    Raises `TargetError` where there is no tool.
    """
    if not isinstance(named, str):
        return tuple(_given(named)) or (_of_object(named),)
    found = tuple(_of_records(named)) or tuple(_of_module(named))
    if not found:
        raise TargetError(
            f"{named[:200]!r} is no distribution, entry point or module with a tool; "
            "is it installed in this environment?"
        )
    return found


def _of_object(plugin: object) -> Target:
    name: object = getattr(plugin, "__name__", None)
    shown = name.rpartition(".")[2] if isinstance(name, str) else type(plugin).__name__
    return Target(shown, plugin)


def _of_records(named: str) -> Iterator[Target]:
    wanted = canonical(named)
    for record in scan().records:
        own = record.builtin if named == BUILTINS else wanted == canonical(record.distribution)
        if own or (named == record.name and record.kind == "tool"):
            yield from _of_record(record)


def _of_record(record: Record) -> Iterator[Target]:
    judged, plugin = load(record)
    fault = None if judged.status == "ready" else f"{judged.status}: {judged.detail}"
    if record.kind == "tool" or fault is not None:
        yield Target(
            record.name,
            plugin,
            record.distribution,
            record.version,
            record.value,
            record.builtin,
            fault,
        )
        return
    yield from _given(plugin, record.distribution, record.version)


def _given(plugin: object, distribution: str = "", version: str = "") -> Iterator[Target]:
    """Give the tools that a host plugin makes when it runs."""
    make = getattr(plugin, "toolseam_tools", None)
    if make is None or mark_of(make) is None:
        return
    has: dict[str, Any] = {"settings": {}, "operator": OperatorSettings()}
    for tool in make(**{name: has[name] for name in inspect.signature(make).parameters}):
        yield attrs.evolve(_of_object(tool), distribution=distribution, version=version)


def _of_module(named: str) -> Iterator[Target]:
    module_name, _, attribute = named.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for name in attribute.split(".") if attribute else ():
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as error:
        message = f"{named[:200]!r} cannot be imported: {type(error).__name__}: {error}"
        raise TargetError(message) from None
    given = () if _implements(found) else tuple(_given(found))
    if given:
        yield from given
    elif attribute or _implements(found):
        yield attrs.evolve(_of_object(found), value=named)
    else:
        for name, value in cast("dict[str, Any]", vars(found)).items():
            if not inspect.isclass(value) and not inspect.ismodule(value) and _implements(value):
                yield attrs.evolve(_of_object(value), name=name, value=f"{named}:{name}")


def _implements(plugin: object) -> bool:
    return mark_of(attribute_of(plugin, "tool_spec")) is not None
