"""Finding a part of a value by a dotted path, among what is shown and nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError
from toolseam.guards import MASK
from toolseam_builtin._config._model import dotted, is_list, is_mapping, shown_key
from toolseam_builtin._config._shown import (
    LISTED_CHARACTERS,
    children,
    hidden_in,
    quoted,
    summary,
)
from toolseam_builtin._page import excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    Step = str | int

_INDEX = re.compile(r"\[(\d{1,9})\]")
_BARE = re.compile(r"[^.\[\"]+")
_NEAR = 3
_COMPARED = 2_000
_NAME_CHARACTERS = 100


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
            found = summary(value, LISTED_CHARACTERS)[0]
    else:
        found = "it is no list and no mapping"
    said = one_line(f"{place}: nothing has the key {quoted(asked)}; {found}.")
    return ToolError(said, ErrorCode.NOT_FOUND)


def _no_path() -> ToolError:
    message = 'Write a path as mail.host, servers.0.name or tool."a.b".'
    return ToolError(message, ErrorCode.INVALID_ARGUMENTS)
