"""Telemetry as a way out: every span of a whole run and of refused calls, as it is exported."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam_plugins.conformance._egress_traffic import Traffic


def otel_sinks() -> dict[str, Callable[[Traffic], str]]:
    """Return the sink of the spans, where the SDK is installed that exports them."""
    try:
        found = find_spec("opentelemetry.sdk")
    except ModuleNotFoundError:
        return {}
    return {} if found is None else {"otel": _exported}


def _exported(traffic: Traffic) -> str:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from toolseam_plugins.otel import Telemetry

    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    traced = traffic.elsewhere(Telemetry(provider))
    try:
        with provider.get_tracer("proof").start_as_current_span("proof"):
            session = traced.session()
            for name in (*traced.names, "unknown"):
                session.call_wire(name)
                session.call_wire(name, {"no": "such"})
    finally:
        traced.host.close()
        provider.shutdown()
    return "\n".join(span.to_json() for span in kept.get_finished_spans())
