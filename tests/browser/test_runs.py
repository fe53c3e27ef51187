from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from playwright.sync_api import expect

from support.browsing import Sight, elsewhere, held
from support.page_scene import converse
from support.tools import ADA
from toolseam import Zone
from toolseam.runs import Budget
from toolseam.testing import ScriptedProvider


def _row(sight: Sight, *, status: str, reason: str | None = None) -> dict[str, Any]:
    """Return the newest run that stands so."""
    found: list[dict[str, Any]] = sight.stage.served.get("/api/runs")["runs"]
    return next(
        each for each in found if each["status"] == status and reason in {None, each["reason"]}
    )


def test_runs_show_their_status_and_reason(sight: Sight) -> None:
    """A run that waits, one that failed and one that is done are told apart by words."""
    main = sight.go("runs")

    for word in ("waiting", "completed", "failed", "provider failed"):
        expect(main.get_by_text(word, exact=True).first).to_be_visible()


def test_runs_are_narrowed_by_status(sight: Sight) -> None:
    """Only runs of the chosen status are left."""
    main = sight.go("runs")

    main.get_by_label("Status").select_option("failed")

    expect(main.locator(".rows .badge:visible").first).to_have_text("failed")
    expect(main.locator(".rows").get_by_text("completed")).to_have_count(0)


def test_a_run_shows_its_steps_in_order(sight: Sight) -> None:
    """Requests, answers, calls and decisions stand in the order in which they happened."""
    run = sight.stage.served.get("/api/runs?status=completed")["runs"][-1]

    main = sight.go(f"runs/{run['id']}")

    names = main.locator(".rows .step-name")
    expect(names).to_have_text(
        [
            *("Request", "Model", "read_records", "Request", "Model"),
            *("Approval: rename_page", "Approval: rename_page", "rename_page", "Request", "Model"),
        ]
    )
    expect(main.locator(".rows .badge").filter(has_text="denied")).to_have_count(1)


def test_a_denied_call_says_so_and_that_nothing_happened(sight: Sight) -> None:
    """The step of a refused write is no failure of the tool: denied, with no effect."""
    run = sight.stage.served.get("/api/runs?status=completed")["runs"][-1]
    main = sight.go(f"runs/{run['id']}")

    main.locator(".rows .step-row").nth(7).click()

    expect(sight.page.locator(".step-head")).to_contain_text("denied")
    expect(sight.page.locator(".step")).to_contain_text("not on a Friday")


def test_a_step_without_artifacts_has_no_tab_for_them(sight: Sight) -> None:
    """The tab is there only if there is something in it."""
    sight.call("refusing")

    expect(sight.page.get_by_role("tab", name=re.compile("Artifacts"))).to_have_count(0)


def test_the_bars_of_a_run_do_not_leave_their_column(sight: Sight) -> None:
    """Each bar of the waterfall begins after the one before and ends within the axis."""
    run = sight.stage.served.get("/api/runs?status=completed")["runs"][-1]
    sight.go(f"runs/{run['id']}")
    expect(sight.page.locator(".rows .step-row")).to_have_count(10)

    bars = sight.page.evaluate(
        """() => [...document.querySelectorAll(".rows .fall-bar")].map((bar) => [
          Number.parseFloat(bar.style.left), Number.parseFloat(bar.style.width)])"""
    )

    assert all(left >= 0 and left + width <= 100.001 for left, width in bars)
    assert [left for left, _ in bars] == sorted(left for left, _ in bars)


def test_a_run_appears_while_somebody_looks(sight: Sight) -> None:
    """The list takes a new run from the stream, without being asked again."""
    main = sight.go("runs")
    expect(main.locator(".rows .run-row:visible").first).to_be_visible()
    before = main.locator(".rows").get_attribute("aria-rowcount")

    elsewhere(converse, sight.stage.served.host, "Nothing to do.")

    expect(main.locator(".rows")).to_have_attribute("aria-rowcount", str(int(before or 0) + 1))


def test_a_step_appears_in_a_run_that_is_open(sight: Sight) -> None:
    """A session that goes on grows before one's eyes."""
    served = sight.stage.served
    first = elsewhere(served.call, "counting", '{"number": 1}')
    main = sight.go(f"runs/{first['run']}")
    expect(main.locator(".rows .step-row:visible").first).to_be_visible()
    before = main.locator(".rows").get_attribute("aria-rowcount")

    elsewhere(served.call, "counting", '{"number": 2}')

    expect(main.locator(".rows")).to_have_attribute("aria-rowcount", str(int(before or 0) + 1))


