"""A network of the test's own: names lead where it says, and every connection to one server."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import trustme

COMPLAINT = "Aster9Tulip77"
"""What the system says of a name that leads nowhere."""

INSIDE = (
    *("127.0.0.1", "10.0.0.5", "172.16.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1"),
    *("192.0.2.1", "203.0.113.9", "::1", "fc00::1", "fec0::1", "2001:db8::1", "2001:2::1"),
)
NEVER = (
    *("0.0.0.0", "0.1.2.3"),  # noqa: S104 - nothing binds here
    *("169.254.169.254", "169.254.170.2", "224.0.0.1", "255.255.255.255"),
    *("240.0.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "::", "fe80::1", "ff02::1"),
    *("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "64:ff9b:1::808:808", "100::1", "4000::1"),
)


class Network:
    """The system's resolver and connections: names lead where the test says, all TCP to us."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.names: dict[str, list[Sequence[str]]] = {}
        self.asked: list[str] = []
        self.connected: list[tuple[str, int]] = []

    def getaddrinfo(self, host: str, port: int, **_: Any) -> list[Any]:
        """Answer each look-up of a name with the next of its answers."""
        self.asked.append(host)
        answers = self.names.get(host)
        if not answers:
            raise socket.gaierror(-2, COMPLAINT)
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in found]

    def create_connection(self, address: tuple[str, int], timeout: float, **_: Any) -> Any:
        """Remember where a connection was to go, and lead it to the test's server."""
        self.connected.append(address)
        connection = socket.socket()
        connection.settimeout(timeout)
        connection.connect(("127.0.0.1", self.port))
        return connection


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    """A network of the test's own."""
    made = Network(0)
    monkeypatch.setattr(socket, "getaddrinfo", made.getaddrinfo)
    monkeypatch.setattr(socket, "create_connection", made.create_connection)
    return made


def tls(authority: trustme.CA, name: str) -> ssl.SSLContext:
    """Return a server's side of TLS, with a certificate for a name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def wide(text: str) -> str:
    """Write ASCII in its full-width forms."""
    return "".join(chr(ord(letter) + 0xFEE0) for letter in text)


def embeddings(number: int) -> list[str]:
    """Write an IPv4 address in each form that carries one."""
    high, low = divmod(number, 1 << 16)
    pair, flipped = f"{high:x}:{low:x}", f"{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}"
    return [
        str(ipaddress.IPv4Address(number)),
        f"::ffff:{pair}",
        f"::ffff:{ipaddress.IPv4Address(number)}",
        f"64:ff9b::{pair}",
        f"2002:{pair}::1",
        f"2001:0:808:808:0:0:{flipped}",
        f"2001:0:{pair}::f7f7:f7f7",
        f"2606:4700::5efe:{pair}",
        f"2606:4700::200:5efe:{pair}",
    ]
