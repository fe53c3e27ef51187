"""Artifacts: what people look at and no provider ever sees (contract §1, §7)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast, final, overload

import attrs
import orjson

from toolseam._errors import publish
from toolseam._jsontext import encode
from toolseam._run_only import RunOnly, blank, hold, peek
from toolseam._shapes import (
    code_by_hand,
    code_of,
    key_value_by_hand,
    key_value_of,
    text_by_hand,
    tree_by_hand,
    tree_of,
)
from toolseam._tables import (
    ARTIFACT_BYTES,
    FRAME,
    LABEL_CHARACTERS,
    table_by_hand,
    table_of,
)
from toolseam._text import short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class ArtifactType(StrEnum):
    """A rendering shape, not a meaning (§1)."""

    TABLE = "table"
    TEXT = "text"
    TREE = "tree"
    KEY_VALUE = "key_value"
    CODE = "code"


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

    Made by `ToolArtifact.table`, `.text`, `.tree`, `.key_value` and `.code`, or by hand from a
    type, a label and data of that type's shape: `table` `{"columns": [str], "rows": [[str]]}`,
    `text` `{"text": str}`, `tree` `{"nodes": [[depth, str]]}`, `key_value`
    `{"items": [[str, str]]}`, `code` `{"language": str, "first_line": int, "lines": [str],
    "marked": [int]}`. It is cleaned and encoded once, here. What cannot be encoded or does not
    fit its shape does not raise: the seam then replaces the whole list by one text that says so
    (§7).
    """

    type: ArtifactType | str
    data: RunOnly[Any]
    _label: RunOnly[Any]
    _fault: str | None
    text = _Text()

    def __init__(self, type: ArtifactType | str, label: str, data: Mapping[str, Any]) -> None:  # noqa: A002
        kind, fault = _known(type)
        encoded = b"null"
        if isinstance(kind, ArtifactType):
            encoded, fault = _BY_HAND[kind](data)
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

    @classmethod
    def tree(cls, label: str, nodes: Iterable[tuple[int, Any]]) -> ToolArtifact:
        """Return an outline.

        Args:
            label: what the outline shows, one line.
            nodes: depth and text of each node in reading order; the first depth is 0, each is at
                most one deeper than the one before. A text is made as a table's cell is.
        """
        return _made(ArtifactType.TREE, label, *tree_of(nodes))

    @classmethod
    def key_value(
        cls, label: str, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]]
    ) -> ToolArtifact:
        """Return keys with their values, each made text as a table's cell is.

        Args:
            label: what they are of, one line.
            items: a mapping, or pairs; order is kept, and a key may come twice.
        """
        return _made(ArtifactType.KEY_VALUE, label, *key_value_of(items))

    @classmethod
    def code(
        cls,
        label: str,
        lines: Iterable[str],
        *,
        first_line: int = 1,
        language: str = "",
        marked: Iterable[int] = (),
    ) -> ToolArtifact:
        """Return an excerpt of source text.

        Args:
            label: which source, one line.
            lines: the lines, without line ends.
            first_line: the number of the first of them, from 1.
            language: what it is written in, such as `python`; empty if unknown.
            marked: the numbers of lines that the excerpt is about.
        """
        return _made(ArtifactType.CODE, label, *code_of(language, first_line, lines, marked))

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

    @property
    def nodes(self) -> list[list[Any]]:
        """The nodes of a tree, each `[depth, text]`."""
        return cast("list[list[Any]]", _member(self, "nodes"))

    @property
    def items(self) -> list[list[str]]:
        """The items of a key/value list, each `[key, value]`."""
        return cast("list[list[str]]", _member(self, "items"))

    @property
    def lines(self) -> list[str]:
        """The lines of code."""
        return cast("list[str]", _member(self, "lines"))

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
    return _made(ArtifactType.TEXT, label, *text_by_hand({"text": text}))


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


_BY_HAND: Mapping[ArtifactType, Callable[[Mapping[str, Any]], tuple[bytes, str | None]]] = {
    ArtifactType.TABLE: table_by_hand,
    ArtifactType.TEXT: text_by_hand,
    ArtifactType.TREE: tree_by_hand,
    ArtifactType.KEY_VALUE: key_value_by_hand,
    ArtifactType.CODE: code_by_hand,
}
