"""`resolve_template`: which file backs the name of a Jinja2 template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    ToolArtifact,
    ToolContext,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page, one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam_builtin._config._templates import Candidate

_COLUMNS = ("order", "candidate", "state", "bytes")


@asked
class Arguments:
    """What `resolve_template` is asked."""

    name: Annotated[
        str,
        Arg("The name that the application gives, such as parts/hours.html.", max_length=500),
    ]
    kind: Annotated[
        str | None,
        Arg(
            "The ending that the name lacks, such as html or txt: welcome is then welcome.txt.",
            min_length=1,
            max_length=20,
        ),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "resolve_template",
        group="configuration",
        data_class=DataClass.INTERNAL_CONFIGURATION,
        parameters=Arguments,
        description=(
            "Tell which file backs the name of a Jinja2 template: the candidates in the order of"
            " the workspace's template folders, and the first that exists. Nothing is compiled or"
            " rendered."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Look into each template folder."""
    from toolseam_builtin._config._templates import look, similar, template_name  # when it runs

    name = template_name(arguments.name, arguments.kind)
    found = look(context.settings, name)
    near = [] if any(each.exists for each in found) else similar(context, name)
    answer = compose(name, found, near)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(name: str, found: Sequence[Candidate], near: Sequence[str]) -> Answer:
    """Say each candidate and the winner."""
    winner = next((each for each in found if each.exists), None)
    page = Page()
    for order, each in enumerate(found, 1):
        path = one_line(each.path)
        size = "" if each.size is None else f"{each.size:,}"
        said = f" ({size} bytes)" if size else ""
        after = " <- wins" if each is winner else ""
        if not page.take(
            [f"{order}. [{each.state}] {path}{said}{after}"],
            [str(order), path, each.state, size],
            [order, each.path, each.state, each.size],
        ):
            break
    warnings: list[str] = []
    before = found[: found.index(winner)] if winner else found
    if any(each.refused for each in before):
        warnings.append(
            "A candidate that may not be read here, such as a link that leads out, may exist for"
            " the application all the same."
        )
    shown = len(page.lines)
    notes = [f"{shown} of {len(found)} candidates shown."] if shown < len(found) else []
    if near:
        notes.append(f"Similar names: {', '.join(map(one_line, near))}.")
    if winner:
        heading = f"{one_line(name)} is backed by {one_line(winner.path)}."
    else:
        heading = f"No file backs {one_line(name)}; these were the candidates."
    data: dict[str, object] = {
        "name": name,
        "winner": winner.path if winner else None,
        "similar": list(near),
        "total": len(found),
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Candidates", _COLUMNS, page.cells, fit=True)
    lines = [heading, *page.lines, *notes, *(f"Warning: {warning}" for warning in warnings)]
    return Answer("\n".join(lines), (table,), data, warnings)
