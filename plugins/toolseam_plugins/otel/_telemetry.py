"""The plugin itself: a span opens where a tool begins, and closes with the step of its call.

The wrapper knows where the call runs, the step what came of it: a call that is given up ends for
its caller before it ends in its thread, and one that is refused never begins at all.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from time import time_ns
from typing import TYPE_CHECKING

from opentelemetry import context as contexts
from opentelemetry import trace

from toolseam import hookimpl
from toolseam_plugins.otel._agents import AgentSpans
from toolseam_plugins.otel._facts import (
    OPERATION,
    TOOL_NAME,
    TOOL_TYPE,
    facts_of,
    name_of,
    type_of,
)
from toolseam_plugins.otel._parents import CALL

if TYPE_CHECKING:  # nobody resolves the annotations of a host plugin
    from collections.abc import Generator  # noqa: TC004
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, TracerProvider

    from toolseam import Host, Step, ToolContext, ToolResult  # noqa: TC004

_LOGGER = logging.getLogger("toolseam.otel")


class Telemetry:
    """Traces the calls and the runs of one host.

    Args:
        tracer_provider: where spans go; by default to what the application has set for all.
    """

    toolseam_api = "1"

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("toolseam", tracer_provider=tracer_provider)
        # By the id of the step that is to come; None for one that could not be begun.
        self._open: dict[str, Span | None] = {}
        self._agents = AgentSpans(self._tracer)

    @hookimpl
    def toolseam_open(self, host: Host) -> None:
        """Trace the runs of the host, too; it ends with the host."""
        host.listen_to_runs(self._agents.told)

    @hookimpl(wrapper=True)
    def execute(self, context: ToolContext) -> Generator[None, ToolResult, ToolResult]:
        """Make the span of a call the current one while its tool runs."""
        with self._inside(context):
            return (yield)

    @hookimpl
    def toolseam_step(self, step: Step) -> None:
        """End the span of a call with what came of it; one that was refused gets a short one."""
        ran = step.id in self._open
        span = self._open.pop(step.id, None)
        end = time_ns()
        if not ran:
            begun = end - int(step.duration_s * 1e9)
            span = self._tracer.start_span(name_of(step), start_time=begun)
        if span is None:
            return
        span.set_attributes(facts_of(step, ran=ran))
        if step.status != "ok":
            span.set_status(trace.StatusCode.ERROR)
        span.end(end)

    @contextmanager
    def _inside(self, context: ToolContext) -> Generator[None]:
        """Whatever a span processor or an exporter does wrong, the tool does not feel it."""
        token = None
        try:
            token = self._begin(context)
        except Exception as error:  # noqa: BLE001
            _LOGGER.warning("no span: %s", type(error).__name__)
        try:
            yield
        finally:
            if token is not None:
                contexts.detach(token)

    def _begin(self, context: ToolContext) -> Token[Context] | None:
        """Start the span and make it the current one, unless nobody waits for the call already."""
        step_id, tool = context.step_id, context.tool
        self._open[step_id] = None
        known = {OPERATION: "execute_tool", TOOL_NAME: tool.name, TOOL_TYPE: type_of(tool)}
        span = self._tracer.start_span(f"execute_tool {tool.name}", attributes=known)
        self._open[step_id] = span
        if context.cancelled():
            # Its step may have been told already, and nothing would ever end the span.
            self._open.pop(step_id, None)
            return None
        inside = contexts.set_value(CALL, True, trace.set_span_in_context(span))
        return contexts.attach(inside)
