"""`list_groups`: which groups of accounts there are."""

from __future__ import annotations

from toolseam import ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._asked import asked
from toolseam_builtin.accounts._wanted import Wanted, accounts_spec


@asked
class Arguments(Wanted):
    """What `list_groups` is asked."""


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return accounts_spec(
        "list_groups",
        Arguments,
        "List the groups of the application, or of the operating system where the workspace names"
        " no table of groups: name, description and state, or the members.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """List one page of groups."""
    from toolseam_builtin.accounts._accounts import tell  # no matter of a listing
    from toolseam_builtin.accounts._harmless import GROUPS
    from toolseam_builtin.accounts._system import system_groups

    answer = tell("groups", arguments, context, GROUPS, system_groups)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )
