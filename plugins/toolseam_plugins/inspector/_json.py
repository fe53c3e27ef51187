"""JSON as the page gets it: strict, with every digit, and without half a surrogate pair (P01, P02).

What a tool, a model or a person has made goes out as JSON text inside a string. The page shows the
digits of that text: as a number of JavaScript an integer beyond 2^53 would be another one.
"""

from __future__ import annotations

from typing import Any, cast

import orjson


def dumps(value: object) -> bytes:
    """Return JSON text in UTF-8; a lone surrogate becomes U+FFFD."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(whole(value))


def text(value: object) -> str:
    """Return JSON text."""
    return dumps(value).decode()


def held(value: Any) -> str | None:  # noqa: ANN401 - a run-only value or None
    """Return the JSON text of what a run-only value holds."""
    return None if value is None else text(value.value)


def whole(value: object) -> object:
    """Return a copy of a JSON value whose texts all encode."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        found = cast("dict[str, object]", value)
        return {whole(key): whole(each) for key, each in found.items()}
    if isinstance(value, list | tuple):
        return [whole(each) for each in cast("list[object]", value)]
    return value
