"""A table's history: which table holds it, and what its columns mean.

Two shapes are known. A row a change has the name of a field, and the field's value before or
after; a row a version has a copy of the record's own columns, to be compared with the version
before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._faults import unavailable
from toolseam_builtin._database._model import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolseam_builtin._database._model import Database, Scalar
    from toolseam_builtin.workspace import TableSettings

_ENDINGS = ("_history", "_version", "_versions")
_RECORD = ("recordid", "recordkey", "objectid", "rowid", "itemid", "entityid", "originalid")
_TABLE = ("tablename", "recordtable", "recordtype", "objecttype", "entitytype", "model", "table")
_FIELD = ("field", "fieldname", "columnname", "column", "attribute", "property")
_OLD = ("old", "oldvalue", "valueold", "before", "valuebefore", "previous", "previousvalue")
_NEW = ("new", "newvalue", "valuenew", "after", "valueafter", "value")
_WHO = (
    *("changedby", "modifiedby", "updatedby", "editedby", "createdby", "who", "by", "actor"),
    *("username", "user", "author", "editor", "changedbyid", "userid", "authorid", "editorid"),
)
_WHEN = (
    *("changedat", "modifiedat", "updatedat", "editedat", "changedon", "when", "at", "time"),
    *("timestamp", "changed", "modified", "updated", "validfrom", "createdat", "created", "date"),
)


@attrs.frozen
class History:
    """What the columns of a history table mean.

    Args:
        table: the history table.
        record: its column that tells which record a row is about.
        target: the column of the record that `record` refers to.
        table_name: its column that names the record's table, where one history serves several.
        field: its column that names the changed field; `None` where a row is a version.
        old: its column with the value before the change.
        new: its column with the value after it.
        who: its column that says who made the change.
        when: its column that says when.
        copies: its columns that are columns of the record too, where a row is a version.
    """

    table: Table
    record: str
    target: str
    table_name: str | None = None
    field: str | None = None
    old: str | None = None
    new: str | None = None
    who: str | None = None
    when: str | None = None
    copies: tuple[str, ...] = ()

    def of(self, title: str, key: Scalar) -> tuple[tuple[str, Scalar], ...]:
        """Return the equalities that the rows about one record fulfil.

        Args:
            title: the record's table, as answers name it.
            key: the record's value of `target`.
        """
        which = () if self.table_name is None else ((self.table_name, title),)
        return (*which, (self.record, key))


def find_history(
    database: Database, table: Table, settings: TableSettings, *, named_only: bool = False
) -> History:
    """Return where a table's history is.

    Args:
        database: where the tables are.
        table: the table of the records.
        settings: what the workspace says of it; its `history` decides, and without it the table
            that is called like this one with `_history`, `_version` or `_versions` behind it.
        named_only: look at what the workspace names, and nothing else.

    Raises `ToolError` `unavailable`, with the reason `no_history`, where there is none or where
    its columns cannot be told.
    """
    setting = f'history = "..." in the table [workspace.tables.{table.name}]'
    found = _history_table(database, table, settings.history, named_only=named_only)
    if found is None and settings.history is not None:
        raise unavailable(
            f"The history of {table.title} cannot be read: no readable table is called like the"
            f" value of {setting}.",
            "no_history",
        )
    if found is None:
        raise unavailable(f"{table.title} has no history; name one: {setting}.", "no_history")
    history = _recognised(database, table, found)
    if history is None:
        raise unavailable(
            f"The columns of {found.title} do not tell a history of {table.title}: wanted are one"
            " that refers to the record, and either a field with its old or new value, or the"
            " record's own columns.",
            "no_history",
        )
    return history


def _history_table(
    database: Database, table: Table, named: str | None, *, named_only: bool
) -> Table | None:
    names = [named] if named is not None else []
    if named is None and not named_only:
        names = [f"{table.title}{ending}" for ending in _ENDINGS]
    for name in names:
        try:
            return database.table(name)
        except ToolError as failure:
            if failure.code is not ErrorCode.NOT_FOUND:
                raise
    return None


def _recognised(database: Database, table: Table, history: Table) -> History | None:
    readable = {_plain(column.name): column.name for column in history.readable()}
    record, target = _reference(database, table, history, readable)
    if record is None or target is None:
        return None
    field, old, new = (_first(readable, names) for names in (_FIELD, _OLD, _NEW))
    referring = any(key.table == table.title for key in database.structure(history).foreign_keys)
    known = History(
        table=history,
        record=record,
        target=target,
        table_name=None if referring else _first(readable, _TABLE),
        who=_first(readable, _WHO),
        when=_first(readable, _WHEN),
    )
    if field is not None and (old is not None or new is not None):
        return attrs.evolve(known, field=field, old=old, new=new)
    own = {column.name for column in table.readable()}
    taken = {record, *history.primary_key}
    copies = tuple(c.name for c in history.readable() if c.name in own and c.name not in taken)
    return attrs.evolve(known, copies=copies) if copies else None


def _reference(
    database: Database, table: Table, history: Table, readable: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """Return the column that tells the record, and the column of the record that it means."""
    key = table.primary_key[0] if len(table.primary_key) == 1 else None
    names = {_plain(name) for name in (table.name, table.name.removesuffix("s"))}
    usual = [f"{name}{ending}" for name in sorted(names) for ending in ("id", "key", "")]
    linked = {
        foreign.columns[0]: foreign.target[0]
        for foreign in database.structure(history).foreign_keys
        if foreign.table == table.title and len(foreign.columns) == len(foreign.target) == 1
    }
    linked = {column: there for column, there in linked.items() if column in readable.values()}
    if linked:
        plain = {_plain(column): column for column in linked}
        column = _first(plain, (*usual, *_RECORD)) or (
            next(iter(linked)) if len(linked) == 1 else None
        )
        return column, None if column is None else linked[column]
    column = _first(readable, (*usual, *_RECORD))
    if column is None and key is not None and history.primary_key != (key,):
        # A version keeps the record's own key, beside the number of the version.
        column = readable.get(_plain(key))
    return column, key


def _first(names: Mapping[str, str], wanted: Iterable[str]) -> str | None:
    return next((names[name] for name in wanted if name in names), None)


def _plain(name: str) -> str:
    """Return a name without case and punctuation: `Changed_By`, `changedBy` and `changed-by`."""
    return re.sub(r"[\W_]+", "", name).casefold()
