import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything, sqlite_workspace
from toolseam.testing import harness
from toolseam_builtin._database import Query, open_database
from toolseam_builtin.content import read_records
from toolseam_builtin.structure import get_json_column_schema, list_tables
from toolseam_builtin.workspace import Workspace

TABLE = "create table t (id integer primary key, a text); insert into t values (1, 'x');"


def test_a_database_in_use_is_read_beside_its_writer(tmp_path: Path) -> None:
    """A file in WAL mode shows what its writer has committed."""
    workspace = sqlite_workspace(tmp_path, TABLE)
    with closing(sqlite3.connect(tmp_path / "app.db")) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("insert into t values (2, 'y')")
        writer.commit()
        writer.execute("insert into t values (3, 'z')")

        result = ask(read_records, workspace, table="t")

    assert result.data is not None
    assert result.data["total"] == 2


def test_a_locked_database_is_busy(tmp_path: Path) -> None:
    """Where another program holds the file, the refusal says that it is busy."""
    workspace = sqlite_workspace(tmp_path, TABLE)
    with closing(sqlite3.connect(tmp_path / "app.db")) as writer:
        writer.execute("begin exclusive")

        result = ask(list_tables, workspace)

    assert result.failure is not None
    assert result.failure.code == "unavailable"
    assert result.metadata["reason"] == "busy"


def test_text_that_is_no_utf8_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    """Wrong bytes in a text cell spoil neither the row nor the answer."""
    script = TABLE + "insert into t values (2, cast(x'6162ff63' as text));"

    result = ask(read_records, sqlite_workspace(tmp_path, script), table="t")

    assert result.data is not None
    assert result.data["rows"] == [[1, "x"], [2, "ab�c"]]


def test_a_database_in_utf16_is_read(tmp_path: Path) -> None:
    """The encoding of the file does not show."""
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        connection.executescript("pragma encoding = 'UTF-16le';" + TABLE)
        connection.execute("insert into t values (2, 'äöü€😀')")
        connection.commit()

    result = ask(read_records, Workspace(folder=tmp_path), table="t", where={"a": "äöü€😀"})

    assert result.data is not None
    assert result.data["rows"] == [[2, "äöü€😀"]]


def test_a_sensitive_key_neither_names_nor_orders(tmp_path: Path) -> None:
    """A row whose key is sensitive is named by its position, unless that is the key."""
    script = """
    create table link (token text primary key, url text);
    insert into link values ('sesame2', 'b'), ('sesame1', 'a');
    create table pin (access_token integer primary key, note text);
    insert into pin values (4711, 'x'), (4712, 'a');
    """
    workspace = sqlite_workspace(tmp_path, script)

    link = ask(read_records, workspace, table="link")
    pin = ask(read_records, workspace, table="pin")

    assert link.content.splitlines()[1:5] == ["- link:1", "  url: b", "- link:2", "  url: a"]
    assert pin.content.splitlines()[1:5] == ["- pin #1", "  note: a", "- pin #2", "  note: x"]
    assert "sesame" not in everything(link)
    assert "471" not in everything(pin)


def test_a_table_with_nothing_to_show_is_counted(tmp_path: Path) -> None:
    """A view whose every column is sensitive has records and no cells."""
    script = TABLE + "create view v as select a as password from t;"

    result = ask(read_records, sqlite_workspace(tmp_path, script), table="v")

    assert result.content.splitlines() == [
        "v: 1 record, shown 1 to 1.",
        "- v #1",
        "Never shown: password.",
    ]


def test_a_huge_cell_is_refused_and_others_are_not(tmp_path: Path) -> None:
    """Text of more than eight million bytes cannot be read, and the refusal says what helps."""
    script = TABLE + "update t set a = hex(zeroblob(5000000));"
    workspace = sqlite_workspace(tmp_path, script)

    huge = ask(read_records, workspace, table="t")
    other = ask(read_records, workspace, table="t", fields=["id"])

    assert huge.failure is not None
    assert huge.failure.code == "unavailable"
    assert "name other fields" in huge.content
    assert other.success


def test_counting_is_given_up_before_the_answer(tmp_path: Path) -> None:
    """Rows that are there are shown, though nobody can count them in time."""
    script = TABLE + (
        "create view v as with recursive r(x) as (select 1 union all select x + 1 from r)"
        " select x from r;"
    )
    workspace = sqlite_workspace(tmp_path, script)

    with open_database(workspace) as database:
        table = database.table("t")
        assert database.count(Query(table, ("id",))) == 1
        endless = database.table("v")
        assert database.count(Query(endless, ("x",)), 0.2) is None
        assert database.rows(Query(table, ("id",))) == [(1,)]


