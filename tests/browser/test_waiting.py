from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.browsing import Sight, elsewhere, held
from support.page_scene import at_hand, converse
from support.tools import ADA
from toolseam import Zone


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


@pytest.mark.parametrize(("wide", "plain"), [(66_000, 54_000), (1_000, 100_000)])
def test_every_character_of_long_arguments_is_shown_before_approval(
    sight: Sight, wide: int, plain: int
) -> None:
    """Characters of two UTF-16 units neither hide the rest of the text nor drop any of it."""
    value = "\U0001f642" * wide + "x" * plain + "the very end"
    _, main = _asked(sight, ("changing", {"to": value}))
    card = main.locator(".pending")
    approve = card.get_by_role("button", name="Approve")

    sight.page.wait_for_timeout(1_000)
    expect(approve).to_be_disabled()
    expect(card.get_by_role("button", name="Edit")).to_be_disabled()
    card.get_by_role("button", name="Show more").click()

    expect(approve).to_be_enabled()
    shown = card.get_by_label("Arguments").text_content()
    assert shown == f'{{\n  "to": "{value}"\n}}'


def test_long_arguments_of_an_edit_are_those_of_the_person(sight: Sight) -> None:
    """The rest of an edited text comes from the edit, and not from what the model had asked."""
    _, main = _asked(sight, ("changing", {"to": "red"}))
    card = main.locator(".pending")
    value = "y" * 100_000 + "the very end"

    card.get_by_role("button", name="Edit").click()
    card.get_by_label("Edited arguments as JSON").fill(json.dumps({"to": value}))
    card.get_by_role("button", name="Show what it would do").click()

    expect(card.get_by_role("button", name="Approve the edited call")).to_be_enabled()
    assert card.get_by_label("Arguments").text_content() == f'{{\n  "to": "{value}"\n}}'


_SHOWN_BEFORE_ENABLED = """() => new Promise((done) => {
  let shown = null;
  const look = () => {
    const approve = document.querySelector('[data-position="0"] .primary');
    if (approve) shown ??= performance.now();
    if (approve && !approve.disabled) done(performance.now() - shown);
    else requestAnimationFrame(look);
  };
  look();
})"""


def test_no_call_can_be_approved_as_it_appears(sight: Sight) -> None:
    """The button waits from when the call is on the page, however long the others took."""
    host = sight.stage.served.host
    calls = [("changing", {"to": "red"}), ("changing", {"to": "green"})]
    run, _ = elsewhere(converse, host, calls, "Done.")

    with held(sight.page, "**/api/revise", position=1) as second:
        sight.go(f"waiting/{run.id}")
        second()
        sight.page.wait_for_timeout(1_000)
        second().continue_()

        assert sight.page.evaluate(_SHOWN_BEFORE_ENABLED) >= 600


def test_a_run_that_was_left_does_not_come_back(sight: Sight) -> None:
    """What is shown is the run that was opened last, also if another one answers later."""
    host = sight.stage.served.host
    left, _ = elsewhere(converse, host, ("changing", {"to": "left"}), "Done.")
    kept, _ = elsewhere(converse, host, ("changing", {"to": "kept"}), "Done.")

    with held(sight.page, "**/api/revise", run=left.id) as first:
        sight.go(f"waiting/{left.id}")
        first()
        main = sight.go(f"waiting/{kept.id}")
        expect(main.locator(".pending .new")).to_have_text("kept")
        first().continue_()
        sight.page.wait_for_timeout(500)

        expect(main.locator(".pending .new")).to_have_text("kept")


def test_decisions_that_did_not_hold_are_told(sight: Sight) -> None:
    """If a write would do something else by now, the person reads why, and is asked anew."""
    served = sight.stage.served
    rename = ("rename_page", {"page": 5, "title": "Groups and schools"})
    model = at_hand([rename, ("changing", {"to": "green"})])
    run = elsewhere(served.host.session(actor=ADA, zone=Zone.LOCAL).run, model, "Go.").id
    main = sight.go(f"waiting/{run}")
    main.locator('[data-position="0"]').get_by_role("button", name="Approve").click()
    expect(main.locator('[data-position="0"]')).to_contain_text("decided")
    said = json.dumps({"page": 5, "title": "Something else"})
    seen = served.post("/api/preview", {"tool": "rename_page", "arguments_json": said})
    served.call("rename_page", said, digest=seen["preview"]["digest"])

    main.locator('[data-position="1"]').get_by_role("button", name="Approve").click()

    expect(main.get_by_text("The run did not go on: ")).to_be_visible()
    expect(main.get_by_role("button", name="Approve")).to_have_count(2)
    assert _left(sight, run) == [run]


def test_a_call_that_somebody_else_decided_is_not_offered_again(sight: Sight) -> None:
    """The card says that it is decided, and why the second word did not count."""
    served = sight.stage.served
    run, main = _asked(sight, ("changing", {"to": "red"}), ("changing", {"to": "green"}))
    card = main.locator('[data-position="0"]')
    approve = card.get_by_role("button", name="Approve")
    expect(approve).to_be_enabled()
    served.post("/api/decide", {"run": run, "position": 0, "verdict": "deny"})

    approve.click()

    expect(card.get_by_role("alert")).to_contain_text("decided")
    expect(card.locator(".badge")).to_have_text("decided")
    expect(approve).to_have_count(0)


def _edited(card: Locator, **arguments: Any) -> None:
    card.get_by_role("button", name="Edit").click()
    card.get_by_label("Edited arguments as JSON").fill(json.dumps(arguments))
    card.get_by_role("button", name="Show what it would do").click()
    expect(card.get_by_role("button", name="Approve the edited call")).to_be_enabled()


def test_an_edit_outlives_a_change_of_what_it_would_do(sight: Sight) -> None:
    """The person reads what has changed, sees it anew with his arguments, and approves that."""
    served = sight.stage.served
    run, main = _asked(sight, ("rename_page", {"page": 6, "title": "Old"}))
    card = main.locator(".pending")
    _edited(card, page=6, title="The shop of the museum")
    said = json.dumps({"page": 6, "title": "Meanwhile"})
    seen = served.post("/api/preview", {"tool": "rename_page", "arguments_json": said})
    served.call("rename_page", said, digest=seen["preview"]["digest"])

    card.get_by_role("button", name="Approve the edited call").click()

    expect(card.get_by_role("alert")).to_contain_text("Changed: what it says it would do.")
    expect(card.get_by_label("Arguments")).to_contain_text("The shop of the museum")
    expect(card.locator(".preview-lines").first).to_contain_text("Meanwhile")
    card.get_by_text("What it said before").click()
    expect(card.locator("details .preview-lines")).not_to_contain_text("Meanwhile")
    card.get_by_role("button", name="Approve the edited call").click()
    expect(main.get_by_text("All calls of the turn are decided.")).to_be_visible()
    assert _left(sight, run) == []


def test_an_edit_of_a_call_that_somebody_else_decided_is_still_there(sight: Sight) -> None:
    """What was typed can be read, and copied; nothing is left to be approved."""
    run, main = _asked(sight, ("changing", {"to": "red"}), ("changing", {"to": "green"}))
    card = main.locator('[data-position="0"]')
    _edited(card, to="a long thought")
    sight.stage.served.post("/api/decide", {"run": run, "position": 0, "verdict": "deny"})

    card.get_by_role("button", name="Approve the edited call").click()

    expect(card.get_by_role("alert")).to_contain_text("decided")
    expect(card.get_by_label("What you had typed")).to_contain_text("a long thought")
    expect(card.get_by_role("button", name="Approve the edited call")).to_have_count(0)
