"""Take the pictures of the inspector that the docs show: `python tests/browser/pictures.py`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect, sync_playwright

TESTS = Path(__file__).parent.parent
sys.path.insert(0, str(TESTS))

from support.browsing import Sight, Stage, launched, seen  # noqa: E402 - found by the line above
from support.inspecting import inspected  # noqa: E402
from support.page_scene import converse, museum  # noqa: E402
from support.tools import ADA  # noqa: E402
from toolseam import Decision, Host, Run, Zone  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = TESTS.parent / "docs" / "images"
WIDE: Any = {"width": 1280, "height": 800}
NARROW: Any = {"width": 360, "height": 740}


def main() -> None:
    """Make a host with runs of every kind, and take a picture of each view."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="toolseam-pictures-") as place:
        os.environ |= {"XDG_STATE_HOME": f"{place}/state", "XDG_CONFIG_HOME": f"{place}/config"}
        with museum(Path(place)) as host, inspected(host) as served:
            stage = Stage(served, talk(host))
            with sync_playwright() as playwright:
                browser = launched(playwright)
                take(browser, stage, ("tools", "run", "waiting"), color_scheme="light")
                take(browser, stage, ("playground", "errors"), color_scheme="dark")
                take(browser, stage, ("run", "waiting"), color_scheme="dark", viewport=NARROW)
                browser.close()


def talk(host: Host) -> Run:
    """Leave a few conversations behind, and return one that waits."""
    read = ("read_records", {"table": "pages", "fields": ["title", "slug", "updated_at"]})
    look = [
        ("list_tables", {}),
        ("get_table_schema", {"table": "pages"}),
        ("count_records", {"table": "pages"}),
        ("search_code", {"query": "opening"}),
        ("read_records", {"table": "openings"}),
    ]
    logs: list[tuple[str, dict[str, Any]]] = [
        ("fetch_logs", {}),
        ("get_last_exception", {}),
        ("list_deprecations", {}),
    ]
    rename = ("rename_page", {"page": 3, "title": "How to find us"})
    converse(host, look, logs, "Two pages changed last week.", ask="What has changed?")
    converse(host, ("tide_table", {}), "The tide table is broken.", ask="When is high water?")
    converse(host, [("read_records", {"table": "visitors"})], "There is none.", ask="Who came?")
    converse(host, ask="Is anybody there?")
    begun, model = converse(host, look, read, logs, rename, "The page is now How to find us.")
    approval = [Decision.approve(begun.pending[0], actor=ADA)]
    host.session(actor=ADA, zone=Zone.LOCAL).resume(begun.id, approval, model)
    asked = [
        ("rename_page", {"page": 4, "title": "Tickets and opening times"}),
        ("list_tables", {}),
    ]
    waiting, _ = converse(host, read, asked, "Done.")
    return waiting


def take(browser: Browser, stage: Stage, names: tuple[str, ...], **more: Any) -> None:
    """Take the pictures of these views in one scheme and size."""
    run = stage.served.get("/api/runs?status=completed")["runs"][0]["id"]
    step = stage.served.get(f"/api/runs/{run}")["steps"][9]["id"].replace(":", "%3A")
    views = {
        "tools": ("tools/read_records", ".arguments"),
        "playground": ("try/read_records", ".fields"),
        "run": (f"runs/{run}/{step}/artifacts", ".artifact"),
        "waiting": (f"waiting/{stage.waiting.id}", ".verdicts .primary:enabled"),
        "errors": ("errors", ".strip"),
    }
    last = "-narrow" if "viewport" in more else ""
    with seen(browser, stage, **{"viewport": WIDE, **more}) as sight:
        for name in names:
            view, shown = views[name]
            expect(sight.go(view).locator(shown).first).to_be_visible()
            if name == "playground":
                _call(sight)
            save(sight, f"inspector-{name}{last}")


def _call(sight: Sight) -> None:
    """Read the pages, and look at their table."""
    sight.page.locator('[data-field="table"] textarea').fill("pages")
    sight.page.get_by_role("button", name="Run", exact=True).click()
    expect(sight.page.locator(".result .step")).to_be_visible()
    sight.tab("Artifacts")


def save(sight: Sight, name: str) -> None:
    """Write what is seen, when it has stopped moving."""
    sight.page.evaluate("document.activeElement?.blur()")
    sight.page.wait_for_timeout(300)
    sight.page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
