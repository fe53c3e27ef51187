"""Records of a table that refers to itself, read as trees."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from toolseam_builtin.workspace import TableSettings

_ROWS = 20_000
_LEVEL = 1_000
SECONDS = 1.0
"""How long reading the levels of a large table may take."""
_NAMED = 10


@attrs.frozen
class Node:
    """One record: its key, the key of its parent, its label, all as an answer shows them."""

    key: str
    parent: str | None
    label: str


@attrs.define
class Forest:
    """The records that were read, in key order, and how many there are in all.

    Of a `large` table those below the roots are read, level by level, and nothing is `complete`;
    `cut` says that a level was too wide or took too long.
    """

    title: str
    total: int | None
    complete: bool
    large: bool = False
    cut: bool = False
    nodes: dict[str, Node] = attrs.field(factory=dict[str, Node])
    children: dict[str, list[str]] = attrs.field(factory=dict[str, list[str]])


@attrs.frozen
class Reader:
    """What is read of each record: key, parent, label, and what judges them."""

    database: db.Database
    table: db.Table
    target: str
    parent: str
    label: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are fetched."""
        wanted = [self.target, self.parent, *self.table.naming(), *filter(None, [self.label])]
        return tuple(dict.fromkeys(wanted))

    def add(self, forest: Forest, row: tuple[db.Cell, ...]) -> str | None:
        """Add one record to a forest, and return its key as a query spells it."""
        columns = db.columns_of(self.table, self.names)
        shown = dict(zip(self.names, db.show_row(self.table, columns, row), strict=True))
        key, above = shown[self.target].text, shown[self.parent]
        if key in forest.nodes:
            return None
        up = None if above.value is None else above.text
        forest.nodes[key] = Node(key, up, shown[self.label].text if self.label else "")
        if up is not None:
            forest.children.setdefault(up, []).append(key)
        value = db.scalar(row[0])
        return None if value is None else str(value)


def read_forest(
    database: db.Database,
    table: db.Table,
    settings: TableSettings,
    root: str | None,
    depth: int,
    seconds: float = SECONDS,
) -> Forest:
    """Read keys, parents and labels: of all records, or of a large table level by level."""
    parent, target = db.parent_columns(database, table, settings)
    reader = Reader(database, table, target, parent, db.label_column(table, settings.label))
    total = database.count(db.Query(table, reader.names))
    whole = total is not None and total <= _ROWS
    forest = Forest(table.title, total, complete=whole, large=not whole)
    if whole:
        rows, forest.complete = db.read_until(
            database, db.Query(table, reader.names, limit=_ROWS), seconds
        )
        for row in rows:
            reader.add(forest, row)
        if not forest.complete and (not forest.nodes or root not in {None, *forest.nodes}):
            raise db.over_budget(forest.title)
    else:
        _read_levels(reader, forest, root, depth, time.monotonic() + seconds)
    return forest


def _read_levels(
    reader: Reader, forest: Forest, root: str | None, depth: int, until: float
) -> None:
    """Read a root or all roots, and what is below them: one level more than is shown."""
    start = {reader.parent: None} if root is None else {reader.target: root}
    query = db.Query(reader.table, reader.names, db.equalities(reader.table, start), _LEVEL)
    for _ in range(depth + 1):
        read, keys, whole = _read_level(reader, forest, query, until - time.monotonic())
        if not whole and not forest.nodes:
            raise db.over_budget(forest.title)
        forest.cut |= not whole or read == _LEVEL
        if not keys or not whole:
            return
        below = db.Among(tuple(keys), (reader.parent,))
        query = db.Query(reader.table, reader.names, limit=_LEVEL, among=below)


def _read_level(
    reader: Reader, forest: Forest, query: db.Query, seconds: float
) -> tuple[int, list[str], bool]:
    """Return how many records there were, the keys of new ones, and whether time sufficed."""
    found: list[str | None] = []

    def take(row: tuple[db.Cell, ...]) -> bool:
        found.append(reader.add(forest, row))
        return True

    try:
        whole = reader.database.scan(query, take, max(0.0, seconds))
    except ToolError as failure:
        if failure.code is not ErrorCode.INVALID_ARGUMENTS:
            raise
        # A root that does not fit its column is the key of no record.
        whole = True
    return len(found), [key for key in found if key is not None], whole


def roots_of(forest: Forest, root: str | None) -> list[str]:
    if root is not None:
        if root not in forest.nodes:
            raise ToolError(f"{forest.title} has no record {db.echo(root)}.", ErrorCode.NOT_FOUND)
        return [root]
    roots = [key for key, node in forest.nodes.items() if node.parent is None]
    if not forest.complete:
        return roots
    orphans = [key for key, node in forest.nodes.items() if is_orphan(forest, node)]
    return [*roots, *orphans, *(cycle[0] for cycle in _cycles(forest))]


def is_orphan(forest: Forest, node: Node) -> bool:
    return forest.complete and node.parent is not None and node.parent not in forest.nodes


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


def warnings_of(forest: Forest) -> list[str]:
    if not forest.large and not forest.complete:
        return [f"{db.stopped(forest.title)}; orphans and cycles are not looked for"]
    if not forest.complete:
        cut = (
            f"; more than {_LEVEL:,} records lie on one level, or reading them took too long:"
            " not all were read"
        )
        large = f"of more than {_ROWS:,} records, orphans and cycles are not looked for"
        return [f"{large}{cut if forest.cut else ''}"]
    orphans = [key for key, node in forest.nodes.items() if is_orphan(forest, node)]
    warnings = [f"cycle: {' → '.join([*_some(c), c[0]])}" for c in _cycles(forest)[:_NAMED]]
    if orphans:
        warnings.append(
            f"{len(orphans):,} orphans, their parent is gone: {', '.join(_some(orphans))}"
        )
    return warnings


def _some(keys: list[str]) -> list[str]:
    return keys if len(keys) <= _NAMED else [*keys[:_NAMED], "…"]
