"""All checks, in the order in which they are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam_plugins.conformance import (
    _of_adapter,
    _of_effects,
    _of_host,
    _of_import,
    _of_results,
    _of_secrets,
    _of_spec,
    _of_time,
)

if TYPE_CHECKING:
    from toolseam_plugins.conformance._model import Check
    from toolseam_plugins.conformance._of_adapter import AdapterSubject
    from toolseam_plugins.conformance._of_host import HostSubject
    from toolseam_plugins.conformance._subject import Subject

TOOL_CHECKS: tuple[Check[Subject], ...] = (
    *_of_import.CHECKS,
    *_of_spec.CHECKS,
    *_of_results.CHECKS,
    *_of_effects.CHECKS,
    *_of_time.CHECKS,
    *_of_secrets.CHECKS,
)
HOST_CHECKS: tuple[Check[HostSubject], ...] = _of_host.CHECKS
ADAPTER_CHECKS: tuple[Check[AdapterSubject], ...] = _of_adapter.CHECKS
ALL_CHECKS: tuple[Check[Any], ...] = (*TOOL_CHECKS, *HOST_CHECKS, *ADAPTER_CHECKS)
