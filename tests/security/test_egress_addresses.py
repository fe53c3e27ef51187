"""S9, the half about addresses: what `probe_url` reaches through a whole host, and what it never.

A network of the test's own stands for the system's: each name leads where the test says, and what
was to be connected to is remembered. All that an environment may say of proxies, authorities and
passwords is set all the while.
"""

from __future__ import annotations

import ipaddress
import socket
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from support.databases import everything
from support.network import INSIDE, NEVER, Network, embeddings, network, tls, wide
from support.web import Server, page, serving
from toolseam import Actor, Host, Step, Zone
from toolseam._errors import SettingsError
from toolseam.testing import Canary, canary

__all__ = ["network"]

NAME, IDN = "docs.example.test", "bücher.example"
ASCII_IDN = "xn--bcher-kva.example"
OUTSIDE = "Error (permission_denied): That address is outside what may be reached."
OPERATOR = """\
[plugins.toolseam.hosts."docs.example.test"]
zone = "local"
authorities = "{authorities}"
[plugins.toolseam.hosts."xn--bcher-kva.example"]
[plugins.toolseam.hosts."inside.example.test"]
private = true
[plugins.toolseam.hosts."8.8.8.8"]
"""
ADA = Actor("ada", {"admin"})
METADATA = embeddings(int(ipaddress.IPv4Address("169.254.169.254")))
SPELLED = (
    "0.0.0.0",  # noqa: S104 - nothing binds here
    *("2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::]", "[::1]", "127.0.0.1"),
    *(f"[{each}]" for each in METADATA if ":" in each),
    *("169.254.169.254", "134744072", "0x8.8.8.8", "010.8.8.8", "8.8.2056", wide("8.8.8.8")),
    *("[::ffff:127.0.0.1]", "nope.example.test", "localhost", "localhost."),
    *(f"{NAME}:8080", f"{NAME}:443", f"{NAME}..", f"{NAME}.evil.test", f"u@{NAME}", f"u:p@{NAME}"),
    *(f"{NAME}@127.0.0.1", f"127.0.0.1#@{NAME}", f"{NAME}%2e", f"[{NAME}]"),
)


