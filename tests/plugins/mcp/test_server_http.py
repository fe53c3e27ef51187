"""The MCP server over HTTP: whose sessions they are, and what reaches a tool."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mcp_http import TOKEN, Place, opened, post, send, serving
from support.mcp_server import CANARY, HELLO, call, host, request, text_of
from toolseam import Actor, Host
from toolseam_plugins.mcp import asgi
from toolseam_plugins.mcp._server_peer import IDLE_S


@pytest.fixture(scope="module")
def tools() -> Iterator[Host]:
    """Return a host whose tools misbehave."""
    with host() as made:
        yield made


@pytest.fixture(scope="module")
def place(tools: Host) -> Iterator[Place]:
    """Return where a server with one token listens."""
    with serving(asgi(tools, token=TOKEN, actor=Actor("client"), path="/mcp")) as served:
        yield served


def test_a_call_in_a_session_is_answered(place: Place) -> None:
    """A client that began a session gets its answers as events, and nothing run-only in them."""
    session = opened(place)
    answer = post(place, call(1, "full"), mcp_session_id=session)

    assert answer.message["result"] == {
        "content": [{"type": "text", "text": "plain"}],
        "isError": False,
    }
    assert CANARY.encode() not in answer.body


def test_hostile_arguments_get_the_answer_that_they_get_everywhere(place: Place) -> None:
    """What the seam refuses over standard streams it refuses here, by the same code."""
    session = opened(place)
    head = b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":'
    for text in (b'{"text":"\\ud800"}', b"[" * 2_000 + b"]" * 2_000, b'{"count":NaN}', b"7"):
        answer = post(place, head + text + b"}}", mcp_session_id=session)
        assert answer.status == 200
        assert answer.message["id"] == "x"
        assert answer.message["result"]["_meta"]["toolseam/code"] == "invalid_arguments"


@pytest.mark.parametrize("body", [b"garbage", b"\xff", b"[]", b"", b'{"jsonrpc":"2.0","id":5}'])
def test_a_body_that_is_no_message_is_an_error(place: Place, body: bytes) -> None:
    """A body that is no message is 400, with an error of the protocol."""
    answer = post(place, body)

    assert answer.status == 400
    assert answer.message["error"]["code"] in {-32700, -32600}


def test_an_ended_session_is_gone(place: Place) -> None:
    """After DELETE its id is as good as never given out."""
    session = opened(place)
    assert send(place, "DELETE", mcp_session_id=session).status == 200

    assert post(place, call(1, "echo"), mcp_session_id=session).status == 404
    assert post(place, call(1, "echo"), mcp_session_id="0" * 32).status == 404


def test_each_session_has_its_own_withdrawals(place: Place, tools: Host) -> None:
    """What a tool did to one conversation it did not do to another."""
    first, second = opened(place), opened(place)
    post(place, call(1, "leaks"), mcp_session_id=first)
    again = post(place, call(2, "leaks"), mcp_session_id=first).message
    listed = [
        post(place, request(3, "tools/list"), mcp_session_id=session).message["result"]["tools"]
        for session in (first, second)
    ]

    assert "will not run again" in text_of(again)
    assert ["leaks" in {tool["name"] for tool in told} for told in listed] == [False, True]


def by_name(scope_request: Any) -> Actor | None:
    """Return who a request says that he is."""
    name = scope_request.headers.get("x-person", "")
    return Actor(name) if name else None


def test_a_session_belongs_to_who_began_it(tools: Host) -> None:
    """Another person with the session's id gets what somebody with an invented one gets."""
    with serving(asgi(tools, actor_from=by_name)) as served:
        session = opened(served, x_person="ada")

        mine = post(served, call(1, "echo", text="a"), mcp_session_id=session, x_person="ada")
        theirs = post(served, call(1, "echo", text="a"), mcp_session_id=session, x_person="bob")
        deleted = send(served, "DELETE", mcp_session_id=session, x_person="bob")
        nobody = post(served, call(1, "echo"), mcp_session_id=session)
        still = post(served, call(1, "echo", text="a"), mcp_session_id=session, x_person="ada")

    assert text_of(mine.message) == text_of(still.message) == "a"
    assert [theirs.status, deleted.status, nobody.status] == [404, 404, 401]


