"""`get_record_tree`: the outline of a table whose records have parents in the same table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    ToolArtifact,
    ToolContext,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin.structure._forest import Forest, Node
    from toolseam_builtin.workspace import Workspace

_NODES = 200
_COLUMNS = ("depth", "key", "label", "parent")


@asked
class Arguments:
    """What `get_record_tree` is asked."""

    table: Annotated[str, Arg("A self-referencing table.", min_length=1, max_length=200)]
    root: Annotated[
        str | int | None, Arg("The key to begin with; all roots by default.", max_length=200)
    ] = None
    depth: Annotated[int, Arg("How many levels.", ge=1, le=5)] = 3


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "get_record_tree",
        "structure",
        Arguments,
        "Outline the records of a table that refers to itself (pages, categories, threads),"
        " at most 200 of them; cycles and orphans are reported.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Outline the records."""
    from toolseam_builtin.structure._forest import read_forest  # no matter of a listing

    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        table = database.table(arguments.table)
        settings = workspace.table_settings(table.name)
        root = None if arguments.root is None else str(arguments.root)
        forest = read_forest(database, table, settings, root, arguments.depth)
    answer = compose(forest, root, arguments.depth)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(forest: Forest, root: str | None, levels: int) -> db.Answer:
    """Say the outline as text, tree and data, in one pass.

    Args:
        forest: the records.
        root: the key to begin with; `None` takes all roots.
        levels: how many of them are shown.
    """
    from toolseam_builtin.structure._forest import roots_of, warnings_of

    page = db.Page()
    roots = roots_of(forest, root)
    pending = [(key, 0) for key in reversed(roots)]
    seen: set[str] = set()
    below = left = 0
    while pending:
        key, depth = pending.pop()
        if key in seen:
            continue
        seen.add(key)
        node = forest.nodes[key]
        under = forest.children.get(key, [])
        open_ends = depth + 1 >= levels and any(child not in seen for child in under)
        text = _said(forest, node, len(under) if open_ends else 0)
        full = len(page.cells) >= _NODES
        line = f"{'  ' * depth}- {text}"
        row = [depth, key, node.label, node.parent]
        if full or not page.take([line], [str(depth), text], row):
            left = 1 + sum(1 for other, _ in pending if other not in seen)
            break
        if open_ends:
            below += len(under)
        elif depth + 1 < levels:
            pending += [(child, depth + 1) for child in reversed(under)]
    warnings = warnings_of(forest)
    lines = [_heading(forest, page, root), *page.lines]
    if below:
        lines.append(f"{below:,} children lie deeper; `root` or a larger `depth` shows them.")
    if left:
        lines.append(f"The outline is full; at least {left:,} further: begin with a `root`.")
    data: dict[str, object] = {
        "table": forest.title,
        "total": forest.total,
        "columns": list(_COLUMNS),
        "rows": page.rows,
        "complete": not below and not left,
    }
    text = "\n".join([*lines, *(f"Warning: {db.one_line(warning)}" for warning in warnings)])
    shown = ToolArtifact.tree(
        f"{forest.title} tree", [(int(depth), text) for depth, text in page.cells]
    )
    return db.Answer(text, (shown,), data, warnings)


def _said(forest: Forest, node: Node, below: int) -> str:
    from toolseam_builtin.structure._forest import is_orphan

    label = f" {node.label}" if node.label else ""
    gone = f" (parent {node.parent} is gone)" if is_orphan(forest, node) else ""
    deeper = f" (+{below} below)" if below else ""
    return f"{db.one_line(forest.title)}:{node.key}{label}{gone}{deeper}"


def _heading(forest: Forest, page: db.Page, root: str | None) -> str:
    total = db.number_of(forest.total)
    start = "" if root is None else f" from {db.one_line(root)}"
    above = None if root is None else forest.nodes[root].parent
    under = "" if above is None else f", whose parent is {above},"
    depths = ", ".join(sorted({cells[0] for cells in page.cells}))
    levels = f" at depth {depths}" if depths else ""
    count = f"{len(page.cells):,}"
    return f"{db.one_line(forest.title)}: {total} records, shown {count}{start}{under}{levels}."
