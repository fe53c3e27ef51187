"""MCP servers whose tools are mounted: `[mounts.<name>]` of the operator's file, and no other.

A host plugin that is loaded where a mount is named: naming one is the operator's word for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam import hookimpl

if TYPE_CHECKING:  # nobody resolves the annotations of a host plugin
    from collections.abc import Iterable  # noqa: TC004

    from toolseam._settings_keys import OperatorSettings  # noqa: TC004

toolseam_api = "1"

__all__ = ["toolseam_tools"]


@hookimpl
def toolseam_tools(operator: OperatorSettings) -> Iterable[object]:
    """Connect to the servers that are named, all at once, and give their tools."""
    if not operator.mounts:
        return ()
    from toolseam_plugins.mcp._mount_source import Mounts

    return Mounts(operator.mounts)
