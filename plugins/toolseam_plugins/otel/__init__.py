"""OpenTelemetry: a span for each call and run, by the GenAI conventions, of facts and no words.

A host plugin that the operator names, `trust = ["otel"]`, or that code hands over:
`Host(plugins=[Telemetry()])`. Never content, data, artifacts, arguments, messages or events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam_plugins.otel._parents import extract, inject

if TYPE_CHECKING:
    from toolseam_plugins.otel._telemetry import Telemetry

    plugin: Telemetry

__all__ = ["Telemetry", "extract", "inject", "plugin"]


def __getattr__(name: str) -> object:
    """Give the plugin's class, or, as `plugin`, a fresh one for each host that loads it."""
    if name not in {"Telemetry", "plugin"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toolseam_plugins.otel._telemetry import Telemetry

    return Telemetry if name == "Telemetry" else Telemetry()
