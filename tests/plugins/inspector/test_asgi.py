"""The page inside an application of somebody else, and what it needs to be there."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from support.audit import echo
from support.inspecting import inspected
from support.tools import ADA
from toolseam import Host
from toolseam_plugins import inspector
from toolseam_plugins.inspector import _app

ORIGIN = "https://ops.example"


def asked(app: Any, *requests: tuple[str, str, Any]) -> list[httpx2.Response]:
    """Send requests to an application in this process, one after the other."""

    async def send() -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            return [await client.request(m, path, json=said) for m, path, said in requests]

    return asyncio.run(send())


def test_it_may_be_mounted_below_a_path() -> None:
    """Link and cookie have the path; every route is below it."""
    with Host(tools=[echo()]) as host:
        page = inspector.asgi(host, origin=ORIGIN, actor=ADA)
        app = Starlette(routes=[Mount("/inspect", page)])
        link, _, token = page.new_link("/inspect").partition("#")
        shown, refused, entered, strange = asked(
            app,
            ("GET", "/inspect/", None),
            ("GET", "/inspect/api/host", None),
            ("POST", "/inspect/api/enter", {"token": token}),
            ("GET", "/api/host", None),
        )

    assert link == "https://ops.example/inspect/"
    assert [each.status_code for each in (shown, refused, entered, strange)] == [200, 401, 200, 404]
    cookie = entered.headers["set-cookie"]
    assert "; Path=/inspect; " in cookie
    assert cookie.endswith("; Secure")


def test_a_path_that_only_begins_like_the_mount_is_not_below_it() -> None:
    """A server that names a root and sends whole paths is asked for a key on every one of them."""

    async def send(page: Any, path: str) -> int:
        sent: list[Any] = []
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "root_path": "/a",
            "query_string": b"",
            "headers": [(b"host", b"ops.example")],
        }

        async def keep(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        await page(scope, receive, keep)
        return int(sent[0]["status"])

    with Host() as host:
        page = inspector.asgi(host, origin=ORIGIN)
        found = {
            path: asyncio.run(send(page, path))
            for path in ("/api/host", "/a/api/host", "/a/nope", "/a/", "/a/static/app.js", "/")
        }

    assert found == {
        "/api/host": 401,
        "/a/api/host": 401,
        "/a/nope": 401,
        "/a/": 200,
        "/a/static/app.js": 200,
        "/": 200,
    }


@pytest.mark.parametrize(
    ("origin", "browsers"),
    [
        ("https://ops.example:443", "https://ops.example"),
        ("http://ops.example:80/", "http://ops.example"),
        ("https://ops.example:80", "https://ops.example:80"),
        ("https://OPS.example:4430", "https://ops.example:4430"),
    ],
)
def test_an_origin_is_what_browsers_make_of_it(origin: str, browsers: str) -> None:
    """They leave out the port that its scheme implies, in Host and in Origin."""
    sent = {"Host": browsers.partition("://")[2], "Origin": browsers}

    async def ask(page: Any) -> int:
        transport = httpx2.ASGITransport(page)
        async with httpx2.AsyncClient(transport=transport, base_url=browsers) as client:
            return (await client.get("/", headers=sent)).status_code

    with Host() as host:
        assert asyncio.run(ask(inspector.asgi(host, origin=origin))) == 200


def test_the_how_to_works_as_printed(tmp_path: Path) -> None:
    """Its program prints a link that leads to the page where it is mounted."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "inspect.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert re.fullmatch(r"https://ops\.example/inspect/#[\w-]{43}\n", ran.stdout)


def test_further_origins_are_let_in() -> None:
    """Each with the Host that belongs to it, and no other."""
    with Host() as host:
        page = inspector.asgi(host, origin="http://127.0.0.1:1", also=[ORIGIN])

        assert asked(page, ("GET", "/", None))[0].status_code == 200

        page = inspector.asgi(host, origin="http://127.0.0.1:1")

        assert asked(page, ("GET", "/", None))[0].status_code == 403


@pytest.mark.parametrize("origin", ["", "ops.example", "ftp://x", "http://", "http://a/b"])
def test_an_origin_that_is_none_is_refused(origin: str) -> None:
    """With what is expected: it is compared with what browsers send."""
    with Host() as host, pytest.raises(ValueError, match="origin"):
        inspector.asgi(host, origin=origin)


def test_without_an_actor_it_has_no_role() -> None:
    """Whoever embeds it says who acts."""
    with Host() as host:
        page = inspector.asgi(host, origin=ORIGIN)

    assert (page._actor.name, page._actor.roles) == ("inspector", frozenset())


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence that says what to install."""
    monkeypatch.setitem(sys.modules, "starlette", None)
    with Host() as host, pytest.raises(ModuleNotFoundError, match=r"toolseam\[inspector\]"):
        inspector.asgi(host, origin=ORIGIN)


def test_a_websocket_is_closed() -> None:
    """The page has none, and nobody may open one."""

    async def connect(page: Any) -> list[Any]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await page({"type": "websocket", "path": "/api/stream", "headers": []}, None, send)
        return sent

    with Host() as host:
        page = inspector.asgi(host, origin=ORIGIN)
        assert asyncio.run(connect(page)) == [{"type": "websocket.close", "code": 1008}]


def test_a_server_may_ask_for_its_lifespan() -> None:
    """It begins and ends like that of any application."""

    async def live(page: Any) -> list[str]:
        asked = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
        sent: list[str] = []

        async def receive() -> Any:
            return next(asked)

        async def send(message: Any) -> None:
            sent.append(message["type"])

        await page({"type": "lifespan", "state": {}}, receive, send)
        return sent

    with Host() as host:
        page = inspector.asgi(host, origin=ORIGIN)
        told = asyncio.run(live(page))

    assert told == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_only_what_a_browser_knows_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another kind beside the page's own is none of it."""
    monkeypatch.setattr(_app, "_FILES", {".css": "text/css"})
    with Host() as host:
        page = inspector.asgi(host, origin=ORIGIN)

        assert asked(page, ("GET", "/", None))[0].status_code == 404


def test_a_defect_is_an_answer_without_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says that the log knows more."""
    with Host() as host, inspected(host) as page:
        monkeypatch.setattr(page.app._catalogue, "all", lambda: 1 / 0)
        answer = page.client.get("/api/tools")

    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "execution_error")
    assert "division" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
