"""What a tool says when its time is up, and what the rooms say of what they did not see."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, sqlite_workspace
from toolseam import ErrorCode, ToolError
from toolseam_builtin import _database as db
from toolseam_builtin import _storages as room
from toolseam_builtin.files import (
    find_missing_files,
    get_file_references,
    search_files,
)
from toolseam_builtin.structure import read_file_meta
from toolseam_builtin.workspace import TableSettings, Workspace

ROWS = """
create table picture (id integer primary key, path text, title text);
insert into picture with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
  select i, 'a' || i || '.jpg', 'Harbour ' || i from n;
create table poster (id integer primary key, image text);
insert into poster values (1, 'a1.jpg')
"""
PAST = room.Clock(0.0, lambda: False)
NEVER = room.Clock(math.inf, lambda: False)


def soon(calls: int) -> room.Clock:
    """Return a clock that is over after so many looks at it."""
    left = iter(range(calls))
    return room.Clock(time.monotonic() + 60, lambda: next(left, None) is None)


@contextmanager
def opened(workspace: Workspace) -> Iterator[tuple[room.Storages, db.Database]]:
    """Open storages and database of a workspace."""
    with room.open_storages(workspace) as storages, db.open_database(workspace) as database:
        yield storages, database


@pytest.mark.parametrize(
    ("clock", "stopped", "rows"),
    [
        (lambda: PAST, ["picture", "poster"], 0),
        (lambda: soon(1), ["picture", "poster"], 1),
        (lambda: NEVER, [], 201),
    ],
)
def test_a_comparison_names_the_tables_that_it_did_not_finish(
    tmp_path: Path, clock: Callable[[], room.Clock], stopped: list[str], rows: int
) -> None:
    """When the time is up, what was compared is kept and the rest is named."""
    workspace = sqlite_workspace(tmp_path, ROWS)

    with opened(workspace) as (storages, database):
        stock = room.take_stock(storages, NEVER)
        missing = room.Comparison(storages, stock, clock()).run(database, workspace)

    assert (missing.stopped, missing.rows, missing.total) == (stopped, rows, rows)


@pytest.mark.parametrize(
    ("clock", "stopped"),
    [
        (lambda: PAST, ["names in workspace", "picture", "poster"]),
        (lambda: soon(3), ["picture", "poster"]),
        (lambda: NEVER, []),
    ],
)
def test_a_search_names_what_it_did_not_finish(
    tmp_path: Path, clock: Callable[[], room.Clock], stopped: list[str]
) -> None:
    """When the time is up, what was found is kept and the rest is named."""
    workspace = sqlite_workspace(tmp_path, ROWS)
    (tmp_path / "harbour.txt").touch()
    found = room.Found()

    with opened(workspace) as (storages, database):
        stock = room.take_stock(storages, NEVER)
        search = room.Search(storages, stock, clock(), "harbour")
        search.names(found)
        search.rows(database, workspace, found)
        hits = search.hits(database, found, 3)

    assert found.stopped == stopped
    assert len(hits) == min(3, len(found.places))


@pytest.mark.parametrize(("clock", "stopped"), [(PAST, ["picture", "poster"]), (NEVER, [])])
def test_a_search_for_references_names_what_it_did_not_finish(
    tmp_path: Path, clock: room.Clock, stopped: list[str]
) -> None:
    """When the time is up, tables that were not read are named."""
    workspace = sqlite_workspace(tmp_path, ROWS)

    with db.open_database(workspace) as database:
        pointers = room.Pointing(("a1.jpg",), clock).run(database, workspace)
        rows, warnings = room.describing_rows(database, workspace, ("a1.jpg",), clock, 10)

    assert pointers.stopped == stopped
    said = f"not read to their end, for lack of time: {', '.join(stopped)}"
    assert warnings == ([said] if stopped else [])
    assert [row.record for row in pointers.rows] == [row.record for row in rows]


def test_the_answers_warn_of_what_was_not_finished() -> None:
    """Each answer says in its text and its data that it is a beginning."""
    source = room.FileColumns(db.Table("p", "main", "p", "table", ()), ("path",))
    missing = room.Missing([source], [], total=1, stopped=["p"])
    pointers = room.Pointers([source], [], stopped=["p"])
    found = room.Found(stopped=["p"])
    target = room.Target("a", there=True, texts=())

    answers = [
        find_missing_files.compose(missing, find_missing_files.Arguments()),
        get_file_references.compose(target, pointers, 0),
        search_files.compose(found, [], 0, search_files.Arguments("a")),
    ]

    for answer in answers:
        assert answer.data["complete"] is False
        assert len(answer.warnings) == 1
        assert f"Warning: {answer.warnings[0]}" in answer.text
    assert answers[0].text.startswith("At least 1 reference to missing files, none shown; ")


def test_a_full_page_goes_on_where_it_ended() -> None:
    """Rows that do not fit any more are left to the next offset."""
    source = room.FileColumns(db.Table("p", "main", "p", "table", ()), ("path",))
    long = "x" * 20_000
    files = [room.MissingFile(f"p:{number}", "path", long, "") for number in range(5)]
    missing = room.Missing([source], [], files, total=5)
    rows = [room.Pointer(f"p:{number}", "path", long, "") for number in range(5)]
    pointers = room.Pointers([source], [], rows, total=5)
    hits = [
        room.Hit(room.Place(True, "", f"{number}{long}"), None, ErrorCode.NOT_FOUND, None)
        for number in range(200)
    ]
    found = room.Found(places={hit.place for hit in hits})

    answers = [
        find_missing_files.compose(missing, find_missing_files.Arguments()),
        get_file_references.compose(room.Target("a", there=True, texts=()), pointers, 0),
    ]
    searched = search_files.compose(found, hits, 0, search_files.Arguments("x"))

    assert [answer.data["next_offset"] for answer in answers] == [2, 2]
    assert all("More with offset=2." in answer.text for answer in answers)
    assert len(searched.artifacts[0].rows) < 200
    assert "More with a longer query or one `storage`." in searched.text


@pytest.mark.parametrize("tool", [search_files, read_file_meta])
def test_a_database_that_gives_up_is_a_timeout(
    tmp_path: Path, tool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database at its deadline is not passed over as one that is not there."""
    (tmp_path / "a.txt").touch()
    workspace = sqlite_workspace(tmp_path, ROWS)
    monkeypatch.setattr("toolseam_builtin._database._open._SECONDS", -1.0)

    result = ask(tool, workspace, **{"query" if tool is search_files else "file": "a.txt"})

    assert result.failure is not None
    assert result.failure.code == ErrorCode.TIMEOUT


