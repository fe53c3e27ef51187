from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Locator, expect

from support.browsing import Sight, elsewhere
from support.page_scene import converse


def _asked(sight: Sight, *calls: tuple[str, dict[str, Any]]) -> tuple[str, Locator]:
    """Let a run wait for these calls; return its id, and what the page shows of it."""
    run, _ = elsewhere(converse, sight.stage.served.host, list(calls), "Done.")
    main = sight.go(f"waiting/{run.id}")
    expect(main.locator(".pending")).to_have_count(len(calls))
    return run.id, main


def _left(sight: Sight, run: str) -> list[str]:
    waiting: list[dict[str, Any]] = sight.stage.served.get("/api/waiting")["runs"]
    return [
        each["run"] for each in waiting if each["run"] == run and each["decided"] < each["asked"]
    ]


def test_a_call_waits_with_all_its_arguments(sight: Sight) -> None:
    """The complete arguments and the change, old to new, stand before the buttons."""
    _, main = _asked(sight, ("rename_page", {"page": 4, "title": "Tickets and prices"}))

    card = main.locator(".pending")

    expect(card.get_by_label("Arguments")).to_contain_text('"title": "Tickets and prices"')
    expect(card.locator(".preview-lines")).to_contain_text("Tickets -> Tickets and prices")


def test_each_call_is_decided_by_itself(sight: Sight) -> None:
    """One word is kept and the turn waits on; with the last, the run goes on."""
    run, main = _asked(sight, ("changing", {"to": "red"}), ("changing", {"to": "green"}))

    main.locator('[data-position="0"]').get_by_role("button", name="Approve").click()
    expect(main.locator('[data-position="0"]')).to_contain_text("decided")
    assert _left(sight, run) == [run]
    second = main.locator('[data-position="1"]')
    second.get_by_label("Reason to deny").fill("not that one")
    second.get_by_role("button", name="Deny").click()

    expect(main.get_by_text("All calls of the turn are decided.")).to_be_visible()
    assert _left(sight, run) == []


def test_an_edited_call_is_shown_again_before_it_is_approved(sight: Sight) -> None:
    """What is approved is what was shown: the preview with the person's arguments."""
    run, main = _asked(sight, ("changing", {"to": "red"}))
    card = main.locator(".pending")

    card.get_by_role("button", name="Edit").click()
    card.get_by_label("Edited arguments as JSON").fill(json.dumps({"to": "amber"}))
    card.get_by_role("button", name="Show what it would do").click()
    expect(card.locator(".new")).to_have_text("amber")
    card.get_by_role("button", name="Approve the edited call").click()

    expect(main.get_by_text("All calls of the turn are decided.")).to_be_visible()
    assert _left(sight, run) == []


def test_an_edit_that_breaks_the_schema_is_refused_where_it_is_typed(sight: Sight) -> None:
    """The call waits on, and the person reads what was wrong."""
    run, main = _asked(sight, ("changing", {"to": "red"}))
    card = main.locator(".pending")

    card.get_by_role("button", name="Edit").click()
    card.get_by_label("Edited arguments as JSON").fill('{"to": 7}')
    card.get_by_role("button", name="Show what it would do").click()

    expect(card.get_by_role("alert")).to_contain_text("invalid_arguments")
    assert _left(sight, run) == [run]


def test_long_arguments_are_approved_when_all_were_shown(sight: Sight) -> None:
    """Until the last part has been read, the button stays off."""
    end = "the very end"
    _, main = _asked(sight, ("changing", {"to": "x" * 100_000 + end}))
    card = main.locator(".pending")
    approve = card.get_by_role("button", name="Approve")

    sight.page.wait_for_timeout(1_000)
    expect(approve).to_be_disabled()
    card.get_by_role("button", name="Show more").click()

    expect(card.get_by_label("Arguments")).to_contain_text(end)
    expect(approve).to_be_enabled()


def test_the_number_of_waiting_runs_stands_in_the_navigation(sight: Sight) -> None:
    """A run that begins to wait is counted at once, wherever the person looks."""
    sight.go("tools")
    badge = sight.page.locator(".number-badge:visible")
    waiting = len(sight.stage.served.get("/api/waiting")["runs"])

    elsewhere(converse, sight.stage.served.host, ("changing", {"to": "x"}), "Done.")

    expect(badge).to_contain_text(str(waiting + 1))
