import socket
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

import httpcore2
import pytest
import trustme

from support.databases import everything
from support.network import COMPLAINT, Network, network, tls
from support.tools import ADA, fine, plugin
from support.web import Server, page, serving
from toolseam import Actor, ErrorCode, Host, ToolResult
from toolseam.guards import AllowedHost, EgressGuard
from toolseam.testing import harness
from toolseam_builtin.system import probe_url
from toolseam_builtin.system._excerpt import strip_markup, text_excerpt
from toolseam_builtin.system._fetch import fetch
from toolseam_builtin.workspace import HostSettings, Workspace

__all__ = ["network"]

NAME = "docs.example.test"
CAN = COMPLAINT
OUTSIDE = "That address is outside what may be reached."


def here(server: Server, **settings: Any) -> Workspace:
    """A workspace whose operator allows one server of this machine."""
    host = HostSettings(private=True, ports=(server.port,), **settings)
    return Workspace(hosts={"127.0.0.1": host, "localhost": host})


def ask(workspace: Workspace, url: str, *, actor: Actor | None = ADA, **how: Any) -> ToolResult:
    """Call the tool through the seam."""
    with harness(probe_url, settings=workspace, actor=actor) as double:
        return double.call({"url": url}, **how)


def answered(answer: bytes | Callable[[socket.socket], None], path: str = "/") -> ToolResult:
    """Ask a server of this machine that gives one answer."""
    with serving(answer) as server:
        return ask(here(server), f"http://127.0.0.1:{server.port}{path}")


def test_the_answer_says_status_time_headers_and_text() -> None:
    """Lines, pairs and data tell the same of what came back."""
    result = answered(
        page(b'{"ok": true}', "Server: museum", "X-Other: 1", kind="application/json")
    )

    lines = result.content.split("\n")
    assert lines[0].startswith("GET http://127.0.0.1:")
    assert lines[1] == "status: 200 OK"
    assert lines[2].startswith("time: ")
    assert lines[3:] == [
        "content-type: application/json",
        "content-length: 12",
        "server: museum",
        "Its text, from 12 bytes that were read:",
        '> {"ok": true}',
    ]
    assert result.data is not None
    assert result.data["status"] == 200
    assert result.data["excerpt"] == '{"ok": true}'
    pairs, text = result.artifacts
    assert [f"{key}: {value}" for key, value in pairs.data["items"]] == lines[1:6]
    assert text.text == '{"ok": true}'


def test_the_request_is_plain() -> None:
    """One GET, no cookies, no encoding, the host's name with its port, nothing else."""
    with serving(page()) as server:
        ask(here(server), f"http://localhost:{server.port}/a?b=c#d")

        (head,) = server.heard
        assert head.split("\r\n") == [
            *("GET /a?b=c HTTP/1.1", f"Host: localhost:{server.port}", "User-Agent: toolseam"),
            *("Accept: */*", "Accept-Encoding: identity", "Connection: close", "", ""),
        ]


@pytest.mark.parametrize("status", ["500 Broken", "503 Gone fishing", "599 Odd"])
def test_a_server_fault_points_to_the_logs(status: str) -> None:
    """A status of 500 or more is a success that says where to look next."""
    result = answered(page(b"", status=status))

    assert result.success
    assert f"status: {status[:3]}" in result.content
    assert "fishing" not in result.content
    assert "get_last_exception and fetch_logs" in result.content
    assert "The body is empty." in result.content


