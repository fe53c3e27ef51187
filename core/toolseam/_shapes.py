"""Texts, trees, key/value lists and code as JSON text: each checked against its shape (§1, §7)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import orjson

from toolseam._tables import ARTIFACT_BYTES, TOO_LARGE, cells_of, size_of, texts_of
from toolseam._text import clean, exact, short

if TYPE_CHECKING:
    from collections.abc import Iterable

_NODES = ARTIFACT_BYTES // len('[0,""],')
_ITEMS = ARTIFACT_BYTES // len('["",""],')
_LINES = ARTIFACT_BYTES // len('"",')
_LAST_LINE = 2**31
_LISTS = {list, tuple}

TEXT_SHAPE = "a text artifact holds exactly {text: str}"
TREE_SHAPE = (
    "a tree holds exactly {nodes: [[depth, text]]}, the first depth 0 and each at most one deeper"
    " than the one before"
)
KEY_VALUE_SHAPE = "a key/value artifact holds exactly {items: [[key, value]]}, all of it text"
CODE_SHAPE = (
    "code holds exactly {language: str, first_line: int, lines: [str], marked: [int]}, no line"
    " break in a line, and marks lines that it has"
)


def text_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    """Return the JSON text of a text that somebody put together, or why it is none."""
    text = _only(data, "text")
    if text is None or not isinstance(text[0], str):
        return b"null", TEXT_SHAPE
    found = exact(text[0])
    return (
        _encoded({"text": clean(found)}) if len(found) <= ARTIFACT_BYTES else (b"null", TOO_LARGE)
    )


def tree_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    """Return the JSON text of a tree that somebody put together, or why it is none."""
    found = _only(data, "nodes")
    if found is None or type(found[0]) not in _LISTS:
        return b"null", TREE_SHAPE
    return tree_of(found[0], texts_only=True)


def tree_of(
    nodes: Iterable[tuple[int, Any]], *, texts_only: bool = False
) -> tuple[bytes, str | None]:
    """Return the JSON text of an outline, or why it cannot be shown."""
    pairs, fault = _pairs(nodes, _NODES, TREE_SHAPE)
    if fault is not None:
        return b"null", fault
    most = 0
    for depth, _ in pairs:
        if type(depth) is not int or not 0 <= depth <= most:
            return b"null", TREE_SHAPE
        most = depth + 1
    texts, fault = _texts([text for _, text in pairs], TREE_SHAPE, texts_only=texts_only)
    shown = [[depth, text] for (depth, _), text in zip(pairs, texts, strict=False)]
    return _encoded({"nodes": shown}) if fault is None else (b"null", fault)


def key_value_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    """Return the JSON text of a key/value list that somebody put together, or why it is none."""
    found = _only(data, "items")
    if found is None or type(found[0]) not in _LISTS:
        return b"null", KEY_VALUE_SHAPE
    return key_value_of(found[0], texts_only=True)


def key_value_of(
    items: Mapping[Any, Any] | Iterable[tuple[Any, Any]], *, texts_only: bool = False
) -> tuple[bytes, str | None]:
    """Return the JSON text of keys with their values, or why it cannot be shown."""
    given = cast("Iterable[Any]", items.items() if isinstance(items, Mapping) else items)
    pairs, fault = _pairs(given, _ITEMS, KEY_VALUE_SHAPE)
    if fault is not None:
        return b"null", fault
    cells = [cell for pair in pairs for cell in pair]
    texts, fault = _texts(cells, KEY_VALUE_SHAPE, texts_only=texts_only)
    shown = [list(pair) for pair in zip(texts[::2], texts[1::2], strict=False)]
    return _encoded({"items": shown}) if fault is None else (b"null", fault)


def code_by_hand(data: Mapping[str, Any]) -> tuple[bytes, str | None]:
    """Return the JSON text of code that somebody put together, or why it is none."""
    found = _only(data, "language", "first_line", "lines", "marked")
    if found is None or type(found[2]) not in _LISTS or type(found[3]) not in _LISTS:
        return b"null", CODE_SHAPE
    return code_of(*found)


def code_of(
    language: object, first_line: object, lines: Iterable[str], marked: Iterable[int]
) -> tuple[bytes, str | None]:
    """Return the JSON text of numbered lines of code, or why it cannot be shown."""
    if not isinstance(language, str) or not isinstance(first_line, int):
        return b"null", CODE_SHAPE
    try:
        kept = list(islice(cells_of(lines), _LINES + 1))
        marks = list(islice(cells_of(marked), _LINES + 1))
    except TypeError:
        return b"null", CODE_SHAPE
    if len(kept) > _LINES or len(marks) > _LINES or len(language) > ARTIFACT_BYTES:
        return b"null", TOO_LARGE
    known = range(first_line, first_line + len(kept))
    if not 1 <= first_line <= _LAST_LINE or any(
        type(m) is not int or m not in known for m in marks
    ):
        return b"null", CODE_SHAPE
    texts, fault = _texts([language, *kept], CODE_SHAPE, texts_only=True)
    if fault is not None:
        return b"null", fault
    if any("\n" in text for text in texts):
        return b"null", CODE_SHAPE
    shown = {"language": texts[0], "first_line": first_line, "lines": texts[1:], "marked": marks}
    return _encoded(shown)


def _only(data: Mapping[str, Any], *names: str) -> list[Any] | None:
    """Return the members of a plain dict that has exactly these."""
    kind: type = type(data)
    if kind is not dict or {*map(type, data)} != {str} or {*data} != {*names}:
        return None
    return [data[name] for name in names]


def _pairs(given: Iterable[Any], most: int, shape: str) -> tuple[list[tuple[Any, ...]], str | None]:
    try:
        kept = [tuple(islice(cells_of(each), 3)) for each in islice(cells_of(given), most + 1)]
    except TypeError:
        return [], shape
    if {*map(len, kept)} - {2}:
        return [], shape
    return (kept, None) if len(kept) <= most else ([], TOO_LARGE)


def _texts(cells: list[Any], shape: str, *, texts_only: bool) -> tuple[list[str], str | None]:
    """Return cells as clean text: `None` is empty, everything else `str(cell)`."""
    if texts_only and not all(isinstance(cell, str) for cell in cells):
        return [], shape
    try:
        texts = texts_of(cells)
        if len(texts) < len(cells) or size_of(texts) > ARTIFACT_BYTES:
            return [], TOO_LARGE
        return [clean(exact(text)) for text in texts], None
    except Exception as error:  # noqa: BLE001 - str(cell) is a plugin's code
        return [], f"a cell raised {short(type(error).__name__)}"


def _encoded(data: dict[str, Any]) -> tuple[bytes, str | None]:
    encoded = orjson.dumps(data)
    return (encoded, None) if len(encoded) <= ARTIFACT_BYTES else (b"null", TOO_LARGE)
