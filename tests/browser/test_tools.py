from __future__ import annotations

from playwright.sync_api import expect

from support.browsing import Sight


def test_every_tool_is_in_the_catalogue(sight: Sight) -> None:
    """The list has each tool that is loaded, and each entry that is not, with its state."""
    main = sight.go("tools")
    told = sight.stage.served.get("/api/tools")
    rest = [each for each in told["records"] if each["status"] != "ready"]

    expect(main.locator(".card")).to_have_count(len(told["tools"]) + len(rest))


def test_the_search_narrows_the_catalogue(sight: Sight) -> None:
    """All words have to be found, in names, descriptions, groups or effects."""
    main = sight.go("tools")

    main.get_by_label("Search tools").fill("rename title")

    expect(main.locator(".card-name")).to_have_text(["rename_page"])
    main.get_by_label("Search tools").fill("")


def test_a_tool_is_shown_as_each_provider_is_told_of_it(sight: Sight) -> None:
    """What stands in a dialect's tab is what the session's schemas hold, member by member."""
    main = sight.go("tools/read_records")
    dialects = sight.stage.served.get("/api/host")["dialects"]

    expect(main.get_by_role("tab")).to_have_count(len(dialects))
    main.get_by_role("tab", name="anthropic").click()

    expect(main.get_by_role("tabpanel")).to_contain_text('"input_schema"')


def test_policy_and_provenance_are_told(sight: Sight) -> None:
    """Effect, data class, approval and distribution stand on a tool's page."""
    main = sight.go("tools/rename_page")

    for word in ("idempotent write", "editor content", "a person approves each call"):
        expect(main.locator(".facts").first).to_contain_text(word)
