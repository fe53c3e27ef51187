"""`get_workspace_config`: what this host has configured for the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import attrs

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
    from collections.abc import Mapping

_COLUMNS = ("name", "value")


@asked
class Arguments:
    """What `get_workspace_config` is asked."""

    name: Annotated[
        str | None,
        Arg("Only this setting and what is below it, such as tables.pages.", max_length=1000),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_workspace_config",
        group="configuration",
        data_class=DataClass.SECRET_ADJACENT,
        parameters=Arguments,
        description=(
            "Show what this host has configured for the workspace: database, storages, logs,"
            " tables and all other settings, the operator's part included. Of addresses scheme,"
            " host and database are shown; secrets are masked."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Flatten the settings."""
    answer = compose(attrs.asdict(context.settings), arguments.name)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(settings: Mapping[str, object], name: str | None) -> Answer:
    """Say each setting, or those below a name, until the page is full."""
    from toolseam_builtin._config._paths import find, steps_of
    from toolseam_builtin._config._shown import flat

    steps = steps_of(name or "")
    gone, value, hidden = find(_shown(settings), steps, "the workspace")
    page = Page()
    total = 0
    following = ""
    for leaf in flat(value, gone, hidden=hidden):
        total += 1
        if following:
            continue
        label = one_line(leaf.name)
        text, typed = leaf.told()
        if not page.take([f"{label} = {text}"], [label, text], [leaf.name, typed]):
            following = label
    place = f" below {one_line(name)}" if name and steps else ""
    shown = f", {len(page.lines):,} shown" if following else ""
    heading = f"{total:,} setting{'' if total == 1 else 's'} of the workspace{place}{shown}."
    notes = [f"Ask for the others with a name; the next is {following}."] if following else []
    data: dict[str, object] = {
        "name": name,
        "total": total,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    pairs = [(each, text) for each, text in page.cells]
    artifact = ToolArtifact.key_value("Workspace", pairs)
    return Answer("\n".join([heading, *page.lines, *notes]), (artifact,), data)


def _shown(value: object) -> object:
    """Return settings with tuples as lists, what is not set as such, and addresses cut short."""
    from toolseam_builtin._config._addresses import shown_address
    from toolseam_builtin._config._model import Written, is_mapping

    if is_mapping(value):
        return {key: _shown(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(each) for each in cast("list[object]", value)]
    if value is None:
        return Written("not set", None)
    return shown_address(value) if isinstance(value, str) else value