@pytest.mark.parametrize(
    ("url", "code"),
    [
        *((url, "permission_denied") for url in (
            *("http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/"),
            *("http://0.0.0.0/", "http://[::]/", "http://[::1]/", "http://[::ffff:127.0.0.1]/"),
            *("http://[::ffff:a9fe:a9fe]/", "http://[::ffff:100.64.0.1]/", "http://localhost./"),
            *("http://100.100.100.200/", "http://169.254.169.254/", "file:///etc/hostname"),
            *(f"http://{NAME}@127.0.0.1/", f"http://u:{CAN}@{NAME}/", "gopher://127.0.0.1/"),
            *(f"http://{NAME}:8080/", "http://nope.example.test/", "http://[64:ff9b::a9fe:a9fe]/"),
        )),
        ("/health", "invalid_arguments"),
        (f"http://{NAME}/?{'q' * 511}", "invalid_arguments"),
    ],
)  # fmt: skip
def test_nothing_is_asked_of_what_is_not_allowed(network: Network, url: str, code: str) -> None:
    """Other hosts, spellings, schemes and userinfo are refused without a look-up (P26, S9)."""
    workspace = Workspace(hosts={NAME: HostSettings(zone="local")})

    result = ask(workspace, url)

    assert result.failure is not None
    assert result.failure.code == code
    assert code != "permission_denied" or result.failure.message == OUTSIDE
    assert (network.asked, network.connected) == ([], [])
    assert CAN not in everything(result)


def test_a_mapped_public_address_passes(network: Network) -> None:
    """`::ffff:8.8.8.8` is the public address that it stands for (P26)."""
    with serving(page()) as server:
        network.port = server.port
        workspace = Workspace(hosts={"8.8.8.8": HostSettings()})

        assert ask(workspace, "http://[::ffff:8.8.8.8]/").success
        assert network.connected == [("8.8.8.8", 80)]


def test_without_allowed_hosts_none_is_reached(network: Network) -> None:
    """By default nothing may be probed, and the refusal names the setting."""
    result = ask(Workspace(), f"http://{NAME}/")

    assert result.failure is not None
    assert result.failure.code == ErrorCode.PERMISSION_DENIED
    assert "plugins.toolseam.hosts" in result.failure.message
    assert network.asked == []


def test_the_connection_goes_to_the_address_that_was_judged(network: Network) -> None:
    """A name that changes its address between look-ups is connected to once, as judged (P27 a)."""
    network.names[NAME] = [["8.8.8.8"], ["127.0.0.1"]]
    with serving(page()) as server:
        network.port = server.port
        result = ask(Workspace(hosts={NAME: HostSettings()}), f"http://{NAME}/x")

        assert result.success
        assert network.connected == [("8.8.8.8", 80)]
        assert f"\r\nHost: {NAME}\r\n" in server.heard[0]


@pytest.mark.parametrize("inside", ["10.0.0.5", "169.254.169.254", "::1", "64:ff9b::a9fe:a9fe"])
def test_one_inside_address_refuses_the_name(network: Network, inside: str) -> None:
    """A name with a public and an inside address is refused, and nothing is connected (P27 b)."""
    network.names[NAME] = [["8.8.8.8", inside]]

    result = ask(Workspace(hosts={NAME: HostSettings()}), f"http://{NAME}/")

    assert result.failure is not None
    assert (result.failure.code, result.failure.message) == ("permission_denied", OUTSIDE)
    assert network.connected == []


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://inside.example.test/",
        "http://nope.example.test/",
        "//inside.example.test/x",
        f"http://u:{CAN}@{NAME}/",
        "http://[::ffff:127.0.0.1]/",
        "file:///etc/hostname",
        "http://169.254.169.254/ x",
    ],
)
def test_a_redirect_inside_is_refused_without_a_word_of_it(network: Network, location: str) -> None:
    """Where an answer leads is judged, not followed; of one that leads inside nothing is told."""
    network.names = {NAME: [["8.8.8.8"]], "inside.example.test": [["10.1.2.3"]]}
    hosts = {NAME: HostSettings(), "inside.example.test": HostSettings()}
    with serving(page(CAN.encode(), f"Location: {location}", status="302 Found")) as server:
        network.port = server.port
        result = ask(Workspace(hosts=hosts), f"http://{NAME}/")

    assert result.failure is not None
    assert result.failure.code == ErrorCode.PERMISSION_DENIED
    assert network.connected == [("8.8.8.8", 80)]
    assert "nope.example.test" not in network.asked
    assert CAN not in everything(result)
    assert "169.254" not in everything(result)


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("/login?next=/a&token=Aster9Tulip77#Aster9Tulip77", "/login?next=[masked]&token=[masked]"),
        (f"https://{NAME}/", f"https://{NAME}/"),
        (f"https://{NAME}:8443/", f"https://{NAME}:8443/"),
        ("http://www.example.test/a", "http://www.example.test/a"),
        ("http://gone.example.test/a", "http://gone.example.test/a"),
    ],
)
def test_redirects_are_reported_not_followed(network: Network, location: str, told: str) -> None:
    """An answer that leads to an allowed host is told, its query masked, and nobody goes there."""
    network.names = {NAME: [["8.8.8.8"]], "www.example.test": [["1.1.1.1"]]}
    names = (NAME, "www.example.test", "gone.example.test")
    hosts = {name: HostSettings() for name in names}
    with serving(page(CAN.encode(), f"Location: {location}", status="302 Found")) as server:
        network.port = server.port
        result = ask(Workspace(hosts=hosts), f"http://{NAME}/")

    assert result.success
    assert f"\nlocation: {told}" in result.content
    assert "Where it leads was not followed." in result.content
    assert len(network.connected) == 1
    assert CAN not in everything(result)


