import json
import ssl
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trustme

from support.mcp_stub import declared, mounted, tool
from support.mcp_web import VERSION, Heard, Said, says, streams, web
from toolseam import Actor, Host, ToolResult, hookimpl
from toolseam._settings_keys import OperatorSettings
from toolseam._settings_structure import structure
from toolseam_plugins.mcp._mount_source import Mounts

ADA = Actor("ada", {"admin"})
EVENTS = {"Content-Type": "text/event-stream"}


def call(url: str, times: int = 1, **more: Any) -> list[ToolResult]:
    """Call the one tool of a server in a host that mounts it."""
    said = {"url": url, "tools": declared(tool()), **more}
    with mounted({"depot": said}) as host:
        return [host.call("depot__find", {"text": "x"}, actor=ADA) for _ in range(times)]


def reason(result: ToolResult) -> tuple[str, str]:
    """Return code and reason of a failure."""
    assert result.failure is not None
    return result.failure.code, result.failure.metadata["reason"]


def test_a_server_is_called_by_url(monkeypatch: pytest.MonkeyPatch) -> None:
    """Session, version and token go with every request; the session is given back."""
    monkeypatch.setenv("DEPOT_TOKEN", "t-123")
    with web() as server:
        (result,) = call(server.url, token_env="DEPOT_TOKEN")
        heard = server.heard

    first, *rest = heard
    assert result.content == "answered"
    assert [each.asks for each in heard] == [
        *("initialize", "notifications/initialized", "tools/list", "tools/call", ""),
    ]
    assert heard[-1].method == "DELETE"
    assert "mcp-session-id" not in first.headers
    assert {each.headers["mcp-session-id"] for each in rest} == {"s-1"}
    assert {each.headers["mcp-protocol-version"] for each in rest} == {VERSION}
    assert {each.headers["authorization"] for each in heard} == {"Bearer t-123"}
    assert {each.headers["accept-encoding"] for each in heard} == {"identity"}


def test_an_answer_may_be_a_stream(tmp_path: Path) -> None:
    """Progress and requests of the server on it are taken; what comes after the answer is not."""
    ask = {"jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": {}}

    def answer(heard: Heard) -> Said | None:
        return streams(heard, ask, None, {"more": 1}) if heard.asks == "tools/call" else None

    with web(answer) as server:
        (result,) = call(server.url)
        refused = [
            each.message for each in server.heard if each.message and each.message.get("error")
        ]

    assert result.content == "streamed"
    assert [(each["id"], each["error"]["code"]) for each in refused] == [(9, -32601)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Said(302, {"Location": "http://127.0.0.1:1/"}), ("unavailable", "redirect")),
        (Said(307, {"Location": "/other"}), ("unavailable", "redirect")),
        (Said(401), ("unavailable", "unauthorized")),
        (Said(429), ("unavailable", "http_status")),
        (Said(500), ("unavailable", "http_status")),
        (Said(200), ("unavailable", "protocol")),
        (Said(200, {"Content-Type": "text/html"}, (b"<p>",)), ("unavailable", "protocol")),
        (Said(200, {"Content-Type": "application/json"}, (b"[",)), ("unavailable", "protocol")),
        (Said(200, {"Content-Type": "application/json"}), ("unavailable", "protocol")),
        (
            Said(200, {"Content-Type": "application/json", "Content-Encoding": "gzip"}, (b"x",)),
            ("unavailable", "protocol"),
        ),
        (
            Said(200, {"Content-Type": "text/event-stream"}, (b"data: {}\n\n",)),
            ("unavailable", "protocol"),
        ),
        (
            Said(200, {"Content-Type": "application/json", "Content-Length": "9"}, (b"{",)),
            ("unavailable", "connection_lost"),
        ),
        (
            Said(200, {"Content-Type": "application/json"}, (b'{"a": "', *[b"x" * 100_000] * 30)),
            ("unavailable", "too_large"),
        ),
        (
            Said(200, {"Content-Type": "text/event-stream"}, (b"data: ", *[b"x" * 100_000] * 30)),
            ("unavailable", "too_large"),
        ),
        (
            Said(200, {"Content-Type": "text/event-stream"}, (b"data: x\n" * 5_000,) * 80),
            ("unavailable", "too_large"),
        ),
    ],
)
def test_what_is_no_answer_is_typed(said: Said, expected: tuple[str, str]) -> None:
    """Each is told by its reason; a redirect is not followed, and nothing is asked twice."""
    with web(lambda heard: said if heard.asks == "tools/call" else None) as server:
        (result,) = call(server.url)
        asked = server.asked("tools/call")

    assert reason(result) == expected
    assert len(asked) == 1


