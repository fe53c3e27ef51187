"""Whom a TLS connection of ours believes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


def tls_context(authorities: str | None = None) -> ssl.SSLContext:
    """Trust what the system trusts, whatever the environment says, and the authorities named.

    Args:
        authorities: a PEM file of the operator's own, or None.

    Raises `OSError` where that file cannot be read, `ImportError` without `httpx2`, which comes
    with the extra `web`.
    """
    import httpx2  # knows where each system keeps them; a tenth of a second

    context = httpx2.create_ssl_context(trust_env=False)
    if authorities is not None:
        context.load_verify_locations(authorities)
    return context
