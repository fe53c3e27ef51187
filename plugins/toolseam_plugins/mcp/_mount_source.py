"""All mounts of a host: what the host takes, asks and closes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolseam_plugins.mcp._mount import Mount
from toolseam_plugins.mcp._mount_loop import Loop
from toolseam_plugins.mcp._mount_tools import MissingTool, MountedTool, tools_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from toolseam._settings_keys import Mount as MountSettings

_NOTED = 20


class Mounts:
    """The mounts of one host; connects to all of them at once when it is made."""

    def __init__(self, said: Mapping[str, MountSettings]) -> None:
        self._loop = Loop()
        self.mounts = tuple(Mount(name, said[name]) for name in sorted(said))
        self._notes: dict[str, list[tuple[str, str]]] = {m.name: [] for m in self.mounts}
        self._tools: dict[str, list[MountedTool | MissingTool]] = {}
        try:
            self._loop.begin(self._open()).result()
        except BaseException:
            self.close()
            raise

    async def _open(self) -> None:
        await asyncio.gather(*(mount.open() for mount in self.mounts))

    def __iter__(self) -> Iterator[object]:
        for mount in self.mounts:
            notes, tools = self._notes[mount.name], self._tools.setdefault(mount.name, [])
            for tool, note in tools_of(mount, self._loop):
                if note:
                    notes.append(("fault" if isinstance(tool, MissingTool) else "note", note))
                if tool is not None:
                    tools.append(tool)
                    yield tool

    def refused(self, tool: object, reason: str) -> None:
        """Take note that the host does not take a tool."""
        if isinstance(tool, MountedTool | MissingTool):
            self._tools[tool.mount.name].remove(tool)
            said = f"{tool.tool_spec().remote_name}: {reason}"
            self._notes[tool.mount.name].append(("fault", said))

    def health(self) -> Iterator[tuple[str, str, str]]:
        """Say of each mount whether it is connected, what it offers and what is wrong."""
        for mount in self.mounts:
            yield mount.name, *_state(mount, self._tools.get(mount.name, []))
            listed = () if mount.listing is None else mount.listing.notes
            notes = [*(("note", each) for each in listed), *self._notes[mount.name]]
            for mark, note in notes[:_NOTED]:
                yield mount.name, mark, note
            if len(notes) > _NOTED:
                yield mount.name, "note", f"and {len(notes) - _NOTED} more of these"
            for method, number in mount.server_asked.items():
                if method != "ping":
                    yield mount.name, "note", f"asked for {method} {number} times, and was refused"

    def close(self) -> None:
        """End all connections, and the thread."""
        self._loop.close(self._close())

    async def _close(self) -> None:
        await asyncio.gather(*(mount.close() for mount in self.mounts), return_exceptions=True)


def _state(mount: Mount, tools: list[MountedTool | MissingTool]) -> tuple[str, str]:
    if mount.listing is None:
        fault = mount.fault
        return "fault", f"not available: {'it was not asked' if fault is None else fault.text}"
    there = [tool for tool in tools if isinstance(tool, MountedTool)]
    said = mount.settings.tools
    declared = sum(tool.tool_spec().remote_name in said for tool in there)
    number = len(mount.listing.tools)
    text = f"{number} tool{'' if number == 1 else 's'}, {declared} declared"
    if not declared:
        text += f"; `toolseam mount {mount.name}` prints what declares them"
    if mount.fault is not None:
        return "fault", f"{text}; {mount.fault.text}"
    return "ok", text
