from __future__ import annotations

import pytest
from playwright.sync_api import expect

from support.browsing import Sight
from support.page_scene import ALL, MARKUP

TABS = ("Arguments", "Result", "Wire", "Artifacts", "Data", "Raw")


@pytest.mark.parametrize("name", TABS)
def test_markup_in_an_answer_is_text_in_every_tab(sight: Sight, name: str) -> None:
    """Content, artifacts, labels, keys and values show `<img onerror>` as it is written (P05)."""
    sight.call("injected")

    panel = sight.tab(name)

    if name != "Arguments":
        expect(panel).to_contain_text("onerror=")
    assert sight.strangers() == []


@pytest.mark.parametrize("name", ["Result", "Wire", "Raw"])
def test_markup_in_a_failure_is_text(sight: Sight, name: str) -> None:
    """Message, partial output and metadata of a failure are text as well."""
    sight.call("refusing")

    panel = sight.tab(name)

    expect(panel).to_contain_text("<iframe src=http://evil.test/>")
    assert sight.strangers() == []


def test_markup_in_a_specification_is_text(sight: Sight) -> None:
    """Description, argument names, defaults and choices of a tool make no elements."""
    main = sight.go("tools/injected")

    expect(main.locator(".lead")).to_contain_text(ALL)
    expect(main.locator(".arguments code").nth(1)).to_have_text(MARKUP[0])
    assert sight.strangers() == []


def test_markup_in_the_form_is_text(sight: Sight) -> None:
    """A field's name, description, placeholder and choices make no elements."""
    main = sight.go("try/injected")

    expect(main.locator(".about")).to_have_text(ALL)
    expect(main.get_by_label(MARKUP[0]).locator("option").nth(1)).to_have_text(MARKUP[1])
    assert sight.strangers() == []


def test_markup_in_a_call_that_waits_is_text(sight: Sight) -> None:
    """Arguments and preview of what a person decides about are text."""
    main = sight.go(f"waiting/{sight.stage.waiting.id}")

    expect(main.locator('[data-position="2"] .new')).to_have_text(ALL)
    assert sight.strangers() == []


def test_what_would_turn_a_line_is_named(sight: Sight) -> None:
    """A bidi control in a preview, which content would have replaced, cannot turn what is read."""
    sight.call("injected")

    panel = sight.tab("Artifacts")

    expect(panel.get_by_role("tree")).to_contain_text("[U+200B]now")
    assert "\u202e" not in panel.inner_text()


def test_a_link_of_javascript_is_no_link(sight: Sight) -> None:
    """Nothing out of data becomes an anchor."""
    sight.call("injected")
    sight.tab("Artifacts")

    anchors = sight.page.evaluate(
        "[...document.querySelectorAll('a')].map((each) => each.getAttribute('href'))"
    )

    assert all(each.startswith("#/") or each == "#main" for each in anchors)
