"""From a name that a person gives to the adapters that it means."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from toolseam.testing import TargetError

if TYPE_CHECKING:
    from toolseam_plugins.conformance._of_adapter import Drive

GROUP = "toolseam.adapters"
"""Entry points of distributions that bring adapters; each names what drives one."""


def drives(named: str) -> dict[str, Drive]:
    """Return what drives each adapter that a target means, which imports it, by name.

    Args:
        named: a distribution or an entry point of the group `toolseam.adapters`, or
            `module:function`, where a mapping of names to functions may stand for several.

    Raises `TargetError` where there is none.
    """
    found = _installed(named)
    if not found and ":" in named:
        found = _imported(named)
    if not found:
        raise TargetError(
            f"{named[:200]!r} is no distribution with an entry point of the group {GROUP}, and no"
            " module:function; is it installed in this environment?"
        )
    for name, drive in found.items():
        if not callable(drive):
            raise TargetError(f"{name} is a {type(drive).__name__}, and no function of a session")
    return cast("dict[str, Drive]", found)


def _installed(named: str) -> dict[str, Any]:
    from importlib.metadata import entry_points

    wanted = _canonical(named)
    found: dict[str, Any] = {}
    for point in entry_points(group=GROUP):
        if point.name == named or (point.dist and _canonical(point.dist.name) == wanted):
            several = _imported(point.value)
            alone = several.pop(point.value, None)
            found |= several if alone is None else {point.name: alone}
    return found


def _imported(named: str) -> dict[str, Any]:
    module, _, attribute = named.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a module may raise anything
        message = f"{named[:200]!r} cannot be imported: {type(error).__name__}: {error}"
        raise TargetError(message) from None
    return dict(cast("Mapping[str, Any]", found)) if isinstance(found, Mapping) else {named: found}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
