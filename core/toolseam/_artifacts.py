"""Artifacts: what people look at and no provider ever sees (contract §1, §7)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast, final, overload

import attrs
import orjson

from toolseam._errors import publish
from toolseam._jsontext import encode
from toolseam._run_only import RunOnly, blank, hold, peek
from toolseam._tables import (
    ARTIFACT_BYTES,
    FRAME,
    LABEL_CHARACTERS,
    TOO_LARGE,
    table_by_hand,
    table_of,
)
from toolseam._text import clean, exact, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
            encoded, fault = table_by_hand(data)
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
        encoded, said, fault = table_of(label, columns, rows, fit=fit)
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
    held = hold(orjson.dumps(short(label, LABEL_CHARACTERS)))
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


def fault_of(artifacts: tuple[ToolArtifact, ...], limit: int) -> str | None:
    """Return why a list of artifacts cannot be shown, or None; costs nothing per cell (§7)."""
    size = 1
    for artifact in artifacts:
        if artifact._fault is not None:  # noqa: SLF001
            return artifact._fault  # noqa: SLF001
        size += len(FRAME) + len(orjson.dumps(artifact.type)) + len(peek(artifact.data))
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
    text = exact(text)
    if len(text) > ARTIFACT_BYTES:
        return b"null", TOO_LARGE
    encoded = orjson.dumps({"text": clean(text)})
    return (encoded, None) if len(encoded) <= ARTIFACT_BYTES else (b"null", TOO_LARGE)
