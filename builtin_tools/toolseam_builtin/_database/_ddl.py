"""Reading what `CREATE TABLE` text says and no pragma tells: expressions and conditions.

One pass of a flat tokenizer, linear in the text whatever it holds; nothing backtracks.
"""

from __future__ import annotations

import re
from itertools import pairwise

import attrs

from toolseam.guards import is_sensitive_name

DDL_BYTES = 16_384
"""Longer text is not read; what depends on it counts as unknown."""

_TOKEN = re.compile(
    r"""
      (?P<space>\s+ | --[^\n]*)
    | (?P<string>'[^']*')
    | (?P<quoted>"[^"]*" | `[^`]*` | \[[^\]]*\])
    | (?P<word>\w+)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTRAINTS = frozenset({"constraint", "check", "primary", "unique", "foreign"})
_KEYWORDS = frozenset({
    "and", "between", "case", "cast", "else", "in", "is", "not", "or", "then", "when",
})  # fmt: skip
_WORD = re.compile(r"\w[\w.\-]*")
_BODY = re.compile(r"\bas\b", re.IGNORECASE)


@attrs.frozen
class Token:
    """A piece of SQL text with the place where it stands."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """What it names, if it is a name: without its quotes."""
        return self.text[1:-1] if self.kind == "quoted" else self.text


@attrs.frozen
class Definition:
    """Expressions of generated columns by folded name, and conditions with their names."""

    generated: dict[str, str]
    checks: tuple[tuple[str | None, str], ...]


def tokens(text: str) -> list[Token]:
    """Return the tokens of SQL text without spaces and comments."""
    found: list[Token] = []
    place = 0
    while place < len(text):
        if text.startswith("/*", place):
            end = text.find("*/", place + 2)
            place = len(text) if end < 0 else end + 2
            continue
        match = _TOKEN.match(text, place)
        if match is None:
            break
        kind = match.lastgroup or "mark"
        if kind != "space":
            found.append(Token(kind, match.group(), match.start(), match.end()))
        place = match.end()
    return found


def closing(found: list[Token], start: int) -> int:
    """Return the index of the parenthesis that closes the one at `start`, or the end."""
    depth = 0
    for index in range(start, len(found)):
        if found[index].kind == "mark":
            depth += {"(": 1, ")": -1}.get(found[index].text, 0)
            if depth == 0:
                return index
    return len(found)


def read_table(text: str) -> Definition:
    """Return what the text of a `CREATE TABLE` says about generated columns and conditions."""
    found = tokens(text)
    start = next((i for i, token in enumerate(found) if token.text == "("), len(found))
    generated: dict[str, str] = {}
    checks: list[tuple[str | None, str]] = []
    column = label = None
    fresh = True
    index, end = start + 1, closing(found, start)
    while index < end:
        token = found[index]
        word = token.text.casefold() if token.kind == "word" else ""
        if fresh:
            column = None if word in _CONSTRAINTS else token.name
            label, fresh = None, False
        if word == "constraint" and index + 1 < end:
            label = found[index + 1].name
        opens = index + 1 < end and found[index + 1].text == "("
        if opens and word in {"as", "check"}:
            close = closing(found, index + 1)
            inner = text[found[index + 1].end : found[min(close, end) - 1].end]
            if word == "check":
                checks.append((label, inner.strip()))
                label = None
            elif column is not None:
                generated[column.casefold()] = inner.strip()
            index = close
        elif token.text == "(":
            index = closing(found, index)
        elif token.text == ",":
            fresh = True
        index += 1
    return Definition(generated, tuple(checks))


def mentions_sensitive(text: str) -> bool:
    """Tell whether any word of an expression, quoted or not, is a sensitive name."""
    return any(is_sensitive_name(word) for word in _WORD.findall(text))


def literals_sensitive(text: str) -> bool:
    """Tell whether a literal in SQL text is or holds a sensitive name (a JSON path, for one)."""
    return any(mentions_sensitive(token.text) for token in tokens(text) if token.kind == "string")


def calls(text: str) -> set[str]:
    """Return the functions that an expression calls, folded; keywords are none."""
    found = tokens(text)
    pairs = pairwise(found)
    named = {
        one.name.casefold() for one, after in pairs if one.kind != "mark" and after.text == "("
    }
    return named - _KEYWORDS


def words(text: str) -> set[str]:
    """Return every word of an expression, folded."""
    return {word.casefold() for word in re.findall(r"\w+", text)}


def may_generate(text: str) -> bool:
    """Tell cheaply whether a table's text could define a generated column."""
    return _BODY.search(text) is not None
