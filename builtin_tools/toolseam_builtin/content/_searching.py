"""Looking for a text in one table after the other, within one budget of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

_SECONDS = 1.4
_TURN_SECONDS = 0.1
_CANDIDATES = 1_000_000_000


@attrs.frozen
class Hit:
    """One record: the first field that shows the text, and the names of others that do."""

    key: str
    label: str
    field: str
    excerpt: str
    also: tuple[str, ...]


@attrs.frozen
class Searched:
    """What was found in one table; `complete` says whether it was searched to its end."""

    title: str
    hits: tuple[Hit, ...] = ()
    complete: bool = True
    faults: tuple[str, ...] = ()


@attrs.frozen
class Search:
    """All that was searched, in the order of the tables.

    Args:
        tables: what was found in each.
        left: tables that no turn came to, since enough was found before.
        textless: tables without a column that may hold text.
        views: views and the like, which show the rows of tables once more.
    """

    tables: tuple[Searched, ...]
    left: tuple[str, ...] = ()
    textless: tuple[str, ...] = ()
    views: tuple[str, ...] = ()


@attrs.frozen
class _Place:
    """One table, and which of its columns are looked into."""

    table: db.Table
    columns: tuple[str, ...]
    label: str | None


def search_tables(
    database: db.Database, workspace: Workspace, text: str, name: str | None, limit: int
) -> Search:
    """Search one table, or all of them by name until more than `limit` records are found.

    Every table gets a turn before those that need longer get the rest of the time.
    """
    budget = db.Deadline.after(_SECONDS)
    listed = database.tables(count=False) if name is None else []
    titles = [entry.title for entry in listed if entry.kind == "table"] if name is None else [name]
    found: dict[str, Searched] = {}
    pending: list[_Place] = []
    textless: list[str] = []
    for title in titles:
        if _enough(found, limit):
            break
        turn = budget.left() if name is not None else min(_TURN_SECONDS, budget.left())
        place = _place(database, workspace, title, named=name is not None) if turn else None
        if place is None:
            found[title] = Searched(title, complete=False)
        elif isinstance(place, Searched):
            found[title] = place
        elif not place.columns:
            textless.append(place.table.title)
        else:
            found[place.table.title] = _search(database, place, text, limit, turn)
            pending.append(place)
    for place in pending:
        once = found[place.table.title]
        if not once.complete and not _enough(found, limit):
            again = _search(database, place, text, limit, budget.left())
            # A second turn may see less than the first, if the machine was busy.
            if again.complete or len(again.hits) >= len(once.hits):
                found[place.table.title] = again
    left = [title for title in titles if title not in found and title not in textless]
    return Search(
        tables=tuple(found.values()),
        left=tuple(left if name is None else ()),
        textless=tuple(textless),
        views=tuple(entry.title for entry in listed if entry.kind != "table"),
    )


def _enough(found: dict[str, Searched], limit: int) -> bool:
    return sum(len(table.hits) for table in found.values()) > limit


def _place(
    database: db.Database, workspace: Workspace, name: str, *, named: bool
) -> _Place | Searched:
    try:
        table = database.table(name)
    except ToolError as failure:
        if named or failure.code is not ErrorCode.UNAVAILABLE:
            raise
        return Searched(name, faults=(str(failure),))
    texts = tuple(column.name for column in table.readable() if db.holds_text(column))
    return _Place(table, texts, db.label_column(table, workspace.table_settings(table.name).label))


def _search(
    database: db.Database, place: _Place, text: str, limit: int, seconds: float
) -> Searched:
    table = place.table
    key = table.key()
    wanted = (*key, *table.naming(), *filter(None, [place.label]), *place.columns)
    names = tuple(dict.fromkeys(wanted))
    columns = db.columns_of(table, names)
    hits: list[Hit] = []

    def take(row: tuple[db.Cell, ...]) -> bool:
        cells = dict(zip(columns, row, strict=True))
        secret = db.speaks_of_secret(table, columns, row)
        places = {
            column.name: excerpt
            for column, cell in cells.items()
            if column.name in place.columns
            and isinstance(cell, db.Excerpt)
            and not (secret and column.paired)
            and (excerpt := db.hit(cell, text)) is not None
        }
        if places:
            shown = zip(names, db.show_row(table, columns, row), strict=True)
            named = {name: each.text for name, each in shown}
            label = "" if place.label is None else named[place.label]
            field, *also = places
            said = ",".join(named[name] for name in key)
            hits.append(Hit(said, label, field, places[field], tuple(also)))
        return len(hits) <= limit

    query = db.Query(
        table,
        names,
        limit=_CANDIDATES,
        contains=db.Contains(text, place.columns),
        characters=db.SEARCH_CHARACTERS,
    )
    try:
        complete = database.scan(query, take, seconds)
    except ToolError as failure:
        if failure.code is not ErrorCode.UNAVAILABLE:
            raise
        return Searched(table.title, tuple(hits), faults=(str(failure),))
    return Searched(table.title, tuple(hits), complete)
