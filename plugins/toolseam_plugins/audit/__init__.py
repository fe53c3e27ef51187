"""The audit: what happened, stored under the level of privacy, for as long as it is kept.

A host plugin that the operator names: `trust = ["audit"]`. `[audit]` of his file says where, for
how long, and what of content; `toolseam audit` shows it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from toolseam import hookimpl

if TYPE_CHECKING:  # nobody resolves the annotations of a host plugin
    from toolseam import Host  # noqa: TC004
    from toolseam_plugins.audit._database import AuditError
    from toolseam_plugins.audit._reading import NEWEST, Audit, look
    from toolseam_plugins.audit._store import AuditStore  # noqa: TC004

_HOME = {
    "Audit": "_reading",
    "AuditError": "_database",
    "NEWEST": "_reading",
    "look": "_reading",
}

toolseam_api = "1"

__all__ = ["NEWEST", "Audit", "AuditError", "look", "toolseam_run_store"]


@hookimpl
def toolseam_run_store(host: Host) -> AuditStore | None:
    """Open the store that the settings name; what is wrong with it stops the host's start."""
    if not host.settings.audit.enabled:
        return None
    from toolseam_plugins.audit._opening import open_store

    return open_store(host.settings)


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
