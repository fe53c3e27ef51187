"""Values as they may be shown: flattened, secrets masked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import attrs

from toolseam import json_safe
from toolseam.guards import MASK, mask_fields
from toolseam_builtin._config._model import Written, dotted, is_list, is_mapping
from toolseam_builtin._page import excerpt, one_line
from toolseam_builtin._shown_value import shown_value

if TYPE_CHECKING:
    from collections.abc import Iterator

LISTED_CHARACTERS = 500
SINGLE_CHARACTERS = 8_000
_JUDGED = 10_000
"""How many characters behind the shown ones are judged too: no secret's shape is longer."""

_LISTED_KEYS = 10


@attrs.frozen
class Leaf:
    """What is shown in one line: a scalar, an empty list or mapping, a mask, or a summary."""

    path: tuple[str, ...]
    value: object
    hidden: bool = False

    @property
    def name(self) -> str:
        """The path as it may be shown and asked for."""
        return dotted(self.path)

    def told(self, most: int = LISTED_CHARACTERS) -> tuple[str, object]:
        """Return the text and the value for the host, both cut alike to so many characters."""
        return (MASK, MASK) if self.hidden else summary(self.value, most)


def told(value: object, most: int = LISTED_CHARACTERS) -> tuple[str, object]:
    """Return how a scalar or an empty list or mapping is shown, and its value for the host."""
    if isinstance(value, str):
        # Masked before it is cut, so that no cut hides a secret's shape.
        masked = one_line(shown_value("", value[: most + _JUDGED]))
        shown = masked[:most]
        if len(masked) > most or len(value) > most + _JUDGED:
            return f"{quoted(shown)}… [{len(value):,} characters in all]", f"{shown}…"
        return quoted(shown), shown
    if isinstance(value, Written):
        return excerpt(one_line(value.text), most), json_safe(value.value)
    safe = json_safe(value)
    return (excerpt(safe, most) if isinstance(safe, str) else json.dumps(safe)), safe


def flat(value: object, path: tuple[str, ...] = (), *, hidden: bool = False) -> Iterator[Leaf]:
    """Give all leaves of a value in its order; what is masked is one leaf.

    Args:
        value: what is shown.
        path: where it stands.
        hidden: it is masked itself.
    """
    below = children(value)
    if hidden or not below:
        yield Leaf(path, value, hidden=hidden)
        return
    masked = hidden_in(value)
    for key, each in below:
        if key in masked:
            # That nothing is set is no secret, and often what is looked for.
            yield Leaf((*path, key), each, hidden=each not in ("", None))
        else:
            yield from flat(each, (*path, key))


def children(value: object) -> list[tuple[str, object]]:
    """Return what is in a mapping or list, by key or index; nothing is in anything else."""
    if is_mapping(value):
        return list(value.items())
    return [(str(number), each) for number, each in enumerate(value)] if is_list(value) else []


def hidden_in(value: object) -> set[str]:
    """Return the keys, or indices as text, of a list or mapping whose values are masked."""
    if is_list(value) and len(value) == 2:  # noqa: PLR2004 - a pair of name and value
        masked = cast("list[object]", mask_fields([_name(value[0]), None], _same))
        return {"1"} if masked[1] == MASK else set()
    if not is_mapping(value):
        return set()
    fields = {key: _name(each) for key, each in value.items()}
    shown = cast("dict[str, object]", mask_fields(fields, _same))
    return {key for key, each in shown.items() if each == MASK}


def overview(value: object) -> Iterator[Leaf]:
    """Give each top-level key of a value, or the value itself if it has none."""
    below = children(value)
    if not below and value not in ({}, []):
        yield Leaf((), value)
    hidden = hidden_in(value) if below else ()
    for key, each in below:
        yield Leaf((key,), each, hidden=key in hidden and each not in ("", None))


def summary(value: object, most: int) -> tuple[str, object]:
    """Return a value in one line, of a list or mapping how much is in it."""
    if is_mapping(value) and value:
        keys = list(value)
        listed = ", ".join(dotted([key]) for key in keys[:_LISTED_KEYS])
        more = ", …" if len(keys) > _LISTED_KEYS else ""
        said = excerpt(one_line(listed + more), LISTED_CHARACTERS)
        text = f"{len(keys):,} key{'' if len(keys) == 1 else 's'}: {said}"
        return text, text
    if is_list(value) and value:
        text = f"a list of {len(value):,}"
        return text, text
    return told(value, most)


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _same(text: str) -> str:
    return text


def quoted(text: str) -> str:
    """Return text in double quotes, as JSON writes it."""
    return json.dumps(text, ensure_ascii=False)
