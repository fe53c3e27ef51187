"""`probe_url`: what a URL of an allowed host answers."""

from __future__ import annotations

import time
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
    Zone,
    guards,
    hookimpl,
)
from toolseam_builtin._answer import Answer
from toolseam_builtin._asked import asked
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam.guards import WebAddress
    from toolseam_builtin.system._fetch import Reply

SECONDS = 10.0
_MARGIN_S = 0.2
_SERVER_FAULT = 500


@asked
class Arguments:
    """What `probe_url` is asked."""

    url: Annotated[
        str, Arg("An absolute http or https URL of a host that may be probed.", max_length=2000)
    ]


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return ToolSpec(
        name="probe_url",
        description=(
            "Send one GET to a URL and tell status, time, key headers and the beginning of the"
            " text. Only hosts that the operator allows; no cookies; redirects are reported, not"
            " followed. A GET can have effects: ask for what only shows something."
        ),
        parameters=Arguments,
        effect=Effect.READ_ONLY,
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        group="system",
        requires_admin=True,
        # The nearest there is: each host has a zone of its own, which the call is held to.
        sends_to=Zone.LOCAL,
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Judge the URL, then ask."""
    workspace: Workspace = context.settings
    left = SECONDS if context.deadline is None else context.deadline - time.monotonic() - _MARGIN_S
    answer = probe(arguments.url, workspace, context, min(SECONDS, left))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def probe(url: str, workspace: Workspace, context: ToolContext, seconds: float) -> Answer:
    """Judge a URL, ask for it, judge where the answer leads, and say it all."""
    end = time.monotonic() + seconds
    guard = guard_of(workspace)
    target = guard.judge(url, seconds)
    settings = next(
        each
        for name, each in workspace.hosts.items()
        if guards.canonical_host(name) == target.url.host
    )
    context.send_to(settings.zone)
    try:
        from toolseam_builtin.system._fetch import fetch
    except ImportError:
        raise ToolError(
            "Probing needs httpx2: install toolseam[web].",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "missing_extra", "extra": "web"},
        ) from None
    reply = fetch(target, settings.authorities, end - time.monotonic())
    if location := reply.header("location"):
        judge_redirect(guard, target.url, location, end - time.monotonic())
    return compose(target.url, reply)


def guard_of(workspace: Workspace) -> guards.EgressGuard:
    """Return the guard that lets the operator's hosts pass."""
    if not workspace.hosts:
        message = "No host may be probed: the operator names none in plugins.toolseam.hosts."
        raise ToolError(message, ErrorCode.PERMISSION_DENIED)
    allowed = {
        name: guards.AllowedHost(each.private, each.ports) for name, each in workspace.hosts.items()
    }
    try:
        return guards.EgressGuard(allowed)
    except ValueError:
        message = "plugins.toolseam.hosts names something that is no host name and no address."
        raise ToolError(message, ErrorCode.UNAVAILABLE) from None


def judge_redirect(
    guard: guards.EgressGuard, asked: WebAddress, location: str, seconds: float
) -> None:
    """Refuse to say where an answer leads if it leads where the guard lets nobody.

    Another port or scheme of the host that answered is no secret, since nobody goes there.
    """
    from urllib.parse import urljoin

    refused = ToolError(
        "It redirects to an address outside what may be reached.", ErrorCode.PERMISSION_DENIED
    )
    try:
        there = guards.read_web_address(urljoin(asked.origin + asked.path, location.strip()))
    except (ToolError, ValueError):
        raise refused from None
    if there == asked:
        raise ToolError(
            "It redirects to itself, without end.",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "redirect_loop"},
        )
    if there.host == asked.host:
        return
    try:
        guard.judge(f"{there.origin}/", seconds)
    except ToolError as error:
        if error.code is not ErrorCode.UNAVAILABLE:  # a name without an address can be told
            raise refused from None


def compose(url: WebAddress, reply: Reply) -> Answer:
    """Say status, time, headers and excerpt, in lines, as pairs and as data."""
    from toolseam_builtin.system._excerpt import body_of, key_headers, status_of

    status = status_of(reply.status)
    shown = guards.mask_secrets(url.origin + url.path)[0]
    pairs = [("status", status), ("time", f"{reply.seconds * 1000:,.0f} ms")]
    headers = key_headers(reply.headers)
    pairs += headers
    lines = [f"GET {shown}", *(f"{name}: {value}" for name, value in pairs)]
    about, text = body_of(reply)
    lines += [about, *(f"> {line}" for line in text.splitlines())]
    if reply.header("location"):
        lines.append("Where it leads was not followed.")
    if reply.status >= _SERVER_FAULT:
        lines.append("What the application logged: get_last_exception and fetch_logs tell.")
    data: dict[str, object] = {
        "url": shown,
        "status": reply.status,
        "seconds": round(reply.seconds, 4),
        "headers": [list(pair) for pair in headers],
        "excerpt": text,
        "read_bytes": len(reply.body),
        "ended": reply.ended,
    }
    artifacts = [ToolArtifact.key_value(f"GET {shown}", pairs)]
    if text:
        artifacts.append(ToolArtifact.text("Beginning of the body", text))
    return Answer("\n".join(lines), tuple(artifacts), data)
