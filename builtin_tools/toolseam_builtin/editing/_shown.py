"""Values and cells as a preview shows them: masked, in one line, bound to all that they are."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from toolseam.guards import MASK, mask_secrets
from toolseam_builtin._database._cells import show
from toolseam_builtin._database._model import Blob, Excerpt

if TYPE_CHECKING:
    from toolseam_builtin._database._model import Cell, Column, Scalar

_SHOWN = 160
_DIGITS = 8
_WHOLE = 1_000_000


def differs(cell: Cell, value: Scalar) -> bool:
    """Tell whether a cell holds something else than a value."""
    if isinstance(cell, Excerpt):
        return not isinstance(value, str) or cell.text != value or cell.total != len(value)
    if cell is None or value is None:
        return cell is not value
    return _number(cell) is None or _number(cell) != _number(value)


def _number(value: Cell | str) -> Decimal | None:
    if isinstance(value, Blob | Excerpt):
        return None
    try:
        return Decimal(int(value)) if isinstance(value, bool) else Decimal(str(value))
    except InvalidOperation:
        return None


def said(value: Scalar, column: Column) -> str:
    """Return a value as a preview shows it: masked, in one line, text in quotes."""
    cell = Excerpt(value, len(value)) if isinstance(value, str) else value
    return said_cell(cell, column)


def said_cell(cell: Cell, column: Column, *, secret: bool = False) -> str:
    """Return a cell as a preview shows it; of a `secret` one that there is one, and no more."""
    if secret and cell is not None:
        return MASK
    if not isinstance(cell, Excerpt):
        return show(cell, column).text
    text = mask_secrets(show(cell, column, characters=_WHOLE).text)[0]
    if max(len(text), cell.total) <= _SHOWN:
        return quoted(text)
    # What is cut counts too: a change in it makes another preview.
    return f"{quoted(text[:_SHOWN])}… ({cell.total:,} characters, {fingerprint(text)})"


def fingerprint(text: str) -> str:
    """Return eight hexadecimal digits that another text would not have."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def quoted(text: str) -> str:
    """Return text in quotes and in one line, with what is not to be seen as its number."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\u{{{ord(each):x}}}" for each in plain)
