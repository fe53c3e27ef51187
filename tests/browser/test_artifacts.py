from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.browsing import Sight, elsewhere
from support.page_scene import EXACT, MARKUP
from toolseam import ArtifactType


@pytest.mark.parametrize("kind", list(ArtifactType))
def test_each_type_has_a_view_of_its_own(sight: Sight, kind: ArtifactType) -> None:
    """Every type of this version is drawn, and none of them as the JSON of an unknown one."""
    sight.call("injected")

    shown = sight.tab("Artifacts").locator(f'[data-type="{kind}"]')

    expect(shown).to_be_visible()
    expect(shown).not_to_contain_text("has no view for")


def test_an_unknown_type_shows_its_json(sight: Sight) -> None:
    """A run stored by a newer version is read, with every digit, and nothing of it is trusted."""
    sight.call("strange")

    shown = sight.tab("Artifacts").locator('[data-type="hologram"]')

    expect(shown).to_contain_text("has no view for “hologram”")
    expect(shown.locator("pre")).to_contain_text(str(EXACT))
    assert shown.locator("a").count() == 0
    assert sight.strangers() == []


def _pages(sight: Sight) -> None:
    """Open the artifacts of a call whose table has 59 rows."""
    step = elsewhere(sight.stage.served.call, "counting", '{"number": 59}')
    sight.go(f"runs/{step['run']}/{step['id'].replace(':', '%3A')}/artifacts")
    expect(sight.page.locator("tbody tr")).to_have_count(50)


def test_a_table_sorts_by_number_and_back(sight: Sight) -> None:
    """A column of numbers is sorted as numbers, and the heading says which way."""
    _pages(sight)
    head = sight.page.get_by_role("columnheader", name="n")

    head.get_by_role("button").click()
    head.get_by_role("button").click()

    expect(head).to_have_attribute("aria-sort", "descending")
    expect(sight.page.locator("tbody tr").first.locator("td").first).to_have_text("58")


def test_a_table_pages(sight: Sight) -> None:
    """Fifty rows a page, with their place among all."""
    _pages(sight)

    sight.page.get_by_role("button", name="Next").click()

    expect(sight.page.locator(".pages")).to_contain_text("59 of 59 rows")
    expect(sight.page.get_by_role("button", name="Next")).to_be_disabled()


def test_a_table_is_saved_with_formulas_disarmed(sight: Sight, tmp_path: Path) -> None:
    """The CSV holds an apostrophe before what a spreadsheet would run."""
    sight.call("injected")
    shown = sight.tab("Artifacts").locator('[data-type="table"]')

    with sight.page.expect_download() as begun:
        shown.get_by_role("button", name="CSV").click()
    begun.value.save_as(tmp_path / "it.csv")

    assert "'=HYPERLINK(1)" in (tmp_path / "it.csv").read_text(encoding="utf-8")


def test_a_tree_folds(sight: Sight) -> None:
    """A branch closes and opens by the keys, and says whether it is open."""
    sight.call("injected")
    branch = sight.tab("Artifacts").get_by_role("treeitem").first

    branch.focus()
    sight.page.keyboard.press("ArrowLeft")
    expect(branch).to_have_attribute("aria-expanded", "false")
    sight.page.keyboard.press("ArrowRight")
    sight.page.keyboard.press("ArrowRight")

    expect(branch).to_have_attribute("aria-expanded", "true")
    assert MARKUP[1] in sight.page.evaluate("document.activeElement.textContent")


def test_code_marks_its_lines(sight: Sight) -> None:
    """The line that the excerpt is about is marked, for those who hear the page as well."""
    sight.call("injected")

    marked = sight.tab("Artifacts").locator(".code-line.marked")

    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("(marked)")


def test_every_digit_of_data_is_shown(sight: Sight) -> None:
    """An integer beyond what JavaScript holds exactly keeps its digits."""
    sight.call("injected")

    expect(sight.tab("Data")).to_contain_text(str(EXACT))
