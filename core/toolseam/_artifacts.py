"""Artifacts: what people look at and no provider ever sees (contract §1, §7)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sized
from enum import StrEnum
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast, final, overload

import attrs
import orjson

from toolseam._errors import publish
from toolseam._jsontext import encode
from toolseam._run_only import RunOnly, blank, hold, peek
from toolseam._text import clean, exact, is_clean, short

if TYPE_CHECKING:
    from collections.abc import Mapping

ARTIFACT_BYTES = 50_000
_NULL: RunOnly[Any] = hold(b"null")
LABEL_CHARACTERS = 200
_TOO_LARGE = f"larger than {ARTIFACT_BYTES} bytes"
_LISTS = {list, tuple}
_CHUNK = 256


class ArtifactType(StrEnum):
    """A rendering shape, not a meaning (§1)."""

    TABLE = "table"
    TEXT = "text"


class _MakeText(Protocol):
    def __call__(self, label: str, text: str) -> ToolArtifact:
        """Return a text artifact."""
        ...


class _Text:
    """`ToolArtifact.text(label, text)` makes one; `artifact.text` reads one."""

    @overload
    def __get__(self, artifact: None, owner: type) -> _MakeText: ...
    @overload
    def __get__(self, artifact: ToolArtifact, owner: type) -> str: ...
    def __get__(self, artifact: ToolArtifact | None, owner: type) -> _MakeText | str:
        return _text if artifact is None else cast("str", _member(artifact, "text"))


@final
@attrs.frozen(init=False, repr=False)
class ToolArtifact:
    """One thing for the trace, the inspector and the audit, with no way to the provider (§1).

    Made by `ToolArtifact.table` and `ToolArtifact.text`, or by hand from a type, a label and data
    of that type's shape: `table` `{"columns": [str], "rows": [[str]]}`, `text` `{"text": str}`.
    It is cleaned and encoded once, here. What cannot be encoded or does not fit its shape does
    not raise: the seam then replaces the whole list by one text that says so (§7).
    """

    type: ArtifactType | str
    data: RunOnly[Any]
    _label: RunOnly[Any]
    _fault: str | None
    text = _Text()

    def __init__(self, type: ArtifactType | str, label: str, data: Mapping[str, Any]) -> None:  # noqa: A002
        kind, fault = _known(type)
        encoded = b"null"
        if kind is ArtifactType.TABLE:
            encoded, fault = _table_by_hand(data)
        elif kind is ArtifactType.TEXT:
            encoded, fault = _text_by_hand(data)
        _fill(self, kind, label, encoded, fault)

    def __init_subclass__(cls) -> NoReturn:
        message = "ToolArtifact is final"
        raise TypeError(message)

    @classmethod
    def table(
        cls, label: str, columns: Iterable[str], rows: Iterable[Iterable[Any]], *, fit: bool = False
    ) -> ToolArtifact:
        """Return a table; each cell becomes text: `None` is empty, everything else `str(cell)`.

        Args:
            label: what the table shows, one line.
            columns: the headings; every row must have as many cells.
            rows: the rows, of any cell type.
            fit: drop rows from the end until the table fits 50,000 bytes, and say in the label
                how many are shown of how many.
        """
        encoded, said, fault = _table(label, columns, rows, fit=fit)
        return _made(ArtifactType.TABLE, said, encoded, fault)

    @property
    def label(self) -> str:
        """What the artifact shows, one line."""
        return cast("str", self._label.value)

    @property
    def columns(self) -> list[str]:
        """The headings of a table."""
        return cast("list[str]", _member(self, "columns"))

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table, row by row."""
        return cast("list[list[str]]", _member(self, "rows"))

    def __copy__(self) -> ToolArtifact:
        return self

    def __deepcopy__(self, memo: object) -> ToolArtifact:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        message = "artifacts are not pickled; use encode_result() and decode_result()"
        raise TypeError(message)

    def __repr__(self) -> str:
        state = f"{len(peek(self.data))} bytes" if self._fault is None else "faulty"
        return f"<ToolArtifact {self.type} {state}>"


publish(globals(), "ArtifactType", "ToolArtifact")
# The public module name hides these names from whoever resolves the annotations later.
attrs.resolve_types(ToolArtifact, globals())


def _made(
    kind: ArtifactType | str, label: object, encoded: bytes, fault: str | None
) -> ToolArtifact:
    artifact = blank(ToolArtifact)
    _fill(artifact, kind, label, encoded, fault)
    return cast("ToolArtifact", artifact)


