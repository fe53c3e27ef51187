"""`list_middlewares`: the layers round the workspace's web application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam import DataClass, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin._web._report import Report

_COLUMNS = ("position", "middleware", "kind")


@asked
class Arguments:
    """`list_middlewares` is asked nothing."""


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "list_middlewares",
        group="system",
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        parameters=Arguments,
        description=(
            "List the middleware of the workspace's web application in the order in which a"
            " request meets it. The application is imported in a process of its own; no request"
            " is made."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:  # noqa: ARG001
    """Look at the application."""
    from toolseam_builtin._web._look import look  # starts processes, which a listing does not

    answer = compose(look(context.settings, context.deadline))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(report: Report) -> Answer:
    """Say the layers from the outermost to the innermost, then what they are round."""
    page = Page()
    for position, (name, kind) in enumerate(report.layers, 1):
        line = f"{position}. {name} ({kind})"
        if not page.take([line], [str(position), name, kind], [position, name, kind]):
            break
    total, count = len(report.layers), len(page.lines)
    heading = f"{total} middleware round {report.title}, the outermost first, {count} shown:"
    lines = [heading, *page.lines] if total else [f"No middleware is round {report.title}."]
    data: dict[str, object] = {
        "framework": report.framework,
        "application": report.application,
        "total": total,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Middleware", _COLUMNS, page.cells, fit=True)
    return Answer("\n".join(lines), (table,), data)
