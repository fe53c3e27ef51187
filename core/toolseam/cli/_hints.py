"""What to do about a refusal: the setting or the command that would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam._text import short
from toolseam.cli._consent import asks_here
from toolseam.cli._records import why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam import Host, ToolResult
    from toolseam._binding import BoundTool


def after(host: Host, name: str, result: ToolResult) -> Iterator[str]:
    """Give hints for a call that failed; none for a success."""
    from toolseam import ErrorCode

    if result.failure is None:
        return
    tool = host.tool(name)
    code = result.failure.code
    if tool is None:
        yield from about_name(host, name)
    elif code is ErrorCode.PERMISSION_DENIED:
        reason = result.failure.metadata.value.get("reason")
        yield from [] if reason is None else [setting_for(host, tool, reason)]
    elif code is ErrorCode.APPROVAL_DENIED:
        if not asks_here():
            yield f"run it on a terminal; `toolseam run {tool.name}` asks there before it writes"
    elif tool.place != "inline" and "detail" in result.failure.metadata:
        yield short(str(result.failure.metadata["detail"]), 400)
    elif code is ErrorCode.EXECUTION_ERROR and "reason" not in result.failure.metadata:
        yield f"`toolseam run {tool.name} --log` shows what it raised"
    elif code is ErrorCode.INVALID_ARGUMENTS:
        yield f"`toolseam show {tool.name}` prints the schema"


def about_name(host: Host, name: str) -> Iterator[str]:
    """Say what is known of a name that is no loaded tool."""
    from toolseam._selection import near_miss

    known = [record for record in host.records if record.name == name and record.kind == "tool"]
    for record in known:
        origin = f"{record.distribution} {record.version}"
        yield f"{name} of {origin} is {record.status}: {why(record)}"
    if not known:
        close = near_miss(name, [tool.name for tool in host.tools()])
        yield (close.removeprefix("; ") or "`toolseam list` names the tools that there are")


def setting_for(
    host: Host, tool: BoundTool, reason: str, zone: str = "zone", roles: str = "ask.roles"
) -> str:
    """Name what changes the gate's answer, given its reason.

    `zone` and `roles` are the keys that say where the receiver stands and what the actor may do.
    """
    settings = host.settings
    file = settings.operator_file or "the operator's file"
    if reason == "disabled":
        if tool.spec.group in settings.disabled_groups:
            return f"`groups.disable` names {tool.spec.group}"
        if tool.name in (*settings.operator.disable, *settings.workspace.disable):
            return f"`disable` names {tool.name}"
        mount, joint, _ = tool.name.partition("__")
        if joint and mount in settings.operator.mounts:
            told = f"`toolseam mount {mount}` prints the table that declares it"
            return f"[mounts.{mount}.tools] in {file} turns it on; {told}"
        return f'it is off by default; enable = ["{tool.name}"] in {file} turns it on'
    if reason in {"requires_admin", "no_actor"}:
        return f"only an actor with the role admin may call it; {roles} in {file} names roles"
    if reason == "data_class":
        return f"its answers are {tool.data_class}; `{zone}` in {file} says where they may go"
    if reason == "sends_to":
        return f"it sends its arguments to {tool.spec.sends_to}, and more delicate text was read"
    return "the session's allow-list leaves it out"
