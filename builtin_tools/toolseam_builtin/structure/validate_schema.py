"""`validate_schema`: what to look at in the structure of the database."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    ToolArtifact,
    ToolContext,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_builtin.structure._review import Review

_SECONDS = 1.4
_COLUMNS = ("table", "finding", "detail")
_CHECKED = (
    "primary keys, indexes of foreign keys, orphan rows, types that are not enforced, duplicate"
    " indexes, reserved names"
)


@asked
class Arguments:
    """What `validate_schema` is asked."""

    table: Annotated[
        str | None,
        Arg("One table, or schema.table; all by default.", min_length=1, max_length=200),
    ] = None


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
    from toolseam_builtin.structure._review import check  # no matter of a listing

    with db.open_database(context.settings, context.deadline) as database:
        seconds = min(_SECONDS, max(0.0, _left(context.deadline) / 2))
        review = check(database, arguments.table, time.monotonic() + seconds)
        dialect = database.dialect
    answer = compose(dialect, review)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


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
        lines.append(f"The first {shown:,} are shown. {db.more_with('one `table`')}")
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
        yield f"stopped at the time limit: {left:,} tables were not checked; `table` checks one"
    if review.uncounted:
        yield (
            f"{len(review.uncounted):,} references could not be held against the rows, within the"
            f" time limit or at all: {db.listed(review.uncounted)}"
        )


def _left(deadline: float | None) -> float:
    return float("inf") if deadline is None else deadline - time.monotonic()