def test_an_application_may_wait_to_know_who_asks(tools: Host) -> None:
    """`actor_from` may be async, and the step bears the name that it gave."""

    async def looked_up(scope_request: Any) -> Actor | None:
        await asyncio.sleep(0)
        return by_name(scope_request)

    seen: list[Any] = []
    end = tools.listen(seen.append)
    with serving(asgi(tools, actor_from=looked_up)) as served:
        session = opened(served, x_person="ada")
        post(served, call(1, "echo"), mcp_session_id=session, x_person="ada")
    end()

    assert [step.actor for step in seen] == ["ada"]


def test_it_can_be_mounted_in_an_application(tools: Host) -> None:
    """Mounted below a path it needs no lifespan of its own."""
    from starlette.applications import Starlette
    from starlette.routing import Mount

    app = Starlette(routes=[Mount("/tools", asgi(tools, token=TOKEN, actor=Actor("client")))])
    with serving(app) as served:
        body = b'{"jsonrpc":"2.0","id":1,"method":"nonsense"}'
        answer = send(served, body=body, path="/tools/mcp")
        refused = send(served, body=body, path="/tools/mcp", authorization=None)

    assert answer.status == 400
    assert refused.status == 401


def test_after_its_end_it_refuses(tools: Host) -> None:
    """An application that was closed answers 503, and closing it twice changes nothing."""
    app = asgi(tools, token=TOKEN)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}"}

    async def send_(message: Any) -> None:
        sent.append(message)

    async def drive() -> None:
        await app.aclose()
        await app.aclose()
        headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + TOKEN.encode())]
        await app(
            {"type": "http", "method": "GET", "path": "/", "headers": headers}, receive, send_
        )
        await app({"type": "websocket", "path": "/", "headers": []}, receive, send_)

    asyncio.run(drive())

    assert [message.get("status", message.get("code")) for message in sent] == [503, None, 1000]


def test_there_are_so_many_sessions_and_no_more(
    tools: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the bound a new session is refused, until one of them ends."""
    monkeypatch.setattr("toolseam_plugins.mcp._http._SESSIONS", 2)
    with serving(asgi(tools, token=TOKEN)) as served:
        first, _ = opened(served), opened(served)
        refused = post(served, HELLO).status
        send(served, "DELETE", mcp_session_id=first)
        again = post(served, HELLO).status

    assert (refused, again) == (503, 200)


def test_a_client_that_only_pings_keeps_its_session(tools: Host) -> None:
    """What is withdrawn for a conversation stays so, however long nothing but pings came."""
    app = asgi(tools, token=TOKEN, actor=Actor("client"))
    with serving(app) as served:
        session = opened(served)
        post(served, call(1, "leaks"), mcp_session_id=session)
        for held in app._peer._held.values():
            held.used -= IDLE_S + 1
        post(served, request(2, "ping"), mcp_session_id=session)
        post(served, request(1, "tools/list"), mcp_session_id=opened(served))
        listing = post(served, request(3, "tools/list"), mcp_session_id=session).message

    assert "leaks" not in {tool["name"] for tool in listing["result"]["tools"]}


def test_nobody_is_let_in_unasked(tools: Host) -> None:
    """It takes exactly one of a token and a function, and no token that is short."""
    for words in ({}, {"token": TOKEN, "actor_from": by_name}, {"token": "short"}):
        with pytest.raises(ValueError):
            asgi(tools, **words)


def test_the_application_of_the_docs_serves_whom_it_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program of the how-to page runs as printed: by its tokens, and below its path."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "serve-mcp.md"
    found = re.search(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "docs"}
    exec(compile(found[1], page, "exec"), scope)

    with serving(scope["app"]) as served:
        own = {"host": "tools.example.org"}
        eve = own | {"authorization": "Bearer a-long-token-of-eve"}
        ada = own | {"authorization": "Bearer a-long-token-of-ada"}
        listing = request(1, "tools/list")
        session = opened(served, **eve)
        mine = post(served, listing, mcp_session_id=session, **eve)
        theirs = post(served, listing, mcp_session_id=session, **ada)
        bare = own | {"authorization": "a-long-token-of-eve"}
        others = [post(served, listing, mcp_session_id=session, **who) for who in (own, bare)]

    assert "tools" in mine.message["result"]
    assert [theirs.status, *(nobody.status for nobody in others)] == [404, 401, 401]
    assert scope["host"].closed
