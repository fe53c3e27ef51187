from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Browser, expect

from support.browsing import Sight, Stage, held, seen
from support.page_scene import EXACT


def _run(sight: Sight) -> None:
    sight.page.get_by_role("button", name="Run", exact=True).click()


def _data(sight: Sight) -> Any:
    """Return the data of the step that is shown, as its JSON text has it."""
    panel = sight.tab("Data")
    panel.get_by_text("As JSON text").click()
    return json.loads(panel.locator("details pre").inner_text())


def test_a_form_fills_every_kind_of_argument(sight: Sight) -> None:
    """Texts, numbers, choices, lists, nested and open objects arrive as they were given."""
    form = sight.go("try/filled").locator("form")

    form.get_by_label("title").fill('a "title"\nin two lines')
    form.get_by_label("copies").fill(str(EXACT))
    form.get_by_label("weight").fill("1.50")
    form.get_by_label("urgent").select_option("true")
    tags = form.locator('[data-field="tags"]')
    tags.get_by_role("button", name="Add an item").click()
    tags.locator("textarea").fill("red")
    place = form.locator('[data-field="place"]')
    place.get_by_role("button", name="Give it").click()
    place.get_by_label("street").fill("Quay 7")
    form.get_by_label("extra").fill('{"a": 1}')
    _run(sight)

    assert _data(sight) == {
        "title": 'a "title"\nin two lines',
        "copies": EXACT,
        "weight": 1.5,
        "urgent": True,
        "tags": ["red"],
        "place": {"street": "Quay 7", "floor": 0},
        "extra": {"a": 1},
    }


def test_what_is_left_empty_is_not_given(sight: Sight) -> None:
    """Only the required argument is sent; the tool's own defaults hold."""
    form = sight.go("try/filled").locator("form")

    form.get_by_label("title").fill("bare")
    _run(sight)

    found = _data(sight)
    assert (found["title"], found["copies"], found["tags"]) == ("bare", 1, None)


def test_a_wrong_number_is_refused_at_its_field(sight: Sight) -> None:
    """The field says what is wrong and takes the focus, and nothing is called."""
    form = sight.go("try/filled").locator("form")
    form.get_by_label("title").fill("x")
    form.get_by_label("copies").fill("three")

    _run(sight)

    expect(form.get_by_text("No whole number.")).to_be_visible()
    expect(form.get_by_label("copies")).to_be_focused()
    expect(sight.page.locator(".result")).to_contain_text("appears here")


def test_arguments_can_be_written_as_json(sight: Sight) -> None:
    """The raw text is sent as it stands, and what breaks the schema is the seam's to refuse."""
    form = sight.go("try/filled").locator("form")

    form.get_by_role("button", name="JSON").click()
    form.get_by_label("Arguments as JSON").fill('{"title": 1, "nope": true}')
    _run(sight)

    expect(sight.page.locator(".result .step-head")).to_contain_text("invalid arguments")


def test_the_raw_text_becomes_a_form_again(sight: Sight) -> None:
    """Going back fills the fields, digits and all."""
    form = sight.go("try/filled").locator("form")

    form.get_by_role("button", name="JSON").click()
    form.get_by_label("Arguments as JSON").fill(f'{{"title": "t", "copies": {EXACT}}}')
    form.get_by_role("button", name="Form").click()

    expect(form.get_by_label("copies")).to_have_value(str(EXACT))


def test_a_write_is_shown_before_it_is_approved(sight: Sight) -> None:
    """The preview sets old and new apart, and nothing has run until the person says so."""
    form = sight.go("try/changing").locator("form")
    form.locator('[data-field="to"] textarea').fill("blue")
    form.get_by_role("button", name="Show what it would do").click()
    result = sight.page.locator(".result")
    expect(result.get_by_role("heading", name="Nothing has happened yet")).to_be_visible()
    expect(result.locator(".new")).to_have_text("blue")

    result.get_by_role("button", name="Approve and run").click()

    expect(result.locator(".step-head")).to_contain_text("ok")
    expect(result).to_contain_text("changed to blue")