def test_a_call_that_goes_on_says_how_far_it_is(sight: Sight) -> None:
    """Progress is shown while the tool works, and its step when it is done."""
    served = sight.stage.served
    first = elsewhere(served.call, "counting", '{"number": 1}')
    main = sight.go(f"runs/{first['run']}")
    expect(main.locator(".rows .step-row:visible").first).to_be_visible()

    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(served.call, "counting", '{"number": 50, "wait": 1}')
        expect(main.locator(".progress")).to_have_text("counting: 50 of 100 counting")
        call.result(30)

    expect(main.locator(".progress")).to_be_hidden()


def test_error_codes_are_shown_by_tool(sight: Sight) -> None:
    """Each code of a tool has a strip of its own, with its number in words."""
    elsewhere(sight.stage.served.call, "counting", '{"number": 5}')
    main = sight.go("errors")

    strip = main.get_by_label("counting").locator(".strip").filter(has_text="not found")

    expect(strip.get_by_role("img")).to_have_attribute("aria-label", re.compile("not_found: [1-9]"))


def test_a_step_that_was_closed_stays_closed(sight: Sight) -> None:
    """What happens in the run later does not open again what the person has put away."""
    served = sight.stage.served
    step = elsewhere(served.call, "counting", '{"number": 3}')
    main = sight.go(f"runs/{step['run']}/{step['id'].replace(':', '%3A')}")
    expect(main.locator(".step")).to_be_visible()

    main.get_by_role("button", name="Close").click()
    before = main.locator(".rows").get_attribute("aria-rowcount")
    elsewhere(served.call, "counting", '{"number": 4}')
    expect(main.locator(".rows")).to_have_attribute("aria-rowcount", str(int(before or 0) + 1))
    sight.page.wait_for_timeout(800)

    expect(main.locator(".step")).to_have_count(0)


def test_a_cancelled_run_says_so(sight: Sight) -> None:
    """A run that was stopped is neither failed nor done, and its call is cancelled as well."""
    host = sight.stage.served.host

    async def cancelled() -> str:
        model = ScriptedProvider([("counting", {"number": 1, "wait": 1})], zone=Zone.LOCAL)
        session = host.session(actor=ADA, zone=Zone.LOCAL)
        task = asyncio.create_task(session.arun(model, "Count."))
        await asyncio.sleep(0.4)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return session.run_id

    elsewhere(asyncio.run, cancelled())
    run = _row(sight, status="cancelled")

    main = sight.go(f"runs/{run['id']}")

    expect(main.locator(".run-head .badge")).to_have_text("cancelled")
    expect(main.locator(".rows .badge").filter(has_text="cancelled")).to_have_count(1)


def test_turns_that_were_not_sent_any_more_are_told(sight: Sight) -> None:
    """Where the model could not read all of a conversation, the run says what was dropped."""
    host = sight.stage.served.host

    def crowded() -> None:
        calls = [("counting", {"number": number}) for number in (690, 691, 692, 693)]
        model = ScriptedProvider([*calls, "Done."], zone=Zone.LOCAL)
        session = host.session(actor=ADA, zone=Zone.LOCAL)
        session.run(model, "Count.", budget=Budget(context_tokens=600))

    elsewhere(crowded)
    run = sight.stage.served.get("/api/runs")["runs"][0]

    main = sight.go(f"runs/{run['id']}")

    expect(main.locator(".rows .step-name").filter(has_text="Context").first).to_be_visible()


def test_a_step_that_comes_while_its_run_is_asked_for_is_kept(sight: Sight) -> None:
    """What the stream tells is newer than an answer that was on its way, and outlives it."""
    served = sight.stage.served
    first = elsewhere(served.call, "counting", '{"number": 1}')
    before = len(served.get(f"/api/runs/{first['run']}")["steps"])
    # As soon as the stream is there, all is asked for once more.
    expect(sight.page.locator("#pulse")).to_have_text("live")
    with held(sight.page, "**/api/runs/*?after=0&limit=2000") as asked:
        main = sight.go(f"runs/{first['run']}")
        old = asked().fetch()
        elsewhere(served.call, "counting", '{"number": 2}')
        expect(main.locator(".rows")).to_have_attribute("aria-rowcount", "1")
        asked().fulfill(response=old)

        expect(main.locator(".rows")).to_have_attribute("aria-rowcount", str(before + 1))
