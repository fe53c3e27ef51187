"""What the tools over databases have in common: their specification and the form of an answer."""

from __future__ import annotations

import attrs

from toolseam import DataClass, Effect, ToolArtifact, ToolSpec
from toolseam_builtin.workspace import Workspace


@attrs.frozen
class Answer:
    """The same facts as text, as tables (label, columns, cells) and as data."""

    text: str
    tables: tuple[tuple[str, tuple[str, ...], list[list[str]]], ...]
    data: dict[str, object]
    warnings: list[str] = attrs.field(factory=list[str])

    @property
    def artifacts(self) -> list[ToolArtifact]:
        """The tables as artifacts."""
        return [
            ToolArtifact.table(label, columns, cells, fit=True)
            for label, columns, cells in self.tables
        ]

    @property
    def metadata(self) -> dict[str, object] | None:
        """The warnings for the host program, if there are any."""
        return {"warnings": self.warnings} if self.warnings else None


def reading_spec(name: str, group: str, parameters: type, description: str) -> ToolSpec:
    """Return the specification of a tool that reads the workspace's database.

    The host raises the class to `system_diagnostics` until the operator lists readable tables.
    """
    return ToolSpec(
        name=name,
        description=description,
        parameters=parameters,
        effect=Effect.READ_ONLY,
        data_class=DataClass.EDITOR_CONTENT,
        group=group,
        settings=Workspace,
    )
