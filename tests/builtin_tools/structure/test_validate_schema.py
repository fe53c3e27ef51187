from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam.testing import harness
from toolseam_builtin._database import open_database
from toolseam_builtin._database._sqlite_reserved import RESERVED
from toolseam_builtin.structure import validate_schema
from toolseam_builtin.structure._findings import NO_KEY, Finding
from toolseam_builtin.structure._review import Review, check
from toolseam_builtin.structure.validate_schema import compose
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam import ToolResult

__all__ = ["postgres"]

LOOKED_AT = (
    "Looked at: primary keys, indexes of foreign keys, orphan rows, types that are not enforced,"
    " duplicate indexes, reserved names."
)
FAULTY = """
create table author (id integer primary key, name text collate nocase unique, born date);
create table book (id integer primary key, author_id int references author, editor_id int
  references author(id), code varchar(5), "order" text, title text);
create index book_author on book (author_id, title);
create index book_title on book (title);
create index book_title_again on book (title);
create index book_id on book (id);
create index book_backwards on book (title desc);
create index book_other on book (title collate nocase);
create index book_partly on book (editor_id) where editor_id > 5;
create index book_lower on book (lower(title));
create index book_upper on book (upper(title));
create table notes (body text);
create table "group" (id integer primary key);
create table line (no int, at int, name text references author(name), primary key (no, at)) strict;
insert into author values (1, 'Ada', null), (2, 'Bob', null);
insert into book (author_id, editor_id) values (1, 1), (7, 2), (8, 9), (null, 9);
insert into line values (1, 1, 'ADA'), (1, 2, 'Eve');
"""


def found(result: ToolResult) -> list[str]:
    """Return the findings of an answer, without their dashes."""
    return [line[2:] for line in result.content.splitlines() if line.startswith("- ")]


def test_everything_that_it_knows_is_found(tmp_path: Path) -> None:
    """Each kind of finding once, sorted by table; harmless neighbours are no finding."""
    result = ask(validate_schema, sqlite_workspace(tmp_path, FAULTY))

    assert found(result) == [
        "author: type not enforced: the table is not STRICT, any value fits into: born date",
        "book: duplicate index: book_id (id) repeats the primary key",
        "book: duplicate index: book_title_again (title) repeats book_title",
        "book: foreign key without index: editor_id → author(id)",
        "book: orphan rows: 2 rows refer to none: author_id → author(id)",
        "book: orphan rows: 2 rows refer to none: editor_id → author(id)",
        "book: reserved name: columns whose names must be quoted: order",
        "book: type not enforced: the table is not STRICT, any value fits into: code varchar(5)",
        "group: reserved name: the table's name group must be quoted",
        "line: foreign key without index: name → author(name)",
        "line: orphan rows: 1 row refers to none: name → author(name)",
        "notes: no primary key: no column says which row is which",
    ]
    assert result.content.startswith("SQLite: 12 findings in 5 tables.\n")
    (table,) = result.artifacts
    assert all(cell in result.content for row in table.rows for cell in row)
    assert result.data is not None
    assert result.data["rows"][4][3] == 2


def test_a_sound_schema_says_what_was_looked_at(tmp_path: Path) -> None:
    """Nothing to find is a success that names what was checked."""
    script = """create table a (id integer primary key, name text);
    create table b (id integer primary key, a_id int references a on delete cascade);
    create index b_a on b (a_id); insert into a values (1, 'x'); insert into b values (1, 1);"""

    result = ask(validate_schema, sqlite_workspace(tmp_path, script))

    assert result.content.splitlines() == [
        "SQLite: no findings in 2 tables.",
        LOOKED_AT,
        "References held against the rows: 1.",
    ]


def test_one_table_is_checked_alone(tmp_path: Path) -> None:
    """With a table the others are left aside."""
    result = ask(validate_schema, sqlite_workspace(tmp_path, FAULTY), table="NOTES")

    assert found(result) == ["notes: no primary key: no column says which row is which"]
    assert "in 1 table." in result.content


def test_hidden_tables_and_columns_are_not_counted(tmp_path: Path) -> None:
    """References to denied tables and by sensitive columns are named as not held, never counted."""
    script = """create table users (id integer primary key, mail text unique);
    create table key (id integer primary key, access_token text unique);
    create table visit (id integer primary key, user_id int references users,
      access_token text references key(access_token), old text references users(mail));
    insert into visit values (1, 99, 'sesame', 'x');"""

    result = ask(validate_schema, sqlite_workspace(tmp_path, script))

    assert "visit: foreign key without index: user_id → a table that is not readable" in (
        found(result)
    )
    assert "orphan rows:" not in "".join(found(result))
    assert "Not held, since they lead to what is not readable: 3." in result.content
    assert "users" not in result.content
    assert "sesame" not in everything(result)