def _fill(
    artifact: Any,  # noqa: ANN401 - attrs makes __attrs_init__, which no type checker sees
    kind: ArtifactType | str,
    label: object,
    encoded: bytes,
    fault: str | None,
) -> None:
    if not isinstance(label, str):
        encoded, label, fault = b"null", "", fault or "the label is no text"
    held = hold(encode(short(label, LABEL_CHARACTERS)))
    artifact.__attrs_init__(kind, hold(encoded), held, fault)


def _member(artifact: ToolArtifact, name: str) -> object:
    data = artifact.data.value
    if type(data) is not dict or name not in data:
        raise AttributeError(f"this {artifact.type} artifact has no .{name}")
    return cast("dict[str, object]", data)[name]


def _text(label: str, text: str) -> ToolArtifact:
    encoded, fault = _text_by_hand({"text": text})
    return _made(ArtifactType.TEXT, label, encoded, fault)


def stored(kind: str, label: str, data: object) -> ToolArtifact:
    """Return an artifact read back from a store; the type may be of a newer version (§1)."""
    known, fault = _known(kind)
    if fault is None:
        return ToolArtifact(known, label, cast("Mapping[str, Any]", data))
    return _made(short(kind), label, encode(data, limit=ARTIFACT_BYTES), None)


def marker(reason: str) -> ToolArtifact:
    """Return the one artifact that stands in for a list that cannot be shown (§7)."""
    return ToolArtifact.text("Artifacts omitted", f"The artifacts were left out: {reason}.")


def encoded_list(artifacts: tuple[ToolArtifact, ...]) -> bytes:
    """Return the JSON text of a list of sound artifacts, from the bytes that they keep."""
    return b"[" + b",".join(map(_encoded, artifacts)) + b"]"


def _encoded(artifact: ToolArtifact) -> bytes:
    return b'{"type":%b,"label":%b,"data":%b}' % (
        orjson.dumps(artifact.type),
        peek(artifact._label),  # noqa: SLF001
        peek(artifact.data),
    )


_FRAME = b'{"type":,"label":,"data":},'


def fault_of(artifacts: tuple[ToolArtifact, ...], limit: int) -> str | None:
    """Return why a list of artifacts cannot be shown, or None; costs nothing per cell (§7)."""
    size = 1
    for artifact in artifacts:
        if artifact._fault is not None:  # noqa: SLF001
            return artifact._fault  # noqa: SLF001
        size += len(_FRAME) + len(orjson.dumps(artifact.type)) + len(peek(artifact.data))
        size += len(peek(artifact._label))  # noqa: SLF001
    return f"{size} bytes of artifacts, at most {limit} are kept" if size > limit else None


def _known(kind: object) -> tuple[ArtifactType | str, str | None]:
    try:
        return ArtifactType(cast("str", kind)), None
    except ValueError:
        return short(kind), f"{short(kind)!r} is no artifact type of this version"


def _text_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    kind: type = type(data)
    text: object = data.get("text") if kind is dict and len(data) == 1 else None
    if not isinstance(text, str):
        return b"null", "a text artifact holds exactly {text: str}"
    if len(text) > ARTIFACT_BYTES:
        return b"null", _TOO_LARGE
    encoded = orjson.dumps({"text": clean(exact(text))})
    return (encoded, None) if len(encoded) <= ARTIFACT_BYTES else (b"null", _TOO_LARGE)


def _table_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    kind: type = type(data)
    if kind is not dict or {*map(type, data)} != {str} or {*data} != {"columns", "rows"}:
        return b"null", "a table holds exactly {columns: [str], rows: [[str]]}"
    heads, rows = data["columns"], data["rows"]
    if type(heads) not in _LISTS or type(rows) not in _LISTS:
        return b"null", "a table holds exactly {columns: [str], rows: [[str]]}"
    if len(heads) > ARTIFACT_BYTES or len(rows) > _row_limit(len(heads)):
        return b"null", _TOO_LARGE
    if not {*map(type, rows)} <= _LISTS:
        return b"null", "a row of the table is no list"
    cells, fault = _flat(rows, len(heads))
    if fault is not None:
        return b"null", fault
    try:
        if _size([*heads, *cells]) > ARTIFACT_BYTES:
            return b"null", _TOO_LARGE
    except TypeError:
        return b"null", "a cell of the table is no text"
    return _encoded_table(heads, cells)


