"""Whose child a span is when a call comes from another process, or goes to one.

Where nobody in this process uses OpenTelemetry, nothing of it is imported and nothing is done.
Only `traceparent` passes, ids without words: never `tracestate` and never `baggage`.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from contextlib import AbstractContextManager

CALL = "toolseam-call"
"""Marks the OpenTelemetry context of a call that the plugin traces."""

_FIELD = "traceparent"


def extract(meta: Mapping[str, object] | None) -> AbstractContextManager[None]:
    """Make the span that a caller names the parent of what is traced inside the block.

    Args:
        meta: what came with the request, such as the `_meta` of MCP; a `traceparent` that is none
            is as good as absent.
    """
    named = None if meta is None else meta.get(_FIELD)
    if type(named) is not str or "opentelemetry.trace" not in sys.modules:
        return nullcontext()
    return _below(named)


@contextmanager
def _below(named: str) -> Generator[None]:
    from opentelemetry import context, trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    found = TraceContextTextMapPropagator().extract({_FIELD: named}, context.Context())
    parent = trace.get_current_span(found).get_span_context()
    here = trace.get_current_span().get_span_context()
    # A span of the same trace that is here already is nearer: the MCP SDK made it of the same word.
    if not parent.is_valid or here.trace_id == parent.trace_id:
        yield
        return
    token = context.attach(trace.set_span_in_context(trace.get_current_span(found)))
    try:
        yield
    finally:
        context.detach(token)


def inject() -> dict[str, str]:
    """Return what tells another process of the call that is traced here; else nothing.

    For the `_meta` of a request that a tool sends, from inside its `execute`.
    """
    if "opentelemetry.trace" not in sys.modules:
        return {}
    from opentelemetry import context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    if context.get_value(CALL) is None:
        return {}
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return {_FIELD: carrier[_FIELD]} if _FIELD in carrier else {}
