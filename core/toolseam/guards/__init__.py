"""The guards that tools share: sensitive names, secret shapes, source, paths, egress, JSON."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam.guards._assignments import mask_assignment
    from toolseam.guards._authorities import tls_context
    from toolseam.guards._denied import is_denied_name
    from toolseam.guards._egress import AllowedHost, EgressGuard, EgressTarget
    from toolseam.guards._fields import mask_fields
    from toolseam.guards._foreign import read_json_object
    from toolseam.guards._names import is_sensitive_name
    from toolseam.guards._paths import READ_LIMIT, FileLook, FileRead, FolderRead, PathGuard
    from toolseam.guards._secrets import MASK, mask_secrets
    from toolseam.guards._sources import mask_source
    from toolseam.guards._state import UnsafePlace, make_private, state_folder
    from toolseam.guards._texts import clean, one_line
    from toolseam.guards._trees import read_tree
    from toolseam.guards._urls import WebAddress, canonical_host, read_web_address

_HOME = {
    "AllowedHost": "_egress",
    "EgressGuard": "_egress",
    "EgressTarget": "_egress",
    "MASK": "_secrets",
    "READ_LIMIT": "_paths",
    "FileLook": "_paths",
    "FileRead": "_paths",
    "FolderRead": "_paths",
    "PathGuard": "_paths",
    "UnsafePlace": "_state",
    "make_private": "_state",
    "state_folder": "_state",
    "is_denied_name": "_denied",
    "WebAddress": "_urls",
    "canonical_host": "_urls",
    "clean": "_texts",
    "one_line": "_texts",
    "is_sensitive_name": "_names",
    "mask_assignment": "_assignments",
    "mask_fields": "_fields",
    "mask_secrets": "_secrets",
    "mask_source": "_sources",
    "read_json_object": "_foreign",
    "read_tree": "_trees",
    "read_web_address": "_urls",
    "tls_context": "_authorities",
}

__all__ = [
    "MASK",
    "READ_LIMIT",
    "AllowedHost",
    "EgressGuard",
    "EgressTarget",
    "FileLook",
    "FileRead",
    "FolderRead",
    "PathGuard",
    "UnsafePlace",
    "WebAddress",
    "canonical_host",
    "clean",
    "is_denied_name",
    "is_sensitive_name",
    "make_private",
    "mask_assignment",
    "mask_fields",
    "mask_secrets",
    "mask_source",
    "one_line",
    "read_json_object",
    "read_tree",
    "read_web_address",
    "state_folder",
    "tls_context",
]


def __getattr__(name: str) -> object:
    """Import a guard when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