def test_views_over_sound_tables_are_read(tmp_path: Path) -> None:
    """A view with functions and subqueries works like a table; one that opens JSON does not."""
    script = """
    create table item (id integer primary key, name text, doc text, up integer);
    insert into item values (1, 'a', '{"size": 3, "api_key": "sesame"}', null), (2, 'b', '{}', 1);
    create view sizes as
      with named as (select id, upper(name) as name, doc from item)
      select n.id, n.name, length(n.doc) as size,
        (select count(*) from item i where i.up = n.id) as children
      from named n where exists (select 1 from item) and n.name like '_%';
    create view inside as select json_extract(doc, '$.' || 'api' || '_key') as x from item;
    create view every as select each.value as v from item, json_each(item.doc) each;
    """
    workspace = sqlite_workspace(tmp_path, script)

    sizes = ask(read_records, workspace, table="sizes", where={"id": 1})
    inside = ask(read_records, workspace, table="inside")
    every = ask(read_records, workspace, table="every")

    assert sizes.data is not None
    assert sizes.data["rows"] == [["A", 1, 32, 1]]
    for result in (inside, every):
        assert result.failure is not None
        assert "sesame" not in everything(result)


@pytest.mark.parametrize("name", ["main.t", "MAIN.T", "T"])
def test_the_schema_may_be_said(tmp_path: Path, name: str) -> None:
    """SQLite's own schema name before a table is taken."""
    result = ask(read_records, sqlite_workspace(tmp_path, TABLE), table=name)

    assert result.content.startswith("t: 1 record")


def test_names_that_differ_for_sqlite_are_never_one(tmp_path: Path) -> None:
    """A look-alike of a denied table, or of a column, opens nothing through a view."""
    script = """
    create table users (id integer primary key, name text, password text);
    insert into users values (1, 'sesame', 'sesame');
    create table "u\u017fers" (id integer primary key);
    create view people as select name as n from users;
    create view phrases as select password as p from users;
    create table gc (password text, s text as (password || ''), "\u017f" text as ('x'));
    insert into gc (password) values ('sesame');
    """
    workspace = sqlite_workspace(tmp_path, script)

    for table in ("users", "u\u017fers", "people", "phrases", "gc"):
        assert "sesame" not in everything(ask(read_records, workspace, table=table))
    assert ask(read_records, workspace, table="u\u017fers").success


REFERRING = """
create table vault (Session_Token text primary key);
insert into vault values ('sesame');
create table visit (id integer primary key, door text unique references VAULT);
insert into visit values (1, 'sesame');
create table trace (id integer primary key, door text references visit(DOOR), note text);
insert into trace values (1, 'sesame', 'in');
create table lost (id integer primary key, door text references gone(api_key));
insert into lost values (1, 'sesame');
create table here (id integer primary key, door text unique references there(door));
create table there (id integer primary key, door text unique references here(door));
insert into here values (1, 'open');
"""


@pytest.mark.parametrize("table", ["visit", "trace", "lost"])
def test_what_refers_to_a_sensitive_column_is_sensitive(tmp_path: Path, table: str) -> None:
    """A foreign key holds the value itself, over however many tables, whoever may read those."""
    workspace = sqlite_workspace(tmp_path, REFERRING, tables_deny=("vault",))

    result = ask(read_records, workspace, table=table)

    assert "Never shown: door." in result.content
    assert "sesame" not in everything(result)


def test_references_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    """Columns that refer to each other, and to nothing sensitive, are read."""
    result = ask(read_records, sqlite_workspace(tmp_path, REFERRING), table="here")

    assert result.data is not None
    assert result.data["rows"] == [[1, "open"]]


SLOW = """
create table n (id integer primary key, up integer references n, body text);
with recursive c(x) as (select 1 union all select x + 1 from c limit 3000)
  insert into n select x, null, 'no json' from c;
create view slow as select a.id * b.id * c.id as id, a.body from n a, n b, n c where a.id > 2999;
"""


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (read_records, {"table": "slow", "where": {"body": "x"}}, "stopped at the time limit"),
        (
            get_json_column_schema,
            {"table": "slow", "column": "body"},
            "where the time limit ended it",
        ),
    ],
)
def test_a_nearer_deadline_gives_a_beginning(
    tmp_path: Path, tool: object, arguments: dict[str, Any], said: str
) -> None:
    """Where less time is left than a tool would take, it takes half of that, and says so."""
    with harness(tool, settings=sqlite_workspace(tmp_path, SLOW)) as double:
        for _ in range(9):
            started = time.process_time()
            result = double.call(arguments, timeout=0.6)
            spent = time.process_time() - started
            if result.success:  # or the machine stood still for all of the time there was
                break

    assert result.success, result.failure
    assert said in result.content
    assert spent < 0.6
