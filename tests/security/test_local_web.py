"""S7, the half of MCP: what other people, pages and programs of this machine may ask of it."""

import json
import logging
import socket
from collections.abc import Iterator

import pytest

from support.mcp_http import BOTH, JSON, TOKEN, Place, opened, post, send, serving
from support.mcp_server import HELLO, call, host, text_of
from toolseam import Actor, Host
from toolseam_plugins.mcp import asgi, listen, names_of

LARGE = 10_000_000


@pytest.fixture(scope="module")
def tools() -> Iterator[Host]:
    """Return a host whose tools misbehave."""
    with host() as made:
        yield made


@pytest.fixture(scope="module")
def place(tools: Host) -> Iterator[Place]:
    """Return where a server listens that goes by its exact names."""
    names = names_of(listener := listen("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.close()
    app = asgi(tools, token=TOKEN, actor=Actor("client"), hosts=names, path="/mcp")
    with serving(app, port) as served:
        yield served


@pytest.fixture
def seen(tools: Host) -> Iterator[list[object]]:
    """Return what the host was asked during the test."""
    steps: list[object] = []
    end = tools.listen(steps.append)
    yield steps
    end()


REFUSED = [
    (421, {"host": "evil.test"}),
    (421, {"host": "localhost.evil.test"}),
    (421, {"host": ""}),
    (421, {"host": "127.0.0.1"}),
    (421, {"host": "127.0.0.1:1"}),
    (421, {"host": "127.0.0.1:"}),
    (403, {"origin": "null"}),
    (403, {"origin": "http://127.0.0.1:1"}),
    (403, {"origin": "http://evil.test"}),
    (403, {"origin": "file://"}),
    (403, {"sec_fetch_site": "cross-site"}),
    (403, {"sec_fetch_site": "same-site"}),
    (401, {"authorization": None}),
    (401, {"authorization": ""}),
    (401, {"authorization": "Bearer"}),
    (401, {"authorization": "Bearer " + TOKEN[:-1]}),
    (401, {"authorization": "Bearer " + TOKEN + "x"}),
    (401, {"authorization": "Basic " + TOKEN}),
    (401, {"authorization": TOKEN}),
    (401, {"authorization": None, "cookie": f"token={TOKEN}"}),
    (415, {"content_type": "text/plain"}),
    (415, {"content_type": "application/x-www-form-urlencoded"}),
    (415, {"content_type": "multipart/form-data; boundary=x"}),
    (415, {"content_type": None}),
    (415, {"content_type": "application/json-patch+json"}),
]


CASES = [
    (method, *case)
    for method in ("POST", "GET", "DELETE", "OPTIONS", "PUT")
    for case in REFUSED
    if method == "POST" or case[0] != 415
]


@pytest.mark.parametrize(("method", "status", "headers"), CASES, ids=str)
def test_a_request_from_elsewhere_gets_nowhere(
    place: Place, seen: list[object], method: str, status: int, headers: dict[str, str | None]
) -> None:
    """Host, Origin and token are asked of every method, before a byte of the body is read."""
    body = json.dumps(call(1, "echo", text="a")).encode()

    answer = send(place, method, body if method in {"POST", "PUT"} else b"", **headers)

    assert answer.status == status
    assert seen == []
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


class Bound(socket.socket):
    """A socket that says of itself that it listens somewhere."""

    def __init__(self, address: str, port: int) -> None:
        super().__init__()
        self._place = (address, port)

    def getsockname(self) -> tuple[str, int]:
        """Return the place."""
        return self._place


def test_a_server_goes_by_what_its_clients_say() -> None:
    """Nobody names the port 80, and everybody any other."""
    for address, port, names in (
        ("127.0.0.1", 80, {"127.0.0.1", "127.0.0.1:80", "localhost", "localhost:80"}),
        ("10.0.0.5", 80, {"10.0.0.5", "10.0.0.5:80"}),
        ("::1", 8710, {"[::1]:8710", "localhost:8710"}),
        ("10.0.0.5", 8080, {"10.0.0.5:8080"}),
    ):
        with Bound(address, port) as listener:
            assert names_of(listener) == names


def test_a_token_in_the_address_is_none(place: Place) -> None:
    """A token belongs in a header; in a query it would be in every log on the way."""
    answer = send(place, body=b"{}", path=f"/mcp?token={TOKEN}", authorization=None)

    assert answer.status == 401


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_refused(place: Place, method: str) -> None:
    """Only POST, GET and DELETE are MCP's."""
    answer = send(place, method)

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, POST, DELETE"


def test_other_paths_are_not_there(place: Place) -> None:
    """Nothing but the one path answers, with or without a token."""
    assert send(place, path="/").status == 404
    assert send(place, path="/mcp/", authorization=None).status == 404


def test_doubled_headers_are_no_header(place: Place, seen: list[object]) -> None:
    """Of two Hosts, Origins or tokens none is taken for the right one."""
    own = f"127.0.0.1:{place.port}"
    for name, first, second, status in (
        ("Host", own, "evil.test", b"421"),
        ("Origin", f"http://{own}", "null", b"403"),
        ("Authorization", f"Bearer {TOKEN}", f"Bearer {TOKEN}", b"401"),
    ):
        lines = [
            "POST /mcp HTTP/1.1",
            *([] if name == "Host" else [f"Host: {own}"]),
            *([] if name == "Authorization" else [f"Authorization: Bearer {TOKEN}"]),
            f"{name}: {first}",
            f"{name}: {second}",
            f"Content-Type: {JSON}",
            f"Accept: {BOTH}",
            "Content-Length: 2",
            "Connection: close",
            "",
            "{}",
        ]
        with socket.create_connection(("127.0.0.1", place.port), 10) as connection:
            connection.sendall("\r\n".join(lines).encode())
            answer = connection.recv(4_096)
        assert answer.split()[1] in {status, b"400"}
    assert seen == []


def test_a_body_is_read_to_one_megabyte_and_no_further(place: Place, seen: list[object]) -> None:
    """A larger body is refused by what it says of itself, and by what it turns out to be."""
    declared = send(place, body=b" " * LARGE)
    sent = 0

    def parts() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(LARGE // 10_000):
            sent += 1
            yield b" " * 10_000

    try:
        grown = send(place, body=parts()).status
    except (BrokenPipeError, ConnectionResetError):
        grown = 413

    assert (declared.status, grown) == (413, 413)
    assert seen == []


def test_the_own_page_may_ask(place: Place) -> None:
    """An Origin that is the server's own is no foreign one; the token is needed all the same."""
    name = f"localhost:{place.port}"
    own = {"host": name, "origin": f"http://{name}"}

    assert post(place, HELLO, **own, sec_fetch_site="same-origin").status == 200
    assert post(place, HELLO, **own, authorization=None).status == 401


@pytest.mark.parametrize("port", ["1", "", "80"])
def test_a_page_of_another_port_is_a_foreign_one(tools: Host, port: str) -> None:
    """Names without a port let no page in but that of the port that is asked."""
    with serving(asgi(tools, token=TOKEN)) as served:
        for name in ("127.0.0.1", "localhost", "[::1]"):
            for scheme in ("http", "https"):
                origin = f"{scheme}://{name}:{port}"
                assert post(served, HELLO, origin=origin).status == 403
        own = f"Localhost:{served.port}"
        assert post(served, HELLO, host=own, origin=f"https://{own.lower()}").status == 200


def test_no_log_line_holds_the_token(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """Neither an answered nor a refused request leaves the token in a log."""
    with caplog.at_level(logging.DEBUG):
        session = opened(place)
        told = post(place, call(1, "echo", text="s3cret text"), mcp_session_id=session)
        post(place, HELLO, authorization=f"Bearer {TOKEN}wrong")

    assert text_of(told.message) == "s3cret text"
    assert TOKEN not in caplog.text


def test_a_second_server_of_the_machine_needs_a_token_of_its_own(tools: Host) -> None:
    """A token opens the server that it was made for, and no other."""
    with serving(asgi(tools, token="other-" * 6)) as other:
        assert post(other, HELLO).status == 401
