"""An MCP server on a loopback port, and requests to it in raw words."""

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

TOKEN = "t0ken-" * 6
JSON = "application/json"
BOTH = "application/json, text/event-stream"


class Place(NamedTuple):
    """Where a server listens."""

    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/mcp"


@contextlib.contextmanager
def serving(app: Any, port: int = 0) -> Iterator[Place]:
    """Serve an application in a thread of its own until the end of the block."""
    import uvicorn

    from toolseam_plugins.mcp import listen

    listener = listen("127.0.0.1", port)
    config = uvicorn.Config(
        app, log_config=None, ws="none", lifespan="auto", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    until = time.monotonic() + 10
    while not server.started and time.monotonic() < until:
        time.sleep(0.005)
    try:
        yield Place(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        assert not thread.is_alive()


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The one message of the body: JSON, or the last event of a stream."""
        text = self.body.decode()
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = [line for line in text.splitlines() if line.startswith("data: {")][-1][6:]
        found: dict[str, Any] = json.loads(text)
        return found


def send(
    place: Place,
    method: str = "POST",
    body: bytes | Iterator[bytes] = b"",
    path: str = "/mcp",
    **headers: str | None,
) -> Answer:
    """Send a request with a token and the headers of MCP; None leaves a header out."""
    sent: Mapping[str, str | None] = {
        "authorization": f"Bearer {TOKEN}",
        "accept": BOTH,
        "content-type": JSON if method == "POST" else None,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host="host" in sent, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if isinstance(body, bytes):
            connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
        else:
            connection.putheader("transfer-encoding", "chunked")
            connection.endheaders(body, encode_chunked=True)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())
    finally:
        connection.close()


def post(place: Place, message: object, **headers: str | None) -> Answer:
    """Send a message."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return send(place, body=body, **headers)


def opened(place: Place, **headers: str | None) -> str:
    """Begin a session and return its id."""
    from support.mcp_server import HELLO, READY

    answer = post(place, HELLO, **headers)
    assert answer.status == 200, answer
    session = answer.headers["mcp-session-id"]
    assert post(place, READY, mcp_session_id=session, **headers).status == 202
    return session
