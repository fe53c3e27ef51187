"""`resolve_template`: which file backs the name of a Jinja2 template."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Annotated

import attrs

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    guards,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._page import Page, one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

EXISTS, MISSING, FOLDER, REFUSED = "exists", "missing", "is a folder", "may not be read"
_USUAL = "templates"
_COLUMNS = ("order", "candidate", "state", "bytes")
_SECONDS = 1.0
_NAMES = 5_000
_NEAR = 3
_COMPARED = 100


@attrs.frozen
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
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
            max_length=20,
        ),
    ] = None


@attrs.frozen
class Candidate:
    """A place where the loader looks; `size` is in bytes, where there is a file."""

    path: str
    state: str
    size: int | None = None


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
    workspace: Workspace = context.settings
    name = template_name(arguments.name, arguments.kind)
    folders = _folders(workspace)
    found = [_candidate(workspace, folder, name) for folder in folders]
    near: list[str] = []
    if all(each.state != EXISTS for each in found):
        end = min(time.monotonic() + _SECONDS, context.deadline or math.inf)
        near = _near(workspace, folders, name, end)
    answer = compose(name, found, near)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def template_name(name: str, kind: str | None) -> str:
    """Return a name as Jinja2's file loader takes it: empty segments and `.` do not count.

    Raises `ToolError` `invalid_arguments` for a blank name, for `..` and for an address.
    """
    segments = [each for each in name.split("/") if each not in {"", "."}]
    if ".." in segments or "://" in name:
        raise ToolError("A template's name has no '..' and no '://'.", ErrorCode.INVALID_ARGUMENTS)
    joined = "/".join(segments)
    if not joined.strip():
        raise ToolError("The name is blank.", ErrorCode.INVALID_ARGUMENTS)
    return joined if kind is None or joined.endswith(f".{kind}") else f"{joined}.{kind}"


def compose(name: str, found: Sequence[Candidate], near: Sequence[str]) -> Answer:
    """Say each candidate and the winner."""
    winner = next((each for each in found if each.state == EXISTS), None)
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
    if any(each.state == REFUSED for each in before):
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


def _folders(workspace: Workspace) -> tuple[str, ...]:
    if workspace.templates:
        return workspace.templates
    if (workspace.place / _USUAL).is_dir():
        return (_USUAL,)
    raise ToolError(
        "The workspace names no template folders: set workspace.templates, in loader order.",
        ErrorCode.UNAVAILABLE,
        metadata={"reason": "not_configured"},
    )


def _candidate(workspace: Workspace, folder: str, name: str) -> Candidate:
    """Look for a template in one folder, links judged by where they lead."""
    path = f"{folder.rstrip('/')}/{name}"
    try:
        guard = guards.PathGuard(workspace.inside(folder, "templates"))
    except ToolError:
        return Candidate(path, REFUSED)
    try:
        look = guard.look(name)
    except ToolError as refusal:
        if refusal.code == ErrorCode.INVALID_ARGUMENTS:
            raise
        return Candidate(path, MISSING if refusal.code == ErrorCode.NOT_FOUND else REFUSED)
    return Candidate(path, FOLDER) if look.is_folder else Candidate(path, EXISTS, look.size)


def _near(workspace: Workspace, folders: Sequence[str], name: str, end: float) -> list[str]:
    """Find templates whose names are like one that is not there, as far as the time goes."""
    from difflib import get_close_matches

    names: dict[str, None] = {}
    for folder in folders:
        try:
            for each in guards.PathGuard(workspace.inside(folder, "templates")).walk():
                names[each] = None
                if len(names) >= _NAMES or time.monotonic() >= end:
                    break
        except ToolError:
            continue
    return get_close_matches(name[:_COMPARED], names, _NEAR)
