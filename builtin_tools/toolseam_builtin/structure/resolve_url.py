"""`resolve_url`: which route of the workspace's web application answers a URL."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl, unquote

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
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam.guards import WebAddress
    from toolseam_builtin._web._report import Report

_OWN = ("localhost", "127.0.0.1", "::1")
_NEAREST = 5
_PARAMETERS = 50


@attrs.frozen
class Arguments:
    """What `resolve_url` is asked."""

    url: Annotated[
        str,
        Arg("A path such as /pages/1?lang=en, or an absolute URL of the application.",
            min_length=1, max_length=2000),
    ]  # fmt: skip


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "resolve_url",
        group="structure",
        data_class=DataClass.INTERNAL_CONFIGURATION,
        parameters=Arguments,
        description=(
            "Tell which route and endpoint of the workspace's web application answer a URL, with"
            " its path and query parameters. The application is imported in a process of its own;"
            " no request is made."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the URL, then let the application's own routing decide."""
    from toolseam_builtin._web._look import look  # starts processes, which a listing does not

    workspace: Workspace = context.settings
    address = read(arguments.url, workspace)
    path, _, query = address.path.partition("?")
    report = look(workspace, context.deadline, unquote(path), address.host)
    answer = compose(report, unquote(path), query)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )
