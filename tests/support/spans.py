"""Where the spans of a test go: OpenTelemetry's own SDK, with an exporter that keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from toolseam import Host
from toolseam_plugins.otel import Telemetry

if TYPE_CHECKING:
    from collections.abc import Sequence


class Spans:
    """A provider of tracers of its own, beside the one that the process may have.

    A span is `Any`: every part of one may be None for the SDK, and a test that meets None fails.
    """

    def __init__(self) -> None:
        self.provider = TracerProvider()
        self._kept = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.tracer = self.provider.get_tracer("test")

    def host(self, *tools: object, also: Sequence[object] = (), **more: Any) -> Host:
        """Return a host whose calls are traced here, with other plugins besides."""
        return Host(tools=tools, plugins=[*also, Telemetry(self.provider)], **more)

    @property
    def ended(self) -> list[Any]:
        """The spans that have ended, in the order in which they did."""
        return list(self._kept.get_finished_spans())

    @property
    def only(self) -> Any:
        """The one span that has ended."""
        (span,) = self.ended
        return span

    @property
    def names(self) -> list[str]:
        """The names of those that have ended, sorted."""
        return sorted(span.name for span in self.ended)

    def named(self, name: str) -> Any:
        """Return the one span of this name."""
        (span,) = (span for span in self.ended if span.name == name)
        return span

    def parent_of(self, name: str) -> str | None:
        """Return the name of the span above the one of this name, None if it is on top."""
        parent = self.named(name).parent
        if parent is None:
            return None
        above = [s.name for s in self.ended if s.context.span_id == parent.span_id]
        return str(above[0])


class BrokenProcessor(SpanProcessor):
    """Raises where a span begins and where it ends."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Raise."""
        raise RuntimeError("no")

    def on_end(self, span: Any) -> None:
        """Raise."""
        raise RuntimeError("no")
