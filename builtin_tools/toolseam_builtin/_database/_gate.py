"""The table gate: which tables and views may be read at all."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import attrs

from toolseam.guards import is_sensitive_name

_PROTECTED = frozenset(
    {
        "user",
        "account",
        "session",
        "permission",
        "role",
        "credential",
        "oauth",
        "login",
        "audit",
        "migration",
    }
)
_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
_WILD = frozenset("*?[")


@attrs.frozen
class TableGate:
    """Decides by name: the operator allows, anybody denies, deny wins.

    Tables that hold accounts, sessions, permissions, roles, credentials, logins, audit or
    migration records, those that the workspace names as its accounts, and those whose own name is
    sensitive are denied unless `allow` names them without a wildcard. An empty `allow` lets the
    rest pass. A name without a schema allows in the default schema only and denies in every one.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    default_schema: str = ""

    def permits(self, name: str, schema: str | None = None) -> bool:
        """Tell whether a table may be read."""
        plain = name.casefold()
        home = self.default_schema if schema is None else schema
        full = f"{home}.{name}".casefold()
        if _matches(self.deny, plain, full):
            return False
        own = {full, plain} if home == self.default_schema else {full}
        named = any(_exact(pattern) and pattern.casefold() in own for pattern in self.allow)
        if named or not self.allow:
            return named or not self._protected(name, plain, full)
        return _matches(self.allow, *own) and not self._protected(name, plain, full)

    def names(self, name: str, schema: str | None = None) -> bool:
        """Tell whether the operator allowed this very name, wildcards aside."""
        home = self.default_schema if schema is None else schema
        own = {f"{home}.{name}".casefold()}
        if home == self.default_schema:
            own.add(name.casefold())
        listed = any(_exact(pattern) and pattern.casefold() in own for pattern in self.allow)
        return listed and self.permits(name, schema)

    def _protected(self, name: str, plain: str, full: str) -> bool:
        if _matches(self.accounts, plain, full) or is_sensitive_name(name):
            return True
        segments = {segment.casefold() for segment in _SEGMENT.findall(name)}
        return any(
            segment in _PROTECTED or segment.removesuffix("s") in _PROTECTED for segment in segments
        )


def _exact(pattern: str) -> bool:
    return _WILD.isdisjoint(pattern)


def _matches(patterns: tuple[str, ...], *names: str) -> bool:
    return any(fnmatchcase(name, pattern.casefold()) for pattern in patterns for name in names)
