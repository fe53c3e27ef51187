"""The table gate: which tables and views may be read at all."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import attrs

from toolseam.guards import is_sensitive_name

_PEOPLE = frozenset({"user", "account", "permission", "role", "login"})
_SECRETS = frozenset({"session", "credential", "oauth", "audit", "migration"})
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
        own = {full, plain} if home == self.default_schema else {full}
        allowed = not self.allow or matches(self.allow, *own)
        return allowed and not self.denies(name, home)

    def denies(self, name: str, schema: str | None = None) -> bool:
        """Tell whether a table is denied, whatever else is allowed."""
        plain = name.casefold()
        home = self.default_schema if schema is None else schema
        full = f"{home}.{name}".casefold()
        if matches(self.deny, plain, full):
            return True
        return self._protected(name, plain, full) and not self._listed(name, home)

    def names(self, name: str, schema: str | None = None) -> bool:
        """Tell whether the operator allowed this very name, wildcards aside."""
        home = self.default_schema if schema is None else schema
        return self._listed(name, home) and not self.denies(name, home)

    def _listed(self, name: str, schema: str) -> bool:
        own = {f"{schema}.{name}".casefold()}
        if schema == self.default_schema:
            own.add(name.casefold())
        return any(_exact(pattern) and pattern.casefold() in own for pattern in self.allow)

    def _protected(self, name: str, plain: str, full: str) -> bool:
        return (
            matches(self.accounts, plain, full)
            or holds_secrets(name)
            or not _PEOPLE.isdisjoint(_words(name))
        )


def holds_secrets(name: str) -> bool:
    """Tell by its name whether a table holds secrets, or records of who did what."""
    return is_sensitive_name(name.removesuffix("s")) or not _SECRETS.isdisjoint(_words(name))


def _words(name: str) -> set[str]:
    words = {segment.casefold() for segment in _SEGMENT.findall(name)}
    return words | {word.removesuffix("s") for word in words}


def _exact(pattern: str) -> bool:
    return _WILD.isdisjoint(pattern)


def matches(patterns: tuple[str, ...], *names: str) -> bool:
    """Tell whether one of the patterns fits one of the folded names."""
    return any(fnmatchcase(name, pattern.casefold()) for pattern in patterns for name in names)
