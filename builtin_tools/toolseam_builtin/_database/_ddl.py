"""Reading what `CREATE TABLE` text says and no pragma tells: expressions and conditions.

One pass of a flat tokenizer, linear in the text whatever it holds; nothing backtracks.
"""

from __future__ import annotations

import re
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase

import attrs

from toolseam.guards import is_sensitive_name

DDL_BYTES = 16_384
"""Longer text is not read; what depends on it counts as unknown."""

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\n\f\r]+ | --[^\n]*)
    | (?P<string>'[^']*'(?:'[^']*')*)
    | (?P<quoted>"[^"]*"(?:"[^"]*")* | `[^`]*`(?:`[^`]*`)* | \[[^\]]*\])
    | (?P<word>[A-Za-z0-9_$\u0080-\U0010ffff]+)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTRAINTS = frozenset({"constraint", "check", "primary", "unique", "foreign"})
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
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
        """What it names, if it is a name: without its quotes, whichever they are."""
        if self.kind not in {"quoted", "string"}:
            return self.text
        mark = self.text[-1]
        return self.text[1:-1].replace(mark + mark, mark)


@attrs.frozen
class Definition:
    """Expressions of generated columns by folded name, and conditions with their names.

    The expression is `None` where the text gives a name two of them.
    """

    generated: dict[str, str | None]
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
    generated: dict[str, str | None] = {}
    checks: list[tuple[str | None, str]] = []
    column = label = None
    fresh = True
    index, end = start + 1, closing(found, start)
    while index < end:
        token = found[index]
        word = fold(token.text) if token.kind == "word" else ""
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
                key = fold(column)
                generated[key] = None if key in generated else inner.strip()
            index = close
        elif token.text == "(":
            index = closing(found, index)
        elif token.text == ",":
            fresh = True
        index += 1
    return Definition(generated, tuple(checks))


def is_strict(text: str) -> bool:
    """Tell whether the text of a `CREATE TABLE` makes SQLite hold values to declared types."""
    found = tokens(text)
    start = next((i for i, token in enumerate(found) if token.text == "("), len(found))
    return any(fold(token.text) == "strict" for token in found[closing(found, start) + 1 :])


def fold(name: str) -> str:
    """Return a name as SQLite compares it: only ASCII letters lose their case."""
    return name.translate(_LOWER)


def mentions_sensitive(text: str) -> bool:
    """Tell whether a name or a word of a literal in an expression is a sensitive name."""
    return any(_sensitive(token) for token in tokens(text))


def _sensitive(token: Token) -> bool:
    if token.kind == "string":
        return any(is_sensitive_name(word) for word in _WORD.findall(token.text))
    return token.kind != "mark" and is_sensitive_name(token.name)


def literals_sensitive(text: str) -> bool:
    """Tell whether a literal in SQL text is or holds a sensitive name (a JSON path, for one)."""
    return any(_sensitive(token) for token in tokens(text) if token.kind == "string")


def calls(text: str) -> set[str]:
    """Return the functions that an expression calls, folded; keywords are none."""
    found = tokens(text)
    pairs = pairwise(found)
    named = {fold(one.name) for one, after in pairs if one.kind != "mark" and after.text == "("}
    return named - _KEYWORDS


def named_in(text: str) -> set[str]:
    """Return everything in an expression that could be a column's name, folded."""
    return {fold(token.name) for token in tokens(text) if token.kind != "mark"}


def may_generate(text: str) -> bool:
    """Tell cheaply whether a table's text could define a generated column."""
    return _BODY.search(text) is not None
