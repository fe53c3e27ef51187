"""The sentences that all lists share: which rows are shown, and how to get the rest."""

from hypothesis import given
from hypothesis import strategies as st

from toolseam_builtin._page import larger, more_with, next_page, shown_range


def test_a_page_says_its_first_and_last_row() -> None:
    """Rows are counted from 1; an empty page says whether the offset is why."""
    assert shown_range(0, 20) == "shown 1 to 20"
    assert shown_range(1_000, 1) == "shown 1,001 to 1,001"
    assert shown_range(0, 0) == "none shown"
    assert shown_range(1_000, 0) == "none shown; offset 1,000 is past the end"


def test_ways_to_the_rest_are_joined() -> None:
    """What does not apply is left out, the last way follows an "or"."""
    assert more_with("offset=20") == "More with offset=20."
    assert more_with("", "a longer query") == "More with a longer query."
    assert more_with("a", "b", "", "c") == "More with a, b or c."


def test_a_larger_limit_is_a_way_only_where_the_limit_ended_the_page() -> None:
    """At the greatest limit, or on a page that was full before, there is nothing to raise."""
    assert larger(20, 20, 50) == "a larger limit (at most 50)"
    assert larger(50, 50, 50) == ""
    assert larger(13, 20, 50) == ""


@given(st.integers(0, 300), st.integers(0, 300))
def test_no_page_is_offered_that_would_be_refused(offset: int, most: int) -> None:
    """Past the greatest offset another way is named, and a program is given no offset."""
    following, said = next_page(offset, most, "a filter")

    if offset <= most:
        assert (following, said) == (offset, f"More with offset={offset}.")
    else:
        assert (following, said) == (None, f"More with a filter; paging ends at offset {most:,}.")