@pytest.mark.parametrize("ends", [1, 2])
def test_the_rest_of_a_stream_that_ended_is_asked_for(ends: int) -> None:
    """By the name of its last event, after the time that the server wants; the call goes once."""
    asks: list[Heard] = []

    def answer(heard: Heard) -> Said | None:
        rest = Said(200, EVENTS, (f"id: e{len(asks)}\nretry: 20\ndata:\n\n".encode(),))
        if heard.asks == "tools/call":
            asks.append(heard)
            return rest
        if heard.method == "GET":
            asks.append(heard)
            return streams(asks[0], None) if len(asks) > ends else rest
        return None

    with web(answer) as server:
        (result,) = call(server.url)

    assert result.content == "streamed"
    assert [each.method for each in asks] == ["POST", *["GET"] * ends]
    assert [each.headers.get("last-event-id") for each in asks] == [None, "e0", "e1"][: ends + 1]
    assert {each.headers["mcp-session-id"] for each in asks} == {"s-1"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (Said(405), ("unavailable", "connection_lost")),
        (Said(302, {"Location": "http://127.0.0.1:1/"}), ("unavailable", "connection_lost")),
        (Said(200, {"Content-Type": "text/html"}), ("unavailable", "connection_lost")),
        (Said(200, EVENTS), ("unavailable", "protocol")),
    ],
)
def test_a_stream_that_never_goes_on_is_given_up(more: Said, expected: tuple[str, str]) -> None:
    """After twenty streams, or one that is none, the call has failed."""
    first = Said(200, EVENTS, (b"id: e1\nretry: 1\ndata:\n\n",))

    def answer(heard: Heard) -> Said | None:
        return more if heard.method == "GET" else first if heard.asks == "tools/call" else None

    with web(answer) as server:
        (result,) = call(server.url)
        asked = [each for each in server.heard if each.method == "GET"]

    assert reason(result) == expected
    assert len(asked) in {1, 20}


def test_an_error_of_the_protocol_may_come_with_a_status() -> None:
    """Its number counts, not the status."""
    body = b'{"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "text: too short"}}'
    said = Said(400, {"Content-Type": "application/json"}, (body,))

    with web(lambda heard: said if heard.asks == "tools/call" else None) as server:
        (result,) = call(server.url)

    assert reason(result) == ("invalid_arguments", "remote_error")


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_is_not_taken_is_told_by_the_status(status: int) -> None:
    """An error of the protocol below it, with our number even, says no other thing."""
    with web(lambda heard: refuses(heard, status)) as server:
        (result,) = call(server.url)

    assert reason(result) == ("unavailable", "unauthorized")


def refuses(heard: Heard, status: int) -> Said | None:
    """Answer a call with a status, and with an error of the protocol that bears its number."""
    if heard.asks != "tools/call":
        return None
    assert heard.message is not None
    error = {"code": -32600, "message": "Session not found"}
    body = json.dumps({"jsonrpc": "2.0", "id": heard.message["id"], "error": error}).encode()
    return Said(status, {"Content-Type": "application/json"}, (body,))


@pytest.mark.parametrize("worded", [False, True])
def test_a_session_that_is_forgotten_is_begun_again(worded: bool) -> None:
    """The call that met it fails, having done nothing; the next one has another session."""
    times = iter(range(9))

    def answer(heard: Heard) -> Said | None:
        if heard.asks != "tools/call" or next(times):
            return None
        return refuses(heard, 404) if worded else Said(404)

    with web(answer) as server:
        first, second = call(server.url, 2)

    assert reason(first) == ("unavailable", "connection_lost")
    assert first.failure is not None
    assert first.failure.retriable
    assert second.content == "answered"
    assert len(server.asked("initialize")) == 2


