"""`check_config`: what is wrong, or odd, in configuration files, by line and without values."""

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
    from toolseam_builtin._config._checks import Checked

_COLUMNS = ("file", "line", "kind", "finding")
_LOOKED_FOR = (
    "Looked for: syntax, doubled keys, scalars that YAML retypes, tabs, aliases, nesting, byte"
    " order marks, encoding, line ends."
)
_LISTED = 10
_LEFT = 200


@asked
class Arguments:
    """What `check_config` is asked."""

    file: Annotated[
        str | None,
        Arg("Only this file, such as config/site.toml; else all of them.", max_length=1000),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "check_config",
        group="configuration",
        data_class=DataClass.INTERNAL_CONFIGURATION,
        parameters=Arguments,
        description=(
            "Check the workspace's configuration files, or one: parse errors with their line, keys"
            " that are set twice, bare YAML scalars that are read as something else, tabs, aliases"
            " that explode. Keys may be named, values never are."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Check the file asked for, or all."""
    from toolseam_builtin._config._checks import check  # no matter of a listing
    from toolseam_builtin._config._files import config_files
    from toolseam_builtin._config._reading import end_of

    workspace: Workspace = context.settings
    asked = arguments.file is not None
    names = (
        [arguments.file]
        if arguments.file is not None
        else [*dict.fromkeys((*config_files(workspace), *workspace.settings_layers))]
    )
    answer = compose(check(workspace, names, end_of(context), asked=asked))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(checked: Checked) -> Answer:
    """Say the findings by file and line, until the page is full."""
    page = Page()
    for name, finding in checked.found:
        file, kind, text = one_line(name), finding.kind, one_line(finding.text)
        line = "" if finding.line is None else str(finding.line)
        place = f"{file}:{line}" if line else file
        if not page.take(
            [f"{place}: {kind}: {text}"],
            [file, line, kind, text],
            [name, finding.line, kind, text],
        ):
            break
    shown = len(page.lines)
    many = f"{checked.total:,} finding{'' if checked.total == 1 else 's'}"
    heading = f"{checked.files:,} file{'' if checked.files == 1 else 's'} checked, {many}"
    heading += f" in {checked.odd_files:,}" if checked.total and checked.files > 1 else ""
    heading += f", {shown:,} shown." if shown < checked.total else "."
    notes = [] if checked.total else [_LOOKED_FOR]
    if not checked.files:
        notes = ["The workspace lists no configuration files, and none was found."]
    if shown < checked.total:
        notes.append("Ask for one file, and mend the first findings, to see the others.")
    warnings: list[str] = []
    if checked.left:
        listed = ", ".join(map(one_line, checked.left[:_LISTED]))
        more = f" and {len(checked.left) - _LISTED} more" if len(checked.left) > _LISTED else ""
        warnings.append(f"Stopped at the time limit; ask for the rest by name: {listed}{more}.")
    data: dict[str, object] = {
        "files": checked.files,
        "total": checked.total,
        "not_checked": list(checked.left[:_LEFT]),
        "not_checked_total": len(checked.left),
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Findings", _COLUMNS, page.cells, fit=True)
    lines = [heading, *page.lines, *notes, *(f"Warning: {warning}" for warning in warnings)]
    return Answer("\n".join(lines), (table,), data, warnings)