@pytest.mark.parametrize("location", ["/", "", f"http://{NAME}:80/#x", "?"])
def test_an_endless_redirect_is_unavailable(network: Network, location: str) -> None:
    """An answer that leads to where it was asked ends with one request (P27 f)."""
    network.names[NAME] = [["8.8.8.8"]]
    with serving(page(b"", f"Location: {location or '/'}", status="302 Found")) as server:
        network.port = server.port
        result = ask(Workspace(hosts={NAME: HostSettings()}), f"http://{NAME}/")

        assert len(server.heard) == 1
    assert result.failure is not None
    assert result.failure.code == ErrorCode.UNAVAILABLE
    assert result.failure.metadata["reason"] == "redirect_loop"


def test_a_name_without_an_address_is_unavailable(network: Network) -> None:
    """A name that does not resolve is `unavailable`, without the system's words (P27 e)."""
    result = ask(Workspace(hosts={NAME: HostSettings()}), f"http://{NAME}/")

    assert result.failure is not None
    assert result.failure.code == ErrorCode.UNAVAILABLE
    assert result.failure.metadata["reason"] == "unresolved"
    assert CAN not in everything(result)


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that name a proxy change nothing (P27 g)."""
    with serving(page(b"proxy")) as proxy, serving(page(b"direct")) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")

        result = ask(here(server), f"http://127.0.0.1:{server.port}/")

        assert "> direct" in result.content
        assert proxy.heard == []


def test_a_host_that_is_not_there_is_unavailable() -> None:
    """A refused connection is a failure in our words."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

    result = ask(here(Server(port)), f"http://127.0.0.1:{port}/")

    assert result.failure is not None
    assert (result.failure.code, result.failure.metadata["reason"]) == (
        "unavailable",
        "unreachable",
    )
    assert result.failure.message == "No connection to the host could be made."


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
    ],
)
def test_what_speaks_no_http_is_unavailable(answer: bytes) -> None:
    """An answer that is no HTTP, or whose head never ends, shows nothing of itself."""
    result = answered(answer)

    assert result.failure is not None
    assert (result.failure.code, result.failure.metadata["reason"]) == ("unavailable", "no_http")
    assert "SSH" not in everything(result)


def drip(connection: socket.socket) -> None:
    """Send a byte now and then, for as long as somebody listens."""
    with suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        for _ in range(1_000):
            connection.sendall(b"x")
            time.sleep(0.05)


def test_a_head_that_drips_ends_with_the_deadline() -> None:
    """Bytes that keep coming do not move the deadline."""
    with serving(drip) as server:
        guard = EgressGuard({"127.0.0.1": AllowedHost(private=True, ports=(server.port,))})
        target = guard.judge(f"http://127.0.0.1:{server.port}/", 1)
        began = time.monotonic()

        with pytest.raises(Exception, match=r"did not answer within 0.3 s") as caught:
            fetch(target, None, 0.3)

    assert time.monotonic() - began < 30
    assert caught.value.metadata == {"reason": "no_answer"}  # type: ignore[attr-defined]


