"""Whom an SFTP storage talks to: servers whose key the user's own list of known hosts has."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

_SECONDS = 1


def sftp_options() -> dict[str, Any]:
    """Return what fsspec hands to paramiko; by itself it would trust any key (fsspec 2026.9)."""
    return {
        "host_key_policy": _known_hosts_only(),
        "timeout": _SECONDS,
        "banner_timeout": _SECONDS,
        "auth_timeout": _SECONDS,
    }


def _known_hosts_only() -> object:
    paramiko = import_module("paramiko")

    def missing_host_key(_policy: object, _client: object, host: str, key: object) -> None:
        """Refuse a server that the list does not have; what raises here ends the connection."""
        known = paramiko.HostKeys()
        listed = Path("~/.ssh/known_hosts").expanduser()
        if listed.is_file():
            known.load(str(listed))
        if not known.check(host, key):
            raise paramiko.SSHException

    members = {"missing_host_key": missing_host_key}
    return type("KnownHostsOnly", (paramiko.MissingHostKeyPolicy,), members)()
