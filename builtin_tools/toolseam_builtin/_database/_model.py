"""What the tools know of a database: values, and the protocol that every reader serves."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

FETCH_CHARACTERS = 16_384
"""How much text of a cell leaves the database: enough to judge JSON by its keys."""

READ_SECONDS = 1.0
"""How long reading the rows of one answer may take."""

COUNT_SECONDS = 0.4
"""How long counting them may take beside that."""

REFERRING_ROWS = 100_000
"""How many rows of a table are held against the table that they refer to."""

Scalar: TypeAlias = str | int | float | bool | None
"""What a filter compares with."""


@attrs.frozen
class Blob:
    """Bytes in a cell: only their number leaves the database."""

    size: int


@attrs.frozen
class Excerpt:
    """Text in a cell: its beginning, and the number of characters in all."""

    text: str
    total: int


Cell: TypeAlias = bool | int | float | Decimal | Blob | Excerpt | None
"""One untyped cell."""

Kind: TypeAlias = Literal["table", "view", "materialized view", "virtual table", "foreign table"]


@attrs.frozen
class Column:
    """One column of a table or view.

    `sensitive` columns may be named, never read, filtered or ordered by: those of such a name,
    those that refer to one, and those that are generated from one. `paired` columns hold
    the value that a `naming` column of the same row speaks of (`old` and `new`, `field`): they
    are read, and masked where that name is sensitive, but never filtered or ordered by.
    """

    name: str
    type: str
    nullable: bool = True
    default: str | None = None
    generated: bool = False
    expression: str | None = None
    sensitive: bool = False
    naming: bool = False
    paired: bool = False
    comment: str | None = None

    @property
    def comparable(self) -> bool:
        """Whether rows may be filtered and ordered by it."""
        return not self.sensitive and not self.paired


@attrs.frozen
class Entry:
    """A readable table or view in the listing; `rows` is an estimate."""

    name: str
    schema: str
    title: str
    kind: Kind
    rows: int | None = None
    at_least: bool = False
    comment: str | None = None
    fault: str | None = None


@attrs.frozen
class Table:
    """A readable table or view; `title` is how answers name it.

    `position` is a name for the row's own number where the table has no key (SQLite's rowid).
    """

    name: str
    schema: str
    title: str
    kind: Kind
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    position: str | None = None
    comment: str | None = None

    def column(self, name: str) -> Column | None:
        """Return the column of that name: exactly, else the only one that differs in case."""
        exact = [column for column in self.columns if column.name == name]
        folded = [column for column in self.columns if column.name.casefold() == name.casefold()]
        found = exact or folded
        return found[0] if len(found) == 1 else None

    def readable(self) -> tuple[Column, ...]:
        """Return the columns that an answer may show."""
        return tuple(column for column in self.columns if not column.sensitive)

    def naming(self) -> tuple[str, ...]:
        """Return the columns that must be fetched to judge the paired ones."""
        if not any(column.paired for column in self.columns):
            return ()
        return tuple(column.name for column in self.readable() if column.naming)

    def order(self) -> tuple[str, ...]:
        """Return what makes the order of the rows stable: the key, the position, or everything."""
        comparable = {column.name for column in self.columns if column.comparable}
        if self.primary_key and comparable.issuperset(self.primary_key):
            return self.primary_key
        if self.position is not None:
            return (self.position,)
        return tuple(column.name for column in self.columns if column.comparable)

    def key(self) -> tuple[str, ...]:
        """Return the columns that name one row, empty if none may be shown."""
        readable = {column.name for column in self.readable()}
        if self.primary_key and readable.issuperset(self.primary_key):
            return self.primary_key
        return () if self.position is None else (self.position,)


@attrs.frozen
class ForeignKey:
    """A reference between tables; `table` is `None` where the other one is not readable."""

    columns: tuple[str, ...]
    table: str | None
    target: tuple[str, ...] = ()


@attrs.frozen
class Index:
    """An index or a unique constraint; an expression in it counts as `None`.

    Two whose `form` is the same do the same; it is `None` where that cannot be told.
    """

    name: str
    columns: tuple[str | None, ...]
    unique: bool = False
    partial: bool = False
    constraint: bool = False
    form: str | None = None


@attrs.frozen
class Check:
    """A condition that the engine enforces; `text` is `None` where it may not be shown."""

    name: str | None
    text: str | None


@attrs.frozen
class Structure:
    """What surrounds the columns of a table.

    `primary_form` compares with the `form` of an index; of a `loose` table the engine takes
    values of other types than its columns declare.
    """

    foreign_keys: tuple[ForeignKey, ...] = ()
    referenced_by: tuple[ForeignKey, ...] = ()
    indexes: tuple[Index, ...] = ()
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    primary_form: str | None = None
    loose: bool = False


@attrs.frozen
class Orphans:
    """How many rows refer to a row that is not there, and through how many it was looked.

    `capped` says that the table has more rows that refer than were looked at.
    """

    count: int
    rows: int
    capped: bool


@attrs.frozen
class Contains:
    """A condition: one of the columns holds the text, as the engine sees it."""

    text: str
    columns: tuple[str, ...]


@attrs.frozen
class Among:
    """A condition: one of the columns, which hold text, is one of the values."""

    values: tuple[str, ...]
    columns: tuple[str, ...]


@attrs.frozen
class Query:
    """Rows of one table.

    Args:
        table: where the rows are.
        columns: what is read of them.
        where: equalities; `None` means SQL's null.
        limit: how many rows at most.
        offset: how many to pass over.
        newest: a column by which, and behind it the key, the order is reversed.
        contains: a text that one of some columns holds.
        among: values of which one of some columns is one.
        characters: how much text of a cell is read.
    """

    table: Table
    columns: tuple[str, ...]
    where: tuple[tuple[str, Scalar], ...] = ()
    limit: int = 20
    offset: int = 0
    newest: str | None = None
    contains: Contains | None = None
    among: Among | None = None
    characters: int = FETCH_CHARACTERS


class Database(Protocol):
    """One open, read-only database behind the table gate.

    Every method raises `ToolError`: `not_found` with one text for what is absent, denied or not
    permitted, `timeout` at the deadline, `unavailable` for what the engine cannot read.
    """

    @property
    def dialect(self) -> str:
        """Return the engine's name."""
        ...

    @property
    def default_schema(self) -> str:
        """Return the schema of tables that are named without one."""
        ...

    def tables(self, schema: str | None = None, *, count: bool = True) -> list[Entry]:
        """Return the readable tables and views by name, with estimates if `count`."""
        ...

    def table(self, name: str) -> Table:
        """Return one table by its name, or by `schema.name`."""
        ...

    def structure(self, table: Table) -> Structure:
        """Return keys, indexes and conditions of a table."""
        ...

    def rows(self, query: Query) -> list[tuple[Cell, ...]]:
        """Return rows in a stable order; `timeout` where that takes too long."""
        ...

    def scan(self, query: Query, take: Callable[[tuple[Cell, ...]], bool], seconds: float) -> bool:
        """Hand over rows in a stable order until `take` returns `False`.

        Returns whether the seconds sufficed; if not, what was handed over is a beginning.
        """
        ...

    def count(self, query: Query, seconds: float = COUNT_SECONDS) -> int | None:
        """Return how many rows match, `None` if counting takes longer."""
        ...

    def groups(self, query: Query, seconds: float) -> list[tuple[Cell, int]] | None:
        """Return the values of the query's one column with their numbers of rows.

        The largest come first, at most `limit`; `None` if counting takes longer.
        """
        ...

    def orphans(self, table: Table, key: ForeignKey, seconds: float) -> Orphans | None:
        """Return how many rows refer by a key to none, `None` if counting takes longer.

        Args:
            table: has the key.
            key: names the readable table and the columns that it refers to.
            seconds: what counting may take.
        """
        ...

    def reserved_words(self) -> frozenset[str]:
        """Return the words, in lower case, that are no names unless they are quoted."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...