def test_the_callers_deadline_is_kept() -> None:
    """A call with an explicit deadline answers before it, with the tool's own word."""
    done = threading.Event()
    with serving(lambda connection: done.wait(60) and None) as server:
        result = ask(here(server), f"http://127.0.0.1:{server.port}/", timeout=0.6)
        done.set()

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "no_answer"


def test_a_body_that_stalls_is_shown_as_far_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """What came in time is told, and that it is not all."""
    done = threading.Event()

    def stall(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nfirst words")
        done.wait(10)

    monkeypatch.setattr(probe_url, "SECONDS", 0.4)
    for _ in range(9):
        result = answered(stall)
        if result.success:  # or the machine stood still before the first words came
            break
    done.set()

    assert "the rest did not come in time:\n> first" in result.content
    assert "words" not in result.content


def test_a_body_that_breaks_off_is_said() -> None:
    """A connection that ends before the body does is told."""
    result = answered(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nfirst words")

    assert "the connection ended before the body did" in result.content
    assert result.data is not None
    assert result.data["ended"] == "broken"


def endless(head: str) -> Callable[[socket.socket], None]:
    """Send 200 MB, unless the other side hangs up."""

    def send(connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode())
            block = b"word " * 20_000
            for _ in range(2_000):
                connection.sendall(block)

    return send


@pytest.mark.parametrize(
    "head",
    [
        "Content-Type: text/plain\r\nContent-Length: 200000000",
        "Content-Type: text/plain",
        "Content-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 200000000",
    ],
)
def test_a_huge_body_costs_little_memory(head: str) -> None:
    """Of 200 MB only the beginning is read, and an encoded one is not decoded (H30, S9)."""
    answered(page())
    tracemalloc.start()

    result = answered(endless(head))

    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.success
    assert most < 5_000_000
    assert len(result.content) < 4_000
    assert ("was not decoded" in result.content) is ("gzip" in head)


def test_the_excerpt_is_bounded_and_says_so() -> None:
    """At most 2 KB of text are shown, cut between characters, with a word that there is more."""
    result = answered(page("é".encode() * 3_000))

    assert result.data is not None
    assert result.data["excerpt"] == "é" * 1_024
    assert "The beginning of its text, from 6,000 bytes that were read:" in result.content


def test_markup_is_stripped() -> None:
    """Of a page its words are shown: no tags, comments, scripts, styles or entities."""
    source = (
        b"<!DOCTYPE html><html><head><title>T</title></head><body><!-- Aster9 -->"
        b"<script>var t='Aster9'</script><h1>Harbour &amp; <b>Museum</b></h1>\n\n"
        b"<p data-x='Aster9'>Open\n  daily</p> 3 < 4 <STYLE>Aster9</sTyle >end<br"
    )

    result = answered(page(source, kind="text/html; charset=utf-8"))

    assert result.data is not None
    assert result.data["excerpt"].split("\n") == [
        "Harbour & Museum",
        "Open",
        "daily",
        "3 < 4",
        "end",
    ]


@pytest.mark.parametrize("piece", ["<", "<a ", "<script>", "<!--", "&", "<!", "</", "<a href='"])
def test_hostile_markup_takes_linear_time(piece: str) -> None:
    """Sixty-four kilobytes of any beginning are stripped at once."""
    began = time.process_time()

    strip_markup(piece * (65_536 // len(piece)))

    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    "body",
    [
        b'{"user": "ada", "password": "Aster9Tulip77"}',
        b'[{"name": "api_key", "value": "Aster9Tulip77"}]',
        b"DB_PASSWORD = Aster9Tulip77",
        b'{"password": "Aster9Tulip77", no json',
        b"postgresql://app:Aster9Tulip77@db/shop",
        b"Authorization: Bearer Aster9Tulip77Aster9Tulip77",
        b'{"password": "Aster9Tulip77", "cut": ' + b"1" * 70_000,
    ],
)
def test_secrets_in_the_body_are_masked(body: bytes) -> None:
    """Keys of JSON, assignments and shapes hide their values in every channel (S8)."""
    kind = "application/json" if body[:1] in b"{[" else "text/plain"

    result = answered(page(body, kind=kind))

    assert "[masked]" in result.content
    assert CAN not in everything(result)


def test_a_secret_cut_in_two_is_not_shown() -> None:
    """The last word of a body that goes on is left out: half a secret has no shape."""
    half = b"x" * 10 + b" Bearer Aster9"

    text, complete = text_excerpt("text/plain", half, whole=False)

    assert (text, complete) == ("xxxxxxxxxx Bearer", False)


def test_half_a_character_in_masked_json_is_no_fault() -> None:
    """JSON may spell what no text can hold; it is shown as a sign for it."""
    body = b'{"password": "Aster9", "name": "\\ud800"}'

    text, complete = text_excerpt("application/json", body, whole=True)

    assert (text, complete) == ('{"password": "[masked]", "name": "?"}', True)


def test_cookies_are_named_not_shown() -> None:
    """Of a cookie name and attributes are told."""
    result = answered(page(b"", f"Set-Cookie: sid={CAN}; Path=/; HttpOnly", f"Set-Cookie: {CAN}"))

    assert "set-cookie: sid=[masked]; Path=/; HttpOnly" in result.content
    assert "set-cookie: [masked]\n" in result.content
    assert CAN not in everything(result)


def test_many_headers_are_counted() -> None:
    """More key headers than are shown are counted."""
    result = answered(page(b"", *(f"Via: {number}" for number in range(40))))

    assert "more: 12 of these" in result.content


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("image/png", b"\x89PNG", "The body is no text; 4 bytes were read."),
        ("application/octet-stream", b"text", "The body is no text; 4 bytes were read."),
        ("application/problem+json", b"{}", "> {}"),
        ("text/plain; charset=latin-1", b"caf\xe9", "> café"),
        ("text/plain; charset=utf-16-le", "né".encode("utf-16-le"), "> né"),
        ("text/plain; charset=punycode", b"abc", "> abc"),
        ("text/plain; charset=nope", b"abc\xff", "> abc\ufffd"),
        ("text/plain", b"a\nstatus: 200 OK\n", "> a\n> status: 200 OK"),
    ],
)
def test_kinds_of_bodies(kind: str, body: bytes, said: str) -> None:
    """Text is decoded by its charset and quoted line by line; what is no text is counted."""
    assert answered(page(body, kind=kind)).content.endswith(said)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """A certificate authority of the test's own."""
    return trustme.CA()


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Any) -> str:
    """Its certificate in a file."""
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    return str(file)


