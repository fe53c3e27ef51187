"""`get_record_tree`: the outline of a table whose records have parents in the same table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import attrs

from toolseam import (
    Arg,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from toolseam_builtin.workspace import TableSettings, Workspace

_NODES = 200
_ROWS = 20_000
_NAMED = 10
_COLUMNS = ("depth", "key", "label", "parent")


@attrs.frozen
class Arguments:
    """What `get_record_tree` is asked."""

    table: Annotated[str, Arg("A self-referencing table.", min_length=1, max_length=200)]
    root: Annotated[
        str | None, Arg("The key to begin with; all roots by default.", max_length=200)
    ] = None
    depth: Annotated[int, Arg("How many levels.", ge=1, le=5)] = 3


@attrs.frozen
class Node:
    """One record: its key, the key of its parent, its label, all as an answer shows them."""

    key: str
    parent: str | None
    label: str


@attrs.frozen
class Forest:
    """All records that were read, in key order, and how many there are in all."""

    title: str
    nodes: dict[str, Node]
    children: dict[str, list[str]]
    total: int | None

    @property
    def complete(self) -> bool:
        """Whether nothing is missing, so that orphans and cycles can be told."""
        return self.total == len(self.nodes)


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
    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        table = database.table(arguments.table)
        forest = read_forest(database, table, workspace.table_settings(table.name))
    answer = compose(forest, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def read_forest(database: db.Database, table: db.Table, settings: TableSettings) -> Forest:
    """Read keys, parents and labels of a table, at most 20,000 records."""
    parent, target = _reference(database, table, settings)
    label = db.label_column(table, settings.label)
    wanted = [target, parent, *table.naming(), *filter(None, [label])]
    names = tuple(dict.fromkeys(wanted))
    query = db.Query(table, names, limit=_ROWS)
    columns = tuple(table.column(name) or db.Column(name, "integer") for name in names)
    nodes: dict[str, Node] = {}
    children: dict[str, list[str]] = {}
    for row in database.rows(query):
        found = zip(names, db.show_row(table, columns, row), strict=True)
        shown = dict(found)
        above = shown[parent]
        key = shown[target].text
        up = None if above.value is None else above.text
        nodes[key] = Node(key, up, shown[label].text if label else "")
        if up is not None:
            children.setdefault(up, []).append(key)
    return Forest(table.title, nodes, children, database.count(query))


def _reference(database: db.Database, table: db.Table, settings: TableSettings) -> tuple[str, str]:
    """Return the column that refers to the parent and the column that it refers to."""
    own = [
        (key.columns[0], key.target[0])
        for key in database.structure(table).foreign_keys
        if key.table == table.title and len(key.columns) == 1 and len(key.target) == 1
    ]
    if settings.parent is not None:
        named = table.column(settings.parent)
        name = settings.parent if named is None else named.name
        own = [pair for pair in own if pair[0] == name] or [
            (name, table.primary_key[0]) for _ in table.primary_key if len(table.primary_key) == 1
        ]
    readable = {column.name for column in table.readable()}
    found = [pair for pair in own if readable.issuperset(pair)]
    if len(found) != 1:
        problem = "no column that refers" if not found else "several columns that refer"
        raise db.unavailable(
            f"{table.title} has {problem} to its own records; name one:"
            f' parent = "..." in the table [workspace.tables.{table.name}].'
        )
    return found[0]


def compose(forest: Forest, arguments: Arguments) -> db.Answer:
    """Say the outline as text, tree and data, in one pass."""
    page = db.Page()
    roots = _roots(forest, arguments.root)
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
        open_ends = depth + 1 >= arguments.depth and any(child not in seen for child in under)
        text = _said(forest, node, len(under) if open_ends else 0)
        full = len(page.cells) >= _NODES
        line = f"{'  ' * depth}- {text}"
        row = [depth, key, node.label, node.parent]
        if full or not page.take([line], [str(depth), text], row):
            left = 1 + sum(1 for other, _ in pending if other not in seen)
            break
        if open_ends:
            below += len(under)
        elif depth + 1 < arguments.depth:
            pending += [(child, depth + 1) for child in reversed(under)]
    warnings = _warnings(forest)
    lines = [_heading(forest, page, arguments), *page.lines]
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
    label = f" {node.label}" if node.label else ""
    gone = f" (parent {node.parent} is gone)" if _orphan(forest, node) else ""
    deeper = f" (+{below} below)" if below else ""
    return f"{db.one_line(forest.title)}:{node.key}{label}{gone}{deeper}"


def _roots(forest: Forest, root: str | None) -> list[str]:
    if root is not None:
        if root not in forest.nodes:
            raise ToolError(f"{forest.title} has no record {root!r}.", ErrorCode.NOT_FOUND)
        return [root]
    roots = [key for key, node in forest.nodes.items() if node.parent is None]
    orphans = [key for key, node in forest.nodes.items() if _orphan(forest, node)]
    return [*roots, *orphans, *(cycle[0] for cycle in _cycles(forest))]


def _orphan(forest: Forest, node: Node) -> bool:
    return node.parent is not None and node.parent not in forest.nodes


def _cycles(forest: Forest) -> list[list[str]]:
    """Return each circle of records that are their own ancestors, in key order."""
    done: set[str] = set()
    cycles: list[list[str]] = []
    for start in forest.nodes:
        path: dict[str, None] = {}
        key: str | None = start
        while key is not None and key in forest.nodes and key not in done and key not in path:
            path[key] = None
            key = forest.nodes[key].parent
        if key is not None and key in path:
            members = list(path)
            cycles.append(members[members.index(key) :])
        done.update(path)
    return cycles


def _warnings(forest: Forest) -> list[str]:
    if not forest.complete:
        read = f"only the first {len(forest.nodes):,} records in key order were read"
        return [f"{read}; orphans and cycles are uncertain"]
    orphans = [key for key, node in forest.nodes.items() if _orphan(forest, node)]
    warnings = [f"cycle: {' → '.join([*_some(c), c[0]])}" for c in _cycles(forest)[:_NAMED]]
    if orphans:
        warnings.append(
            f"{len(orphans):,} orphans, their parent is gone: {', '.join(_some(orphans))}"
        )
    return warnings


def _some(keys: list[str]) -> list[str]:
    return keys if len(keys) <= _NAMED else [*keys[:_NAMED], "…"]


def _heading(forest: Forest, page: db.Page, arguments: Arguments) -> str:
    total = "an uncounted number of" if forest.total is None else f"{forest.total:,}"
    start = "" if arguments.root is None else f" from {db.one_line(arguments.root)}"
    above = None if arguments.root is None else forest.nodes[arguments.root].parent
    under = "" if above is None else f", whose parent is {above},"
    depths = ", ".join(sorted({cells[0] for cells in page.cells}))
    levels = f" at depth {depths}" if depths else ""
    count = f"{len(page.cells):,}"
    return f"{db.one_line(forest.title)}: {total} records, shown {count}{start}{under}{levels}."
