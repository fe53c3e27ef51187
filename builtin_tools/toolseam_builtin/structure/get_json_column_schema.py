"""`get_json_column_schema`: which keys the values of a JSON column have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin.structure._sample import Sample
    from toolseam_builtin.structure._shape import Shape

_NODES = 200
_COLUMNS = ("path", "types", "present", "of")


@asked
class Arguments:
    """What `get_json_column_schema` is asked."""

    table: Annotated[str, Arg("A table or view, or schema.table.", min_length=1, max_length=200)]
    column: Annotated[str, Arg("A column that holds JSON.", min_length=1, max_length=200)]
    sample: Annotated[int, Arg("How many values to look at.", ge=1, le=1000)] = 200
    path: Annotated[
        list[str] | None,
        Arg("Keys to begin below; `[]` are an array's items, `*` a map's values.", max_length=64),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "get_json_column_schema",
        "structure",
        Arguments,
        "Find the shape of the JSON values in one column: keys, types, how often each is present."
        " Values are never shown.",
        DataClass.INTERNAL_CONFIGURATION,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Look at a sample of the column."""
    from toolseam_builtin.structure._sample import look  # no matter of a listing

    with db.open_database(context.settings, context.deadline) as database:
        table = database.table(arguments.table)
        column = db.readable_column(table, arguments.column)
        sample = look(database, table, column, arguments.sample)
    answer = compose(f"{table.title}.{column.name}", column.name, sample, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(title: str, name: str, sample: Sample, arguments: Arguments) -> db.Answer:
    """Say the shape as text, tree and data, in one pass."""
    from toolseam_builtin.structure._shape import KEYS, VALUES, deepest, places

    path = arguments.path or []
    shape, parent = _begin(title, sample.shape, path)
    page = db.Page()
    depth = deepest(shape, _NODES)
    deeper = 0
    shown: set[str] = set()
    nodes = places(shape, path, parent, 0, depth) if sample.taken else iter(())
    for level, where, node, of in nodes:
        hidden = sum(1 for _ in node.below()) if level == depth else 0
        text = f"{_said(where, name)}: {_types(node)}{_present(node, of, where)}"
        text += f" (+{hidden} below)" if hidden else ""
        row = [where, node.types, node.seen, None if of is None else of.types.get("object")]
        shown.update(where[-1:])
        if not page.take([f"{'  ' * level}- {text}"], [str(level), text], row):
            deeper += 1
            break
        deeper += bool(hidden)
    lines = [_heading(title, sample), *page.lines]
    if VALUES in shown:
        lines.append(
            f"* stands for keys that are no names, and for all where more than {KEYS} are."
        )
    if deeper:
        lines.append("Not all keys are shown; `path`, with the keys down to a place, shows them.")
    data: dict[str, object] = {
        "column": title,
        "rows_read": sample.rows,
        "values": sample.taken,
        "left_aside": sample.aside,
        "complete": not deeper,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    tree = ToolArtifact.tree(f"{title} shape", [(int(level), said) for level, said in page.cells])
    return db.Answer("\n".join(lines), (tree,), data)


def _begin(title: str, shape: Shape, path: list[str]) -> tuple[Shape, Shape | None]:
    """Return the shape at a path, and the one above it."""
    above = None
    for key in path:
        above, found = shape, dict(shape.below()).get(key)
        if found is None:
            raise ToolError(
                f"No value of {title} that was looked at has that path.", ErrorCode.NOT_FOUND
            )
        shape = found
    return shape, above


def _said(path: list[str], column: str) -> str:
    from toolseam_builtin.structure._shape import SAID

    last = path[-1] if path else column
    return SAID.get(last, db.one_line(last))


def _types(shape: Shape) -> str:
    from toolseam_builtin.structure._shape import WITHHELD

    if list(shape.types) == [WITHHELD]:
        return "sensitive, never looked into"
    counted = sorted(shape.types.items(), key=lambda pair: (-pair[1], pair[0]))
    if len(counted) == 1:
        return counted[0][0]
    return ", ".join(f"{kind} {count:,}" for kind, count in counted) or "nothing"


def _present(shape: Shape, above: Shape | None, path: list[str]) -> str:
    """Say how often a key is present in the objects that could have it."""
    from toolseam_builtin.structure._shape import SAID

    if above is None or path[-1] in SAID:
        return f", {shape.seen:,} found" if path else ""
    objects = above.types.get("object", 0)
    return ", in all" if shape.seen == objects else f", in {shape.seen:,} of {objects:,}"


def _heading(title: str, sample: Sample) -> str:
    aside = [f"{count:,} {reason}" for reason, count in sorted(sample.aside.items())]
    left = f"; left aside: {', '.join(aside)}" if aside else ""
    stopped = ", where the time limit ended it" if sample.stopped else ""
    values = "value" if sample.taken == 1 else "values"
    rows = "row" if sample.rows == 1 else "rows"
    found = f"{sample.taken:,} JSON {values} in the first {sample.rows:,} {rows}{stopped}{left}"
    return f"{db.one_line(title)}: {found}."