def test_tls_is_spoken_by_name(network: Network, authority: trustme.CA, trusted: str) -> None:
    """The certificate is checked for the name, and TLS and Host say it, at the judged address."""
    network.names[NAME] = [["8.8.8.8"]]
    with serving(page(), tls(authority, NAME)) as server:
        network.port = server.port
        hosts = {NAME: HostSettings(authorities=trusted)}
        result = ask(Workspace(hosts=hosts), f"https://{NAME}/")

        assert result.success, result
        assert network.connected == [("8.8.8.8", 443)]
        assert server.names == [NAME]
        assert f"\r\nHost: {NAME}\r\n" in server.heard[0]


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("other.example.test", True, "is for another name"),
        (NAME, False, "is not signed by an authority that is trusted here"),
    ],
)
def test_a_wrong_certificate_is_unavailable(
    network: Network,
    authority: trustme.CA,
    trusted: str,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    known: bool,
    said: str,
) -> None:
    """Another name or an unknown authority ends the call; the environment adds no trust (S9)."""
    monkeypatch.setenv("SSL_CERT_FILE", trusted)
    network.names[NAME] = [["8.8.8.8"]]
    with serving(page(), tls(authority, name)) as server:
        network.port = server.port
        hosts = {NAME: HostSettings(authorities=trusted if known else None)}
        result = ask(Workspace(hosts=hosts), f"https://{NAME}/")

        assert server.heard == []
    assert result.failure is not None
    assert (result.failure.code, result.failure.metadata["reason"]) == (
        "unavailable",
        "certificate",
    )
    assert said in result.failure.message


