"""Plans: what a call writes into one record, and how that is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam_builtin._database._asking import columns_of
from toolseam_builtin._database._writing._model import Change, Field, Plan
from toolseam_builtin.editing._records import refuse_secret
from toolseam_builtin.editing._shown import differs, said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam_builtin._database._model import Scalar
    from toolseam_builtin.editing._records import Record, Target


def changing(
    found: Target,
    record: Record,
    values: Mapping[str, Scalar],
    *,
    verbs: tuple[str, str] = ("Change", "Changed"),
    notes: tuple[str, ...] = (),
    others: tuple[Change, ...] = (),
) -> Plan:
    """Return the plan that writes values into one record.

    Args:
        found: the table.
        record: read with the columns of the values.
        values: as the columns take them; those that the record holds already are left alone.
        verbs: what is done, as a command and as done.
        notes: further lines.
        others: records that are written before this one.

    Raises `ToolError` `permission_denied` for the name of a secret, and for its value.
    """
    columns = columns_of(found.table, values)
    refuse_secret(found, record, columns)
    changed = tuple((n, v) for n, v in values.items() if differs(record.cells[n], v))
    fields = tuple(
        Field(
            column.name,
            record.shown[column.name],
            said(values[column.name], column),
            column.name in dict(changed),
        )
        for column in columns
    )
    changes = (*others, Change(found.table, record.where, changed)) if changed else others
    return Plan(verbs, found.table, record.key, record.label, fields, changes, found.history, notes)


def creating(
    found: Target,
    values: Mapping[str, Scalar],
    *,
    verbs: tuple[str, str],
    notes: tuple[str, ...] = (),
    others: tuple[Change, ...] = (),
) -> Plan:
    """Return the plan that writes values into a new record.

    Args:
        found: the table.
        values: as the columns take them.
        verbs: what is done, as a command and as done.
        notes: further lines.
        others: records that are written before this one.
    """
    columns = columns_of(found.table, values)
    fields = tuple(Field(column.name, "", said(values[column.name], column)) for column in columns)
    changes = (*others, Change(found.table, None, tuple(values.items())))
    return Plan(verbs, found.table, None, "", fields, changes, found.history, notes)
