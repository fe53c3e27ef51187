"""What reading a configuration file gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import is_sensitive_name, mask_secrets
from toolseam_builtin._page import excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NESTING = 64
"""How deep lists and mappings may lie in each other."""
KEPT = 1_000
"""How many findings of one file are kept; all are counted."""

_NAME_CHARACTERS = 200
_LINES_NAMED = 10
_TWICE = 2
_SHORT_KEY = 16
"""No secret has a shape in so few letters; most keys need not be looked at more closely."""


@attrs.frozen
class Written:
    """A scalar that is shown otherwise than JSON would: its text, and its value for the host."""

    text: str
    value: object


@attrs.frozen
class Finding:
    """What is wrong, or odd, in a line of a file (from 1); it never holds a value."""

    line: int | None
    kind: str
    text: str


class Broken(Exception):
    """A file cannot be read as what it is; `finding` says why, `limit` whether by our limits."""

    def __init__(self, line: int | None, kind: str, text: str) -> None:
        super().__init__(text)
        self.finding = Finding(line, kind, text)
        self.limit = kind in LIMITS


LIMITS = frozenset({"nesting", "aliases", "size", "time"})
"""Kinds of findings that are limits of ours."""


@attrs.define
class Findings:
    """Collects the findings of one file."""

    kept: list[Finding] = attrs.field(factory=list[Finding])
    total: int = 0

    @property
    def full(self) -> bool:
        """Whether further findings are only counted."""
        return len(self.kept) >= KEPT

    def add(self, line: int | None, kind: str, text: str) -> None:
        """Count a finding, and keep it if there are not too many."""
        self.total += 1
        if not self.full:
            self.kept.append(Finding(line, kind, text))

    def doubled(self, path: Sequence[str], lines: Sequence[int], consequence: str) -> None:
        """Add a key that is set more than once, with all its lines."""
        many = len(lines) > _LINES_NAMED
        listed = ", ".join(map(str, lines[: _LINES_NAMED if many else -1]))
        last = f"{len(lines) - _LINES_NAMED} more" if many else lines[-1]
        often = "twice" if len(lines) == _TWICE else f"{len(lines)} times"
        text = f"{named(path)} is set {often}, in lines {listed} and {last}; {consequence}"
        self.add(lines[-1], "doubled key", text)


@attrs.frozen
class Parsed:
    """A file's value and findings.

    `value` is made of dicts with text keys, lists, JSON scalars and `Written`; of several YAML
    documents it is a dict of `document1`, `document2` and so on.
    """

    value: object
    findings: Findings = attrs.field(factory=Findings)
    documents: int = 1


def is_mapping(value: object) -> TypeGuard[dict[str, object]]:
    """Tell whether a value of a file is a mapping; its keys are text."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Tell whether a value of a file is a list."""
    return isinstance(value, list)


def real(text: str) -> object:
    """Return a number with its written form where Python would write it otherwise."""
    value = float(text)
    return value if repr(value) == text else Written(text, text if value - value else value)


def too_deep(line: int | None = None) -> Broken:
    """Return what is raised for nesting beyond the limit."""
    return Broken(line, "nesting", f"nested more than {NESTING} levels deep, the nesting limit")


def shown_key(key: str) -> str:
    """Return a key without what has a secret's shape."""
    return key if len(key) < _SHORT_KEY else mask_secrets(key)[0]


def dotted(path: Iterable[str]) -> str:
    """Return a path as it may be shown and asked for: `a.b.0."c.d"`."""
    return ".".join(map(_segment, path))


def named(path: Sequence[str]) -> str:
    """Name a key in a finding; of what lies below a sensitive name nothing is told."""
    for end, key in enumerate(path[:-1], 1):
        if is_sensitive_name(key):
            return f"a key below `{excerpt(dotted(path[:end]), _NAME_CHARACTERS)}`"
    return f"`{excerpt(dotted(path), _NAME_CHARACTERS)}`"


def unreadable(name: str, broken: Broken) -> ToolError:
    """Return the refusal for a file that cannot be read as what it is."""
    finding = broken.finding
    line = "" if finding.line is None else f", line {finding.line}"
    reason = "limit" if broken.limit else "syntax"
    return ToolError(
        f"{one_line(name)}{line}: {finding.text}.",
        ErrorCode.EXECUTION_ERROR,
        metadata={"reason": reason},
    )


def _segment(key: str) -> str:
    import json

    shown = shown_key(key)
    plain = shown.replace("-", "_").replace("_", "a").isalnum()
    return shown if plain else json.dumps(shown, ensure_ascii=False)
