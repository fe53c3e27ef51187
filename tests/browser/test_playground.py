from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import expect

from support.browsing import Sight
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
