"""What goes over the wire to every maker alike: the connection, whole text, and how it fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

import httpx2

from toolseam.providers import ProviderError, ProviderFault
from toolseam_plugins.providers._clients import is_loopback
from toolseam_plugins.providers._talk import fault_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

T = TypeVar("T")

_SAID = {
    ProviderFault.AUTH: "refused the key",
    ProviderFault.RATE_LIMIT: "has been asked too often",
    ProviderFault.SERVER_ERROR: "failed",
    ProviderFault.CLIENT_ERROR: "refused the request",
    ProviderFault.CONNECTION: "could not be reached, or broke off",
    ProviderFault.UNKNOWN: "did not answer as its API does",
}


def connection(base_url: str | None) -> httpx2.AsyncClient:
    """Return a client that asks the address it is given and no other.

    A redirect would lead a conversation to where nobody declared a zone, and so would a proxy of
    the environment for an address on this machine.
    """
    if is_loopback(base_url):
        # Reading all authorities takes longer than the request, and without TLS none is asked.
        secure = not (base_url or "").startswith("http:")
        return httpx2.AsyncClient(follow_redirects=False, trust_env=False, verify=secure)
    return httpx2.AsyncClient(follow_redirects=False)


def failure(name: str, fault: ProviderFault, status: int | None = None) -> ProviderError:
    """Return what a run is told of a failure: words of our own, and the HTTP status."""
    told = "" if status is None else f" (HTTP {status})"
    return ProviderError(f"{name} {_SAID.get(fault, _SAID[ProviderFault.UNKNOWN])}{told}.", fault)


def failure_of(name: str, status: int) -> ProviderError:
    """Return what a run is told of an HTTP status."""
    return failure(name, fault_of(status), status)


def options_of(name: str, ours: frozenset[str], *given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options, the later before the earlier.

    Args:
        name: whose.
        ours: what the conversation says, and no option.
        given: options of the endpoint, and of the request.

    Raises `ProviderError` for one of `ours`.
    """
    options: dict[str, Any] = {}
    for each in given:
        options |= each
    if not ours.isdisjoint(options):
        found = ", ".join(sorted(ours & options.keys()))
        raise ProviderError(f"{name}: no option: {found}.", ProviderFault.CONFIGURATION)
    return options


def mended(value: T) -> T:
    """Return plain JSON in which each lone surrogate is U+FFFD: one of them fails a request."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        whole: T = json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        return whole
    return value