def test_a_tool_that_broke_the_contract_is_withdrawn(sight: Sight) -> None:
    """The second call says withdrawn, and a new session is a button away."""
    sight.call("tide_table")
    sight.page.get_by_role("button", name="Run", exact=True).click()

    expect(sight.page.locator(".result .flag.withdrawn")).to_be_visible()
    expect(sight.page.get_by_role("button", name="Begin a new session")).to_be_visible()


def test_the_wire_is_the_exact_text(sight: Sight) -> None:
    """The tab shows what a provider in that zone would be given, and no artifact."""
    sight.call("strange")

    expect(sight.tab("Wire").locator("pre")).to_have_text("a hologram")


def _shown(sight: Sight, to: str) -> None:
    """Look at what `changing` would do."""
    form = sight.go("try/changing").locator("form")
    form.locator('[data-field="to"] textarea').fill(to)
    form.get_by_role("button", name="Show what it would do").click()


def test_a_write_is_made_in_a_session_that_was_begun_anew(sight: Sight) -> None:
    """What is shown and what is approved are of the same session, also of a new one."""
    sight.call("tide_table")
    sight.page.get_by_role("button", name="Begin a new session").click()
    _shown(sight, "blue")

    sight.page.get_by_role("button", name="Approve and run").click()

    expect(sight.page.locator(".result .step-head")).to_contain_text("ok")


def test_a_write_that_broke_the_contract_stays_withdrawn(sight: Sight) -> None:
    """A new session would not bring it back, so none is offered."""
    form = sight.go("try/breaking").locator("form")
    form.get_by_role("button", name="Show what it would do").click()
    result = sight.page.locator(".result")

    result.get_by_role("button", name="Approve and run").click()

    expect(result).to_contain_text('host.readmit("breaking")')
    expect(result.get_by_role("button", name="Begin a new session")).to_have_count(0)


def test_a_call_is_approved_once_however_often_one_clicks(sight: Sight) -> None:
    """The second click of two does not put a refusal where the result was."""
    _shown(sight, "blue")
    calls: list[str] = []
    sight.page.on("request", lambda asked: calls.append(asked.url))

    sight.page.get_by_role("button", name="Approve and run").dblclick()

    expect(sight.page.locator(".result")).to_contain_text("changed to blue")
    sight.page.wait_for_timeout(300)
    expect(sight.page.locator(".result")).to_contain_text("changed to blue")
    assert [each.rpartition("/")[2] for each in calls] == ["call"]


def test_what_is_to_be_approved_has_a_name(sight: Sight) -> None:
    """The card says which tool it is about, and for which zone."""
    _shown(sight, "blue")

    card = sight.page.locator(".result .pending")

    expect(card.locator(".lead")).to_have_text("changing would do this:")
    expect(card.locator(".facts")).to_contain_text("local")


def test_a_late_preview_does_not_stand_beside_another_form(sight: Sight) -> None:
    """Who has opened another tool meanwhile is not asked to approve the first."""
    with held(sight.page, "**/api/preview") as preview:
        _shown(sight, "blue")
        preview()
        sight.go("try/counting")
        expect(sight.page.locator("#pick")).to_have_value("counting")
        preview().continue_()
        sight.page.wait_for_timeout(500)

        expect(sight.page.locator(".result")).to_contain_text("appears here")
        expect(sight.page.get_by_role("button", name="Approve and run")).to_have_count(0)


_OLD_PARSER = """(() => {
  const parse = JSON.parse;
  JSON.parse = (text, told) =>
    parse(text, told && function (key, value) { return told.call(this, key, value); });
})()"""


def test_where_digits_cannot_be_read_text_is_shown(browser: Browser, stage: Stage) -> None:
    """A browser that rounds numbers without saying so shows and sends the text as it stands."""
    with seen(browser, stage, _OLD_PARSER) as sight:
        main = sight.go("tools/filled")
        expect(main.locator("details pre").first).to_contain_text("9223372036854775807")
        form = sight.go("try/filled").locator("form")
        form.get_by_label("Arguments as JSON").fill(f'{{"title": "t", "copies": {EXACT}}}')
        _run(sight)
        data = sight.tab("Data")
        expect(data).to_contain_text(str(EXACT))
        main = sight.go(f"waiting/{stage.waiting.id}")
        expect(main.locator('[data-position="2"] pre')).to_contain_text(str(EXACT))
        sight.behaved()
