"""All checks, in the order in which they are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam_plugins.conformance import _of_import, _of_results

if TYPE_CHECKING:
    from toolseam_plugins.conformance._model import Check
    from toolseam_plugins.conformance._subject import Subject

TOOL_CHECKS: tuple[Check[Subject], ...] = (
    *_of_import.CHECKS,
    *_of_results.CHECKS,
)
HOST_CHECKS: tuple[Check[Any], ...] = ()
ALL_CHECKS: tuple[Check[Any], ...] = (*TOOL_CHECKS, *HOST_CHECKS)
