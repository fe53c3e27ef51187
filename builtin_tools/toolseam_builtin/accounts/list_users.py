"""`list_users`: who has an account, by an explicit list of harmless columns."""

from __future__ import annotations

from toolseam import ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._asked import asked
from toolseam_builtin.accounts._wanted import Wanted, accounts_spec


@asked
class Arguments(Wanted):
    """What `list_users` is asked."""


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return accounts_spec(
        "list_users",
        Arguments,
        "List the users of the application, or of the operating system where the workspace names"
        " no table of users: name, e-mail address, state, rights, when created and last seen."
        " Never a password or a second factor.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """List one page of users."""
    from toolseam_builtin.accounts._accounts import tell  # no matter of a listing
    from toolseam_builtin.accounts._harmless import USERS
    from toolseam_builtin.accounts._system import system_users

    answer = tell("users", arguments, context, USERS, system_users)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )
