"""Where a record stands among its siblings, and who gives way for it."""

from __future__ import annotations

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._asking import columns_of, scalar
from toolseam_builtin._database._cells import show
from toolseam_builtin._database._model import Cell, Column, Query, Scalar
from toolseam_builtin._database._parents import parent_columns
from toolseam_builtin._database._writing._faults import conflict
from toolseam_builtin._database._writing._model import Change, Equalities
from toolseam_builtin._page import one_line
from toolseam_builtin.editing._records import Record, Target, optional_column, read
from toolseam_builtin.editing._shown import differs, fingerprint

_SIBLINGS = 2_000
_SHIFTS = 500
_LISTED = 10
_LEVELS = 1_000


@attrs.frozen
class Order:
    """By which columns the records of a table are placed; both may be missing."""

    found: Target
    parent: Column | None
    target: str | None
    position: Column | None


@attrs.frozen
class Sibling:
    """One record below the same parent."""

    where: Equalities
    key: str
    place: int


@attrs.frozen
class Place:
    """A position, and the siblings that give way to it."""

    value: int
    shifts: tuple[Change, ...] = ()
    note: str | None = None


def order_of(found: Target, *, needs_parent: bool) -> Order:
    """Return by which columns the records of a table are placed.

    Raises `ToolError` `unavailable`, naming the setting, for a column that is named and cannot be
    written, and where a parent is needed and none is to be found.
    """
    parent = target = None
    if needs_parent or found.settings.parent is not None:
        name, target = parent_columns(found.database, found.table, found.settings)
        parent = found.table.column(name)
    return Order(found, parent, target, optional_column(found, "position"))


def refuse_cycle(found: Target, columns: tuple[str, str], record: Record, above: Record) -> None:
    """Refuse a parent that is the record itself or lies below it.

    Args:
        found: the table.
        columns: the one that refers to the parent, and the one that it refers to.
        record: what is to move.
        above: what would be its parent.

    Raises `ToolError` `conflict`, with the reason `cycle`.
    """
    parent, target = columns
    own, seen = record.cells[target], set[str]()
    value, title = scalar(above.cells[target]), found.table.title
    while value is not None:
        if not differs(own, value):
            raise conflict(
                f"{title}:{above.key} is {title}:{record.key} or lies below it.", "cycle"
            )
        if str(value) in seen or len(seen) >= _LEVELS:
            raise conflict(f"The parents of {title}:{above.key} come to no end.", "cycle")
        seen.add(str(value))
        rows = found.database.rows(Query(found.table, (parent,), ((target, value),), limit=1))
        value = scalar(rows[0][0]) if rows else None


def behind(order: Order, after: str | int, parent: Scalar, own: Record | None) -> Place | None:
    """Return the place behind a sibling, `None` where the record stands there already.

    Args:
        order: how the records are placed.
        after: the key of the sibling.
        parent: what both refer to.
        own: the record, if it is there already.

    Raises `ToolError`: `not_found` for no such sibling, `invalid_arguments` for one below another
    parent, and where the workspace names no position; `conflict` where too many would give way.
    """
    found, column = order.found, order.position
    if column is None:
        raise ToolError(
            "`after` needs the column that orders the records; name it:"
            f' position = "..." in the table [workspace.tables.{found.table.name}].',
            ErrorCode.INVALID_ARGUMENTS,
        )
    anchor = read(found, after, [order.parent.name] if order.parent is not None else [])
    title = f"{found.table.title}:{anchor.key}"
    if own is not None and anchor.key == own.key:
        raise ToolError("A record does not stand behind itself.", ErrorCode.INVALID_ARGUMENTS)
    if order.parent is not None and differs(anchor.cells[order.parent.name], parent):
        raise ToolError(f"{title} has another parent.", ErrorCode.INVALID_ARGUMENTS)
    every = _siblings(order, column, parent)
    index = next(i for i, one in enumerate(every) if one.key == anchor.key)
    following = every[index + 1 :]
    if own is not None and following and following[0].key == own.key:
        return None
    value = every[index].place + 1
    moved = _giving_way(following, value, own)
    if len(moved) > _SHIFTS:
        raise conflict(
            f"{len(moved):,} siblings would have to give way, more than {_SHIFTS}: their positions"
            " have no gaps."
        )
    # The last one first: no two ever have the same position.
    shifts = tuple(
        Change(found.table, one.where, ((column.name, to),)) for one, to in reversed(moved)
    )
    return Place(value, shifts, _told(found.table.title, column.name, moved) if moved else None)


def at_the_end(order: Order, parent: Scalar) -> Place | None:
    """Return the place behind all siblings, `None` where nothing orders them."""
    column, table = order.position, order.found.table
    if column is None:
        return None
    names = (*table.key(), column.name)
    query = Query(table, names, _below(order, parent), limit=1, newest=column.name)
    rows = order.found.database.rows(query)
    return Place(max((_sibling(order, row).place for row in rows), default=0) + 1)


def _siblings(order: Order, column: Column, parent: Scalar) -> list[Sibling]:
    """Return the records below a parent in their order."""
    table = order.found.table
    names = (*table.key(), column.name)
    rows = order.found.database.rows(
        Query(table, names, _below(order, parent), limit=_SIBLINGS + 1)
    )
    if len(rows) > _SIBLINGS:
        raise conflict(f"More than {_SIBLINGS:,} records of {table.title} have that parent.")
    return sorted((_sibling(order, row) for row in rows), key=lambda one: one.place)


def _below(order: Order, parent: Scalar) -> Equalities:
    return () if order.parent is None else ((order.parent.name, parent),)


def _sibling(order: Order, row: tuple[Cell, ...]) -> Sibling:
    table, cell, cells = order.found.table, row[-1], row[:-1]
    keys = columns_of(table, table.key())
    key = ",".join(show(one, own).text for one, own in zip(cells, keys, strict=True))
    if not isinstance(cell, int):
        raise conflict(f"The position of {table.title}:{key} is no whole number.")
    where = tuple((own.name, scalar(one)) for one, own in zip(cells, keys, strict=True))
    return Sibling(where, key, cell)


def _giving_way(
    following: list[Sibling], value: int, own: Record | None
) -> list[tuple[Sibling, int]]:
    """Return the siblings from a position on that must have another one, and which."""
    mine = next((one for one in following if own is not None and one.key == own.key), None)
    moved: list[tuple[Sibling, int]] = []
    last = value
    for one in following:
        if one is mine:
            continue
        if one.place > last:
            break
        last += 1
        # The record's own place is free only once it has moved.
        last += mine is not None and last == mine.place
        moved.append((one, last))
    return moved


def _told(title: str, column: str, moved: list[tuple[Sibling, int]]) -> str:
    every = [f"{one_line(title)}:{one.key} {one.place} → {to}" for one, to in moved]
    digits = fingerprint("\n".join(every))
    more = f" and {len(every) - _LISTED} more ({digits})" if len(every) > _LISTED else ""
    plural = "s give" if len(every) > 1 else " gives"
    return f"{len(every)} sibling{plural} way, {column} of {', of '.join(every[:_LISTED])}{more}"
