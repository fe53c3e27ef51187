"""What every accounts tool is asked, and how it is specified."""

from __future__ import annotations

from typing import Annotated

from toolseam import Arg, DataClass, ToolSpec
from toolseam_builtin._answer import admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin.workspace import Workspace

FARTHEST = 1_000_000
"""The greatest offset."""


@asked
class Wanted:
    """What every accounts tool is asked."""

    filter: Annotated[
        str | None, Arg("Only accounts with a text that holds this.", max_length=200)
    ] = None
    limit: Annotated[int, Arg("How many at most.", ge=1, le=100)] = 20
    offset: Annotated[int, Arg("How many to pass over.", ge=0, le=FARTHEST)] = 0


def accounts_spec(
    name: str, parameters: type, description: str, *, enabled_by_default: bool = True
) -> ToolSpec:
    """Return the specification of an accounts tool."""
    return admin_spec(
        name,
        group="accounts",
        data_class=DataClass.SECRET_ADJACENT,
        parameters=parameters,
        description=description,
        settings=Workspace,
        enabled_by_default=enabled_by_default,
    )
