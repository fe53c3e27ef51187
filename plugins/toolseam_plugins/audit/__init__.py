"""The audit: what happened, stored under the level of privacy, for as long as it is kept.

A host plugin that the operator names: `trust = ["audit"]`. `[audit]` of his file says where, for
how long, and what of content; `toolseam audit` shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam import hookimpl

if TYPE_CHECKING:  # nobody resolves the annotations of a host plugin
    from toolseam import Host  # noqa: TC004
    from toolseam_plugins.audit._store import AuditStore  # noqa: TC004

toolseam_api = "1"


@hookimpl
def toolseam_run_store(host: Host) -> AuditStore | None:
    """Open the store that the settings name; what is wrong with it stops the host's start."""
    if not host.settings.audit.enabled:
        return None
    from toolseam_plugins.audit._opening import open_store

    return open_store(host.settings)
