"""`get_env_raw`: the environment of the host as it is, secrets included."""

from __future__ import annotations

import os
from typing import Annotated

from toolseam import Arg, DataClass, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._answer import admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin.system.get_env import compose


@asked
class Arguments:
    """What `get_env_raw` is asked."""

    name: Annotated[
        str | None, Arg("Only this variable, and more of its value.", min_length=1, max_length=500)
    ] = None
    offset: Annotated[int, Arg("How many variables to pass over.", ge=0, le=100_000)] = 0


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_env_raw",
        group="system",
        data_class=DataClass.SECRET_ADJACENT,
        parameters=Arguments,
        description=(
            "List the environment variables of the host as NAME=value, sorted, without masking"
            " anything. Use get_env unless the very value of a secret is the question."
        ),
        enabled_by_default=False,
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Read the environment."""
    answer = compose(os.environ, arguments.name, as_it_is, arguments.offset)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def as_it_is(_: str, value: str) -> str:
    """Show a value unmasked."""
    return value
