"""The form of an answer that all builtins share: the same facts, said three times."""

from __future__ import annotations

import attrs

from toolseam import DataClass, Effect, ToolArtifact, ToolSpec


@attrs.frozen
class Answer:
    """The same facts as text, as tables (label, columns, cells) or texts (label, text), as data."""

    text: str
    tables: tuple[tuple[str, tuple[str, ...], list[list[str]]], ...]
    data: dict[str, object]
    warnings: list[str] = attrs.field(factory=list[str])
    texts: tuple[tuple[str, str], ...] = ()

    @property
    def artifacts(self) -> list[ToolArtifact]:
        """The tables and texts as artifacts."""
        tables = [
            ToolArtifact.table(label, columns, cells, fit=True)
            for label, columns, cells in self.tables
        ]
        return [*tables, *(ToolArtifact.text(label, text) for label, text in self.texts)]

    @property
    def metadata(self) -> dict[str, object] | None:
        """The warnings for the host program, if there are any."""
        return {"warnings": self.warnings} if self.warnings else None


def admin_spec(
    name: str,
    *,
    group: str,
    data_class: DataClass,
    parameters: type,
    description: str,
    settings: type | None = None,
) -> ToolSpec:
    """Return the specification of a tool that reads and is for admins only."""
    return ToolSpec(
        name=name,
        description=description,
        parameters=parameters,
        effect=Effect.READ_ONLY,
        data_class=data_class,
        group=group,
        requires_admin=True,
        settings=settings,
    )
