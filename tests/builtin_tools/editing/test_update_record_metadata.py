from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from toolseam_builtin.editing import update_record_metadata

if TYPE_CHECKING:
    from builtin_tools.editing.conftest import Site


def test_a_change_is_previewed_kept_and_told(site: Site) -> None:
    """The preview says old and new; the answer, the record and its history agree with it."""
    values = {"title": "Plan your visit", "notes": "a\nb", "price": 12.5}

    lines = site.preview(update_record_metadata, table="pages", key=2, values=values)
    result = site.write(update_record_metadata, table="pages", key="2", values=values)

    told = [
        'title: "Visit" → "Plan your visit"',
        'notes: null → "a↵b"',
        "price: null → 12.5",
    ]
    assert lines == ['Change pages:2 "Visit":', *told, "pages_history will name ada."]
    assert result.success, result.content
    assert result.content.splitlines() == [
        'Changed pages:2 "Visit":',
        *told,
        "pages_history: 3 rows in the name of ada.",
    ]
    kept = site.run("select title, notes, price, slug from pages where id = 2")
    assert [(*row[:2], float(row[2]), row[3]) for row in kept] == [
        ("Plan your visit", "a\nb", 12.5, "visit")
    ]
    history = site.run("select page_id, field, old, new, changed_by from pages_history order by id")
    assert [row[:3] for row in history] == [
        (2, "title", "Visit"), (2, "notes", None), (2, "price", None)
    ]  # fmt: skip
    assert [row[3] for row in history[:2]] == ["Plan your visit", "a\nb"]
    assert {row[4] for row in history} == {"ada"}


def test_what_is_so_already_is_not_written_again(site: Site) -> None:
    """A second call with the same values changes nothing and leaves no history."""
    arguments: dict[str, Any] = {"table": "pages", "key": 2, "values": {"title": "Visit"}}
    before = site.everything()

    result = site.write(update_record_metadata, **arguments)

    assert result.success
    assert result.content.splitlines()[-1] == "Nothing was left to change."
    assert result.data is not None
    assert result.data["changed"] == []
    assert site.everything() == before


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"title": "x", "tag": "y"}, "invalid_arguments"),
        ({"title": "x", "nope": "y"}, "invalid_arguments"),
        ({"title": "x", "access_token": "y"}, "permission_denied"),
        ({"title": "x", "language": "de"}, "permission_denied"),
        ({"title": "x" * 61}, "invalid_arguments"),
        ({"notes": "x" * 20_001}, "invalid_arguments"),
        ({"title": None}, "invalid_arguments"),
        ({"title": 7}, "invalid_arguments"),
        ({"title": "x", "price": "much"}, "invalid_arguments"),
        ({"title": "x", "opens": "0000-00-00"}, "invalid_arguments"),
        ({"title": "a\0b"}, "invalid_arguments"),
        ({}, "invalid_arguments"),
    ],
)
def test_one_value_that_does_not_fit_refuses_the_whole_call(
    steady: Site, values: dict[str, Any], code: str
) -> None:
    """Unknown, generated, sensitive and unlisted columns, wrong types and long texts: no write."""
    before = steady.everything()

    result = steady.write(update_record_metadata, table="pages", key=2, values=values)

    assert result.failure is not None, result.content
    assert result.failure.code.value == code
    assert steady.everything() == before


def test_a_duplicate_names_table_and_column_only(steady: Site) -> None:
    """A value that must be unique is a conflict, and no text of the driver goes out."""
    before = steady.everything()

    result = steady.write(update_record_metadata, table="pages", key=2, values={"slug": "tickets"})

    assert result.failure is not None
    assert result.failure.code.value == "conflict"
    assert result.failure.metadata["reason"] == "duplicate"
    assert "pages.slug" in result.content
    assert "tickets" not in result.content
    assert "constraint" not in result.content.casefold()
    assert steady.everything() == before


def test_without_a_history_nothing_is_written(steady: Site) -> None:
    """A table whose history the workspace does not name is refused, naming the key."""
    silent = steady.settings("pages", history=None)

    result = silent.write(update_record_metadata, table="pages", key=2, values={"title": "x"})

    assert result.failure is not None
    assert result.failure.code.value == "unavailable"
    assert result.failure.metadata["reason"] == "no_history"
    assert 'history = "..."' in result.content
    assert "workspace.tables.pages" in result.content


def test_a_table_without_editable_columns_is_refused(steady: Site) -> None:
    """The refusal names the key that lists them."""
    closed = steady.settings("pages", editable=())

    result = closed.write(update_record_metadata, table="pages", key=2, values={"title": "x"})

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "not_configured"
    assert "editable = [...]" in result.content


@pytest.mark.parametrize(("table", "key"), [("pages", 99), ("pages", "x"), ("users", 1)])
def test_what_is_not_there_or_not_readable_is_not_found(
    steady: Site, table: str, key: str | int
) -> None:
    """An absent record, a key that fits no column, a denied table: one code."""
    result = steady.write(update_record_metadata, table=table, key=key, values={"title": "x"})

    assert result.failure is not None
    assert result.failure.code.value == "not_found"
