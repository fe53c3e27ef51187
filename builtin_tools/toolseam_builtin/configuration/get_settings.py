"""`get_settings`: the settings that hold, each with the layer that set it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page, one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin._config._layers import Layers, Setting

_COLUMNS = ("setting", "value", "layer", "over")


@asked
class Arguments:
    """What `get_settings` is asked."""

    path: Annotated[
        str | None,
        Arg("Only this part: keys with dots, such as cache.seconds.", max_length=1000),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_settings",
        group="configuration",
        data_class=DataClass.INTERNAL_CONFIGURATION,
        parameters=Arguments,
        description=(
            "Show the settings that hold when the workspace's layers are laid over each other,"
            " each value with the layer that set it and with what it overrides. Of Python modules"
            " literals are read, of environment files names only; secrets are masked, nothing is"
            " run."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read all layers and show the part asked for."""
    from toolseam_builtin._config._layers import read_layers  # no matter of a listing
    from toolseam_builtin._config._reading import end_of

    workspace: Workspace = context.settings
    if not workspace.settings_layers:
        raise ToolError(
            "The workspace names no settings: set workspace.settings_layers, the weakest first.",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "not_configured"},
        )
    answer = compose(read_layers(workspace, end_of(context)), arguments.path)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(layers: Layers, path: str | None) -> Answer:
    """Say each setting below a path, until the page is full."""
    from toolseam_builtin._config._layers import origin, plain
    from toolseam_builtin._config._paths import find, steps_of
    from toolseam_builtin._config._shown import flat

    effective = plain(layers.tree)
    gone, value, hidden = find(effective, steps_of(path or ""), "settings")
    page = Page()
    total = 0
    following = ""
    for leaf in flat(value, gone, hidden=hidden) if effective else ():
        total += 1
        if following:
            continue
        setting = origin(layers.tree, leaf.path)
        label, layer = one_line(leaf.name), one_line(setting.layer)
        text, typed = leaf.told()
        over = _over(setting, hidden=leaf.hidden)
        said = one_line("; ".join(f"{name}: {old}" for name, old in over))
        line = f"{label} = {text}  [{layer}{f', over {said}' if said else ''}]"
        if not page.take([line], [label, text, layer, said], [leaf.name, typed, layer, over]):
            following = label
    shown = f", {len(page.lines):,} shown" if following else ""
    place = f" below {one_line(path)}" if path else ""
    heading = f"{total:,} effective setting{'' if total == 1 else 's'}{place}{shown}."
    notes = [f"Layers, the weakest first: {', '.join(layers.said)}."]
    if following:
        notes.append(f"Ask for the others with a path; the next is {following}.")
    data: dict[str, object] = {
        "path": path,
        "total": total,
        "layers": layers.said,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Effective settings", _COLUMNS, page.cells, fit=True)
    warned = [f"Warning: {warning}" for warning in layers.warnings]
    lines = [heading, *page.lines, *notes, *warned]
    return Answer("\n".join(lines), (table,), data, layers.warnings)


def _over(setting: Setting, *, hidden: bool) -> list[list[str]]:
    """Return what a setting overrides, the strongest first, masked where the setting is."""
    from toolseam_builtin._config._shown import Leaf

    return [
        [layer, Leaf((), value, hidden=hidden).told()[0]]
        for layer, value in reversed(setting.before)
    ]
