"""`resolve_url`: which route of the workspace's web application answers a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    Effect,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    guards,
    hookimpl,
)
from toolseam_builtin._answer import Answer
from toolseam_builtin._asked import asked
from toolseam_builtin._page import one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam.guards import WebAddress
    from toolseam_builtin._web._report import Report

_OWN = ("localhost", "127.0.0.1", "::1")
_NEAREST = 5
_COMPARED = 1_000
_COMPARED_CHARACTERS = 200
_PARAMETERS = 50


@asked
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
    return ToolSpec(
        name="resolve_url",
        description=(
            "Tell which route and endpoint of the workspace's web application answer a URL, with"
            " its path and query parameters. The application is imported in a process of its own;"
            " no request is made."
        ),
        parameters=Arguments,
        effect=Effect.READ_ONLY,
        data_class=DataClass.INTERNAL_CONFIGURATION,
        group="structure",
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the URL, then let the application's own routing decide."""
    from urllib.parse import unquote

    from toolseam_builtin._web._look import look  # starts processes, which a listing does not

    workspace: Workspace = context.settings
    address = read(arguments.url, workspace)
    path, _, query = address.path.partition("?")
    report = look(workspace, context.deadline, unquote(path), address.host)
    answer = compose(report, unquote(path), query)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def read(url: str, workspace: Workspace) -> WebAddress:
    """Read a path, or an absolute URL of one of the application's own hosts.

    Raises `ToolError`: `permission_denied`, one and the same, for other hosts; `invalid_arguments`
    for what is neither.
    """
    named = [each for name in workspace.web_hosts if (each := guards.canonical_host(name))]
    if url.startswith("/") and not url.startswith("//"):
        host = named[0] if named else _OWN[0]
        return guards.read_web_address(f"http://{f'[{host}]' if ':' in host else host}{url}")
    try:
        address = guards.read_web_address(url)
    except ToolError as error:
        if error.code is not ErrorCode.PERMISSION_DENIED:
            raise
        address = None
    if address is None or address.host not in (*named, *_OWN):
        message = "That is no URL of this application, by the hosts that workspace.web_hosts names."
        raise ToolError(message, ErrorCode.PERMISSION_DENIED)
    return address


def compose(report: Report, path: str, query: str) -> Answer:
    """Say the route and its parameters, or that none fits, in lines, as pairs and as data."""
    from urllib.parse import parse_qsl

    from toolseam_builtin._web._report import shown

    match = report.match
    given = parse_qsl(query, keep_blank_values=True)
    asked = [(one_line(name), shown(name, value)) for name, value in given]
    pairs: list[tuple[str, str]] = []
    if match is not None:
        pairs = [("route", match.route.pattern), ("endpoint", match.route.endpoint)]
        pairs += [("methods", match.route.methods)] if match.route.methods else []
        pairs += [("note", match.note)] if match.note else []
        pairs += [(f"path parameter {name}", value) for name, value in match.parameters]
    pairs += [(f"query parameter {name}", value) for name, value in asked[:_PARAMETERS]]
    if len(asked) > _PARAMETERS:
        pairs.append(("more", f"{len(asked) - _PARAMETERS} query parameters of {len(asked)}"))
    about = _about(report)
    lines = [about, *(f"{name}: {value}" for name, value in pairs)]
    near = [] if match or not report.routes else _nearest(report, path)
    if near:
        lines += ["Routes that look alike:", *(f"- {route}" for route in near)]
    data: dict[str, object] = {
        "framework": report.framework,
        "application": report.application,
        "routes": report.total,
        "found": match is not None,
        "pairs": [list(pair) for pair in pairs],
        "nearest": near,
    }
    return Answer("\n".join(lines), (ToolArtifact.key_value("Route", pairs),), data)


def _about(report: Report) -> str:
    if report.total is None:
        return (
            f"{report.title} does not list its routes; workspace.web_routes may name a table of"
            " pairs (pattern, endpoint)."
        )
    if report.match is None:
        return f"None of the {report.total:,} routes of {report.title} fits this path."
    return f"One of the {report.total:,} routes of {report.title} fits this path."


def _nearest(report: Report, path: str) -> list[str]:
    from difflib import get_close_matches

    patterns = list(dict.fromkeys(route.pattern for route in report.routes[:_COMPARED]))
    return get_close_matches(path[:_COMPARED_CHARACTERS], patterns, _NEAREST, 0.5)
