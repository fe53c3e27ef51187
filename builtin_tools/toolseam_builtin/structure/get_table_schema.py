"""`get_table_schema`: columns, keys, indexes and conditions of one table."""

from __future__ import annotations

from typing import Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

_COLUMNS = ("column", "type", "notes")
_PARTS = ("part", "name", "columns", "refers to")
_HALF = 22_000
_HIDDEN_TABLE = "a table that is not readable"


@asked
class Arguments:
    """What `get_table_schema` is asked."""

    table: Annotated[str, Arg("A table or view, or schema.table.", min_length=1, max_length=200)]


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "get_table_schema",
        "structure",
        Arguments,
        "Describe one table or view of the workspace's database: columns with types and"
        " defaults, primary key, foreign keys both ways, unique, checks and indexes.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Describe the table."""
    with db.open_database(context.settings, context.deadline) as database:
        table = database.table(arguments.table)
        structure = database.structure(table)
    answer = compose(table, structure)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(table: db.Table, structure: db.Structure) -> db.Answer:
    """Say the table as text, tables and data, in one pass."""
    page, described = db.Page(budget=_HALF), list[dict[str, object]]()
    for column in table.columns:
        name, kind, notes = (
            db.one_line(column.name),
            db.engine_text(column.type),
            _notes(table, column),
        )
        line = f"- {name}: {', '.join([kind, *notes])}"
        fact = _fact(table, column)
        if not page.take([line], [name, kind, ", ".join(notes)], [fact]):
            break
        described.append(fact)
    parts = db.Page(budget=_HALF)
    rows = [*_keys(table, structure), *_conditions(structure)]
    for row in rows:
        label, name, columns, target = cells = [*map(db.engine_text, row)]
        arrow = f" → {target}" if target else ""
        line = f"- {label}{f' {name}' if name else ''}: {columns}{arrow}"
        if not parts.take([line], cells, cells):
            break
    lines = [_heading(table), *page.lines]
    lines += _left(len(page.cells), len(table.columns), "columns")
    lines += [*parts.lines, *_left(len(parts.cells), len(rows), "keys and conditions")]
    data: dict[str, object] = {
        "table": table.title,
        "kind": table.kind,
        "comment": table.comment and db.engine_text(table.comment),
        "columns": described,
        "keys": {"columns": list(_PARTS), "rows": parts.rows},
        "notes": list(structure.notes),
    }
    tables = (
        ToolArtifact.table(f"{table.title} columns", _COLUMNS, page.cells, fit=True),
        ToolArtifact.table(f"{table.title} keys", _PARTS, parts.cells, fit=True),
    )
    return db.Answer("\n".join([*lines, *structure.notes]), tables, data)


def _heading(table: db.Table) -> str:
    count = len(table.columns)
    comment = f" {db.engine_text(table.comment)}" if table.comment else ""
    columns = f"{count:,} column{'' if count == 1 else 's'}"
    return f"{db.one_line(table.title)}: {table.kind}, {columns}.{comment}"


def _left(shown: int, total: int, what: str) -> list[str]:
    return [f"{total - shown:,} further {what} do not fit."] if shown < total else []


def _notes(table: db.Table, column: db.Column) -> list[str]:
    notes = ["primary key"] if column.name in table.primary_key else []
    if not column.nullable and not notes:
        notes.append("not null")
    if column.generated:
        expression = db.engine_text(column.expression) if column.expression else ""
        notes.append(f"generated as {expression}" if expression else "generated")
    if column.default is not None:
        notes.append(f"default {db.engine_text(column.default)}")
    if column.sensitive:
        notes.append("sensitive, never shown")
    if column.comment and not column.sensitive:
        notes.append(db.engine_text(column.comment))
    return notes


def _fact(table: db.Table, column: db.Column) -> dict[str, object]:
    return {
        "name": column.name,
        "type": db.engine_text(column.type),
        "nullable": column.nullable,
        "primary_key": column.name in table.primary_key,
        "default": None if column.default is None else db.engine_text(column.default),
        "generated": column.generated,
        "expression": column.expression and db.engine_text(column.expression),
        "sensitive": column.sensitive,
    }


def _keys(table: db.Table, structure: db.Structure) -> list[tuple[str, str, str, str]]:
    rows = [("primary key", "", _listed(table.primary_key), "")] if table.primary_key else []
    for key in structure.foreign_keys:
        there = f"{key.table}({_listed(key.target)})" if key.table else _HIDDEN_TABLE
        rows.append(("foreign key", "", _listed(key.columns), there))
    rows += [
        ("referenced by", "", _listed(key.columns), f"{key.table}({_listed(key.target)})")
        for key in structure.referenced_by
    ]
    return rows


def _conditions(structure: db.Structure) -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    for index in structure.indexes:
        label = "unique" if index.constraint else "unique index" if index.unique else "index"
        label = f"partial {label}" if index.partial else label
        rows.append((label, index.name, _listed(index.columns), ""))
    for check in structure.checks:
        text = "a condition on a sensitive column" if check.text is None else check.text
        rows.append(("check", check.name or "", text, ""))
    return rows


def _listed(names: tuple[str | None, ...]) -> str:
    return ", ".join("an expression" if name is None else name for name in names)
