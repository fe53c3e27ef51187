from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from toolseam_builtin.editing import move_record

if TYPE_CHECKING:
    from builtin_tools.editing.conftest import Site


def order(site: Site) -> list[tuple[Any, ...]]:
    """Return key, parent and position of every page."""
    return site.run("select id, parent_id, position from pages order by id")


def test_a_record_moves_to_the_end_of_another_parent(site: Site) -> None:
    """Without `after` it stands behind all children of the new parent."""
    result = site.write(move_record, table="pages", key=5, parent=2)

    assert result.content.splitlines() == [
        'Moved pages:5 "Exhibitions":',
        "parent_id: 1 → 2",
        "position: 2 → 3",
        'parent: pages:2 "Visit"',
        "pages_history: 2 rows in the name of ada.",
    ]
    assert (5, 2, 3) in order(site)
    assert site.run("select field, old, new from pages_history order by id") == [
        ("parent_id", "1", "2"), ("position", "2", "3")
    ]  # fmt: skip


def test_siblings_give_way_and_the_preview_names_them(site: Site) -> None:
    """Behind a sibling: who stands there moves on, with a history of its own."""
    arguments: dict[str, Any] = {"table": "pages", "key": 5, "parent": 2, "after": 3}

    lines = site.preview(move_record, **arguments)
    result = site.write(move_record, **arguments)

    assert "1 sibling gives way, position of 4: 2 → 3" in lines
    assert result.success, result.content
    assert [row for row in order(site) if row[1] == 2] == [(3, 2, 1), (4, 2, 3), (5, 2, 2)]
    history = site.run("select page_id, field, old, new from pages_history order by page_id, id")
    assert history[0] == (4, "position", "2", "3")
    assert result.data is not None
    assert result.data["records"] == 2


def test_moving_to_where_it_stands_changes_nothing(site: Site) -> None:
    """The tool is idempotent: a second call leaves everything as it is."""
    arguments: dict[str, Any] = {"table": "pages", "key": 5, "parent": 2, "after": 3}
    site.write(move_record, **arguments)
    before = site.everything()

    again = site.write(move_record, **arguments)
    plain = site.write(move_record, table="pages", key=5, parent=2)

    assert "Nothing was left to change." in again.content
    assert "Nothing was left to change." in plain.content
    assert site.everything() == before


def test_a_record_becomes_a_root(site: Site) -> None:
    """A parent of null takes it out of the tree of others."""
    result = site.write(move_record, table="pages", key=2, parent=None)

    assert result.success, result.content
    assert (2, None, 2) in order(site)


@pytest.mark.parametrize("parent", [2, 3, 4])
def test_a_cycle_is_a_conflict(steady: Site, parent: int) -> None:
    """A record never comes to lie below itself."""
    before = steady.everything()

    result = steady.write(move_record, table="pages", key=2, parent=parent)

    assert result.failure is not None
    assert result.failure.code.value == "conflict"
    assert result.failure.metadata["reason"] == "cycle"
    assert steady.everything() == before


def test_parents_in_a_circle_come_to_no_end(site: Site) -> None:
    """A cycle that is there already is named instead of followed for ever."""
    site.run("update pages set parent_id = 4 where id = 3")
    site.run("update pages set parent_id = 3 where id = 4")

    result = site.write(move_record, table="pages", key=5, parent=4)

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "cycle"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"key": 99, "parent": 1}, "not_found"),
        ({"key": 5, "parent": 99}, "not_found"),
        ({"key": 5, "parent": 2, "after": 99}, "not_found"),
        ({"key": 5, "parent": 2, "after": 1}, "invalid_arguments"),
        ({"key": 5, "parent": 1, "after": 5}, "invalid_arguments"),
        ({"key": 5}, "invalid_arguments"),
    ],
)
def test_what_does_not_fit_is_refused(steady: Site, arguments: dict[str, Any], code: str) -> None:
    """Absent records, a sibling below another parent, a missing parent: nothing changes."""
    before = steady.everything()

    result = steady.write(move_record, table="pages", **arguments)

    assert result.failure is not None, result.content
    assert result.failure.code.value == code
    assert steady.everything() == before


def test_after_needs_a_position(site: Site) -> None:
    """Without the column that orders siblings there is no place behind one."""
    loose = site.settings("pages", position=None)

    placed = loose.write(move_record, table="pages", key=5, parent=2, after=3)
    moved = loose.write(move_record, table="pages", key=5, parent=2)

    assert placed.failure is not None
    assert placed.failure.code.value == "invalid_arguments"
    assert 'position = "..."' in placed.content
    assert moved.success
    assert (5, 2, 2) in order(site)


def test_a_table_without_parents_is_refused(steady: Site) -> None:
    """The key that names the parent is named."""
    result = steady.write(move_record, table="files", key=1, parent=2)

    assert result.failure is not None
    assert result.failure.code.value == "unavailable"
    assert 'parent = "..."' in result.content
