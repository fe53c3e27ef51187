"""Values as they may be shown: secrets masked, flattened, found by a dotted path."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

import attrs

from toolseam import ErrorCode, ToolError, json_safe
from toolseam.guards import MASK, mask_fields
from toolseam_builtin._config._model import Written, dotted, is_list, is_mapping, shown_key
from toolseam_builtin._page import excerpt, one_line
from toolseam_builtin.system.get_env import shown_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Step = str | int

LISTED_CHARACTERS = 500
SINGLE_CHARACTERS = 8_000
_JUDGED = 10_000
"""How many characters behind the shown ones are judged too: no secret's shape is longer."""

_INDEX = re.compile(r"\[(\d{1,9})\]")
_BARE = re.compile(r"[^.\[\"]+")
_LISTED_KEYS = 10
_NEAR = 3
_COMPARED = 2_000
_NAME_CHARACTERS = 100


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
        return (MASK, MASK) if self.hidden else _summary(self.value, most)


def told(value: object, most: int = LISTED_CHARACTERS) -> tuple[str, object]:
    """Return how a scalar or an empty list or mapping is shown, and its value for the host."""
    if isinstance(value, str):
        # Masked before it is cut, so that no cut hides a secret's shape.
        masked = one_line(shown_value("", value[: most + _JUDGED]))
        shown = masked[:most]
        if len(masked) > most or len(value) > most + _JUDGED:
            return f"{_quoted(shown)}… [{len(value):,} characters in all]", f"{shown}…"
        return _quoted(shown), shown
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


def _summary(value: object, most: int) -> tuple[str, object]:
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


def steps_of(path: str) -> list[Step]:
    """Cut a dotted path into its steps: a text each, a number for `[0]`.

    Raises `ToolError` `invalid_arguments`.
    """
    steps: list[Step] = []
    place = 0
    while place < len(path):
        if match := _INDEX.match(path, place):
            steps.append(int(match[1]))
            place = match.end()
        elif path[place] == '"':
            try:
                key, place = json.JSONDecoder().raw_decode(path, place)
            except ValueError:
                raise _no_path() from None
            steps.append(key)
        elif match := _BARE.match(path, place):
            steps.append(match[0])
            place = match.end()
        else:
            raise _no_path()
        if path[place : place + 1] == "." and place + 1 < len(path):
            place += 1
        elif place < len(path) and path[place] != "[":
            raise _no_path()
    return steps


def find(value: object, steps: Sequence[Step], where: str) -> tuple[tuple[str, ...], object, bool]:
    """Follow a path; return the keys gone through, what is there, and whether it is masked.

    Only what is shown can be found: a key by its shown form, nothing below a mask.

    Raises `ToolError` `not_found` with near misses among the keys that are shown.
    """
    gone: tuple[str, ...] = ()
    for number, step in enumerate(steps):
        key = _key(value, step)
        if key is None:
            raise _not_found(value, step, gone, where)
        hidden = key in hidden_in(value)
        child = dict(children(value))[key]
        gone = (*gone, key)
        if hidden:
            if number + 1 < len(steps):
                message = f"{excerpt(dotted(gone), LISTED_CHARACTERS)} is masked with all below it."
                raise ToolError(message, ErrorCode.NOT_FOUND)
            return gone, child, child not in ("", None)
        value = child
    return gone, value, False


def _key(value: object, step: Step) -> str | None:
    """Return the key that a step means, if it is there and is shown so."""
    text = str(step)
    if is_list(value):
        known = text.isdecimal() and text.isascii() and text == str(int(text[:10]))
        return text if known and int(text) < len(value) else None
    if not is_mapping(value):
        return None
    if text in value:
        return text if shown_key(text) == text else None
    if MASK not in text:
        return None
    return next((key for key in value if shown_key(key) == text), None)


def _not_found(value: object, step: Step, gone: Sequence[str], where: str) -> ToolError:
    from difflib import get_close_matches

    place = f"{where}, below {excerpt(dotted(gone), LISTED_CHARACTERS)}" if gone else where
    asked = str(step)[:_NAME_CHARACTERS]
    if is_list(value):
        found = f"it is a list of {len(value):,}, counted from 0"
    elif is_mapping(value):
        keys = [shown_key(key) for key in list(value)[:_COMPARED]]
        folded = {key.casefold(): key for key in reversed(keys)}
        near = [folded[each] for each in get_close_matches(asked.casefold(), folded, _NEAR)]
        if near:
            found = f"near it: {', '.join(dotted([each]) for each in near)}"
        else:
            found = _summary(value, LISTED_CHARACTERS)[0]
    else:
        found = "it is no list and no mapping"
    said = one_line(f"{place}: nothing has the key {_quoted(asked)}; {found}.")
    return ToolError(said, ErrorCode.NOT_FOUND)


def _no_path() -> ToolError:
    message = 'Write a path as mail.host, servers.0.name or tool."a.b".'
    return ToolError(message, ErrorCode.INVALID_ARGUMENTS)


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _same(text: str) -> str:
    return text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
