"""Secrets that show by their shape, in any text.

A pattern runs only where a cheap ``in`` has found the literal that it cannot do without, and begins
with that literal: on clean text the whole guard is a few scans for substrings.
"""

import re
from collections.abc import Callable, Iterator

import attrs

MASK = "[masked]"

_Matches = Callable[[str], Iterator[tuple[int, int]]]


@attrs.frozen
class _Shape:
    """One family of shapes: the literals of which one is needed, and where its secrets stand."""

    literals: tuple[str, ...]
    spans: _Matches


def mask_secrets(text: str, *, keep_lines: bool = False) -> tuple[str, int]:
    """Replace each secret that shows by its shape with ``[masked]``.

    Known are the userinfo of a URL, credentials in a query or a connection string, bearer tokens
    and ``Authorization`` values, JSON web tokens, private-key blocks and keys with the prefix of a
    well-known vendor. UUIDs, hashes and ordinary prose stay as they are. Masking twice changes
    nothing more.

    Args:
        text: Any text.
        keep_lines: Leave as many line ends in a masked block as it had, for numbered lines.

    Returns:
        The text, the same object if it is clean, and how many secrets were replaced.
    """
    count = 0
    # What one shape masks may lay bare another; each turn masks at least one more, so this ends.
    while True:
        text, found = _mask_once(text, keep_lines=keep_lines)
        if not found:
            return text, count
        count += found


def _mask_once(text: str, *, keep_lines: bool) -> tuple[str, int]:
    count = 0
    for shape in _SHAPES:
        if any(literal in text for literal in shape.literals):
            pieces: list[str] = []
            end = 0
            for start, stop in shape.spans(text):
                secret = text[start:stop]
                if start < end or secret == MASK:
                    continue
                line_ends = "\n" * secret.count("\n") if keep_lines else ""
                pieces += (text[end:start], MASK, line_ends)
                end = stop
                count += 1
            if pieces:
                pieces.append(text[end:])
                text = "".join(pieces)
    return text, count


def _group(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> _Matches:
    """The spans of the first group of a pattern, or of the whole where it has none."""
    compiled = re.compile(pattern, flags | re.ASCII)
    number = min(compiled.groups, 1)
    return lambda text: (match.span(number) for match in compiled.finditer(text))


def _token(pattern: str) -> _Matches:
    """The spans of a pattern that is a token by itself: it does not begin inside a word."""
    compiled = re.compile(pattern, re.ASCII)

    def spans(text: str) -> Iterator[tuple[int, int]]:
        for match in compiled.finditer(text):
            start = match.start()
            if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
                yield match.span()

    return spans


def _gated(gate: str, tokens: tuple[tuple[str, str], ...]) -> _Matches:
    """The spans of many vendors' tokens, looked for only in a text that passes the gate."""
    passes = re.compile(gate, re.ASCII).search
    shapes = [(prefix, _token(re.escape(prefix) + rest)) for prefix, rest in tokens]

    def spans(text: str) -> Iterator[tuple[int, int]]:
        if not passes(text):
            return
        found = [span for prefix, find in shapes if prefix in text for span in find(text)]
        yield from sorted(found)

    return spans