@pytest.fixture(autouse=True)
def surroundings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[tuple[Server, Canary]]:
    """A proxy in each variable that names one, authorities, and a password for each host."""
    secret = canary()
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text(f"default login app password {secret.text}\n")
    monkeypatch.setenv("HOME", str(home))
    with serving(page(b"proxy")) as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            for each in (name, name.upper()):
                monkeypatch.setenv(each, f"http://app:{secret.text}@127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "")
        yield proxy, secret
        assert proxy.heard == []


@contextmanager
def host(tmp_path: Path, authorities: str = "") -> Iterator[Callable[[str], Step]]:
    """Open a host whose operator allows some hosts, and give what probes a URL in it."""
    folder, operator = tmp_path / "shop", tmp_path / "config.toml"
    folder.mkdir()
    text = OPERATOR.format(authorities=authorities)
    operator.write_text(text if authorities else text.replace('authorities = ""\n', ""))
    with Host.load(folder, operator_file=operator) as opened:
        session = opened.session(actor=ADA, zone=Zone.LOCAL)

        def probe(url: str) -> Step:
            return session.call_wire("probe_url", {"url": url})[1]

        yield probe


def heads(server: Server) -> str:
    """Return all that a server was sent."""
    return "".join(server.heard)


def test_no_spelling_of_another_host_is_reached(tmp_path: Path, network: Network) -> None:
    """Numbers, embeddings, look-alikes, other ports and userinfo are one refusal, unresolved."""
    with host(tmp_path) as probe:
        for spelled in SPELLED:
            assert probe(f"http://{spelled}/").wire == OUTSIDE, spelled

    assert (network.asked, network.connected) == ([], [])


@pytest.mark.parametrize("scheme", ["file", "gopher", "ftp", "ws", "unix", "data", "javascript"])
def test_other_schemes_are_refused(tmp_path: Path, network: Network, scheme: str) -> None:
    """Only http and https are spoken."""
    with host(tmp_path) as probe:
        for url in (f"{scheme}://{NAME}/", f"{scheme}:///etc/hostname"):
            assert probe(url).status in {"permission_denied", "invalid_arguments"}

    assert (network.asked, network.connected) == ([], [])


@pytest.mark.parametrize("address", [*INSIDE, *NEVER, *METADATA])
def test_a_name_that_leads_inside_is_refused(
    tmp_path: Path, network: Network, address: str
) -> None:
    """One address inside, wherever it stands among the others, and nobody is connected to."""
    with host(tmp_path) as probe:
        for answers in ([address], ["8.8.8.8", address], [address, "8.8.8.8"]):
            network.names[NAME] = [answers]

            assert probe(f"http://{NAME}/").wire == OUTSIDE

    assert network.connected == []


@pytest.mark.parametrize("address", [*NEVER, *METADATA])
def test_what_is_never_reached_is_not_by_a_private_host_either(
    tmp_path: Path, network: Network, address: str
) -> None:
    """The operator's word for a private network opens no link-local or metadata address."""
    network.names["inside.example.test"] = [[address]]

    with host(tmp_path) as probe:
        assert probe("http://inside.example.test/").wire == OUTSIDE

    assert network.connected == []


@pytest.mark.parametrize(
    ("url", "connected", "said"),
    [
        (f"http://{NAME}/a?b=c", ("8.8.8.8", 80), NAME),
        (f"http://{NAME.upper()}./", ("8.8.8.8", 80), NAME),
        (f"http://{IDN}/", ("8.8.8.8", 80), ASCII_IDN),
        (f"http://{wide('docs')}.example.test/", ("8.8.8.8", 80), NAME),
        ("http://inside.example.test/", ("10.0.0.5", 80), "inside.example.test"),
        ("http://8.8.8.8/", ("8.8.8.8", 80), "8.8.8.8"),
        ("http://[::ffff:8.8.8.8]/", ("8.8.8.8", 80), "8.8.8.8"),
    ],
)
def test_one_connection_goes_to_the_address_that_was_judged(
    tmp_path: Path,
    network: Network,
    surroundings: tuple[Server, Canary],
    url: str,
    connected: tuple[str, int],
    said: str,
) -> None:
    """A second look-up would lead inside; the name is the `Host`, and no password goes along."""
    for name in (NAME, ASCII_IDN):
        network.names[name] = [["8.8.8.8"], ["169.254.169.254"]]
    network.names["inside.example.test"] = [["10.0.0.5"], ["169.254.169.254"]]
    with serving(page()) as server, host(tmp_path) as probe:
        network.port = server.port
        step = probe(url)

    assert step.status == "ok", step.wire
    assert network.connected == [connected]
    assert len(network.asked) <= 1
    assert f"\r\nHost: {said}\r\n" in heads(server)
    assert "authorization" not in heads(server).lower()
    assert not surroundings[1].is_in(heads(server), str(step.wire))


@pytest.mark.parametrize("inward", ["169.254.169.254", "127.0.0.1", "inside.test", "[::1]"])
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_inward_is_neither_followed_nor_told(
    tmp_path: Path, network: Network, inward: str, status: str
) -> None:
    """One connection is made; of where it leads nothing is said, in no channel."""
    network.names = {NAME: [["8.8.8.8"]], "inside.test": [["10.1.2.3"]]}
    answer = page(b"", f"Location: http://{inward}/latest/meta-data?token=a", status=status)
    with serving(answer) as server, host(tmp_path) as probe:
        network.port = server.port
        step = probe(f"http://{NAME}/")

    assert step.status == "permission_denied"
    assert network.connected == [("8.8.8.8", 80)]
    assert step.result is not None
    assert inward not in everything(step.result)
    assert "meta-data" not in everything(step.result)


@pytest.mark.parametrize(
    ("name", "known", "status"),
    [(NAME, True, "ok"), ("other.example.test", True, "unavailable"), (NAME, False, "unavailable")],
)
def test_tls_is_held_to_the_name(
    tmp_path: Path,
    network: Network,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    known: bool,
    status: str,
) -> None:
    """The certificate has to be for the name, by an authority that the operator's file trusts."""
    authority = trustme.CA()
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    for variable in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(variable, str(file))
    network.names[NAME] = [["8.8.8.8"], ["169.254.169.254"]]
    with (
        serving(page(), tls(authority, name)) as server,
        host(tmp_path, str(file) if known else "") as probe,
    ):
        network.port = server.port
        step = probe(f"https://{NAME}/")

    assert step.status == status, step.wire
    assert network.connected == [("8.8.8.8", 443)]
    assert server.names == [NAME]
    assert (f"\r\nHost: {NAME}\r\n" in heads(server)) is (status == "ok")


def test_a_packed_body_without_end_costs_little(tmp_path: Path, network: Network) -> None:
    """Of 200 MB in gzip nothing is unpacked, and less than 20 MB are taken meanwhile."""

    def send(connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            for _ in range(2_000):
                connection.sendall(b"\x1f\x8b" + b"0" * 99_998)

    network.names[NAME] = [["8.8.8.8"]]
    with serving(send) as server, host(tmp_path) as probe:
        network.port = server.port
        probe("http://8.8.4.4/")
        tracemalloc.start()
        step = probe(f"http://{NAME}/")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert step.status == "ok"
    assert "was not decoded" in str(step.wire)
    assert most < 20_000_000


@pytest.mark.parametrize("key", ["workspace.hosts", "plugins.toolseam.hosts"])
def test_a_workspace_allows_no_host(tmp_path: Path, network: Network, key: str) -> None:
    """Which hosts are reached is the operator's word; a workspace file that says one is refused."""
    operator = tmp_path / "operator.toml"
    operator.write_text("")
    (tmp_path / "toolseam.toml").write_text(f'[{key}."{NAME}"]\nprivate = true\n')

    try:
        with Host.load(tmp_path, operator_file=operator) as opened:
            assert opened.tool("probe_url") is None
            told = next(each.detail for each in opened.records if each.name == "probe_url")
    except SettingsError as error:
        told = str(error)

    assert "a workspace may not" in told
    assert (network.asked, network.connected) == ([], [])
