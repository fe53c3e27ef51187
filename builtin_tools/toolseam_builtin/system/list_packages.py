"""`list_packages`: the distributions that this interpreter would import."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page, more_with, one_line

if TYPE_CHECKING:
    from toolseam_builtin.system._packages import Package

_COLUMNS = ("name", "version", "summary", "tools", "shadowed")


@asked
class Arguments:
    """What `list_packages` is asked."""

    filter: Annotated[
        str | None,
        Arg("Only names and summaries that hold this, whatever the case.", max_length=200),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "list_packages",
        group="system",
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        parameters=Arguments,
        description=(
            "List the installed Python distributions with version and summary, how many tools"
            " each offers, and versions that another one on the import path hides."
        ),
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Look at the import path."""
    from toolseam_builtin.system._packages import installed  # no matter of a listing

    if arguments.filter is not None and not arguments.filter.strip():
        raise ToolError("The filter is blank.", ErrorCode.INVALID_ARGUMENTS)
    packages, unreadable = installed(import_module("importlib_metadata").distributions())
    answer = compose(packages, unreadable, arguments.filter)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(packages: list[Package], unreadable: int, wanted: str | None) -> Answer:
    """Say the packages whose shown name or summary holds the filter, in order of their names."""
    folded = (wanted or "").casefold()
    chosen = [each for each in packages if folded in f"{each.name}\n{each.summary}".casefold()]
    page = Page()
    for each in chosen:
        tools = str(each.tools) if each.tools else ""
        cells = [each.name, each.version, each.summary, tools, ", ".join(each.shadowed)]
        line = f"- {each.name} {each.version}" + (f": {each.summary}" if each.summary else "")
        line += f" [tools: {tools}]" if tools else ""
        line += f" [shadowed: {cells[-1]}]" if each.shadowed else ""
        row = [each.name, each.version, each.summary, each.tools, list(each.shadowed)]
        if not page.take([line], cells, row):
            break
    count = len(page.lines)
    of = f" of {len(packages)}" if wanted is not None else ""
    matching = f" whose name or summary holds {wanted!r}" if wanted is not None else ""
    heading = f"{len(chosen)}{of} installed packages{matching}, {count} shown."
    notes = [more_with("a narrower filter")] if count < len(chosen) else []
    twice = sum(bool(each.shadowed) for each in chosen)
    if twice:
        notes.append(f"{twice} installed more than once: the first on the import path counts.")
    if unreadable:
        notes.append(f"{unreadable} could not be read.")
    data: dict[str, object] = {
        "total": len(chosen),
        "unreadable": unreadable,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Installed packages", _COLUMNS, page.cells, fit=True)
    return Answer("\n".join([one_line(heading), *page.lines, *notes]), (table,), data)
