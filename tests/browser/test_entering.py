from __future__ import annotations

from playwright.sync_api import Browser, expect

from support.browsing import Sight, Stage, seen


def test_the_token_leaves_the_address_and_the_history(browser: Browser, stage: Stage) -> None:
    """Whoever looks at the address bar, or goes back, finds no token there."""
    with seen(browser, stage) as sight:
        address = sight.page.url
        sight.page.go_back()

        assert address == f"{stage.served.origin}/#/tools"
        assert sight.page.url == "about:blank"


def test_a_link_opens_the_page_once(browser: Browser, stage: Stage) -> None:
    """The second visitor with the same link is told how to get one of his own."""
    link = stage.served.app.new_link()
    first, second = browser.new_context(), browser.new_context()
    here, there = first.new_page(), second.new_page()

    here.goto(link)
    expect(here.get_by_role("navigation").get_by_role("link")).to_have_count(5)
    there.goto(link)

    expect(there.get_by_role("heading", name="This page is locked")).to_be_visible()
    assert "#" not in there.url
    first.close()
    second.close()


def test_without_a_link_the_page_is_locked(browser: Browser, stage: Stage) -> None:
    """The bare address shows nothing of the host."""
    context = browser.new_context()
    page = context.new_page()

    page.goto(stage.served.origin)

    expect(page.get_by_role("heading", name="This page is locked")).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(0)
    context.close()


def test_a_visitor_may_load_the_page_again(sight: Sight) -> None:
    """The cookie and the key outlive a reload, and the view stays open."""
    sight.go("runs")

    sight.page.reload()

    expect(sight.page.get_by_role("heading", name="Runs")).to_be_visible()


def test_the_first_byte_comes_within_fifty_milliseconds(browser: Browser, stage: Stage) -> None:
    """The page begins to arrive before anybody notices that it was asked for; the best of five."""
    with seen(browser, stage) as sight:
        took = []
        for _ in range(5):
            sight.page.reload()
            expect(sight.page.get_by_role("navigation").get_by_role("link")).to_have_count(5)
            took.append(
                sight.page.evaluate(
                    """() => {
                      const [page] = performance.getEntriesByType("navigation");
                      return page.responseStart - page.requestStart;
                    }"""
                )
            )

        print(f"first byte after {min(took):.1f} ms")  # noqa: T201 - the issue asks for it
        assert min(took) < 50


def test_a_new_link_is_taken_by_a_tab_that_is_open(browser: Browser, stage: Stage) -> None:
    """Pasted where the page is already, it is used and leaves the address."""
    with seen(browser, stage) as sight:
        link = stage.served.app.new_link()

        with sight.page.expect_response("**/api/enter") as entered:
            sight.page.evaluate("link => { location.href = link; }", link)

        assert entered.value.status == 200
        expect(sight.page.get_by_role("navigation").get_by_role("link")).to_have_count(5)
        assert sight.page.url == f"{stage.served.origin}/#/tools"


def test_a_new_link_opens_a_tab_that_is_locked(browser: Browser, stage: Stage) -> None:
    """Who was told to get a new link pastes it into the same tab."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(stage.served.origin)
    expect(page.get_by_role("heading", name="This page is locked")).to_be_visible()

    page.evaluate("link => { location.href = link; }", stage.served.app.new_link())

    expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(5)
    context.close()


def test_the_key_is_kept_for_this_path(sight: Sight) -> None:
    """Two inspectors of one origin, below two paths, do not take each other's key."""
    kept = sight.page.evaluate("Object.keys(localStorage)")

    assert kept == ["toolseam-key:/"]
