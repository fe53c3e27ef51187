"""`get_config`: a configuration file, overview first and then any part of it."""

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
    from toolseam_builtin._config._files import ConfigText
    from toolseam_builtin._config._model import Parsed

_COLUMNS = ("path", "value")
_WHOLE = "(the document)"
_WARNED = 5


@asked
class Arguments:
    """What `get_config` is asked."""

    file: Annotated[str, Arg("A file of the workspace, such as config/site.toml.", max_length=1000)]
    path: Annotated[
        str | None,
        Arg(
            "Only this part: keys and list indices with dots, such as servers.0.host; a key with a"
            ' dot in double quotes, such as tool."a.b".',
            max_length=1000,
        ),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_config",
        group="configuration",
        data_class=DataClass.INTERNAL_CONFIGURATION,
        parameters=Arguments,
        description=(
            "Show a configuration file of the workspace (TOML, YAML, JSON, INI, literals of a"
            " Python module; of an environment file the names only): its top-level keys, or with a"
            " path all that is below. Secrets are masked, nothing is expanded or run."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the file and show the part asked for."""
    from toolseam_builtin._config._reading import end_of, load  # no matter of a listing

    source, parsed = load(context.settings, arguments.file, end_of(context))
    answer = compose(source, parsed, arguments.path)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(source: ConfigText, parsed: Parsed, path: str | None) -> Answer:
    """Say the top-level keys, or all values below a path, until the page is full."""
    from toolseam_builtin._config._paths import find, steps_of
    from toolseam_builtin._config._shown import (
        LISTED_CHARACTERS,
        SINGLE_CHARACTERS,
        flat,
        overview,
    )

    file = one_line(source.name)
    steps = steps_of(path or "")
    gone, value, hidden = find(parsed.value, steps, file)
    page = Page()
    total = 0
    following = ""
    for leaf in flat(value, gone, hidden=hidden) if steps else overview(value):
        total += 1
        if following:
            continue
        label = one_line(leaf.name) or _WHOLE
        text, typed = leaf.told(LISTED_CHARACTERS if leaf.path != gone else SINGLE_CHARACTERS)
        if not page.take([f"{label} = {text}"], [label, text], [leaf.name, typed]):
            following = label
    what = f"{source.format}{', names only' if source.format == 'environment' else ''}"
    kind = "value" if steps else "top-level key"
    place = f", {one_line(path or '')}" if steps else f" ({what})"
    shown = f", {len(page.lines):,} shown" if following else ""
    heading = f"{file}{place}: {total:,} {kind}{'' if total == 1 else 's'}{shown}."
    warnings, notes = _remarks(source, parsed)
    if parsed.documents > 1 and not steps:
        notes.insert(0, "The file holds several documents, each under its number.")
    if following:
        notes.insert(0, f"Ask for the others with a longer path; the next is {following}.")
    data: dict[str, object] = {
        "file": source.name,
        "format": source.format,
        "path": path,
        "total": total,
        "documents": parsed.documents,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    pairs = [(name, text) for name, text in page.cells]
    artifact = ToolArtifact.key_value(file if not steps else f"{file}: {path}", pairs)
    lines = [heading, *page.lines, *notes, *(f"Warning: {warning}" for warning in warnings)]
    return Answer("\n".join(lines), (artifact,), data, warnings)


def _remarks(source: ConfigText, parsed: Parsed) -> tuple[list[str], list[str]]:
    """Return what the values alone do not tell: warnings, and notes."""
    findings = parsed.findings
    lost = [each.text for each in findings.kept if each.kind in {"doubled key", "not read"}]
    warnings = [one_line(text) for text in lost[:_WARNED]]
    if not source.exact:
        warnings.append("What could not be decoded shows as \ufffd.")
    notes: list[str] = []
    if findings.total > len(warnings):
        many = f"{findings.total:,} finding{'' if findings.total == 1 else 's'}"
        notes.append(f"check_config has {many} on this file.")
    return warnings, notes
