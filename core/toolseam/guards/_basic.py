"""A user's name and password in base64, as basic authentication and Docker's files write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolseam.guards._gate import Gate

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = frozenset({"auth", "_auth"})
_VALUE = r"[A-Za-z0-9+/]{6,2000}={0,2}"
BASIC_GATE = Gate(
    r"auth[\"']?[\t-\r ]{0,4}[:=][\t-\r ]{0,4}[\"']?[A-Za-z0-9+/]{6}", literals=("auth",)
)
_PAIR = rf"auth[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?({_VALUE})(?![\w+/=])"


def is_basic(name: str, value: object) -> bool:
    """Tell whether a name and its value are those of basic authentication.

    Args:
        name: `auth` as in Docker's configuration, or `_auth` as in npm's.
        value: text in base64 with a colon in what it stands for, else nothing is told.
    """
    return (
        name.casefold() in _NAMES
        and isinstance(value, str)
        and re.fullmatch(_VALUE, value, re.ASCII) is not None
        and _holds_pair(value)
    )


def basic_pairs(text: str) -> Iterator[tuple[int, int]]:
    """Find such values behind their name, in any text."""
    for match in re.finditer(_PAIR, text, re.ASCII):
        if _holds_pair(match[1]):
            yield match.span(1)


def _holds_pair(value: str) -> bool:
    from binascii import a2b_base64

    bare = value.rstrip("=")
    try:
        told = a2b_base64(bare + "=" * (-len(bare) % 4)).decode()
    except ValueError:
        return False
    return ":" in told and told.isprintable()
