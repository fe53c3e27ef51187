"""The conformance kit: named checks of the contract, for tools, hosts and adapters.

Reached by `toolseam check`, by `check_tool`, and by `parametrize_with_checks` under pytest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam_plugins.conformance._checks import (
        ADAPTER_CHECKS,
        ALL_CHECKS,
        HOST_CHECKS,
        TOOL_CHECKS,
    )
    from toolseam_plugins.conformance._drives import drives
    from toolseam_plugins.conformance._egress import egress
    from toolseam_plugins.conformance._model import (
        Check,
        CheckResult,
        Failed,
        Level,
        NotApplicable,
        Status,
    )
    from toolseam_plugins.conformance._portability import Finding, lint
    from toolseam_plugins.conformance._pytest import parametrize_with_checks
    from toolseam_plugins.conformance._run import check_adapter, check_host, check_tool

_HOME = {
    "ADAPTER_CHECKS": "_checks",
    "ALL_CHECKS": "_checks",
    "Check": "_model",
    "CheckResult": "_model",
    "Failed": "_model",
    "Finding": "_portability",
    "HOST_CHECKS": "_checks",
    "Level": "_model",
    "NotApplicable": "_model",
    "Status": "_model",
    "TOOL_CHECKS": "_checks",
    "check_adapter": "_run",
    "check_host": "_run",
    "check_tool": "_run",
    "drives": "_drives",
    "egress": "_egress",
    "lint": "_portability",
    "parametrize_with_checks": "_pytest",
}

__all__ = [
    "ADAPTER_CHECKS",
    "ALL_CHECKS",
    "HOST_CHECKS",
    "TOOL_CHECKS",
    "Check",
    "CheckResult",
    "Failed",
    "Finding",
    "Level",
    "NotApplicable",
    "Status",
    "check_adapter",
    "check_host",
    "check_tool",
    "drives",
    "egress",
    "lint",
    "parametrize_with_checks",
]


def __getattr__(name: str) -> object:
    """Import a part when it is first asked for: a child process wants none of them."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
