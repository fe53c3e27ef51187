"""Names that a provider takes, or our own rule: the same name wherever it is possible (P13)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS = 8
_MOST_DIGITS = 64


@attrs.frozen
class NameRule:
    """Which names a provider takes, or this project.

    Args:
        pattern: what the whole of a name matches.
        most: characters.
        foreign: one character that no name has; an underscore stands for it.
    """

    pattern: re.Pattern[str]
    most: int
    foreign: re.Pattern[str] = re.compile(r"[^A-Za-z0-9_-]")


OPENAI_NAMES = NameRule(re.compile(r"[A-Za-z0-9_-]{1,64}"), 64)
ANTHROPIC_NAMES = NameRule(re.compile(r"[A-Za-z0-9_-]{1,128}"), 128)
GOOGLE_NAMES = NameRule(re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}"), 64)
MCP_NAMES = NameRule(re.compile(r"[A-Za-z0-9_.-]{1,128}"), 128)

TOOL_NAMES = NameRule(re.compile(r"[a-z][a-z0-9_]{0,63}"), 64, re.compile(r"[^a-z0-9_]"))
"""Names of our own tools, for what is called otherwise elsewhere."""


def exposed_name(name: str, rule: NameRule, digits: int = _DIGITS) -> str:
    """Return the name under which a provider knows a tool.

    A name that the rule takes stays. Any other gets the first digits of its SHA-256 at its end:
    it depends on nothing but the name, so that it stays the same whatever else is offered, and
    two names do not become one.
    """
    if rule.pattern.fullmatch(name):
        return name
    import hashlib  # with OpenSSL, and nearly every name fits

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    # Where capitals are foreign, the small letter says more than an underscore.
    stem = rule.foreign.sub("_", name.lower() if rule.foreign.fullmatch("A") else name)
    if not rule.pattern.fullmatch(stem[:1]):
        stem = f"_{stem}" if rule.pattern.fullmatch("_") else f"x_{stem}"
    return f"{stem[: rule.most - len(digest) - 1]}_{digest}"


def exposed_names(names: Iterable[str], rule: NameRule) -> dict[str, str]:
    """Return the exposed name of each, all different whatever the names are."""
    ordered = sorted(set(names))
    found = {name: name for name in ordered if rule.pattern.fullmatch(name)}
    taken = set(found)
    for name in ordered:
        digits = _DIGITS
        while name not in found:
            # Only a name made for it can meet another one, and more digits part them.
            exposed = exposed_name(name, rule, min(digits, _MOST_DIGITS))
            if exposed not in taken:
                found[name] = exposed
                taken.add(exposed)
            digits += 1
    return found
