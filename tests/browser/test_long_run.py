from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from support.browsing import Sight, Stage, elsewhere
from support.tools import ADA
from toolseam import Zone

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

STEPS = 2_000
RENDERED_MS = 1_000
TASK_MS = 50


@pytest.fixture(scope="module")
def long_run(stage: Stage) -> str:
    """A session of two thousand calls, of which some failed."""

    def called() -> str:
        session = stage.served.host.session(actor=ADA, zone=Zone.LOCAL)
        for number in range(STEPS):
            session.call_wire("counting", {"number": number})
        return session.run_id

    return elsewhere(called)


def _opened(sight: Sight, run: str) -> float:
    """Open the run from another view; return the milliseconds until its rows are painted."""
    sight.go("tools")
    took: float = sight.page.evaluate(
        """run => new Promise((done) => {
          const begun = performance.now();
          const end = () => done(performance.now() - begun);
          const look = () => {
            const rows = document.querySelector(`.rows[aria-rowcount="2000"] .step-row`);
            if (rows) requestAnimationFrame(() => setTimeout(end));
            else requestAnimationFrame(look);
          };
          location.hash = `#/runs/${run}`;
          look();
        })""",
        run,
    )
    return took


def test_two_thousand_steps_are_rendered_within_a_second(sight: Sight, long_run: str) -> None:
    """From the click to the painted rows, the request included; the best of five."""
    took = min(_opened(sight, long_run) for _ in range(5))

    print(f"2,000 steps rendered in {took:.0f} ms")  # noqa: T201 - the issue asks for it
    assert took < RENDERED_MS


def test_only_rows_in_sight_exist(sight: Sight, long_run: str) -> None:
    """However long the run, the page holds a few dozen rows of it."""
    _opened(sight, long_run)

    assert sight.page.locator(".step-row").count() < 80


def test_the_last_step_is_a_key_away(sight: Sight, long_run: str) -> None:
    """End goes to the last row and Enter opens it, beside the list."""
    _opened(sight, long_run)

    sight.page.locator(".rows").focus()
    sight.page.keyboard.press("End")
    expect(sight.page.locator(".step-row.active")).to_have_attribute("aria-rowindex", str(STEPS))
    sight.page.keyboard.press("Enter")

    expect(sight.page.locator(".step-head")).to_contain_text("counting")


def test_a_long_run_is_filtered(sight: Sight, long_run: str) -> None:
    """The filter leaves the failures alone, and says how many of how many."""
    _opened(sight, long_run)

    sight.page.get_by_label("Filter steps").fill("unavailable")

    expect(sight.page.locator(".bar .list-said")).to_contain_text("of 2,000 steps")
    expect(sight.page.locator(".rows").get_by_text("ok", exact=True)).to_have_count(0)


def _longest(page: Page, act: Callable[[], object]) -> float:
    """Return the milliseconds for which the page's main thread was busy at the most.

    What a task waited for a core is not counted where the trace tells it apart.
    """
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["devtools.timeline", "toplevel"])
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    mains = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    busy = [
        each.get("tdur", each["dur"])
        for each in events
        if each["name"].endswith("RunTask")
        and (each["pid"], each["tid"]) in mains
        and "dur" in each
    ]
    longest: int = max(busy)
    return longest / 1_000


def test_scrolling_makes_no_task_over_fifty_milliseconds(sight: Sight, long_run: str) -> None:
    """A trace of wheeling and jumping through all of the run has no task that would be felt."""
    _opened(sight, long_run)
    page = sight.page
    rows = page.locator(".rows").bounding_box()
    assert rows is not None
    page.mouse.move(rows["x"] + 50, rows["y"] + 50)

    def scroll() -> None:
        for distance in (300, 1_200, 5_000, 20_000, -9_000, 40_000, 60_000, -90_000):
            for _ in range(5):
                page.mouse.wheel(0, distance / 5)
                page.wait_for_timeout(16)

    took = _longest(page, scroll)

    print(f"longest task while scrolling: {took:.1f} ms")  # noqa: T201 - the issue asks for it
    assert took < TASK_MS


def test_a_task_that_would_be_felt_is_seen_in_a_trace(sight: Sight) -> None:
    """The measure of the test above finds a task that is busy for some tenths of a second."""
    page = sight.page

    took = _longest(
        page,
        lambda: page.evaluate(
            "() => { const begun = performance.now(); while (performance.now() - begun < 400); }"
        ),
    )

    assert took > TASK_MS
