"""How far inside a network an address lies, in whatever form it is embedded."""

from __future__ import annotations

import enum
from functools import cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class Reach(enum.IntEnum):
    """Who may be reached at an address: anybody, those who are inside, or nobody."""

    PUBLIC = 0
    PRIVATE = 1
    NEVER = 2


# By the special-purpose registries of IANA, and not by `is_global`: its answers have changed
# between patch releases of Python.
_NEVER = (
    *("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"),
    # What cloud providers answer metadata at, beside the link-local addresses.
    *("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32"),
    *("fd00:ec2::/32", "fd20:ce::254/128"),
)
_PRIVATE = (
    *("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24"),
    *("::1/128", "fc00::/7", "fec0::/10", "2001::/23", "2001:db8::/32", "3fff::/20"),
)
_UNICAST = ip_network("2000::/3")
_TRANSLATED = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
_INTERFACES = frozenset({0x0000_5EFE, 0x0200_5EFE})
_LOW = (1 << 32) - 1


def read_address(text: str) -> Address | None:
    """Read an address in its usual spelling; an IPv4-mapped one is the IPv4 address it stands for.

    Whatever has a zone, or is spelt as a single number, in hexadecimal or octal, is none.
    """
    try:
        found = ip_address(text)
    except ValueError:
        return None
    if isinstance(found, IPv6Address):
        return None if found.scope_id is not None else found.ipv4_mapped or found
    return found


def reach_of(address: Address) -> Reach:
    """Return how far inside an address lies: the farthest of all that are embedded in it."""
    if isinstance(address, IPv4Address):
        return _listed(address) or Reach.PUBLIC
    inner = _embedded(address)
    if inner:
        return max(map(reach_of, inner))
    if found := _listed(address):
        return found
    return Reach.PUBLIC if address in _UNICAST else Reach.NEVER


def _embedded(address: IPv6Address) -> list[IPv4Address]:
    """Return the IPv4 addresses to which a packet for this one may be handed on."""
    number = int(address)
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return list(address.teredo)
    compatible = address in _COMPATIBLE and number > 1
    tunnelled = (number >> 32) & _LOW in _INTERFACES
    if compatible or tunnelled or address in _TRANSLATED:
        return [IPv4Address(number & _LOW)]
    return []


def _listed(address: Address) -> Reach | None:
    """Return what the tables say of an address; a network of the other version holds none."""
    for reach, networks in _networks():
        if any(address in network for network in networks):
            return reach
    return None


@cache
def _networks() -> tuple[tuple[Reach, tuple[Network, ...]], ...]:
    return (
        (Reach.NEVER, tuple(map(ip_network, _NEVER))),
        (Reach.PRIVATE, tuple(map(ip_network, _PRIVATE))),
    )
