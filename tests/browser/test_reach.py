from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browsing import Sight, Stage, seen

VIEWS = {
    "tools": ".card",
    "tools/read_records": ".arguments",
    "try/filled": ".fields",
    "runs": ".run-row .badge",
    "waiting": ".card",
    "errors": ".strip",
}
LEAST = 4.5

# The colours that a reader sees: of each text in sight, against what is painted behind it.
_CONTRASTS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) known.set(colour, painted(colour));
    return known.get(colour);
  };
  const painted = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => {
      const s = part / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = rgba(getComputedStyle(each).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const HIDDEN = ".unseen, .skip, :disabled";
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const said = [...element.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
    if (!said || !element.checkVisibility() || element.closest(HIDDEN)) continue;
    const one = light(rgba(getComputedStyle(element).color));
    const other = light(behind(element));
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    found.push([contrast, element.textContent.trim().slice(0, 40), element.className]);
  }
  return found.sort((one, other) => one[0] - other[0]);
}"""


def _views(stage: Stage) -> dict[str, str]:
    """Return the addresses of all views, with what each shows when it is there."""
    done = stage.served.get("/api/runs?status=completed")["runs"][-1]
    step = stage.served.get(f"/api/runs/{done['id']}")["steps"][2]["id"].replace(":", "%3A")
    parts = ("arguments", "result", "wire", "artifacts", "data", "raw")
    return {
        **VIEWS,
        f"runs/{done['id']}": ".step-row .fall-bar",
        **{
            f"runs/{done['id']}/{step}/{part}": f'[data-tab="{part}"][aria-selected="true"]'
            for part in parts
        },
        f"waiting/{stage.waiting.id}": ".verdicts",
    }


def _walk(sight: Sight) -> Iterator[str]:
    """Open one view after the other."""
    for view, shown in _views(sight.stage).items():
        expect(sight.go(view).locator(shown).first).to_be_visible()
        yield view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_fits_a_narrow_screen(
    browser: Browser, stage: Stage, scheme: Literal["light", "dark"]
) -> None:
    """At 360 pixels nothing has to be pushed sideways, whatever a tool wrote."""
    size: Any = {"width": 360, "height": 740}
    with seen(browser, stage, viewport=size, color_scheme=scheme) as sight:
        wide = {}
        for view in _walk(sight):
            wide[view] = sight.sideways()
        sight.call("injected")
        for name in ("Result", "Artifacts", "Data", "Raw"):
            sight.tab(name)
            wide[name] = sight.sideways()

        assert {view: by for view, by in wide.items() if by > 0} == {}
        sight.behaved()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(
    browser: Browser, stage: Stage, scheme: Literal["light", "dark"]
) -> None:
    """In both schemes each text stands out from what is behind it by 4.5 to 1."""
    with seen(browser, stage, color_scheme=scheme) as sight:
        faint = []
        for _ in _walk(sight):
            faint += [each for each in sight.page.evaluate(_CONTRASTS) if each[0] < LEAST]

        assert faint == []


def test_the_dark_scheme_is_dark(browser: Browser, stage: Stage) -> None:
    """Who asks for dark gets it, without a switch on the page."""
    with seen(browser, stage, color_scheme="dark") as sight:
        ground = sight.page.evaluate("getComputedStyle(document.body).backgroundColor")

        assert max(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) < 60


def test_nothing_moves_for_who_asks_for_stillness(browser: Browser, stage: Stage) -> None:
    """With reduced motion no element is animated."""
    with seen(browser, stage, reduced_motion="reduce") as sight:
        sight.go("runs")

        assert sight.page.evaluate("document.getAnimations().length") == 0


def _focused(page: Page) -> tuple[str, str]:
    """Return the name of the focused element, and how its focus is shown."""
    found: list[str] = page.evaluate(
        """() => {
          const each = document.activeElement;
          const style = getComputedStyle(each);
          const shown = style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) > 0;
          return [each.getAttribute("aria-label") ?? each.textContent.trim().slice(0, 40),
            shown ? "shown" : "hidden"];
        }"""
    )
    return found[0], found[1]


def test_the_keys_reach_a_tool_and_come_back(browser: Browser, stage: Stage) -> None:
    """Skip link, search, list, tabs and the way back work without a pointer."""
    with seen(browser, stage) as sight:
        page = sight.page
        page.keyboard.press("Tab")
        assert _focused(page) == ("Skip to the content", "shown")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"

        page.keyboard.press("/")
        page.keyboard.type("read_records")
        page.keyboard.press("Tab")
        assert _focused(page)[1] == "shown"
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="read_records", level=1)).to_be_visible()
        page.get_by_role("tab").first.focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab").nth(1)).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Escape")

        expect(page.locator(".intro")).to_be_visible()


def test_the_keys_open_a_step_and_close_it(browser: Browser, stage: Stage) -> None:
    """Arrows choose a run and a step, Enter opens, Escape closes and gives the focus back."""
    with seen(browser, stage) as sight:
        page = sight.page
        sight.go("runs")
        rows = page.get_by_role("grid", name="Runs")
        expect(rows.locator(".run-row").first).to_be_visible()
        rows.focus()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        steps = page.get_by_role("grid", name="Steps")
        expect(steps.locator(".step-row").nth(2)).to_be_visible()
        steps.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".step-head")).to_contain_text("read_records")

        page.keyboard.press("Escape")

        expect(page.locator(".step")).to_have_count(0)
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Steps"


def test_a_call_is_made_and_read_with_keys_alone(browser: Browser, stage: Stage) -> None:
    """Ctrl and Enter run it, and the focus goes to what came of it."""
    with seen(browser, stage) as sight:
        page = sight.page
        form = sight.go("try/counting").locator("form")
        form.locator('[data-field="number"] input').focus()
        page.keyboard.type("7")
        page.keyboard.press("Control+Enter")

        expect(page.locator(".result")).to_be_focused()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('role')") == "tab"


def test_every_place_that_tab_reaches_shows_it(browser: Browser, stage: Stage) -> None:
    """Whoever goes through a view by Tab sees where he is at each stop."""
    with seen(browser, stage) as sight:
        hidden = []
        for view in ("tools/read_records", "try/filled"):
            expect(sight.go(view).locator(VIEWS[view])).to_be_visible()
            sight.page.locator("#main").focus()
            for _ in range(25):
                sight.page.keyboard.press("Tab")
                name, shown = _focused(sight.page)
                if shown == "hidden" and sight.page.evaluate(
                    "document.activeElement !== document.body"
                ):
                    hidden.append((view, name))

        assert hidden == []


def test_every_control_has_a_name(browser: Browser, stage: Stage) -> None:
    """Who hears the page is told what each field and button is."""
    with seen(browser, stage) as sight:
        nameless = []
        for _ in _walk(sight):
            nameless += sight.page.evaluate(
                """() => ["input", "select", "textarea", "button", "[role=tree]", "[role=grid]"]
                  .flatMap((each) => [...document.querySelectorAll(each)])
                  .filter((each) => each.checkVisibility())
                  .filter((each) => !(each.labels?.length || each.getAttribute("aria-label") ||
                    (each.tagName === "BUTTON" && each.textContent.trim())))
                  .map((each) => each.outerHTML.slice(0, 120))"""
            )

        assert nameless == []
