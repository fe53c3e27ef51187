"""Reaching only those hosts that the operator allows, at addresses that were looked at."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from toolseam._errors import ErrorCode
from toolseam._result import ToolError
from toolseam._text import short
from toolseam.guards._addresses import Reach, reach_of, read_address
from toolseam.guards._urls import PORTS, canonical_host, outside, read_web_address

if TYPE_CHECKING:
    from toolseam.guards._urls import WebAddress

Resolver = Callable[[str, int], Sequence[str]]
"""Gives the addresses of a host name, for a port; raises `OSError` where there are none."""

PATH_BYTES = 512


@attrs.frozen
class AllowedHost:
    """What an operator allows of one host.

    Args:
        private: it may lie in a private network, or be this machine.
        ports: the ports that may be asked; none means 80 for http and 443 for https.
    """

    private: bool = False
    ports: tuple[int, ...] = ()


@attrs.frozen
class EgressTarget:
    """What may be connected to: the URL's parts, and its addresses, each of which was judged.

    The connection must go to one of `addresses`; `url.host` is the name for the `Host` line and
    for TLS. Whoever looks the name up again may be told another address.
    """

    url: WebAddress
    addresses: tuple[str, ...]


def resolve(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a host name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def _canonical(hosts: Mapping[str, AllowedHost]) -> dict[str, AllowedHost]:
    named: dict[str, AllowedHost] = {}
    for name, allowed in hosts.items():
        host = canonical_host(name)
        if host is None:
            message = f"{short(name)!r} is no host name and no address"
            raise ValueError(message)
        named[host] = allowed
    return named


@attrs.frozen
class EgressGuard:
    """Judges URLs before anything is sent: none is allowed but those of hosts that are named.

    Refused whatever is named: link-local, multicast, unspecified, reserved and metadata
    addresses, in every embedding (IPv4-mapped, NAT64, 6to4, Teredo and others); private and
    loopback addresses unless the host is named as private; hosts in unusual spellings; userinfo;
    schemes other than http and https. All refusals are one and the same `permission_denied`.

    Args:
        hosts: names or addresses as the operator wrote them, and what he allows of each.
        resolver: gives the addresses of a name; the system's if not given.

    Raises:
        ValueError: a key of `hosts` is no host.
    """

    hosts: Mapping[str, AllowedHost] = attrs.field(converter=_canonical)
    resolver: Resolver = resolve

    def judge(self, url: str, seconds: float) -> EgressTarget:
        """Judge a URL, and look up each address that its host has.

        Args:
            url: absolute; path and query have at most 512 bytes.
            seconds: how long looking up the name may take.

        Returns:
            What may be connected to.

        Raises:
            ToolError: `invalid_arguments` for what is no URL or too long; `permission_denied` for
                what is not allowed; `unavailable`, reason `unresolved`, for a name without
                address.
        """
        address = read_web_address(url)
        if len(address.path) > PATH_BYTES:
            message = f"Path and query have {len(address.path):,} bytes, at most {PATH_BYTES} go."
            raise ToolError(message, ErrorCode.INVALID_ARGUMENTS)
        allowed = self.hosts.get(address.host)
        if allowed is None:
            raise outside()
        if address.port not in (allowed.ports or (PORTS[address.scheme],)):
            raise outside()
        found = self._addresses(address, seconds)
        most = Reach.PRIVATE if allowed.private else Reach.PUBLIC
        if not found:
            raise _unresolved()
        for each in found:
            judged = read_address(each)
            if judged is None or reach_of(judged) > most:
                raise outside()
        return EgressTarget(address, found)

    def _addresses(self, address: WebAddress, seconds: float) -> tuple[str, ...]:
        if read_address(address.host) is not None:
            return (address.host,)
        found: list[Sequence[str]] = []

        def ask() -> None:
            try:
                found.append(self.resolver(address.host, address.port))
            except (OSError, UnicodeError):
                found.append(())

        # The system's resolver knows no deadline, and cannot be interrupted.
        asking = threading.Thread(target=ask, name="toolseam-resolver", daemon=True)
        asking.start()
        asking.join(max(0.0, seconds))
        if not found:
            raise _unresolved()
        return tuple(dict.fromkeys(found[0]))


def _unresolved() -> ToolError:
    return ToolError(
        "The host's name could not be resolved to an address.",
        ErrorCode.UNAVAILABLE,
        retriable=True,
        metadata={"reason": "unresolved"},
    )
