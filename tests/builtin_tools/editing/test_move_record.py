from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builtin_tools.editing.conftest import Site
from support.databases import sqlite_workspace
from toolseam_builtin.editing import move_record
from toolseam_builtin.workspace import TableSettings

if TYPE_CHECKING:
    from pathlib import Path


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

    assert "1 sibling gives way, position of pages:4 2 → 3" in lines
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


LINE = """
create table step (id integer primary key, up integer references step (id), place {place});
create table step_history (id integer primary key, step_id integer references step (id),
  field text, old text, new text, changed_by text);
"""


def steps(folder: Path, places: list[object], place: str = "integer", **words: Any) -> Site:
    """Make one parent with children, from 2 on, at these positions."""
    rows = [(1, None, 1), *((n, 1, at) for n, at in enumerate(places, 2))]
    script = LINE.format(place=place) + ";".join(
        "insert into step values "
        + str(tuple("NULL" if v is None else v for v in row)).replace("'NULL'", "null")
        for row in rows
    )
    known = TableSettings(history="step_history", position="place", editable=("place",))
    workspace = sqlite_workspace(folder, script, tables={"step": attrs.evolve(known, **words)})

    def run(statement: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(folder / "app.db")) as connection, connection:
            return connection.execute(statement).fetchall()

    return Site(workspace, run)


@pytest.mark.parametrize(
    ("places", "key", "after", "expected"),
    [
        ([1, 2, 3, 4], 4, 2, [2, 4, 3, 5]),
        ([1, 2, 3, 4], 2, 4, [3, 4, 2, 5]),
        ([10, 20, 30, 40], 5, 2, [2, 5, 3, 4]),
        ([0, 0, 0, 0], 5, 2, [2, 5, 3, 4]),
        ([1, 1, 2, 9], 5, 3, [2, 3, 5, 4]),
        ([1, 2, 3, 4], 3, 2, [2, 3, 4, 5]),
    ],
)
def test_whatever_the_positions_were_the_order_is_what_was_asked(
    places: list[object], key: int, after: int, expected: list[int], tmp_path: Path
) -> None:
    """Gaps are used, ties are undone, and no two ever have the same position."""
    site = steps(tmp_path, places)

    result = site.write(move_record, table="step", key=key, parent=1, after=after)

    assert result.success, result.content
    found = site.run("select id, place from step where up = 1 order by place, id")
    assert [step for step, _ in found] == expected


def test_positions_that_must_be_unique_stay_so_at_every_moment(tmp_path: Path) -> None:
    """Who gives way does it from the end, and never to where the record still stands."""
    site = steps(tmp_path, [1, 2, 3, 4])
    site.run("create unique index one on step (up, place)")

    result = site.write(move_record, table="step", key=4, parent=1, after=2)

    assert result.success, result.content
    found = site.run("select id from step where up = 1 order by place")
    assert found == [(2,), (4,), (3,), (5,)]


@settings(max_examples=15)
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=8).map(sorted), st.integers(0), st.integers(0)
)
def test_a_move_changes_one_record_in_the_order(
    tmp_path_factory: pytest.TempPathFactory, places: list[object], which: int, where: int
) -> None:
    """The others keep their order, and the record stands right behind its sibling."""
    site = steps(tmp_path_factory.mktemp("line"), places)
    keys = [row[0] for row in site.run("select id from step where up = 1 order by place, id")]
    moving, behind = keys[which % len(keys)], keys[where % len(keys)]
    if moving == behind:
        return

    result = site.write(move_record, table="step", key=moving, parent=1, after=behind)

    assert result.success, result.content
    rest = [key for key in keys if key != moving]
    rest.insert(rest.index(behind) + 1, moving)
    found = site.run("select id from step where up = 1 order by place, id")
    assert [row[0] for row in found] == rest


def test_many_siblings_that_give_way_are_counted(tmp_path: Path) -> None:
    """The preview shows the first ones, and is bound to all of them."""
    site = steps(tmp_path, [*range(1, 41)])

    lines = site.preview(move_record, table="step", key=41, parent=1, after=2)

    (line,) = [line for line in lines if "give way" in line]
    assert line.startswith("38 siblings give way, place of step:3 2 → 3, of step:4 3 → 4")
    assert "and 28 more (" in line
    assert len(line) < 500


def test_too_many_siblings_are_a_conflict(tmp_path: Path) -> None:
    """One call moves no thousands; to the end it is always possible."""
    crowd = steps(tmp_path, [*range(1, 2_102)])
    crowd.run("insert into step values (9000, null, 7)")

    placed = crowd.write(move_record, table="step", key=9000, parent=1, after=2)
    crowd.run("delete from step where id between 1000 and 8000")
    shifted = crowd.write(move_record, table="step", key=9000, parent=1, after=2)
    ended = crowd.write(move_record, table="step", key=9000, parent=1)

    assert placed.failure is not None
    assert shifted.failure is not None
    assert [placed.failure.code.value, shifted.failure.code.value] == ["conflict"] * 2
    assert ended.success
    assert crowd.run("select place from step where id = 9000") == [(999,)]


@pytest.mark.parametrize("place", [None, "first", 1.5])
def test_a_position_that_is_no_whole_number_is_a_conflict(place: object, tmp_path: Path) -> None:
    """What cannot be counted on is not counted on."""
    site = steps(tmp_path, [place, 2], place="any")

    result = site.write(move_record, table="step", key=3, parent=1, after=2)

    assert result.failure is not None
    assert result.failure.code.value == "conflict"
    assert "step:2" in result.content


def test_a_position_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A generated or missing column is no position."""
    site = steps(tmp_path, [1, 2], position="nowhere")

    result = site.write(move_record, table="step", key=3, parent=1, after=2)

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "not_configured"
    assert 'position = "..."' in result.content


def test_a_parent_that_must_be_filled_is_not_taken_away(tmp_path: Path) -> None:
    """A table in which every record has a parent has no roots."""
    script = """
    create table part (id integer primary key, up integer not null references part (id));
    insert into part values (1, 1), (2, 1);
    create table part_history (id integer primary key, part_id integer references part,
      field text, old text, new text, changed_by text)
    """
    words = TableSettings(history="part_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"part": words})

    result = Site(workspace, list).write(move_record, table="part", key=2, parent=None)

    assert result.failure is not None
    assert result.failure.code.value == "invalid_arguments"