def _table(
    label: object, columns: Iterable[str], rows: Iterable[Iterable[Any]], *, fit: bool
) -> tuple[bytes, object, str | None]:
    """Format, clean, check and encode a table: one pass over at most 50,000 bytes of it."""
    try:
        heads = list(map(exact, islice(columns, ARTIFACT_BYTES)))
        source = iter(rows)
        if _size(heads) > ARTIFACT_BYTES:
            return b"null", label, _TOO_LARGE
    except TypeError:
        return b"null", label, "columns and rows of a table are lists, its headings text"
    most = _row_limit(len(heads))
    known = len(rows) if isinstance(rows, Sized) else None
    if known is not None and known > most and not fit:
        return b"null", label, _TOO_LARGE
    kept = list(islice(source, most + 1))
    cells, fault = _flat(kept, len(heads))
    if fault is not None:
        return b"null", label, fault
    try:
        texts = _texts(cells)
    except Exception as error:  # noqa: BLE001 - str(cell) is a plugin's code
        return b"null", label, f"a cell of the table raised {short(type(error).__name__)}"
    if fit and isinstance(label, str):
        total = len(kept) + sum(1 for _ in source) if known is None else known
        return _fitted(label, heads, texts, total)
    if len(texts) < len(cells) or len(kept) > most:
        return b"null", label, _TOO_LARGE
    encoded, fault = _encoded_table(heads, texts)
    return encoded, label, fault


def _row_limit(width: int) -> int:
    """No more rows than these fit the budget: a row is at least `["",""],`."""
    return ARTIFACT_BYTES // (3 * max(width, 1) + 2)


def _flat(rows: list[Any], width: int) -> tuple[list[Any], str | None]:
    """Return the cells of all rows in one list: one C pass each for what is asked of them."""
    try:
        widths = {*map(len, rows)}
    except TypeError:
        try:
            rows = [list[Any](islice(row, width + 1)) for row in rows]
        except TypeError:
            return [], "a row of the table is no list"
        widths = {*map(len, rows)}
    cells = list(islice(chain.from_iterable(rows), len(rows) * width + 1))
    if widths - {width} or len(cells) != len(rows) * width:
        return [], "a row of the table has not as many cells as there are columns"
    return cells, None


def _size(cells: list[str]) -> int:
    """Return how many characters the cells have, or raise TypeError if one is no text."""
    size = sum(map(len, cells))
    # Only now: one long text that stands in every cell would join to gigabytes.
    if size <= ARTIFACT_BYTES:
        "".join(cells)
    return size


def _texts(cells: list[Any]) -> list[str]:
    """Return the cells as text, as many from the start as the budget holds."""
    try:
        if _size(cells) <= ARTIFACT_BYTES:
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


def _encoded_table(heads: list[str], cells: list[str]) -> tuple[bytes, str | None]:
    """Encode a table of text cells, cleaned if the JSON text shows that it may need to be."""
    try:
        encoded = _dumps(heads, _rows(cells, len(heads)))
        plain = encoded.isascii() and b"\\" not in encoded and b"\x7f" not in encoded
    except TypeError:  # a lone surrogate
        encoded, plain = b"", False
    if not plain and not is_clean("".join([*heads, *cells])):
        heads, cells = _cleaned(heads), _cleaned(cells)
        encoded = _dumps(heads, _rows(cells, len(heads)))
    return (encoded, None) if len(encoded) <= ARTIFACT_BYTES else (b"null", _TOO_LARGE)


def _cleaned(cells: list[str]) -> list[str]:
    return [clean(exact(cell)) for cell in cells]


def _rows(cells: list[str], width: int) -> list[tuple[str, ...]]:
    return list(zip(*[iter(cells)] * width, strict=False))


def _dumps(heads: list[str], rows: list[tuple[str, ...]]) -> bytes:
    return orjson.dumps({"columns": heads, "rows": rows})


def _fitted(
    label: str, heads: list[str], texts: list[str], total: int
) -> tuple[bytes, str, str | None]:
    """Keep as many rows from the start as fit a list of their own, and say so in the label."""
    alone = ARTIFACT_BYTES - len(orjson.dumps(ArtifactType.TABLE)) - len(_FRAME) - 1
    if len(texts) == total * len(heads):
        encoded, fault = _encoded_table(heads, texts)
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
        return b"null", label, _TOO_LARGE
    count = fitting - 1
    label = f"{label} (first {count} of {total} rows)"
    return _dumps(heads, rows[:count]), label, None
