"""Records of a table that refers to itself, read as trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from toolseam_builtin.workspace import TableSettings

_ROWS = 20_000
_NAMED = 10


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


def roots_of(forest: Forest, root: str | None) -> list[str]:
    if root is not None:
        if root not in forest.nodes:
            raise ToolError(f"{forest.title} has no record {root!r}.", ErrorCode.NOT_FOUND)
        return [root]
    roots = [key for key, node in forest.nodes.items() if node.parent is None]
    orphans = [key for key, node in forest.nodes.items() if is_orphan(forest, node)]
    return [*roots, *orphans, *(cycle[0] for cycle in _cycles(forest))]


def is_orphan(forest: Forest, node: Node) -> bool:
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


def warnings_of(forest: Forest) -> list[str]:
    if not forest.complete:
        read = f"only the first {len(forest.nodes):,} records in key order were read"
        return [f"{read}; orphans and cycles are uncertain"]
    orphans = [key for key, node in forest.nodes.items() if is_orphan(forest, node)]
    warnings = [f"cycle: {' → '.join([*_some(c), c[0]])}" for c in _cycles(forest)[:_NAMED]]
    if orphans:
        warnings.append(
            f"{len(orphans):,} orphans, their parent is gone: {', '.join(_some(orphans))}"
        )
    return warnings


def _some(keys: list[str]) -> list[str]:
    return keys if len(keys) <= _NAMED else [*keys[:_NAMED], "…"]
