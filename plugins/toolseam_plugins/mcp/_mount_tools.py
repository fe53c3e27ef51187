"""The tools of a mount: each as the operator declares it, by the definition that he pinned."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from toolseam import (
    ErrorCode,
    ToolContext,
    ToolError,
    ToolResult,
    ToolseamError,
    ToolSpec,
    hookimpl,
)
from toolseam.guards import clean
from toolseam.providers import TOOL_NAMES, exposed_names
from toolseam_plugins.mcp._client_results import result_of
from toolseam_plugins.mcp._client_talk import Lost
from toolseam_plugins.mcp._mount import definition_changed, failure_of
from toolseam_plugins.mcp._mount_schema import BadSchema, adapted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from toolseam._settings_keys import MountedTool as Said
    from toolseam_plugins.mcp._client_listing import Definition
    from toolseam_plugins.mcp._mount import Mount
    from toolseam_plugins.mcp._mount_loop import Loop

_DESCRIPTION_BYTES = 2_048
_PROGRESS = 1_000
_MORE = " […]"


class MountedTool:
    """A tool of a server, as the host sees it."""

    toolseam_api = "1"

    def __init__(
        self, mount: Mount, loop: Loop, tool: Definition, spec: ToolSpec, *, pinned: bool
    ) -> None:
        self.mount = mount
        self._pinned = pinned
        self._loop = loop
        self._tool = tool
        self._spec = spec
        self._reads = spec.effect.value == "read_only"

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return self._spec

    @hookimpl
    async def execute(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Ask the server, once; `enable` is no declaration."""
        if not self._pinned:
            raise _not_pinned(self.mount.name)
        here = asyncio.get_running_loop()
        told = 0

        def progress(done: float, total: float | None, text: str) -> None:
            nonlocal told
            told += 1
            if told <= _PROGRESS:
                with contextlib.suppress(RuntimeError):  # the caller's loop may have ended by now
                    here.call_soon_threadsafe(context.progress, done, total, text)

        call = self.mount.call(self._tool, arguments, progress, reads=self._reads)
        try:
            answer = await asyncio.wrap_future(self._loop.begin(call))
            return result_of(answer, self._tool.name)
        except Lost as lost:
            raise self._traced(failure_of(lost, reads=self._reads)) from None
        except ToolError as error:
            raise self._traced(error) from None

    def _traced(self, error: ToolError) -> ToolError:
        """Let the trace say what the server calls the tool."""
        metadata = {**error.metadata.value, "remote_name": self._tool.name}
        return ToolError(error.message, error.code, retriable=error.retriable, metadata=metadata)


class MissingTool:
    """A tool that the operator declares and the server does not give as he does."""

    toolseam_api = "1"

    def __init__(self, mount: Mount, spec: ToolSpec, failure: ToolError) -> None:
        self.mount = mount
        self._spec = spec
        self._failure = failure

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Say no more than that it is missing."""
        return self._spec

    @hookimpl
    def preview(self, arguments: dict[str, Any]) -> ToolResult:  # noqa: ARG002 - for any of them
        """Tell an approver that nothing would come of his word, and why."""
        raise self._failure

    @hookimpl
    def execute(self, arguments: dict[str, Any]) -> ToolResult:  # noqa: ARG002 - for any of them
        """Refuse."""
        raise self._failure


def tools_of(mount: Mount, loop: Loop) -> Iterator[tuple[MountedTool | MissingTool | None, str]]:
    """Give the tools of a mount and what there is to say of each; None for one that is left out."""
    offered: Mapping[str, Definition] = {} if mount.listing is None else mount.listing.tools
    said = mount.settings.tools
    prefix = f"{mount.name}__"
    names = exposed_names((prefix + name for name in (*offered, *said)), TOOL_NAMES)
    for name in sorted({*offered, *said}):
        exposed, declared = names[prefix + name], said.get(name)
        missing = _why_missing(mount, offered.get(name), declared)
        if missing is None:
            try:
                spec, note = _spec(mount, exposed, offered[name], declared)
            except (ToolseamError, BadSchema) as error:
                missing = _missing("schema", f"Its definition is not taken here: {error}")
            else:
                pinned = declared is not None
                yield MountedTool(mount, loop, offered[name], spec, pinned=pinned), note
                continue
        if declared is None:
            yield None, f"{name}: {missing.message}"
            continue
        spec = _said(mount, exposed, name, declared, "Not available at the moment.", _ANYTHING)
        yield MissingTool(mount, spec, missing), f"{name}: {missing.message}"


_ANYTHING: dict[str, Any] = {"type": "object", "additionalProperties": True}


def _missing(reason: str, message: str) -> ToolError:
    return ToolError(message, ErrorCode.UNAVAILABLE, metadata={"reason": reason})


def _not_pinned(mount: str) -> ToolError:
    message = (
        f"The operator has not declared this tool of the mount {mount} with the digest of its"
        f" definition; `toolseam mount {mount}` prints the table."
    )
    return _missing("not_pinned", message)


def _why_missing(mount: Mount, tool: Definition | None, said: Said | None) -> ToolError | None:
    """Say why a tool that is declared is not there as it is declared."""
    if said is None:
        return None
    if tool is None and mount.fault is not None:
        return failure_of(mount.fault, reads=True)
    if tool is None:
        return _missing("not_offered", f"The server of the mount {mount.name} has no such tool.")
    if said.sha256 is None:
        return _not_pinned(mount.name)
    return None if said.sha256 == tool.sha256 else definition_changed(mount.name)


def _spec(mount: Mount, exposed: str, tool: Definition, said: Said | None) -> tuple[ToolSpec, str]:
    """Return the specification of a tool that is there; raises `ToolseamError` or `BadSchema`."""
    notes: list[str] = []
    description = clean(tool.description).strip()
    if not description:
        description = f"The tool {tool.name} of the MCP server {mount.name}."
    whole = description.encode()
    if len(whole) > _DESCRIPTION_BYTES:
        kept = whole[: _DESCRIPTION_BYTES - len(_MORE.encode())].decode("utf-8", "ignore")
        description = kept + _MORE
        notes.append(f"its description was cut from {len(whole):,} bytes")
    if tool.schema is None:
        notes.append("it has no schema, so that it takes no arguments")
    try:
        spec = _said(mount, exposed, tool.name, said, description, adapted(tool.schema))
    except ToolseamError as error:
        if "default" not in str(error):
            raise
        plain = adapted(tool.schema, defaults=False)
        spec = _said(mount, exposed, tool.name, said, description, plain)
        notes.append("its schema's defaults do not fit it, and are left out")
    return spec, f"{tool.name}: {'; '.join(notes)}" if notes else ""


def _said(
    mount: Mount,
    exposed: str,
    name: str,
    said: Said | None,
    description: str,
    parameters: dict[str, Any],
) -> ToolSpec:
    """Put the operator's words to a tool; of what he does not declare the worst is taken."""
    reads = said is not None and said.effect.value == "read_only"
    return ToolSpec(
        name=exposed,
        description=description,
        parameters=parameters,
        effect="unknown" if said is None else said.effect,
        data_class="secret_adjacent" if said is None else said.data_class,
        group=f"mount_{mount.name}",
        sends_to=mount.settings.zone,
        requires_admin=said is None or said.requires_admin,
        enabled_by_default=reads and said is not None and said.enabled,
        requires_approval=None if said is None or not said.requires_approval else True,
        timeout_s=mount.settings.timeout_s,
        remote_name=name,
    )
