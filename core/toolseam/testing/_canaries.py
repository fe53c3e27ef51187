"""Canaries: values that are planted where nothing may come out, and looked for everywhere."""

from __future__ import annotations

import base64
import json
import secrets
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTH = 12


@attrs.frozen
class Canary:
    """A random text and the forms in which it might slip out."""

    text: str

    def forms(self) -> Iterator[bytes]:
        """Give the text itself, JSON-escaped, in hexadecimal digits and in base64."""
        raw = self.text.encode()
        yield raw
        yield json.dumps(self.text)[1:-1].encode()
        yield raw.hex().encode()
        # In base64 a text looks different at each offset of three bytes.
        for offset in range(3):
            encoded = base64.b64encode(b"\0" * offset + raw)
            yield encoded[4 if offset else 0 : -4]

    def is_in(self, *outputs: str | bytes) -> bool:
        """Tell whether any of the forms occurs in any of the outputs."""
        found = [o.encode("utf-8", "surrogatepass") if isinstance(o, str) else o for o in outputs]
        return any(form in output for form in self.forms() for output in found)


def canary(word: str = "canary") -> Canary:
    """Return a fresh canary; `word` makes it easy to find in a failing test."""
    return Canary(f"{word}-{secrets.token_hex(_LENGTH)}")
