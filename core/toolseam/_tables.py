"""Tables as JSON text: any cells in, text cells out, at a cost that the budget bounds (§7)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sized
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

import orjson

from toolseam._text import clean, exact, is_clean, short

if TYPE_CHECKING:
    from collections.abc import Sequence

ARTIFACT_BYTES = 50_000
LABEL_CHARACTERS = 200
TOO_LARGE = f"larger than {ARTIFACT_BYTES} bytes"
# What stands around type, label and data of an artifact in the list, the comma included.
FRAME = b'{"type":,"label":,"data":},'
_LISTS = {list, tuple}
_CHUNK = 256


def table_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    """Return the JSON text of a table that somebody put together, or why it is none."""
    kind: type = type(data)
    if kind is not dict or {*map(type, data)} != {str} or {*data} != {"columns", "rows"}:
        return b"null", "a table holds exactly {columns: [str], rows: [[str]]}"
    heads, rows = data["columns"], data["rows"]
    if type(heads) not in _LISTS or type(rows) not in _LISTS:
        return b"null", "a table holds exactly {columns: [str], rows: [[str]]}"
    if len(heads) > ARTIFACT_BYTES or len(rows) > _row_limit(len(heads)):
        return b"null", TOO_LARGE
    if not {*map(type, rows)} <= _LISTS:
        return b"null", "a row of the table is no list"
    rows, cells, fault = _flat(rows, len(heads))
    if fault is not None:
        return b"null", fault
    try:
        if size_of([*heads, *cells]) > ARTIFACT_BYTES:
            return b"null", TOO_LARGE
    except TypeError:
        return b"null", "a cell of the table is no text"
    return _encoded_table(heads, rows, cells)


def table_of(
    label: object, columns: Iterable[str], rows: Iterable[Iterable[Any]], *, fit: bool
) -> tuple[bytes, object, str | None]:
    """Return the JSON text of a table, its label, and why it cannot be shown if so.

    Formats, cleans, checks and encodes: a few passes in C over at most 50,000 bytes of it.
    """
    try:
        heads = list(map(exact, islice(cells_of(columns), ARTIFACT_BYTES)))
        source = iter(rows)
        if size_of(heads) > ARTIFACT_BYTES:
            return b"null", label, TOO_LARGE
    except TypeError:
        return b"null", label, "columns and rows of a table are lists, its headings text"
    most = _row_limit(len(heads))
    known = len(rows) if isinstance(rows, Sized) else None
    if known is not None and known > most and not fit:
        return b"null", label, TOO_LARGE
    kept = list(islice(source, most + 1))
    grid, cells, fault = _flat(kept, len(heads))
    if fault is not None:
        return b"null", label, fault
    try:
        texts = texts_of(cells)
    except Exception as error:  # noqa: BLE001 - str(cell) is a plugin's code
        return b"null", label, f"a cell of the table raised {short(type(error).__name__)}"
    if fit and isinstance(label, str):
        total = len(kept) + sum(1 for _ in source) if known is None else known
        return _fitted(label, heads, texts, total)
    if len(texts) < len(cells) or len(kept) > most:
        return b"null", label, TOO_LARGE
    if texts is not cells:
        grid = _rows(texts, len(heads))
    encoded, fault = _encoded_table(heads, grid, texts)
    return encoded, label, fault


def _row_limit(width: int) -> int:
    """No more rows than these fit the budget: a row is at least `["",""],`."""
    return ARTIFACT_BYTES // (3 * max(width, 1) + 2)


def _flat(rows: list[Any], width: int) -> tuple[list[Any], list[Any], str | None]:
    """Return the rows as lists or tuples, and all their cells in one list, or what is wrong."""
    try:
        if not {*map(type, rows)} <= _LISTS:
            rows = [tuple[Any, ...](islice(cells_of(row), width + 1)) for row in rows]
    except TypeError:
        return [], [], "a row of the table is no list"
    if {*map(len, rows)} - {width}:
        return [], [], "a row of the table has not as many cells as there are columns"
    cells: list[Any] = []
    # Whole rows are copied at once; a loop over their cells takes three times as long.
    for row in rows:
        cells += row
    return rows, cells, None


def cells_of(row: Any) -> Iterable[Any]:  # noqa: ANN401
    """Return a row that can be iterated; what would give its characters or keys is none."""
    if isinstance(row, str | bytes | Mapping):
        raise TypeError
    cells: Iterable[Any] = row
    return cells


def size_of(cells: list[str]) -> int:
    """Return how many characters the cells have, or raise TypeError if one is no text."""
    size = sum(map(len, cells))
    # Only now: one long text that stands in every cell would join to gigabytes.
    if size <= ARTIFACT_BYTES:
        "".join(cells)
    return size


def texts_of(cells: list[Any]) -> list[str]:
    """Return the cells as text, as many from the start as the budget holds."""
    try:
        if size_of(cells) <= ARTIFACT_BYTES:
            return cells
    except TypeError:
        pass
    texts: list[str] = []
    room, start, step = ARTIFACT_BYTES, 0, 1
    while start < len(cells):
        part = [
            "" if cell is None else cell if isinstance(cell, str) else f"{cell!s}"
            for cell in cells[start : start + step]
        ]
        # Few at first: if one cell exceeds the budget, not many are printed in vain.
        start, step = start + step, min(2 * step, _CHUNK)
        size = sum(map(len, part))
        if size > room:
            return texts + part[: bisect_right(list(accumulate(map(len, part))), room)]
        room -= size
        texts += part
    return texts


def _encoded_table(
    heads: list[str], rows: Sequence[Sequence[str]], cells: list[str]
) -> tuple[bytes, str | None]:
    """Encode a table of text cells, cleaned if the JSON text shows that it may need to be.

    Args:
        heads: the headings.
        rows: exact lists or tuples of as many cells.
        cells: the same cells in one list.
    """
    try:
        encoded = _dumps(heads, rows)
        plain = _is_plain(encoded)
    except TypeError:  # a lone surrogate
        encoded, plain = b"", False
    if not plain and not is_clean("".join([*heads, *cells])):
        heads, cells = _cleaned(heads), _cleaned(cells)
        encoded = _dumps(heads, _rows(cells, len(heads)))
    return (encoded, None) if len(encoded) <= ARTIFACT_BYTES else (b"null", TOO_LARGE)


def _is_plain(encoded: bytes) -> bool:
    """Tell whether JSON text surely holds nothing to clean, from bytes that it lacks.

    Those are escapes, DEL, and what UTF-8 begins C1 controls, bidi and tag characters with; each
    is looked for at the speed of memory.
    """
    return not (
        b"\\" in encoded
        or b"\x7f" in encoded
        or b"\xc2" in encoded
        or b"\xe2" in encoded
        or b"\xf3" in encoded
    )


def _cleaned(cells: list[str]) -> list[str]:
    return [clean(exact(cell)) for cell in cells]


def _rows(cells: list[str], width: int) -> list[tuple[str, ...]]:
    return list(zip(*[iter(cells)] * width, strict=False))


def _dumps(heads: list[str], rows: Sequence[Sequence[str]]) -> bytes:
    return orjson.dumps({"columns": heads, "rows": rows})


def _fitted(
    label: str, heads: list[str], texts: list[str], total: int
) -> tuple[bytes, str, str | None]:
    """Keep as many rows from the start as fit a list of their own, and say so in the label."""
    alone = ARTIFACT_BYTES - len(b'"table"') - len(FRAME) - 1
    if len(texts) == total * len(heads):
        encoded, fault = _encoded_table(heads, _rows(texts, len(heads)), texts)
        whole = short(label, LABEL_CHARACTERS)
        if fault is None and len(encoded) + len(orjson.dumps(whole)) <= alone:
            return encoded, label, None
    note = f" (first {total} of {total} rows)"
    label = short(label, LABEL_CHARACTERS - len(note))
    room = alone - len(orjson.dumps(label)) - len(note)
    heads = _cleaned(heads)
    rows = _rows(_cleaned(texts), len(heads))
    fitting = bisect_right(range(len(rows) + 1), room, key=lambda n: len(_dumps(heads, rows[:n])))
    if fitting == 0:
        return b"null", label, TOO_LARGE
    count = fitting - 1
    label = f"{label} (first {count} of {total} rows)"
    return _dumps(heads, rows[:count]), label, None