def test_a_storage_that_is_not_open_is_a_warning_or_the_answer(tmp_path: Path) -> None:
    """A search says which storages it could not open, and asked for one of them says why."""
    storages = {"a": ".", "far": "s3://bucket/x"}
    workspace = Workspace(folder=tmp_path, storages=storages)

    result = ask(search_files, workspace, query="x")
    refused = ask(search_files, workspace, query="x", storage="far").failure

    assert "Warning: workspace.storages.far is no plain folder" in result.content
    assert refused is not None
    assert refused.code == ErrorCode.UNAVAILABLE


def test_a_denied_file_is_not_called_gone(tmp_path: Path) -> None:
    """Whether a file outside is there is not told, though its row is found by its title."""
    script = """
    create table p (id integer primary key, file text, title text);
    insert into p values (1, '../secret.txt', 'Harbour'), (2, '../none.txt', 'Harbour')
    """
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").touch()
    workspace = sqlite_workspace(tmp_path, script, storages={"in": "in"})

    result = ask(search_files, workspace, query="harbour")

    assert result.data is not None
    assert [row[2] for row in result.artifacts[0].rows] == ["not to be read", "not to be read"]


def test_a_file_of_a_secret_name_is_not_compared_with_cells(tmp_path: Path) -> None:
    """What an answer masks is no filter, so that nobody finds out by guessing (no oracle)."""
    token = "ghp_" + "a1B2" * 9
    script = (
        f"create table p (id integer primary key, file text); insert into p values (1, '{token}')"
    )
    workspace = sqlite_workspace(tmp_path, script)

    result = ask(get_file_references, workspace, file=token)

    assert result.data is not None
    assert result.data["total"] == 0
    assert token not in result.content


def test_a_missing_table_of_the_settings_is_told_once(tmp_path: Path) -> None:
    """A table that cannot be read is a warning, and a database at its deadline is not."""

    class Late:
        """A database that is at its deadline."""

        def table(self, name: str) -> db.Table:
            """Give up."""
            raise ToolError("late", ErrorCode.TIMEOUT)

    workspace = Workspace(folder=tmp_path, tables={"p": TableSettings(files=("a",))})

    with pytest.raises(ToolError) as caught:
        room.file_tables(Late(), workspace)  # type: ignore[arg-type]
    assert caught.value.code == ErrorCode.TIMEOUT
