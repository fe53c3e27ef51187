from pathlib import Path

import pytest

from support.databases import sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam_builtin import _database as db
from toolseam_builtin.workspace import Workspace

__all__ = ["postgres"]

FILES = """
create table file (id integer primary key, path text, "50%'s" varchar(20));
insert into file values (1, 'a', 'x'), (2, null, 'a'), (3, 'b''--', null), (4, 'A', 'y')
"""


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """A workspace over the same table in either engine."""
    if request.param == "SQLite":
        return sqlite_workspace(tmp_path, FILES)
    server: Postgres = request.getfixturevalue("postgres")
    name = server.database(*FILES.split(";"))
    database = server.url(name)
    return Workspace(folder=tmp_path, database=database, trusted=True, allow_privileged_role=True)


@pytest.mark.parametrize(
    ("values", "columns", "keys"),
    [
        (("a", "b'--"), ("path",), [1, 3]),
        (("a", "none"), ("path", "50%'s"), [1, 2]),
        (("a",), (), []),
        (("none",), ("path",), []),
    ],
)
def test_rows_are_found_by_any_of_several_values(
    workspace: Workspace, values: tuple[str, ...], columns: tuple[str, ...], keys: list[int]
) -> None:
    """A row is found if one of the columns is exactly one of the values, in either engine."""
    with db.open_database(workspace) as database:
        query = db.Query(database.table("file"), ("id",), among=db.Among(values, columns))
        found = [row[0] for row in database.rows(query)]
        total = database.count(query)

    assert (found, total) == (keys, len(keys))
