"""The tables of the store, for both databases: made by migrations, and compared on opening."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERSION = 1

_TEXT, _NUMBER, _REAL, _BYTES = "text", "number", "real", "bytes"
_RUN = {
    "id": (_TEXT, "NOT NULL PRIMARY KEY"),
    "kind": (_TEXT, "NOT NULL"),
    "status": (_TEXT, "NOT NULL"),
    "reason": (_TEXT, ""),
    "owner": (_TEXT, ""),
    "zone": (_TEXT, ""),
    "provider": (_TEXT, ""),
    "level": (_TEXT, "NOT NULL"),
    "writer": (_TEXT, "NOT NULL"),
    "began": (_REAL, "NOT NULL"),
    "ended": (_REAL, ""),
    "rounds": (_NUMBER, ""),
    "input_tokens": (_NUMBER, ""),
    "output_tokens": (_NUMBER, ""),
    "mark": (_TEXT, ""),
    "fault": (_TEXT, ""),
    "truncated": (_NUMBER, ""),
    "lost": (_NUMBER, "NOT NULL"),
    "waits": (_NUMBER, "NOT NULL"),
    "waited": (_REAL, ""),
    "content": (_TEXT, ""),
    "state": (_BYTES, ""),
}
_STEP = {
    "run_id": (_TEXT, "NOT NULL"),
    "seq": (_NUMBER, "NOT NULL"),
    "at": (_REAL, "NOT NULL"),
    "number": (_NUMBER, "NOT NULL"),
    "kind": (_TEXT, "NOT NULL"),
    "round": (_NUMBER, "NOT NULL"),
    "position": (_NUMBER, "NOT NULL"),
    "duration_s": (_REAL, "NOT NULL"),
    "actor": (_TEXT, ""),
    "tool": (_TEXT, ""),
    "distribution": (_TEXT, ""),
    "version": (_TEXT, ""),
    "status": (_TEXT, ""),
    "effect": (_TEXT, ""),
    "facts": (_TEXT, "NOT NULL"),
    "content": (_TEXT, ""),
}
_DECISION = {
    "run_id": (_TEXT, "NOT NULL"),
    "wait": (_NUMBER, "NOT NULL"),
    "position": (_NUMBER, "NOT NULL"),
    "at": (_REAL, "NOT NULL"),
    "verdict": (_TEXT, "NOT NULL"),
    "decided_by": (_TEXT, "NOT NULL"),
    "sealed": (_BYTES, ""),
}
TABLES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "run": _RUN,
    "run_step": _STEP,
    "run_decision": _DECISION,
}
_KEYS = {"run_step": "run_id, seq", "run_decision": "run_id, wait, position"}
# Few rows are ever in these: what is on its way, and what nobody has finished.
INDEXES = {
    "run_waiting": "ON run (waited) WHERE status = 'waiting_for_approval'",
    "run_running": "ON run (writer) WHERE status = 'running'",
    "run_step_intended": "ON run_step (run_id) WHERE status = 'intended'",
}


def migrations(types: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return the statements that lead from each version to the next, in a database's own types."""
    first = (*_tables(types), *(f"CREATE INDEX {name} {rule}" for name, rule in INDEXES.items()))
    return (first,)


def _tables(types: Mapping[str, str]) -> Iterator[str]:
    for name, columns in TABLES.items():
        parts = [
            f"{column} {types[kind]} {rule}".strip() for column, (kind, rule) in columns.items()
        ]
        if name in _KEYS:
            parts.append(f"PRIMARY KEY ({_KEYS[name]})")
        yield f"CREATE TABLE {name} ({', '.join(parts)})"
