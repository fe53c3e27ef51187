"""The form of an answer that all builtins share: the same facts, said three times."""

from __future__ import annotations

import attrs

from toolseam import DataClass, Effect, ToolArtifact, ToolSpec


@attrs.frozen(eq=False, repr=False)
class Answer:
    """The same facts as text, as artifacts made of the same cells in the same pass, as data."""

    text: str
    artifacts: tuple[ToolArtifact, ...]
    data: dict[str, object]
    warnings: list[str] = attrs.field(factory=list[str])

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
    enabled_by_default: bool = True,
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
        enabled_by_default=enabled_by_default,
    )
