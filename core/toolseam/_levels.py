"""Data classes, zones, effects and privacy: the closed words of policy (contract §3)."""

from __future__ import annotations

from enum import StrEnum

from toolseam._errors import publish


class Effect(StrEnum):
    """What a tool does to the world; `unknown` is treated as the last write."""

    READ_ONLY = "read_only"
    IDEMPOTENT_WRITE = "idempotent_write"
    NON_IDEMPOTENT_WRITE = "non_idempotent_write"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """0 for `read_only` up to 3; settings may raise it, never lower it."""
        return _RANKS[self]


class DataClass(StrEnum):
    """How delicate a tool's answers are, least first."""

    PUBLIC_CONTENT = "public_content"
    EDITOR_CONTENT = "editor_content"
    SOURCE_CODE = "source_code"
    INTERNAL_CONFIGURATION = "internal_configuration"
    SYSTEM_DIAGNOSTICS = "system_diagnostics"
    SECRET_ADJACENT = "secret_adjacent"  # noqa: S105 - a word of policy

    @property
    def rank(self) -> int:
        """0 for `public_content` up to 5; settings may raise it, never lower it."""
        return _RANKS[self]


class Zone(StrEnum):
    """Where a receiver of wire text stands, farthest first; undeclared is `external_global`."""

    EXTERNAL_GLOBAL = "external_global"
    EXTERNAL_EU = "external_eu"
    PRIVATE_HOSTED = "private_hosted"
    LOCAL = "local"

    @property
    def ceiling(self) -> DataClass:
        """The highest class that a receiver in this zone may get."""
        return _CEILINGS[self]


class Privacy(StrEnum):
    """What a stored copy keeps of content, strictest first; `none` and `metadata` keep nothing."""

    NONE = "none"
    METADATA = "metadata"
    REDACTED = "redacted"
    FULL = "full"

    @property
    def rank(self) -> int:
        """0 for `none` up to 3."""
        return _RANKS[self]

    @classmethod
    def strictest(cls, *words: str) -> Privacy:
        """Return the strictest of several words; one that is no level counts as `metadata`."""
        known = set(cls)
        levels = [cls(word) if word in known else cls.METADATA for word in words]
        return min(levels, key=lambda level: level.rank, default=cls.METADATA)


_CEILINGS = {
    Zone.EXTERNAL_GLOBAL: DataClass.EDITOR_CONTENT,
    Zone.EXTERNAL_EU: DataClass.INTERNAL_CONFIGURATION,
    Zone.PRIVATE_HOSTED: DataClass.SYSTEM_DIAGNOSTICS,
    Zone.LOCAL: DataClass.SECRET_ADJACENT,
}

_RANKS: dict[str, int] = {
    word: rank for kind in (Effect, DataClass, Privacy) for rank, word in enumerate(kind)
}

publish(globals(), "Effect", "DataClass", "Privacy", "Zone")
