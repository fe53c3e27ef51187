"""Durable, queued runs on DBOS and PostgreSQL: a run outlives the process that drives it.

A run is a workflow, each reply and each answer to a call is a step of it. The engine repeats what
was on its way when a process was lost; the fence sees to it that no write is among that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam_plugins.durable._durable import Durable, DurableRun
    from toolseam_plugins.durable._records import DurableError

_HOME = {"Durable": "_durable", "DurableRun": "_durable", "DurableError": "_records"}

__all__ = ["Durable", "DurableError", "DurableRun"]


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
