"""`list_users_raw`: who has an account, with every column that is not sensitive."""

from __future__ import annotations

from toolseam import ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._asked import asked
from toolseam_builtin.accounts._wanted import Wanted, accounts_spec


@asked
class Arguments(Wanted):
    """What `list_users_raw` is asked."""


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return accounts_spec(
        "list_users_raw",
        Arguments,
        "List the users of the application, or of the operating system where the workspace names"
        " no table of users, with all that is kept of them but passwords, second factors and other"
        " credentials.",
        enabled_by_default=False,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """List one page of users in full."""
    from toolseam_builtin.accounts._accounts import tell  # no matter of a listing
    from toolseam_builtin.accounts._system import raw_system_users

    answer = tell("users", arguments, context, None, raw_system_users)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )
