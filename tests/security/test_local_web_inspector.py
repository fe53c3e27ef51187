"""S7: the inspector on 127.0.0.1, asked by whoever can reach that: other users, and every page.

Each request is sent as raw bytes. The half of S7 that needs a browser is `tests/browser/`, the
stdio server of the last row is a test of MCP.
"""

import json
import logging
import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from support.audit import echo, waiting, writer
from support.inspecting import Page, inspected
from toolseam import Host

JSON = {"Content-Type": "application/json"}
GETS = [
    *("/", "/static/app.js", "/api/host", "/api/tools", "/api/tools/echo", "/api/runs"),
    *("/api/runs/{run}", "/api/steps/{run}:1", "/api/steps/{run}:1/artifacts/0.csv"),
    *("/api/codes", "/api/waiting", "/api/waiting/{run}", "/api/waiting/{run}/0", "/api/stream"),
]
SECRETS = GETS[2:]
POSTS = {
    "/api/enter": {"token": "x"},
    "/api/preview": {"tool": "echo", "arguments_json": '{"text": "a"}'},
    "/api/call": {"tool": "echo", "arguments_json": '{"text": "a"}'},
    "/api/revise": {"run": "{run}", "position": 0},
    "/api/decide": {"run": "{run}", "position": 0, "verdict": "deny"},
}
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Spied:
    """A page whose host counts every step, and has a run that waits."""

    def __init__(self, page: Page, run_id: str) -> None:
        self.page = page
        self.run_id = run_id
        self.steps: list[Any] = []
        page.host.listen(self.steps.append)

    def get(self, path: str, **headers: str) -> Any:
        """Send a GET as somebody who may come in, with other headers."""
        given = {"Host": f"127.0.0.1:{self.page.port}", **self.page.admitted(), **headers}
        return self.page.raw("GET", path.replace("{run}", self.run_id), given)

    def post(self, path: str, **headers: str) -> Any:
        """Send a POST as somebody who may come in, with other headers."""
        body = json.dumps(POSTS[path]).replace("{run}", self.run_id).encode()
        given = {"Host": f"127.0.0.1:{self.page.port}", **self.page.admitted(), **JSON, **headers}
        given = {"Content-Length": str(len(body)), **given}
        if not given["Content-Type"]:
            del given["Content-Type"]
        return self.page.raw("POST", path, given, body)

    def untouched(self) -> bool:
        """Tell whether no tool ran and nobody decided."""
        still = self.page.host.waiting_runs()
        return self.steps == [] and [run.decided for run in still] == [frozenset()]


@pytest.fixture(scope="module")
def spied() -> Iterator[Spied]:
    """The page of a host with a tool that reads and a run that waits for a person."""
    done: list[str] = []
    tools = [echo(), writer(done)]
    with (
        Host(tools=tools, settings={"enable": ["write"]}) as host,
        inspected(host) as page,
    ):
        yield Spied(page, waiting(host).id)
    assert done == []


def foreign(headers: dict[str, str]) -> Any:
    """Name a parameter by its header."""
    return pytest.param(headers, id=", ".join(f"{k}: {v}" for k, v in headers.items()))


FOREIGN = [
    foreign({"Host": "evil.test"}),
    foreign({"Host": "localhost.evil.test"}),
    foreign({"Host": "127.0.0.1"}),
    foreign({"Host": ""}),
    foreign({"Origin": "null"}),
    foreign({"Origin": "http://evil.test"}),
    foreign({"Origin": "http://127.0.0.1:1"}),
    foreign({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
    foreign({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}),
    foreign(
        {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "iframe",
        }
    ),
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", GETS)
def test_nothing_is_read_from_elsewhere(spied: Spied, path: str, headers: dict[str, str]) -> None:
    """A wrong Host, Origin or site is refused on every route, with the cookie or without."""
    assert spied.get(path, **headers).status == 403


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", POSTS)
def test_nothing_is_sent_from_elsewhere(spied: Spied, path: str, headers: dict[str, str]) -> None:
    """Not a byte of the body is looked at."""
    assert spied.post(path, **headers).status == 403
    assert spied.untouched()


def test_a_request_without_a_host_is_refused(spied: Spied) -> None:
    """HTTP asks for one, and the server says so itself."""
    assert spied.page.raw("GET", "/", {}).status == 400


def test_a_link_that_is_followed_opens_the_page_and_nothing_else(spied: Spied) -> None:
    """From a file or a terminal in a browser a person comes to the page, which holds nothing."""
    visit = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }

    assert spied.get("/", **visit).status == 200
    assert spied.get("/?token=x", **visit).status == 403
    assert {spied.get(path, **visit).status for path in GETS[1:]} == {403}
    assert {spied.post(path, **visit).status for path in POSTS} == {403}
    assert spied.untouched()


OUTSIDE = [
    foreign({"Cookie": "", "X-Toolseam-Key": ""}),
    foreign({"Cookie": ""}),
    foreign({"X-Toolseam-Key": ""}),
    foreign({"X-Toolseam-Key": "guessed"}),
    foreign({"Cookie": "toolseam=guessed", "X-Toolseam-Key": ""}),
]


@pytest.mark.parametrize("headers", OUTSIDE)
@pytest.mark.parametrize("path", SECRETS)
def test_nobody_reads_who_did_not_come_in(spied: Spied, path: str, headers: dict[str, str]) -> None:
    """Cookie and key are needed, both: cookies are sent to every port of an address."""
    refused = spied.get(path, **headers)

    assert (refused.status, refused.json["error"]["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("headers", OUTSIDE)
@pytest.mark.parametrize("path", list(POSTS)[1:])
def test_nobody_acts_who_did_not_come_in(spied: Spied, path: str, headers: dict[str, str]) -> None:
    """No tool runs and nothing is decided."""
    assert spied.post(path, **headers).status == 401
    assert spied.untouched()


def test_a_token_in_the_query_is_nothing(spied: Spied) -> None:
    """The link has it behind `#`, and it is taken from nowhere else."""
    token = spied.page.app.new_link().partition("#")[2]
    for path in SECRETS:
        assert spied.get(f"{path}?token={token}", Cookie="").status == 401

    assert spied.page.app._access.enter(token) is not None


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
)
@pytest.mark.parametrize("path", POSTS)
def test_only_json_is_taken(spied: Spied, path: str, kind: str) -> None:
    """What a form of a foreign page could send is not looked at."""
    refused = spied.post(path, **{"Content-Type": kind})

    assert (refused.status, spied.untouched()) == (415, True)


@pytest.mark.parametrize("path", POSTS)
def test_a_body_of_ten_megabytes_is_refused_unread(spied: Spied, path: str) -> None:
    """Its length says it, and nothing of it is kept."""
    given = {"Host": f"127.0.0.1:{spied.page.port}", **spied.page.admitted(), **JSON}
    told = spied.page.raw("POST", path, {**given, "Content-Length": "10000000"})

    assert (told.status, told.json["error"]["code"]) == (413, "too_large")


def test_a_body_that_hides_its_length_is_refused_where_it_gets_too_long(spied: Spied) -> None:
    """Chunks are counted while they come."""
    part = b"186a0\r\n" + b" " * 100_000 + b"\r\n"
    given = {"Host": f"127.0.0.1:{spied.page.port}", **spied.page.admitted(), **JSON}
    body = part * 11 + b"0\r\n\r\n"
    told = spied.page.raw("POST", "/api/call", {**given, "Transfer-Encoding": "chunked"}, body)

    assert (told.status, spied.untouched()) == (413, True)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_are_not_answered(spied: Spied, method: str) -> None:
    """A preflight gets no leave either."""
    given = {"Host": f"127.0.0.1:{spied.page.port}", **spied.page.admitted()}
    told = spied.page.raw(method, "/api/call", given)

    assert told.status == 405
    assert not any(name.startswith("access-control") for name in told.headers)


@pytest.mark.parametrize("path", POSTS)
def test_what_changes_something_is_no_get(spied: Spied, path: str) -> None:
    """An address alone does nothing."""
    assert spied.get(path).status == 405
    assert spied.untouched()


def test_reading_changes_nothing(spied: Spied) -> None:
    """Every route is read, and no step, no decision and no session came of it."""
    before = spied.page.get("/api/runs")
    for path in SECRETS[:-1]:
        assert spied.get(path).status in {200, 404}

    assert spied.page.get("/api/runs") == before
    assert spied.untouched()


def test_a_link_is_good_for_one_visit(spied: Spied) -> None:
    """The second one is told that it was used."""
    token = spied.page.app.new_link().partition("#")[2]
    first = spied.page.client.post("/api/enter", json={"token": token})
    again = spied.page.client.post("/api/enter", json={"token": token})

    assert (first.status_code, again.status_code) == (200, 401)
    spied.page.client.headers["X-Toolseam-Key"] = first.json()["key"]


def test_the_cookie_is_for_the_server_alone(spied: Spied) -> None:
    """No script reads it, no other site sends it, and it ends with the browser."""
    token = spied.page.app.new_link().partition("#")[2]
    entered = spied.page.client.post("/api/enter", json={"token": token})
    spied.page.client.headers["X-Toolseam-Key"] = entered.json()["key"]
    given = re.sub(r"=[^;]+", "=…", entered.headers["set-cookie"], count=1)

    assert re.fullmatch(r"toolseam-[0-9a-f]{8}=…; HttpOnly; Path=/; SameSite=strict", given)


@pytest.mark.parametrize("path", [*GETS[:-1], "/nothing"])
def test_every_answer_bears_the_headers(spied: Spied, path: str) -> None:
    """Pages, JSON and refusals alike; a refusal is JSON."""
    answers = [spied.get(path), spied.get(path, Host="evil.test"), spied.get(path, Cookie="")]

    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert answers[1].headers["content-type"] == "application/json"


def test_the_stream_bears_the_headers(spied: Spied) -> None:
    """It is JSON, a line each, and nothing that a page could load as a script."""
    with spied.page.client.stream("GET", "/api/stream") as stream:
        assert {name: stream.headers.get(name) for name in HEADERS} == HEADERS
        assert stream.headers["content-type"].startswith("application/x-ndjson")
        assert next(stream.iter_lines()) == '{"kind":"hello"}'


def test_a_header_that_comes_twice_is_refused(spied: Spied) -> None:
    """Two servers might read two of them."""
    own = f"127.0.0.1:{spied.page.port}"
    twice = {"Host": own, "Origin": f"http://{own}\r\nOrigin: http://evil.test"}

    assert spied.page.raw("GET", "/", twice).status == 400


def test_no_file_but_those_of_the_page_is_served(spied: Spied) -> None:
    """Neither a module beside them nor anything above them."""
    for name in ("_app.py", "../_app.py", "..%2f_app.py", "%2e%2e/_app.py", "/etc/passwd"):
        assert spied.get(f"/static/{name}").status == 404


def test_the_token_is_in_no_log_line(
    spied: Spied, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Used, refused or malformed, it is written nowhere."""
    token = spied.page.app.new_link().partition("#")[2]
    with caplog.at_level(logging.DEBUG):
        spied.page.client.post("/api/enter", json={"token": token + "x"})
        spied.page.client.post("/api/enter", content=f'{{"token": "{token}"'.encode(), headers=JSON)
        spied.get(f"/?token={token}")
        entered = spied.page.client.post("/api/enter", json={"token": token})
    spied.page.client.headers["X-Toolseam-Key"] = entered.json()["key"]

    told = "".join(capfd.readouterr()) + "".join(
        each.getMessage() for each in caplog.records if not each.name.startswith("http")
    )
    assert entered.status_code == 200
    assert token not in told


def test_an_endless_body_is_cut_off(spied: Spied) -> None:
    """A little more than is taken is passed over, and the rest is not waited for."""
    part = b"186a0\r\n" + b" " * 100_000 + b"\r\n"
    given = {"Host": f"127.0.0.1:{spied.page.port}", **spied.page.admitted(), **JSON}
    sent = {**given, "Transfer-Encoding": "chunked"}
    told = spied.page.raw("POST", "/api/call", sent, part * 20 + b"186a0\r\n ")

    assert (told.status, spied.untouched()) == (413, True)


def test_a_body_that_breaks_off_is_nothing(spied: Spied, capfd: pytest.CaptureFixture[str]) -> None:
    """Whoever leaves while sending is no fault of the page, and no line of its log."""
    own = {"Host": f"127.0.0.1:{spied.page.port}", **spied.page.admitted(), **JSON}
    head = "".join(f"{k}: {v}\r\n" for k, v in {**own, "Content-Length": "90"}.items())
    with socket.create_connection(("127.0.0.1", spied.page.port), timeout=10) as line:
        line.sendall(f"POST /api/call HTTP/1.1\r\n{head}\r\n{{".encode())
    spied.page.get("/api/host")

    assert spied.untouched()
    assert "Traceback" not in capfd.readouterr().err
