"""`get_env`: the environment of the host, without its secrets."""

from __future__ import annotations

import os
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
from toolseam_builtin._page import Page, excerpt, more_with, one_line, shown_range
from toolseam_builtin._shown_value import shown_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COLUMNS = ("name", "value")
_LISTED_CHARACTERS = 500
_SINGLE_CHARACTERS = 8_000


@asked
class Arguments:
    """What `get_env` is asked."""

    name: Annotated[
        str | None, Arg("Only this variable, and more of its value.", min_length=1, max_length=500)
    ] = None
    offset: Annotated[int, Arg("How many variables to pass over.", ge=0, le=100_000)] = 0


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_env",
        group="system",
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        parameters=Arguments,
        description=(
            "List the environment variables of the host as NAME=value, sorted. Secrets are masked:"
            " by name, in URLs, by their shape and inside JSON."
        ),
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Read the environment."""
    answer = compose(os.environ, arguments.name, offset=arguments.offset)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(
    environment: Mapping[str, str],
    name: str | None,
    show: Callable[[str, str], str] | None = None,
    offset: int = 0,
) -> Answer:
    """Say one page of all variables, or the one that was asked for, each in one line.

    Args:
        environment: names and values.
        name: the only one that is wanted.
        show: what a value looks like, by its name; masked if unsaid.
        offset: how many of the list are passed over.
    """
    show = shown_value if show is None else show
    if name is not None and name not in environment:
        raise _not_set(name, environment)
    asked = sorted(environment)[offset:] if name is None else [name]
    most = _LISTED_CHARACTERS if name is None else _SINGLE_CHARACTERS
    page = Page()
    for each in asked:
        value = excerpt(one_line(show(each, environment[each])), most)
        label = one_line(each)
        if not page.take([f"{label}={value}"], [label, value], [each, value]):
            break
    count = len(page.lines)
    total = len(environment)
    shown = shown_range(offset, count) if name is None else f"{count} shown"
    heading = f"{total} environment variable{'' if total == 1 else 's'}, {shown}."
    following = offset + count if 0 < count < len(asked) else None
    notes = [] if following is None else [more_with(f"offset={following}")]
    data: dict[str, object] = {
        "total": total,
        "next_offset": following,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Environment variables", _COLUMNS, page.cells, fit=True)
    return Answer("\n".join([heading, *page.lines, *notes]), (table,), data)


def _not_set(name: str, environment: Mapping[str, str]) -> ToolError:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(environment), 1)
    hint = f" Did you mean {one_line(near[0])!r}?" if near else ""
    return ToolError(f"No environment variable has this name.{hint}", ErrorCode.NOT_FOUND)
