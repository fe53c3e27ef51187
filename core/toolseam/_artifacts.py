"""Artifacts: what people look at and no provider ever sees (contract §1, §7)."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from enum import StrEnum
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast, final, overload

import attrs
import orjson

from toolseam._errors import publish
from toolseam._jsontext import encode
from toolseam._run_only import RunOnly, hold, peek
from toolseam._text import clean, is_clean, short

if TYPE_CHECKING:
    from collections.abc import Mapping

ARTIFACT_BYTES = 50_000
_NULL: RunOnly[Any] = hold(b"null")
_LABEL_CHARACTERS = 200
_TOO_LARGE = "larger than the budget"


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
        return _text if artifact is None else cast("str", artifact.data["text"])


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
        self.__attrs_init__(kind, hold(encoded), _held_label(label), fault)  # type: ignore[attr-defined]

    def __init_subclass__(cls) -> NoReturn:
        message = "ToolArtifact is final"
        raise TypeError(message)

    @classmethod
    def table(
        cls, label: str, columns: Iterable[str], rows: Iterable[Iterable[Any]], *, fit: bool = False
    ) -> ToolArtifact:
        """Return a table; each cell becomes text (`None` is empty, everything else `str(cell)`).

        Args:
            label: what the table shows, one line.
            columns: the headings; every row must have as many cells.
            rows: the rows, of any cell type.
            fit: drop rows from the end until the table fits 50,000 bytes, and say in the label
                how many are shown of how many.
        """
        encoded, label, fault = _table(label, columns, rows, fit=fit)
        return _made(ArtifactType.TABLE, label, encoded, fault)

    @property
    def label(self) -> str:
        """What the artifact shows, one line."""
        return cast("str", self._label.value)

    @property
    def columns(self) -> list[str]:
        """The headings of a table."""
        return cast("list[str]", self.data["columns"])

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table, row by row."""
        return cast("list[list[str]]", self.data["rows"])

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
    artifact = object.__new__(ToolArtifact)
    artifact.__attrs_init__(kind, hold(encoded), _held_label(label), fault)  # type: ignore[attr-defined]
    return artifact


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
        orjson.dumps(str(artifact.type)),
        peek(artifact._label),  # noqa: SLF001
        peek(artifact.data),
    )


_FRAME = len(b'{"type":"","label":,"data":},')


def fault_of(artifacts: tuple[ToolArtifact, ...], limit: int) -> str | None:
    """Return why a list of artifacts cannot be shown, or None; costs nothing per cell (§7)."""
    size = 1
    for artifact in artifacts:
        if artifact._fault is not None:  # noqa: SLF001
            return artifact._fault  # noqa: SLF001
        size += _FRAME + len(artifact.type) + len(peek(artifact.data))
        size += len(peek(artifact._label))  # noqa: SLF001
    return f"{size} bytes of artifacts, at most {limit} are kept" if size > limit else None


def _known(kind: object) -> tuple[ArtifactType | str, str | None]:
    try:
        return ArtifactType(cast("str", kind)), None
    except ValueError:
        return short(kind), f"{short(kind)!r} is no artifact type of this version"


def _held_label(label: object) -> RunOnly[Any]:
    text = label if isinstance(label, str) else ""
    return hold(encode(short(text, _LABEL_CHARACTERS)))


def _text_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    text: object = data.get("text") if type(data) is dict and len(data) == 1 else None
    if not isinstance(text, str):
        return b"null", "a text artifact holds exactly {text: str}"
    if len(text) > ARTIFACT_BYTES:
        return b"null", _TOO_LARGE
    return _encode({"text": clean("".join((text,)))})


def _table_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    if type(data) is not dict or set(map(type, data)) != {str} or set(data) != {"columns", "rows"}:
        return b"null", "a table holds exactly {columns: [str], rows: [[str]]}"
    columns, rows = data["columns"], data["rows"]
    if type(columns) not in (list, tuple) or type(rows) not in (list, tuple):
        return b"null", "a table holds exactly {columns: [str], rows: [[str]]}"
    if (len(columns) + 1) * len(rows) > ARTIFACT_BYTES:
        return b"null", _TOO_LARGE
    if any(type(row) not in (list, tuple) for row in rows):
        return b"null", "a row of the table is no list"
    try:
        return _checked(list(columns), [list(row) for row in rows], _row_limit(len(columns)))
    except TypeError:
        return b"null", "a cell of the table is no text"


def _table(
    label: object, columns: Iterable[str], rows: Iterable[Iterable[Any]], *, fit: bool
) -> tuple[bytes, object, str | None]:
    """Format, clean, check and encode a table: one pass over at most 50,000 bytes of it."""
    try:
        heads = ["".join((c,)) for c in columns]
        total = len(rows) if isinstance(rows, Sized) else None
        most = _row_limit(len(heads))
        if total is not None and total > most and not fit:
            return b"null", label, _TOO_LARGE
        kept = list(map(list, islice(iter(rows), most + 1)))
        if fit and total is None:
            total = len(kept) + sum(1 for _ in rows) if len(kept) > most else len(kept)
        encoded, fault = _checked(heads, _formatted(kept), most)
        if not fit or (fault is not None and fault is not _TOO_LARGE):
            return encoded, label, fault
        total = total or 0
        if fault is None and len(kept) == total:
            return encoded, label, None
        return _fitted(label, heads, _formatted(kept), total)
    except (Exception, RecursionError) as error:  # noqa: BLE001 - str(cell) is a plugin's code
        return b"null", label, f"a cell of the table raised {short(type(error).__name__)}"


def _row_limit(width: int) -> int:
    """No more rows than these fit the budget: a row is at least `["",""],`."""
    return ARTIFACT_BYTES // (3 * max(width, 1) + 2)


def _formatted(rows: list[list[Any]]) -> list[list[str]]:
    return [
        [cell if type(cell) is str else "" if cell is None else str(cell) for cell in row]
        for row in rows
    ]


def _checked(heads: list[str], rows: list[list[str]], most: int) -> tuple[bytes, str | None]:
    """Encode a table of text cells; `"".join` is type check, size and scanned text in one pass."""
    if len(rows) > most:
        return b"null", _TOO_LARGE
    if rows and set(map(len, rows)) != {len(heads)}:
        return b"null", "a row of the table has not as many cells as there are columns"
    joined = "".join(chain(heads, chain.from_iterable(rows)))
    if len(joined) > ARTIFACT_BYTES:
        return b"null", _TOO_LARGE
    if not is_clean(joined):
        heads, rows = list(map(clean, heads)), [list(map(clean, row)) for row in rows]
    return _encode({"columns": heads, "rows": rows})


def _fitted(
    label: object, heads: list[str], rows: list[list[str]], total: int
) -> tuple[bytes, object, str | None]:
    """Keep as many rows from the start as fit, and say so in the label."""
    said = f"{label} (first {total} of {total} rows)"
    room = ARTIFACT_BYTES - 64 - 4 * len(short(said, _LABEL_CHARACTERS))
    room -= len(orjson.dumps(list(map(clean, heads)))) + _FRAME
    count = 0
    for row in rows:
        if sum(map(len, row)) > room:
            break
        room -= len(orjson.dumps(list(map(clean, row)))) + 1
        if room < 0:
            break
        count += 1
    encoded, fault = _checked(heads, rows[:count], len(rows))
    return encoded, f"{label} (first {count} of {total} rows)", fault


def _encode(data: dict[str, Any]) -> tuple[bytes, str | None]:
    encoded = orjson.dumps(data)
    return (encoded, None) if len(encoded) <= ARTIFACT_BYTES else (b"null", _TOO_LARGE)

