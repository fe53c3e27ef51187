"""What the audit costs a call, against the same row put there by `sqlite3` alone."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import Effort, Measured
from benchmarks.ours import SCHEMA, spec
from benchmarks.subject import ARGUMENTS
from benchmarks.timing import interleave, repeated, wall, wall_ratio
from toolseam import Actor, Host, ToolResult, hookimpl
from toolseam_plugins import audit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_INSERT = "INSERT INTO run_step VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class _Plugin:
    """A tool that answers at once."""

    @hookimpl
    def tool_spec(self) -> Any:
        return spec(SCHEMA)

    @hookimpl
    def execute(self, arguments: Any) -> ToolResult:  # noqa: ARG002
        return ToolResult.text("found nothing", data={"found": 0})


def measure(effort: Effort) -> Iterator[Measured]:
    """Store the step of one call again and again, as the store does and by hand."""
    before = os.environ.get("XDG_STATE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        try:
            with Host(tools=[_Plugin()], plugins=[audit]) as host:
                yield from _measured(host, Path(folder), effort)
        finally:
            os.environ.pop("XDG_STATE_HOME")
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def _measured(host: Host, folder: Path, effort: Effort) -> Iterator[Measured]:
    session = host.session(actor=Actor("ada"))
    assert session.call("search", ARGUMENTS).success
    (step,) = session.steps
    store = host._state.store
    (file,) = folder.glob("toolseam/*/audit.db")
    by_hand = folder / "bare.db"
    with closing(sqlite3.connect(by_hand, isolation_level=None)) as bare:
        row = _same_table(bare, file)
        cases = {
            "store": repeated(lambda: store.step(step)),
            "bare": repeated(_inserting(bare, row)),
        }
        spent = interleave(cases, rounds=effort.rounds, span_ms=effort.span_ms)
    ours, theirs = (wall(spent[name]) / 1e3 for name in ("store", "bare"))
    beside = f"{ours:.3g} us against {theirs:.3g} us; WAL, each row a transaction"
    yield Measured("audit.step", wall_ratio(spent["store"], spent["bare"]), beside)


def _same_table(bare: sqlite3.Connection, file: Path) -> tuple[Any, ...]:
    """Make the store's table in another file, with the same durability; return the row there."""
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
        bare.execute(f"PRAGMA {pragma}")
    with closing(sqlite3.connect(file)) as store:
        for (statement,) in store.execute(
            "SELECT sql FROM sqlite_schema WHERE tbl_name = 'run_step' AND sql IS NOT NULL"
        ):
            bare.execute(statement)
        row: tuple[Any, ...] = store.execute("SELECT * FROM run_step").fetchone()
    return row


def _inserting(bare: sqlite3.Connection, row: tuple[Any, ...]) -> Callable[[], object]:
    run, _, *rest = row
    number = 0

    def insert() -> None:
        nonlocal number
        number += 1
        bare.execute(_INSERT, (run, number, *rest))

    return insert
