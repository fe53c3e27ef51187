from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from toolseam_builtin.editing import create_record_draft

if TYPE_CHECKING:
    from builtin_tools.editing.conftest import Site


def test_a_draft_is_made_previewed_and_told(site: Site) -> None:
    """The record holds what was said, is a draft at the end of its siblings, and has a history."""
    values: dict[str, Any] = {"title": "Shop", "slug": "shop", "parent_id": 1}

    lines = site.preview(create_record_draft, table="pages", values=values)
    result = site.write(create_record_draft, table="pages", values=values)

    flag = "true" if site.workspace.trusted else "1"
    told = ['title: "Shop"', 'slug: "shop"', "parent_id: 1", f"draft: {flag}", "position: 3"]
    assert lines == [
        "Create as a draft a new record of pages:", *told, "pages_history will name ada."
    ]  # fmt: skip
    assert result.content.splitlines() == [
        "Created as a draft pages:6:",
        *told,
        "pages_history: 5 rows in the name of ada.",
    ]
    assert result.data is not None
    assert result.data["key"] == "6"
    assert site.run("select title, parent_id, position, language from pages where id = 6") == [
        ("Shop", 1, 3, "en")
    ]
    assert site.run("select count(*) from pages where id = 6 and draft = " + flag) == [(1,)]
    history = site.run("select field, old, new from pages_history where page_id = 6 order by id")
    assert [row[:2] for row in history][:2] == [("title", None), ("slug", None)]


def test_behind_a_sibling_means_below_its_parent(site: Site) -> None:
    """`after` gives parent and position, and who stands there gives way."""
    result = site.write(
        create_record_draft, table="pages", values={"title": "Tram", "slug": "tram"}, after=3
    )

    assert result.success, result.content
    below = site.run("select title, position from pages where parent_id = 2 order by position")
    assert below == [("Getting here", 1), ("Tram", 2), ("Tickets", 3)]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"values": {"title": "x"}}, "invalid_arguments"),
        ({"values": {"title": "x", "slug": "home"}}, "conflict"),
        ({"values": {"title": "x", "slug": "y", "parent_id": 99}}, "not_found"),
        ({"values": {"title": "x", "slug": "y", "parent_id": 1}, "after": 3}, "invalid_arguments"),
        ({"values": {"title": "x", "slug": "y"}, "after": 99}, "not_found"),
        ({"values": {"title": "x", "slug": "y", "tag": "z"}}, "invalid_arguments"),
        ({"values": {"title": "x", "slug": "y", "draft": 0}}, "permission_denied"),
        ({"values": {"title": "x", "slug": "y", "access_token": "z"}}, "permission_denied"),
        ({"values": {"title": "x" * 61, "slug": "y"}}, "invalid_arguments"),
    ],
)
def test_what_does_not_fit_makes_no_record(
    steady: Site, arguments: dict[str, Any], code: str
) -> None:
    """A gap, a duplicate, an absent parent, a closed column, a long text: nothing is made."""
    before = steady.everything()

    result = steady.write(create_record_draft, table="pages", **arguments)

    assert result.failure is not None, result.content
    assert result.failure.code.value == code
    assert steady.everything() == before


def test_without_a_draft_column_nothing_is_made(steady: Site) -> None:
    """A record that visitors would see at once is not made; the key is named."""
    shown = steady.settings("pages", draft=None)

    result = shown.write(create_record_draft, table="pages", values={"title": "x", "slug": "y"})

    assert result.failure is not None
    assert result.failure.code.value == "unavailable"
    assert result.failure.metadata["reason"] == "not_configured"
    assert 'draft = "..."' in result.content


def test_a_draft_that_is_none_is_refused(steady: Site) -> None:
    """Even where the flag may be edited, this tool makes drafts alone."""
    words = steady.settings("pages", editable=("title", "slug", "draft"))
    off = not steady.workspace.trusted and 0

    result = words.write(
        create_record_draft,
        table="pages",
        values={"title": "x", "slug": "y", "draft": off},
    )

    assert result.failure is not None
    assert result.failure.code.value == "invalid_arguments"


def test_a_column_given_twice_is_refused(steady: Site) -> None:
    """Two spellings of one name are one column."""
    result = steady.write(
        create_record_draft, table="pages", values={"title": "x", "Title": "y", "slug": "y"}
    )

    assert result.failure is not None
    assert result.failure.code.value == "invalid_arguments"
