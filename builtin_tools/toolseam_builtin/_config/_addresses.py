"""Addresses as they may be shown: scheme, host and path, nothing else."""

from __future__ import annotations

import re

from toolseam.guards import MASK

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][\w.+:-]*?)://(?P<rest>.*)", re.DOTALL)


def shown_address(text: str) -> str:
    """Return a text, of an address `scheme://…` only scheme, host with port, and path or database.

    Where the end of a password cannot be told, everything behind the scheme is masked.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return text
    before, sign, rest = match["rest"].rpartition("@")
    if sign and re.search(r"[/?#]", before):
        return f"{match['scheme']}://{MASK}"
    return f"{match['scheme']}://{re.split(r'[?#;]', rest, maxsplit=1)[0]}"
