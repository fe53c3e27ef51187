"""What a write is before it happens, and the protocol of the engines that carry it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import attrs

from toolseam_builtin._database._history import History
from toolseam_builtin._database._model import Database, Scalar, Table
from toolseam_builtin._page import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

Equalities: TypeAlias = tuple[tuple[str, Scalar], ...]
"""Columns and what they hold: the name of one record, or what is written into it."""


@attrs.frozen
class Change:
    """One record that is written.

    Args:
        table: where it is.
        record: what names it; `None` for a new one.
        values: what is written.
        source: what names the record from which `copied` columns are taken into a new or an
            existing one.
        copied: those columns.
    """

    table: Table
    record: Equalities | None
    values: Equalities
    source: Equalities = ()
    copied: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is written, in a steady order."""
        return (*(name for name, _ in self.values), *self.copied)


@attrs.frozen
class Field:
    """One field of the preview: what it holds, and what it will hold, as answers show them.

    `old` is empty in a new record.
    """

    name: str
    old: str
    new: str
    changed: bool = True

    @property
    def line(self) -> str:
        """The field in one line."""
        name = one_line(self.name)
        if not self.old:
            return f"{name}: {self.new}"
        return f"{name}: {self.old} → {self.new}" if self.changed else f"{name}: {self.old} stays"


@attrs.frozen
class Plan:
    """All that one call writes, and how it is told before and after.

    Args:
        verbs: what is done, as a command and as done: `Change`, `Changed`.
        table: where the record is.
        key: what names the record, as answers show it; `None` for a new one.
        label: the record's own name, behind its key.
        fields: every field that the call is about.
        notes: further lines for the preview and for the answer.
        changes: the records that are written; none where nothing is left to do.
        history: where the change is told.
    """

    verbs: tuple[str, str]
    table: Table
    key: str | None
    label: str
    fields: tuple[Field, ...]
    changes: tuple[Change, ...]
    history: History
    notes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The record in question."""
        if self.key is None:
            return f"a new record of {self.table.title}"
        return f"{self.table.title}:{self.key}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What is said of every field, and the notes."""
        return (*(field.line for field in self.fields), *self.notes)


class Writer(Database, Protocol):
    """One open transaction that may write what was announced, and nothing else.

    Every method raises `ToolError`: `conflict` for a duplicate, a trigger or a concurrent change,
    `invalid_arguments` for a value that its column does not take, `unavailable` for a lock.
    Nothing is kept unless `keep` returns.
    """

    def announce(self, changes: Sequence[Change], history: History) -> None:
        """Say what will be written; refuse tables whose triggers or rules would write more."""
        ...

    def update(self, change: Change) -> None:
        """Write one existing record."""
        ...

    def insert(self, change: Change) -> Equalities:
        """Write one new record and return what names it."""
        ...

    def holds(self, change: Change, record: Equalities) -> bool:
        """Tell whether a record holds all that a change wrote into it."""
        ...

    def texts(self, table: Table, record: Equalities, columns: Sequence[str]) -> list[str | None]:
        """Return cells of one record in full, as text; bytes as their number."""
        ...

    def tell(
        self, history: History, title: str, table: Table, record: Equalities, telling: Telling
    ) -> int:
        """Add the history rows of one record that was written, and return how many."""
        ...

    def undo(self) -> bool:
        """Take everything back, and tell whether that worked."""
        ...

    def keep(self) -> None:
        """End the transaction and keep what was written, if that is exactly what was announced."""
        ...


@attrs.frozen
class Telling:
    """What history is told: the columns with the values before (none if new), who, and when."""

    old: tuple[tuple[str, str | None], ...]
    who: str
    when: str