def test_authorities_that_cannot_be_read_are_unavailable(network: Network) -> None:
    """A missing file of authorities is said before anything is sent."""
    network.names[NAME] = [["8.8.8.8"]]
    hosts = {NAME: HostSettings(authorities="/nonexistent/ca.pem")}

    result = ask(Workspace(hosts=hosts), f"https://{NAME}/")

    assert result.failure is not None
    assert "authorities" in result.failure.message
    assert network.connected == []


def test_tls_to_what_speaks_none_is_unavailable() -> None:
    """A server without TLS is told apart from one with a wrong certificate."""
    with serving(page()) as server:
        result = ask(here(server), f"https://127.0.0.1:{server.port}/")

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "no_http"


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_time_is_no_answer(seconds: float) -> None:
    """Where no time is left nothing is connected to."""
    guard = EgressGuard({"127.0.0.1": AllowedHost(private=True)})
    connected: list[str] = []

    def connect(address: str, port: int, left: float) -> Any:
        connected.append(address)

    with pytest.raises(Exception, match="did not answer"):
        fetch(guard.judge("http://127.0.0.1/", 1), None, seconds, connect)

    assert connected == []


def test_time_that_runs_out_on_the_way_is_no_answer() -> None:
    """A connection that took all the time there was is not written to."""
    guard = EgressGuard({"127.0.0.1": AllowedHost(private=True)})

    def slow(address: str, port: int, left: float) -> Any:
        time.sleep(left + 0.01)
        return httpcore2.MockStream([])

    with pytest.raises(Exception, match="did not answer"):
        fetch(guard.judge("http://127.0.0.1/", 1), None, 0.05, slow)


def test_without_the_extra_it_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where httpx2 is not installed the extra is named, after the URL was judged."""
    for name in ("_fetch", "_network"):
        monkeypatch.delitem(sys.modules, f"toolseam_builtin.system.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "httpcore2", None)

    result = ask(Workspace(hosts={"8.8.8.8": HostSettings()}), "http://8.8.8.8/")

    assert result.failure is not None
    assert (result.failure.code, result.failure.metadata["reason"]) == (
        "unavailable",
        "missing_extra",
    )
    assert "toolseam[web]" in result.failure.message


def test_addresses_are_tried_in_turn() -> None:
    """Where the first address takes no connection, the next that was judged is asked."""
    with serving(page()) as server:
        workspace = Workspace(hosts={"localhost": HostSettings(private=True, ports=(server.port,))})

        assert ask(workspace, f"http://localhost:{server.port}/").success


@pytest.mark.parametrize("key", ["", "http://x/", "a b"])
def test_a_host_that_is_none_is_said(key: str) -> None:
    """A key of the operator's that no URL could name is `unavailable`."""
    result = ask(Workspace(hosts={key: HostSettings()}), f"http://{NAME}/")

    assert result.failure is not None
    assert result.failure.code == ErrorCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("zone", "read", "open_to"),
    [
        ("external_global", "source_code", False),
        ("external_eu", "source_code", True),
        ("private_hosted", "secret_adjacent", False),
        ("local", "secret_adjacent", True),
    ],
)
def test_a_host_is_held_to_its_zone(zone: str, read: str, open_to: bool) -> None:
    """What the run has read decides whether arguments may go to a host of that zone (H21, S9)."""
    reading = plugin(lambda arguments: fine(), name="read", data_class=read)
    with serving(page()) as server:
        settings = here(server, zone=zone)
        host = Host(tools=[probe_url, reading], plugin_settings=(settings,))
        session = host.session(actor=ADA, zone="local")
        session.call("read")

        result = session.call("probe_url", {"url": f"http://127.0.0.1:{server.port}/"})

        assert result.success is open_to
        assert len(server.heard) == open_to
    if result.failure is not None:
        assert result.failure.code == ErrorCode.PERMISSION_DENIED
        assert result.failure.metadata["reason"] == "sends_to"


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_probe(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = ask(Workspace(), f"http://{NAME}/", actor=actor).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
