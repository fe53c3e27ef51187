"""What the tools over databases have in common: their specification."""

from __future__ import annotations

from toolseam import DataClass, Effect, ToolSpec
from toolseam_builtin.workspace import Workspace


def reading_spec(
    name: str,
    group: str,
    parameters: type,
    description: str,
    data_class: DataClass = DataClass.EDITOR_CONTENT,
) -> ToolSpec:
    """Return the specification of a tool that reads the workspace's database.

    The host raises the class to `system_diagnostics` until the operator lists readable tables.
    """
    return ToolSpec(
        name=name,
        description=description,
        parameters=parameters,
        effect=Effect.READ_ONLY,
        data_class=data_class,
        group=group,
        settings=Workspace,
    )