def test_a_write_that_met_a_fault_of_the_server_counts_as_unknown() -> None:
    """A status of 500 does not say that nothing happened."""
    writes = {"effect": "idempotent_write", "requires_admin": False}
    said = {"tools": declared(tool(), **writes)}
    with (
        web(lambda heard: Said(500) if heard.asks == "tools/call" else None) as server,
        mounted({"depot": {"url": server.url, **said}}) as host,
    ):
        approval = host.approve(host.preview("depot__find", {"text": "x"}, actor=ADA), actor=ADA)
        result = host.call("depot__find", {"text": "x"}, actor=ADA, approval=approval)
        step = host.steps[-1]

    assert reason(result) == ("execution_error", "http_status")
    assert step.effect == "unknown"


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    """The deadline holds over HTTP too, and the server hears of it."""

    def answer(heard: Heard) -> Said | None:
        if heard.asks == "tools/call":
            time.sleep(1)
        return None

    with web(answer) as server:
        (result,) = call(server.url, timeout_s=0.3)
        time.sleep(0.1)

    assert result.failure is not None
    assert result.failure.code == "timeout"
    assert server.asked("notifications/cancelled")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"url": "http://10.0.0.1/mcp"}, "outside what may be reached"),
        ({"url": "http://169.254.169.254/mcp", "private": True}, "outside what may be reached"),
        ({"url": "http://2130706433/mcp"}, "no http or https address"),
        ({"url": "http://ada:x@127.0.0.1/mcp"}, "no http or https address"),
        ({"url": "file:///etc/passwd"}, "no http or https address"),
        ({"url": "http://127.0.0.1:1/mcp"}, "no connection"),
        ({"url": "http://example.test/mcp", "token_env": "DEPOT_TOKEN"}, "https alone"),
        ({"url": "http://127.0.0.1/mcp", "token_env": "NO_SUCH"}, "NO_SUCH is not set"),
        ({"url": "https://127.0.0.1:1/mcp", "authorities": "/no/such"}, "`authorities`"),
    ],
)
def test_an_address_that_may_not_be_reached_is_not(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, Any], told: str
) -> None:
    """The host is judged before anything is sent, a credential above all."""
    monkeypatch.setenv("DEPOT_TOKEN", "t-123")

    with mounted({"depot": said}) as host:
        lines = [text for _, _, text in host.health()]

    assert told in lines[0]


def test_a_certificate_is_of_the_authority_that_is_named(tmp_path: Path) -> None:
    """With the operator's PEM file the server is reached, without it it is not."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    file = tmp_path / "authorities.pem"
    authority.cert_pem.write_to_path(str(file))

    with web(tls=context) as server:
        (trusted,) = call(server.url, authorities=str(file))
        (result,) = call(server.url)

    assert trusted.content == "answered"
    assert reason(result) == ("unavailable", "certificate")


def test_a_list_that_changes_on_a_stream_is_heard(tmp_path: Path) -> None:
    """A notification beside an answer makes the next call look first, and send nothing."""
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    lists = iter(range(9))

    def answer(heard: Heard) -> Said | None:
        if heard.asks == "tools/call":
            return streams(heard, changed, None)
        if heard.asks == "tools/list" and next(lists):
            return says({"tools": [tool(description="Other.")]}, heard)
        return None

    with web(answer) as server:
        first, second = call(server.url, 2)

    assert first.content == "streamed"
    assert reason(second) == ("unavailable", "definition_changed")
    assert len(server.asked("tools/call")) == 1


def test_a_list_by_url_is_looked_at_again_after_a_while() -> None:
    """No stream tells of a change between calls, so that an old list is not relied on."""
    lists = iter(range(9))

    def answer(heard: Heard) -> Said | None:
        if heard.asks == "tools/list" and next(lists):
            return says({"tools": [tool(description="Other.")]}, heard)
        return None

    with web(answer) as server:
        said = {"url": server.url, "tools": declared(tool())}
        source = Mounts(structure({"mounts": {"depot": said}}, OperatorSettings, None).mounts)
        maker = SimpleNamespace(toolseam_tools=hookimpl(lambda: source))
        with Host(plugins=[maker], settings={"enable": ["depot__find"]}) as host:
            first = host.call("depot__find", {"text": "x"}, actor=ADA)
            source.mounts[0].fresh_s = 0.0
            second = host.call("depot__find", {"text": "x"}, actor=ADA)

    assert first.content == "answered"
    assert reason(second) == ("unavailable", "definition_changed")


def test_a_version_that_nobody_knows_is_not_spoken() -> None:
    """The mount is not available, and the host starts."""

    def answer(heard: Heard) -> Said | None:
        if heard.asks == "initialize":
            return says({"protocolVersion": "1.0", "capabilities": {}}, heard)
        return None

    with web(answer) as server:
        (result,) = call(server.url)

    assert reason(result) == ("unavailable", "protocol")
    assert server.asked("tools/list") == []