@pytest.mark.parametrize("name", ["absent", "users", "sqlite_master", "notes_content"])
def test_what_is_not_readable_is_not_found(tmp_path: Path, name: str) -> None:
    """Absent, denied and internal tables are refused in the same words."""
    script = "create virtual table notes using fts5(title); create table users (id int);"

    result = ask(validate_schema, sqlite_workspace(tmp_path, script), table=name)

    assert result.failure is not None
    assert result.failure.code == "not_found"
    assert result.failure.message.startswith(f"No readable table '{name}'.")


def test_a_view_is_judged_by_its_names_alone(tmp_path: Path) -> None:
    """A view needs no key, and a virtual table's own tables are none of the workspace's."""
    script = """create table t (id integer primary key);
    create view v as select id as "select" from t; create virtual table n using fts5(a);"""
    workspace = sqlite_workspace(tmp_path, script)

    assert found(ask(validate_schema, workspace)) == []
    assert found(ask(validate_schema, workspace, table="v")) == [
        "v: reserved name: columns whose names must be quoted: select"
    ]


def is_name(word: str) -> bool:
    """Tell whether SQLite takes a word bare, as a column's and as a table's name."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"create table t ({word} text, z int)")
            connection.execute(f"select {word} from t")
            connection.execute(f"create table {word} (z int)")
        except sqlite3.OperationalError:
            return False
        return True


def test_reserved_words_are_those_of_the_engine() -> None:
    """Each word of the list is refused as a bare name, and ordinary keywords are not in it."""
    assert not [word for word in RESERVED if is_name(word)]
    assert not RESERVED & {"key", "name", "date", "user", "value", "row", "plan", "first"}


def test_large_tables_are_looked_at_in_part(tmp_path: Path) -> None:
    """Of a large table the first rows are held against the other one, and the answer says so."""
    script = """create table a (id integer primary key); insert into a values (1);
    create table b (id integer primary key, a_id int references a);
    create index b_a on b (a_id);
    with recursive n(x) as (select 1 union all select x + 1 from n limit 120000)
      insert into b select x, 1 + (x % 2) from n;"""

    result = ask(validate_schema, sqlite_workspace(tmp_path, script))

    assert "rows refer to none: a_id → a(id)" in found(result)[0]
    assert found(result)[0].startswith("b: orphan rows: at least ")
    assert "Of 1 of them the first 100,000 rows were looked at, not all." in result.content


def test_a_budget_that_ends_is_said(tmp_path: Path) -> None:
    """With hardly any time left, what was not checked and not counted is a warning."""
    tables = "".join(
        f"create table t{n} (id integer primary key, up int references t{n}(id));"
        for n in range(300)
    )
    workspace = sqlite_workspace(tmp_path, tables)

    started = time.process_time()
    result = harness(validate_schema, settings=workspace).call({}, timeout=0.25)

    assert time.process_time() - started < 1.0
    if result.success:
        assert "budget" in result.content or "in 300 tables." in result.content
        assert result.data is not None
        assert result.data["tables"] + result.data["tables_left"] == 300
    else:
        assert result.failure is not None
        assert result.failure.code == "timeout"


def test_what_a_budget_leaves_is_counted(tmp_path: Path) -> None:
    """At the end of the budget one table is checked, and the others and all references are left."""
    with open_database(sqlite_workspace(tmp_path, FAULTY)) as database:
        review = check(database, None, time.monotonic() - 1)
        one = check(database, "book", time.monotonic() - 1)

    assert (review.tables, review.total, review.counted) == (1, 5, 0)
    assert "Warning: stopped at the time limit: 4 tables were not checked; `table` checks one" in (
        compose("SQLite", review).text
    )
    assert one.uncounted == ["book: author_id → author(id)", "book: editor_id → author(id)"]
    assert "Warning: 2 references could not be held against the rows" in compose("S", one).text


def test_cells_that_the_engine_cannot_compare_are_said(tmp_path: Path) -> None:
    """A reference in cells too large to read is not counted, and the other findings stay."""
    script = """create table a (code text primary key); create table b (id integer primary key,
    code text references a); create index b_code on b (code) where id > 5;
    insert into b values (1, hex(zeroblob(5000000)));"""

    result = ask(validate_schema, sqlite_workspace(tmp_path, script))

    assert found(result) == ["b: foreign key without index: code → a(code)"]
    assert "1 references could not be held against the rows" in result.content


def test_more_findings_than_fit_are_counted() -> None:
    """A full answer says how many findings there are and how to see those of one table."""
    many = [Finding(f"t{n:04}", NO_KEY, "x" * 100) for n in range(600)]

    answer = compose("SQLite", Review(600, tables=600, findings=many))

    assert answer.text.startswith("SQLite: 600 findings in 600 tables.")
    shown = len(answer.artifacts[0].rows)
    assert 100 < shown < 600
    assert f"The first {shown} are shown. More with one `table`." in answer.text


def test_three_hundred_tables_are_checked_in_time(tmp_path: Path) -> None:
    """A wide schema, each table referring to the next, is checked whole within two seconds."""
    tables = "".join(
        f"create table t{n} (id integer primary key, next int references t{(n + 1) % 300}(id));"
        for n in range(300)
    )
    workspace = sqlite_workspace(tmp_path, tables)

    started = time.process_time()
    result = ask(validate_schema, workspace)

    assert time.process_time() - started < 2.0
    assert result.data is not None
    assert (result.data["tables"], result.data["references_counted"]) == (300, 300)


POSTGRES = (
    "drop role if exists checker",
    "create role checker login",
    "create schema depot",
    "create table author (id int primary key, name text unique)",
    """create table depot.book (id int primary key, author_id int, "order" text, title text,
    constraint book_author foreign key (author_id) references author not valid)""",
    "alter table depot.book disable trigger all",
    "insert into author values (1, 'Ada')",
    "insert into depot.book values (1, 1), (2, 7), (3, null)",
    "create index one on depot.book (title)",
    "create index two on depot.book (title)",
    "create index three on depot.book (title desc)",
    "create index four on depot.book (title) include (id)",
    "create index five on depot.book (title text_pattern_ops)",
    "create index six on depot.book (lower(title))",
    "create unique index seven on author (id)",
    "create table plain (n int)",
    "create table ring (id int primary key, api_key text unique)",
    "create table refers (id int primary key, api_key text references ring(api_key))",
    "grant usage on schema depot to checker",
    "grant select on all tables in schema public, depot to checker",
)


def test_postgres_is_checked_too(postgres: Postgres) -> None:
    """The same findings come from the catalogue, in every schema, without a false duplicate."""
    name = postgres.database(*POSTGRES)
    workspace = Workspace(database=postgres.url(name, "checker"), trusted=True)

    result = ask(validate_schema, workspace)

    assert found(result) == [
        "author: duplicate index: seven (id) repeats the primary key",
        "depot.book: duplicate index: two (title) repeats one",
        "depot.book: foreign key without index: author_id → author(id)",
        "depot.book: orphan rows: 1 row refers to none: author_id → author(id)",
        "depot.book: reserved name: columns whose names must be quoted: order",
        "plain: no primary key: no column says which row is which",
        "refers: foreign key without index: api_key → ring(api_key)",
    ]
    assert "Not held, since they lead to what is not readable: 1." in result.content


def test_awkward_sqlite_names_are_checked(tmp_path: Path) -> None:
    """Reserved names, generated columns, no rowid, helper tables and odd types do not disturb."""
    script = """create table "order" (id integer primary key, "group" text, net numeric,
      gross numeric generated always as (net*1.2) virtual);
    create table seat (hall text, no integer, holder text, primary key (hall, no)) without rowid;
    create index seat_again on seat (hall, no);
    create virtual table notes using fts5(title, body);
    create table odd (id integer primary key, shape GEOMETRY, anything);"""

    result = ask(validate_schema, sqlite_workspace(tmp_path, script))

    assert found(result) == [
        "odd: type not enforced: the table is not STRICT, any value fits into: shape GEOMETRY",
        "order: reserved name: columns whose names must be quoted: group",
        "order: reserved name: the table's name order must be quoted",
        "seat: duplicate index: seat_again (hall, no) repeats the primary key",
    ]
    assert "in 3 tables." in result.content


def test_postgres_names_and_schemas_are_kept_apart(postgres: Postgres) -> None:
    """Two tables of one name, mixed case and blanks are checked under their own names."""
    name = postgres.database(
        "drop role if exists keeper",
        "create role keeper login",
        "create schema depot",
        'create schema "Back Office"',
        "create table item (id int primary key, label text)",
        "create table depot.item (sku text, qty int, bin text)",
        'create table "Stock" (id int primary key, "select" text)',
        """create table "Back Office"."Ledger" (id int primary key, stock int
        references "Stock", total int generated always as (id * 2) stored)""",
        'grant usage on schema depot, "Back Office" to keeper',
        'grant select on all tables in schema public, depot, "Back Office" to keeper',
    )
    workspace = Workspace(database=postgres.url(name, "keeper"), trusted=True)

    everywhere = found(ask(validate_schema, workspace))
    wrong = ask(validate_schema, workspace, table="item; drop table item")

    assert everywhere == [
        "Back Office.Ledger: foreign key without index: stock → Stock(id)",
        "Stock: reserved name: columns whose names must be quoted: select",
        "depot.item: no primary key: no column says which row is which",
    ]
    assert found(ask(validate_schema, workspace, table="item")) == []
    assert found(ask(validate_schema, workspace, table="stock")) == everywhere[1:2]
    assert found(ask(validate_schema, workspace, table="back office.ledger")) == everywhere[:1]
    assert wrong.failure is not None
    assert wrong.failure.code == "not_found"
    assert postgres.execute("select count(*) from item", database=name) == [(0,)]
