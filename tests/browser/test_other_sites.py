from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from support.browsing import Sight, Stage, seen

# A page of somebody else, at a name that is this machine as well: it tries each way in to each
# address, and writes down what it got.
_ATTACK = """<!doctype html><title>evil</title><script>
const routes = __ROUTES__;
const got = (window.got = { images: 0, scripts: 0, read: [], frames: 0 });
const waits = [];
const told = (element, kind) => new Promise((done) => {
  element.onload = () => { got[kind] += 1; done(); };
  element.onerror = done;
});
for (const route of routes) {
  const image = new Image();
  waits.push(told(image, "images"));
  image.src = route;
  const script = document.createElement("script");
  waits.push(told(script, "scripts"));
  script.src = route;
  document.head.append(script);
  const frame = document.createElement("iframe");
  frame.src = route;
  document.documentElement.append(frame);
  for (const how of [
    { mode: "no-cors" }, { mode: "no-cors", credentials: "include" }, { credentials: "include" },
    { mode: "no-cors", method: "POST", body: "{}", credentials: "include" },
    { mode: "no-cors", method: "POST", credentials: "include",
      headers: { "Content-Type": "text/plain" }, body: '{"tool": "changing"}' },
    { mode: "no-cors", method: "POST", credentials: "include", body: new FormData() },
    { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" },
      body: '{"tool": "counting", "arguments_json": "{\\"number\\": 1}", "zone": "local"}' },
  ]) waits.push(fetch(route, how).then((answer) => answer.text()).then(
    (text) => text && got.read.push([route, text]), () => null));
}
Promise.allSettled(waits).then(() => { document.title = "tried"; });
</script>"""


@pytest.fixture
def evil(stage: Stage) -> Iterator[str]:
    """A site at `evil.test` that attacks the inspector; its address."""
    run = stage.served.get("/api/runs")["runs"][0]["id"]
    paths = ("", "static/app.js", "static/mark.svg", "api/host", "api/tools", "api/tools/counting")
    more = ("api/runs", f"api/runs/{run}", "api/waiting", f"api/waiting/{stage.waiting.id}")
    also = ("api/codes", "api/stream", "api/call", "api/decide", "api/enter", "api/preview")
    routes = [f"{stage.served.origin}/{path}" for path in (*paths, *more, *also)]
    body = _ATTACK.replace("__ROUTES__", json.dumps(routes)).encode()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://evil.test:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def _steps(stage: Stage) -> int:
    """Count the steps of every run that the page would list."""
    runs: list[dict[str, Any]] = stage.served.get("/api/runs?limit=200")["runs"]
    return sum(each["steps"] for each in runs)


def test_a_page_of_another_site_gets_nothing_and_does_nothing(
    browser: Browser, stage: Stage, evil: str
) -> None:
    """With the visitor logged in beside it, nothing is read, no tool runs, all is refused (S7)."""
    with seen(browser, stage) as sight:
        before = _steps(stage)
        page = sight.page.context.new_page()
        statuses: list[int] = []
        page.on(
            "response",
            lambda answer: statuses.append(answer.status) if "127.0.0.1" in answer.url else None,
        )

        page.goto(evil)
        expect(page).to_have_title("tried", timeout=20_000)

        got = page.evaluate("window.got")
        assert (got["images"], got["scripts"], got["read"]) == (0, 0, [])
        assert statuses
        assert set(statuses) <= {401, 403}
        assert {each.url for each in page.frames[1:]} == {"chrome-error://chromewebdata/"}
        assert _steps(stage) == before


def test_another_name_for_this_machine_is_not_the_page(browser: Browser, stage: Stage) -> None:
    """A name that was made to point here is refused before anything is served (DNS rebinding)."""
    context = browser.new_context()
    page = context.new_page()

    answer = page.goto(f"http://evil.test:{stage.served.port}/")

    assert answer is not None
    assert answer.status in {403, 421}
    assert "toolseam" not in page.title()
    context.close()


def test_the_page_cannot_be_framed_by_itself_either(sight: Sight) -> None:
    """A frame of the page's own origin stays blank too."""
    empty = sight.page.evaluate(
        """() => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.src = "./";
          frame.onload = () => {
            let found = null;
            try { found = frame.contentDocument?.querySelector("main"); } catch { found = null; }
            frame.remove();
            done(found === null || found === undefined);
          };
          document.body.append(frame);
        })"""
    )
    # The refusal of the frame is what the browser logs of it.
    assert sight.faults
    sight.faults.clear()

    assert empty


def test_the_file_that_opens_the_page_is_let_in(
    browser: Browser, stage: Stage, tmp_path: Path
) -> None:
    """`toolseam inspect` opens the browser by a local file, and the link works from there."""
    file = tmp_path / "open.html"
    link = stage.served.app.new_link()
    file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">')
    context = browser.new_context()
    page = context.new_page()

    page.goto(file.as_uri())

    expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(5)
    context.close()
