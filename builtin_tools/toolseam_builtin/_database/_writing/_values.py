"""Values on their way into a column: judged before anything is written, never bent to fit."""

from __future__ import annotations

import json
import math
import re
from datetime import date, datetime
from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam_builtin._database._model import Column, Scalar, Table

CHARACTERS = 20_000
"""The longest text that is written where a column names no length."""

_LENGTH = re.compile(r"char[a-z ]*\(\s*(\d+)\s*\)")
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?")
_INTEGERS = range(-(2**63), 2**63)
_NEVER = frozenset({
    "blob", "box", "bytea", "circle", "json", "line", "lseg", "path", "point", "polygon",
    "tsquery", "tsvector", "xml",
})  # fmt: skip
_MOMENTS: dict[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "timestamp": datetime.fromisoformat,
}


def fit(table: Table, column: Column, value: Scalar, dialect: str) -> Scalar:
    """Return a value as its column takes it.

    Args:
        table: for the refusal.
        column: as the database declares it.
        value: from the caller.
        dialect: as the database calls itself.

    Raises `ToolError` `invalid_arguments` for another type than the column's, for text longer
    than it holds (20,000 characters where it names no length), for an empty value in a column
    that must be filled, and for a column that no writer writes.
    """
    if column.generated:
        raise _refused(table, column, "it is generated, and never written")
    if value is None:
        if not column.nullable:
            raise _refused(table, column, "it must be filled")
        return None
    base = column.type.casefold().split("(", 1)[0].strip()
    sqlite = dialect == "SQLite"
    if (base in _NEVER and not (sqlite and base == "json")) or base.endswith("]"):
        raise _refused(table, column, f"columns of the type {base} are not written")
    if base.startswith("json"):
        return _json(table, column, value)
    if base.startswith("bool"):
        return _boolean(table, column, value)
    if ("int" in base and base not in {"interval", "point"}) or "serial" in base:
        return _integer(table, column, value, flags=sqlite)
    if base.startswith(("real", "double", "float", "numeric", "decimal")):
        return _number(table, column, value)
    if sqlite and base in {"unknown", "any"} and not isinstance(value, str):
        return value
    return _words(table, column, value, base.split(" ", maxsplit=1)[0])


def flag(column: Column, *, on: bool) -> Scalar:
    """Return the value that sets or clears a flag in its column: a boolean, a number or a word."""
    base = column.type.casefold()
    if base.startswith("bool"):
        return on
    if any(word in base for word in ("char", "text", "clob")):
        return "draft" if on else "published"
    return int(on)


def _words(table: Table, column: Column, value: Scalar, base: str) -> str:
    if not isinstance(value, str):
        raise _refused(table, column, "text is expected")
    read = _MOMENTS.get(base)
    return _text(table, column, value) if read is None else _moment(table, column, value, read)


def _text(table: Table, column: Column, value: str) -> str:
    named = _LENGTH.search(column.type.casefold())
    most = int(named.group(1)) if named else CHARACTERS
    if len(value) > most:
        raise _refused(table, column, f"at most {most:,} characters, given were {len(value):,}")
    if "\0" in value:
        raise _refused(table, column, "text without the character NUL is expected")
    return value


def _boolean(table: Table, column: Column, value: Scalar) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in {0, 1}:
        return bool(value)
    raise _refused(table, column, "true or false is expected")


def _integer(table: Table, column: Column, value: Scalar, *, flags: bool) -> int:
    if isinstance(value, bool) and flags:
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value not in _INTEGERS:
        raise _refused(table, column, "a whole number is expected")
    return value


def _number(table: Table, column: Column, value: Scalar) -> Scalar:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refused(table, column, "a number is expected")
    if isinstance(value, int) and value not in _INTEGERS:
        raise _refused(table, column, "a number of at most 64 bits is expected")
    return value


def _json(table: Table, column: Column, value: Scalar) -> str:
    if isinstance(value, str):
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            pass
        else:
            return _text(table, column, value)
    raise _refused(table, column, "JSON in a text is expected")


def _moment(table: Table, column: Column, value: str, read: Callable[[str], object]) -> str:
    try:
        read(value)
    except ValueError:
        raise _refused(table, column, "a date or time in ISO 8601 is expected") from None
    return value


def _refused(table: Table, column: Column, expected: str) -> ToolError:
    return ToolError(f"{table.title}.{column.name}: {expected}.", ErrorCode.INVALID_ARGUMENTS)
