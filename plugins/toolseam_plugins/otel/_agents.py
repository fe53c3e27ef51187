"""A span for each part of a run: from where it begins, or goes on, to its end or to people."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from opentelemetry import context as contexts
from opentelemetry import trace

from toolseam.runs import RunChange, RunStatus
from toolseam_plugins.otel._facts import CONVERSATION, OPERATION

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

    from toolseam.runs import Run, RunStep

_LOGGER = logging.getLogger("toolseam.otel")
_INVOKE = "invoke_agent"
_KNOWN = {"openai": "openai", "anthropic": "anthropic", "google": "gcp.gemini"}
_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,63}", re.ASCII)
_FAILED = frozenset({RunStatus.FAILED, RunStatus.CANCELLED})


class AgentSpans:
    """Traces the runs of one host; the calls of a run are children of its span.

    Args:
        tracer: makes the spans.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._open: dict[str, tuple[Span, Token[Context]]] = {}

    def told(self, what: RunStep | RunChange) -> None:
        """Begin or end a span as a run begins, goes on, waits or ends; it raises nothing."""
        if not isinstance(what, RunChange):
            return
        try:
            if what.run is None:
                self._begin(what)
            else:
                self._end(what.run)
        except Exception as error:  # noqa: BLE001 - the run does not feel a broken exporter
            _LOGGER.warning("no span of a run: %s", type(error).__name__)

    def _begin(self, what: RunChange) -> None:
        known = {OPERATION: _INVOKE, CONVERSATION: what.run_id, **_asked(what)}
        span = self._tracer.start_span(_INVOKE, attributes=known)
        # In the task that drives the run, which is told of its end too.
        token = contexts.attach(trace.set_span_in_context(span))
        self._open[what.run_id] = span, token

    def _end(self, run: Run) -> None:
        if run.id not in self._open:
            return
        span, token = self._open.pop(run.id)
        contexts.detach(token)
        span.set_attributes(_facts(run))
        if run.status in _FAILED:
            span.set_status(trace.StatusCode.ERROR)
        span.end()


def _asked(what: RunChange) -> dict[str, str]:
    """Return who is asked, in the conventions' words, of the first provider of a chain."""
    first = str(what.facts.get("provider") or "").partition(", ")[0]
    kind, _, model = first.partition(":")
    found = {"gen_ai.provider.name": _KNOWN.get(kind, "toolseam")}
    # A provider of the host's own may be called anything.
    return found | {"gen_ai.request.model": model} if _MODEL.fullmatch(model) else found


def _facts(run: Run) -> dict[str, str | int]:
    facts: dict[str, str | int] = {
        "gen_ai.usage.input_tokens": run.usage.input_tokens,
        "gen_ai.usage.output_tokens": run.usage.output_tokens,
        "toolseam.run.status": run.status.value,
        "toolseam.run.rounds": run.rounds,
        "toolseam.run.mark": run.mark.value,
        "toolseam.run.pending": sum(1 for each in run.pending if each.needs_approval),
    }
    if run.reason is not None:
        facts["toolseam.run.reason"] = run.reason.value
    if run.fault is not None:
        facts["toolseam.run.fault"] = run.fault.value
    if run.status in _FAILED and run.reason is not None:
        facts["error.type"] = run.reason.value
    return facts
