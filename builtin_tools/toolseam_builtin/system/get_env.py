"""`get_env`: the environment of the host, without its secrets."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Annotated

import attrs

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolError,
    ToolResult,
    ToolSpec,
    guards,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._page import Page, excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_WORKING_FOLDER = "PWD"
WITHHELD = "[withheld]"
_COLUMNS = ("name", "value")
_LISTED_CHARACTERS = 500
_SINGLE_CHARACTERS = 8_000
_USERINFO_ALONE = re.compile(r"[^\s:/@]*:[^\s@/]+(?=@[\w.-]+(?::\d+)?(?:/\S*)?$)")


@attrs.frozen
class Arguments:
    """What `get_env` is asked."""

    name: Annotated[
        str | None, Arg("Only this variable, and more of its value.", min_length=1, max_length=500)
    ] = None


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
    answer = compose(os.environ, arguments.name)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(
    environment: Mapping[str, str],
    name: str | None,
    show: Callable[[str, str], str] | None = None,
) -> Answer:
    """Say all variables, or the one that was asked for, each in one line.

    Args:
        environment: names and values.
        name: the only one that is wanted.
        show: what a value looks like, by its name; masked if unsaid.
    """
    show = shown_value if show is None else show
    if name is not None and name not in environment:
        raise ToolError("No environment variable has this name.", ErrorCode.NOT_FOUND)
    asked = sorted(environment) if name is None else [name]
    most = _LISTED_CHARACTERS if name is None else _SINGLE_CHARACTERS
    page = Page()
    for each in asked:
        value = excerpt(one_line(show(each, environment[each])), most)
        label = one_line(each)
        if not page.take([f"{label}={value}"], [label, value], [each, value]):
            break
    count = len(page.lines)
    total = len(environment)
    heading = f"{total} environment variable{'' if total == 1 else 's'}, {count} shown."
    if name is None and count < total:
        heading += " Ask for one of the others by its name."
    data: dict[str, object] = {"total": total, "columns": list(_COLUMNS), "rows": page.rows}
    table = ToolArtifact.table("Environment variables", _COLUMNS, page.cells, fit=True)
    return Answer("\n".join([heading, *page.lines]), (table,), data)


def shown_value(name: str, value: str) -> str:
    """Mask the value of a variable; where masking fails, the value is withheld."""
    if not value:
        return value
    if guards.is_sensitive_name(name) and not (name == _WORKING_FOLDER and value.startswith("/")):
        return guards.MASK
    try:
        return _masked(value)
    except Exception:  # noqa: BLE001 - whatever it was, a value that was not judged is not shown
        return WITHHELD


def _masked(value: str) -> str:
    """Mask by the keys of JSON, by assignments within the value, by URL and by shape."""
    if value.lstrip()[:1] in {"{", "["}:
        try:
            document = json.loads(value)
        except ValueError:
            return guards.mask_source(value)
        masked = guards.mask_fields(document, _masked)
        return value if masked == document else json.dumps(masked, ensure_ascii=False)
    return _USERINFO_ALONE.sub(guards.MASK, guards.mask_source(value))
