"""`validate_schema`: what to look at in the structure of the database."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import attrs

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin import _database as db
from toolseam_builtin.structure._findings import (
    ORPHANS,
    Finding,
    countable,
    findings,
    reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 1.4
_KEY_SECONDS = 0.3
_COLUMNS = ("table", "finding", "detail")
_CHECKED = (
    "primary keys, indexes of foreign keys, orphan rows, types that are not enforced, duplicate"
    " indexes, reserved names"
)


@attrs.frozen
class Arguments:
    """What `validate_schema` is asked."""

    table: Annotated[
        str | None,
        Arg("One table, or schema.table; all by default.", min_length=1, max_length=200),
    ] = None


@attrs.define
class Review:
    """What was found, and what was looked at.

    `tables` of `total` were checked; `counted` references were held against the rows, `uncounted`
    were not within the budget, `unreadable` lead to what may not be read, and `capped` tables
    have more rows than were looked at.
    """

    total: int
    tables: int = 0
    counted: int = 0
    uncounted: list[str] = attrs.field(factory=list[str])
    unreadable: int = 0
    capped: int = 0
    findings: list[Finding] = attrs.field(factory=list[Finding])


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "validate_schema",
        "structure",
        Arguments,
        "Check the structure of the workspace's database, or of one table: missing primary keys,"
        " foreign keys without an index, orphan rows, types that are not enforced, duplicate"
        " indexes, reserved names.",
        DataClass.INTERNAL_CONFIGURATION,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Check one table, or all of them."""
    with db.open_database(context.settings, context.deadline) as database:
        seconds = min(_SECONDS, max(0.0, _left(context.deadline) / 2))
        review = check(database, arguments.table, time.monotonic() + seconds)
        dialect = database.dialect
    answer = compose(dialect, review)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def check(database: db.Database, name: str | None, until: float) -> Review:
    """Check tables until a moment on the monotonic clock; counting gives way to checking."""
    if name is None:
        entries = database.tables(count=False)
        names = sorted(entry.title for entry in entries if entry.kind == "table")
    else:
        names = [name]
    review = Review(len(names))
    reserved = database.reserved_words()
    checked: dict[str, tuple[db.Table, db.Structure]] = {}
    for title in names:
        if review.tables and time.monotonic() > until:
            break
        table = database.table(title)
        structure = database.structure(table)
        checked[table.title] = (table, structure)
        review.tables += 1
        review.findings += findings(table, structure, reserved)
    for table, structure in checked.values():
        for key in sorted(structure.foreign_keys, key=lambda key: (key.columns, key.table or "")):
            review.findings += _orphans(database, table, key, review, until)
    review.findings.sort(key=lambda each: (each.table, each.kind, each.text))
    return review


def _orphans(
    database: db.Database, table: db.Table, key: db.ForeignKey, review: Review, until: float
) -> Iterator[Finding]:
    if key.table is None:
        review.unreadable += 1
        return
    seconds = min(_KEY_SECONDS, until - time.monotonic())
    found = None
    if seconds > 0:
        if not countable(table, database.table(key.table), key):
            review.unreadable += 1
            return
        found = _counted(database, table, key, seconds)
    if found is None:
        review.uncounted.append(f"{table.title}: {reference(key)}")
        return
    review.counted += 1
    review.capped += found.capped
    if found.count:
        least = "at least " if found.capped else ""
        text = f"{least}{found.count:,} rows refer to none: {reference(key)}"
        yield Finding(table.title, ORPHANS, text, found.count)


def _counted(
    database: db.Database, table: db.Table, key: db.ForeignKey, seconds: float
) -> db.Orphans | None:
    try:
        return database.orphans(table, key, seconds)
    except ToolError as failure:
        # Types that the engine does not compare: nothing is known of such a reference.
        if failure.code is ErrorCode.TIMEOUT:
            raise
        return None


def compose(dialect: str, review: Review) -> db.Answer:
    """Say the findings as text, table and data, in one pass."""
    page = db.Page()
    for finding in review.findings:
        table = db.one_line(finding.table)
        row = [finding.table, finding.kind, finding.text, finding.rows]
        cells = [table, finding.kind, finding.text]
        if not page.take([f"- {table}: {finding.kind}: {finding.text}"], cells, row):
            break
    shown, count = len(page.cells), len(review.findings)
    warnings = list(_warnings(review))
    lines = [_heading(dialect, review), *page.lines]
    if shown < count:
        lines.append(f"Shown are the first {shown:,}; `table` shows those of one table.")
    lines += [f"Looked at: {_CHECKED}.", *_counts(review)]
    lines += [f"Warning: {warning}" for warning in warnings]
    data: dict[str, object] = {
        "dialect": dialect,
        "total": count,
        "tables": review.tables,
        "tables_left": review.total - review.tables,
        "references_counted": review.counted,
        "references_not_counted": len(review.uncounted),
        "columns": [*_COLUMNS, "rows"],
        "rows": page.rows,
    }
    artifact = ToolArtifact.table("schema findings", _COLUMNS, page.cells, fit=True)
    return db.Answer("\n".join(lines), (artifact,), data, warnings)


def _heading(dialect: str, review: Review) -> str:
    count = len(review.findings)
    found = f"{count:,} finding{'' if count == 1 else 's'}" if count else "no findings"
    return f"{dialect}: {found} in {review.tables:,} table{'' if review.tables == 1 else 's'}."


def _counts(review: Review) -> Iterator[str]:
    yield f"References held against the rows: {review.counted:,}."
    if review.unreadable:
        yield f"Not held, since they lead to what is not readable: {review.unreadable:,}."
    if review.capped:
        yield (
            f"Of {review.capped:,} of them the first {db.REFERRING_ROWS:,} rows were looked at,"
            " not all."
        )


def _warnings(review: Review) -> Iterator[str]:
    left = review.total - review.tables
    if left:
        yield f"the time budget ended, {left:,} tables were not checked; `table` checks one"
    if review.uncounted:
        yield (
            f"{len(review.uncounted):,} references could not be held against the rows, within the"
            f" time budget or at all: {db.listed(review.uncounted)}"
        )


def _left(deadline: float | None) -> float:
    return float("inf") if deadline is None else deadline - time.monotonic()
