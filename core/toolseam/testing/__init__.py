"""What tool authors test with: a double of the host, canaries, and the conformance kit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam.testing._canaries import Canary, canary
from toolseam.testing._checks import check_adapter, check_tool, parametrize_with_checks
from toolseam.testing._harness import Harness, harness
from toolseam.testing._scripted import ScriptedProvider
from toolseam.testing._tap import Heard, breach, tap
from toolseam.testing._targets import Target, TargetError, targets

if TYPE_CHECKING:
    from toolseam_plugins.conformance import CheckResult

__all__ = [
    "Canary",
    "CheckResult",
    "Harness",
    "Heard",
    "ScriptedProvider",
    "Target",
    "TargetError",
    "breach",
    "canary",
    "check_adapter",
    "check_tool",
    "harness",
    "parametrize_with_checks",
    "tap",
    "targets",
]


def __getattr__(name: str) -> object:
    """Import the conformance kit when it is first asked for."""
    if name != "CheckResult":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toolseam_plugins.conformance import CheckResult

    return CheckResult
