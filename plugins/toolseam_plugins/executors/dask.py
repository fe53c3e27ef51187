"""Bodies over Dask: `[executors.<name>]` of the kind `dask`.

A host plugin that the operator names, `trust = ["dask"]`. Dask is imported when the first body
goes there. It pickles between its own processes: who may reach the cluster may run code in it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolseam import ToolseamError, hookimpl

if TYPE_CHECKING:  # nobody resolves the annotations of a host plugin
    from concurrent.futures import Executor  # noqa: TC004

    from toolseam._settings_keys import ExecutorSettings  # noqa: TC004

toolseam_api = "1"

__all__ = ["ExecutorError", "toolseam_executor"]


class ExecutorError(ToolseamError):
    """An engine cannot be had as the settings want it; the text says what to change."""


@hookimpl
def toolseam_executor(name: str, settings: ExecutorSettings) -> Executor | None:
    """Start Dask on this machine, or connect to the scheduler at `address`.

    Raises `ExecutorError`.
    """
    if (settings.kind or name) != "dask":
        return None
    if find_spec("distributed") is None:
        raise ExecutorError("Dask is not installed here: pip install 'toolseam[dask]'")
    from toolseam_plugins.executors._cluster import connected, started

    return started(settings) if settings.address is None else connected(settings)
