"""Time for a machine that stands still, in tests that are not about a tool's own budget."""

from __future__ import annotations

from functools import cache
from pkgutil import resolve_name
from typing import Any

import pytest

_PLENTY = 60.0
# Where the tools keep how many seconds they give themselves: constants, and defaults of functions.
CONSTANTS = (
    "_config._reading.SECONDS",
    "_config._templates._SECONDS",
    "_database.READ_SECONDS",
    "_database._open._SECONDS",
    "_database._postgres.READ_SECONDS",
    "_database._sqlite.READ_SECONDS",
    "_database._sqlite._ESTIMATE_SECONDS",
    "_database._writing._open._SECONDS",
    "_logs._opened.SECONDS",
    "_storages.SECONDS",
    "_storages._sftp._SECONDS",
    "accounts._tables.SECONDS",
    "code.search_code._SECONDS",
    "content._counting.SECONDS",
    "content._record._SECONDS",
    "content._record._TURN_SECONDS",
    "content._searching._SECONDS",
    "content._searching._TURN_SECONDS",
    "rag.rag_fetch_source._SECONDS",
    "rag.rag_query._SECONDS",
    "structure._review._KEY_SECONDS",
    "structure._sample._SECONDS",
    "structure.validate_schema._SECONDS",
    "system.get_system_status._SECONDS",
    "system.list_scheduled_tasks._SECONDS",
)
_DEFAULTS = (
    "_database._asking.read_until",
    "_database._postgres.PostgresDatabase.count",
    "_database._sqlite.SqliteDatabase.count",
    "_storages._stock.clock_of",
    "structure._forest.read_forest",
)


@cache
def _budgets() -> tuple[tuple[Any, str, object], ...]:
    """Find what holds each budget, its name there, and what to put in its place."""
    constants = [(*_found(path), _PLENTY) for path in CONSTANTS]
    functions = [getattr(*_found(path)) for path in _DEFAULTS]
    return (*constants, *((each, "__defaults__", (_PLENTY,)) for each in functions))


def _found(path: str) -> tuple[Any, str]:
    """Return what holds the last name of a dotted path below `toolseam_builtin`, and that name."""
    holder, _, name = f"toolseam_builtin.{path}".rpartition(".")
    return resolve_name(holder), name


@pytest.fixture(autouse=True)
def plenty_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every tool take a minute; a test that is about a budget sets that one itself."""
    for holder, name, value in _budgets():
        monkeypatch.setattr(holder, name, value)
