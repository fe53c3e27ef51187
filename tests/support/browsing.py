"""The inspector's page in the Chromium of this machine, and what it must not do there."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
from playwright.sync_api import expect

from support.inspecting import Page as Served

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from playwright.sync_api import (
        Browser,
        ConsoleMessage,
        Locator,
        Page,
        Playwright,
        Request,
        Route,
    )

    from toolseam import Run

T = TypeVar("T")

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # What stands on another name, and is this machine all the same.
    "--host-resolver-rules=MAP evil.test 127.0.0.1",
)
_REFUSED = re.compile(r"responded with a status of (409|422) ")
"""What Chromium logs where the page is told no, and says so to the person."""
_SECOND = 1_000


def launched(playwright: Playwright) -> Browser:
    """Start the machine's Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found is not None, "these tests need Chromium on the path"
    return playwright.chromium.launch(executable_path=found, args=list(_FLAGS))


def elsewhere(act: Callable[..., T], *args: Any) -> T:
    """Do something in a thread of its own: an event loop runs in that of the browser."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(act, *args).result(timeout=30)


@attrs.define(eq=False)
class Stage:
    """A served host, and the runs that were left behind in it."""

    served: Served
    waiting: Run


@attrs.define(eq=False)
class Sight:
    """A page that a person has come into, and what it did that it should not have done."""

    page: Page
    stage: Stage
    faults: list[str] = attrs.field(factory=list)

    def go(self, view: str) -> Locator:
        """Open a view and return what it shows."""
        self.page.evaluate("view => { location.hash = view; }", f"#/{view}")
        main = self.page.locator("#main")
        expect(main).not_to_have_attribute("aria-busy", "true")
        return main

    def call(self, tool: str) -> Locator:
        """Call a tool with what its form holds, and return the step that comes of it."""
        self.go(f"try/{tool}")
        expect(self.page.locator("#pick")).to_have_value(tool)
        self.page.get_by_role("button", name="Run", exact=True).click()
        step = self.page.locator(".result .step")
        expect(step).to_be_visible()
        return step

    def tab(self, name: str) -> Locator:
        """Open one of a step's tabs and return its panel."""
        self.page.get_by_role("tab", name=name).first.click()
        return self.page.get_by_role("tabpanel").first

    def strangers(self) -> list[str]:
        """Name the elements of the document that only markup out of data could have made."""
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll("img, svg, iframe, b, i, object, embed, script")]
              .filter((each) => !each.matches(".brand img, head > script[type=module], .cells > i"))
              .map((each) => each.outerHTML)"""
        )
        return found

    def behaved(self) -> None:
        """Fail if the page asked, logged or ran what it should not have."""
        faults, self.faults = self.faults, []
        assert faults == []
        assert self.page.evaluate("window.__hit ?? null") is None

    def sideways(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        wider: int = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return wider


@contextmanager
def held(page: Page, pattern: str, **members: Any) -> Generator[Callable[[], Route]]:
    """Hold back the first request to a pattern whose body has these members; what waits for it."""
    found: list[Route] = []

    def stop(route: Route) -> None:
        said = json.loads(route.request.post_data or "{}")
        if not found and members.items() <= said.items():
            found.append(route)
        else:
            route.continue_()

    def wait() -> Route:
        for _ in range(200):
            if found:
                return found[0]
            page.wait_for_timeout(50)
        raise AssertionError(f"nothing asked for {pattern}")

    page.route(pattern, stop)
    try:
        yield wait
    finally:
        page.unroute(pattern)


@contextmanager
def seen(browser: Browser, stage: Stage, script: str = "", **more: Any) -> Generator[Sight]:
    """Come in by a new link; what the page does that it should not is kept as its faults.

    A script is run before those of the page.
    """
    context = browser.new_context(**more)
    context.add_init_script(script)
    context.set_default_timeout(10 * _SECOND)
    page = context.new_page()
    sight = Sight(page, stage)

    def asked(request: Request) -> None:
        if not request.url.startswith((stage.served.origin, "blob:" + stage.served.origin)):
            sight.faults.append(f"asked {request.url}")

    def logged(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not _REFUSED.search(message.text):
            sight.faults.append(f"logged {message.text}")

    page.on("request", asked)
    page.on("console", logged)
    page.on("pageerror", lambda error: sight.faults.append(f"raised {error}"))
    page.on("dialog", lambda dialog: sight.faults.append(f"dialog {dialog.message}"))
    try:
        page.goto(stage.served.app.new_link())
        expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(5)
        yield sight
    finally:
        context.close()
