"""S2: a database made to leak, to hang and to write."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
import time
from contextlib import closing, contextmanager
from importlib import import_module
from importlib.metadata import distribution
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builtin_tools.conftest import plenty_of_time
from support.databases import everything, hot_journal
from support.postgres import Postgres, postgres
from toolseam import Actor
from toolseam.testing import harness
from toolseam_builtin._database._asking import read_until
from toolseam_builtin._database._sqlite import SqliteDatabase
from toolseam_builtin.accounts import list_groups, list_users, list_users_raw
from toolseam_builtin.content import read_records
from toolseam_builtin.editing import update_record_metadata
from toolseam_builtin.structure import list_tables, validate_schema
from toolseam_builtin.workspace import AccountSettings, TableSettings, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from toolseam import ToolResult
    from toolseam.testing import Harness

__all__ = ["plenty_of_time", "postgres"]

CANARY = "CANARYc4n4ry7Q2w9Zx"
ALLOWED = {"not_found", "permission_denied", "unavailable", "timeout"}
DEADLINE = 2.0
PATIENCE = 60.0
"""Seconds for what is to answer whole, also where the machine stands still meanwhile."""
HELD = 1.9
"""Seconds without a beat; a tool that holds on to the interpreter never lets go at its deadline."""
GROUPS = {"accounts", "content", "files", "structure"}

BOMB = [f"c{n} as (select 1 as x from c{n + 1} p, c{n + 1} q)" for n in range(40)]
SCRIPT = f"""
create table users (id integer primary key, name text, password text);
insert into users values (1, 'ada', '{CANARY}');
create table member (id integer primary key, name text, password text default '{CANARY}');
insert into member values (1, 'ada', '{CANARY}');
create table secrets (id integer primary key, body text);
insert into secrets values (1, '{CANARY}');
create view public_notes as select id, password as note from member;
create view v2 as select id, note from public_notes;
create view behind_gate as select name from users;
create view behind_deny as select body from secrets;
create view counted as select count(*) as n from users;
create table gc (id integer primary key, secret_token text,
  label text generated always as ('x' || secret_token), further text as (label || '!'));
insert into gc (id, secret_token) values (1, '{CANARY}');
create table slow (id integer primary key, big text as (hex(zeroblob(100000000))));
insert into slow (id) values (1);
create virtual table plain using fts5(title, password);
insert into plain values ('hello', '{CANARY}');
create virtual table outside using fts5(name, password, content='member', content_rowid='id');
insert into outside (outside) values ('rebuild');
create virtual table terms using fts5vocab('outside', 'row');
create view shadow as select c1 from plain_content;
create view endless as with recursive r(x) as (select 1 union all select x + 1 from r)
  select x from r where x < 0;
create view counted_endless as with recursive r(x) as (select 1 union all select x + 1 from r)
  select count(*) as n from r;
create view backtracking as select regexp('(a+)+$', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!') as x;
create view extension as select load_extension('/nonexistent') as x;
create view fills as select hex(zeroblob(500000000)) as x;
create view likes as select 'a' like '{"%a" * 60}%b' as x;
create view bomb as with {", ".join(BOMB)}, c40 as (select 1 as x) select x from c0;
create table stuffed (id integer primary key, a text default '{"CONSTRAINT x " * 8000}');
create table typed (id integer primary key, d date, j json);
insert into typed values (1, 'no date', '{"[" * 100_000}'),
  (2, '2024-02-30', '{{"api_key": "{CANARY}"}}'),
  (3, '', '[{{"deep": "{{\\"client_secret\\": \\"{CANARY}\\"}}"}}]'),
  (4, null, '{{"password": "{CANARY}", broken'),
  (5, null, '{{"p\\u0061ssword": "{CANARY}", broken');
create view extracted as select json_extract(j, '$.api_key') as x from typed where id = 2;
create table history (id integer primary key, field text, old text, new text);
insert into history values (1, 'password', null, '{CANARY}');
create view news as select new as x from history;
create table editable (id integer primary key, name text);
insert into editable values (1, 'before');
create table editable_history (id integer primary key, editable_id integer, field text, old text,
  new text, changed_by text, changed_at text);
create trigger strikes after update on editable begin update users set name = 'struck'; end;
create table "we""ird ' [name]" (id integer primary key, "a""b" text);
insert into "we""ird ' [name]" values (1, 'x');
"""
VIEWS = [
    f"create view nest{n} as select a.id from nest{n - 1} a, nest{n - 1} b" for n in range(1, 40)
]


def make_hostile(folder: Path) -> Workspace:
    """Write the hostile database, and describe the workspace around it."""
    with closing(sqlite3.connect(folder / "app.db")) as connection:
        # A function that only the attacker's own program has.
        connection.create_function("regexp", 2, lambda pattern, text: 0, deterministic=True)
        connection.executescript(SCRIPT)
        connection.execute("create view nest0 as select id from editable")
        for view in VIEWS:
            connection.execute(view)
        connection.commit()
    return Workspace(folder=folder, tables_deny=("secrets",))


def names_in(path: Path) -> list[str]:
    """Return every name in the database, those that SQLite hides included; of the nest a few."""
    nest = {f"nest{n}" for n in range(40)} - {"nest0", "nest5", "nest20", "nest39"}
    with closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("select name from sqlite_master")]
    return [name for name in names if name not in nest]


class Heartbeat(threading.Thread):
    """Beats every few milliseconds, and remembers the longest silence that was this process's.

    Of the wall clock and the process's own time the lesser counts: a machine that gave the
    processor to somebody else is no tool that held on to it.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self._stopped = threading.Event()

    def run(self) -> None:
        """Beat until stopped."""
        wall, own = time.monotonic(), time.process_time()
        while not self._stopped.wait(0.005):
            silence = min(time.monotonic() - wall, time.process_time() - own)
            self.longest = max(self.longest, silence)
            wall, own = time.monotonic(), time.process_time()

    def stop(self) -> None:
        """End the beat."""
        self._stopped.set()
        self.join()


@contextmanager
def beating() -> Iterator[Heartbeat]:
    """Run a heartbeat beside what is tested."""
    beat = Heartbeat()
    beat.start()
    try:
        yield beat
    finally:
        beat.stop()


def database_tools() -> dict[str, ModuleType]:
    """Return each builtin that reads a database and asks for a table, whatever lands later."""
    found: dict[str, ModuleType] = {}
    for point in distribution("toolseam").entry_points.select(group="toolseam.tools"):
        if point.value.split(".")[1] not in GROUPS:
            continue
        module = import_module(point.value)
        asks = "table" in {field.name for field in module.Arguments.__attrs_attrs__}
        if asks:
            found[point.name] = module
    return found


def questions(module: ModuleType, table: str) -> list[dict[str, object]]:
    """Return what a tool is asked about a table: every way in which its rows could come out."""
    made: list[dict[str, object]] = [{"table": table}]
    for field in module.Arguments.__attrs_attrs__:
        if field.name == "column":
            made = [each | {"column": name} for each in made for name in ("id", "new", "note", "j")]
        elif field.name == "query":
            made = [each | {"query": CANARY[:6]} for each in made]
        elif field.name == "key":
            made = [each | {"key": "1"} for each in made]
        elif field.name == "group_by":
            made += [each | {"group_by": name} for each in made for name in ("new", "note", "x")]
    return made


def check(result: ToolResult) -> None:
    """Hold a result against what a hostile database may bring about."""
    assert CANARY not in everything(result)
    assert result.failure is None or result.failure.code in ALLOWED, result.failure


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One hostile database for all tests of this module; no test can change it."""
    return make_hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def hurried(plenty_of_time: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tools give themselves less time than their caller does, for reading and for counting."""
    for function in (read_until, SqliteDatabase.count):
        monkeypatch.setattr(function, "__defaults__", (0.4,))


@pytest.fixture(scope="module")
def reader(hostile: Workspace) -> Iterator[Harness]:
    """What reads records of the hostile database."""
    with harness(read_records, settings=hostile) as double:
        yield double


def copied(hostile: Workspace, folder: Path) -> Workspace:
    """Copy the hostile database into a folder, and return the workspace around it."""
    shutil.copy(hostile.place / "app.db", folder)
    return attrs.evolve(hostile, folder=folder)


def ask_all(double: Harness, module: ModuleType, table: str) -> None:
    """Ask a tool everything about a table, and hold each answer against what is allowed."""
    for arguments in questions(module, table):
        started = time.process_time()
        result = double.call(arguments, timeout=DEADLINE)

        assert time.process_time() - started < DEADLINE + 1.0, arguments
        if result.failure is None or result.failure.code != "invalid_arguments":
            check(result)
        assert CANARY not in everything(result), arguments


def test_every_database_tool_is_tried() -> None:
    """The tools that are known to read tables are among those that are tried."""
    known = {"read_records", "get_table_schema", "get_record_tree", "validate_schema"}

    assert known | {"get_json_column_schema", "count_records"} <= set(database_tools())


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("name", sorted(database_tools()))
def test_no_table_leaks_hangs_or_breaks_a_tool(hostile: Workspace, name: str) -> None:
    """Each tool with each name ends in time and in its codes; no canary, no silence, no change."""
    path = hostile.place / "app.db"
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    module = database_tools()[name]

    with beating() as beat, harness(module, settings=hostile) as double:
        for table in [*names_in(path), "sqlite_master", "sqlite_schema", "pragma_table_list"]:
            ask_all(double, module, table)

    assert beat.longest <= HELD
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [file.name for file in hostile.place.iterdir()] == ["app.db"]


def test_the_whole_schema_is_checked_in_time(hostile: Workspace) -> None:
    """All tables together are validated: the denied ones unnamed, the views not run."""
    with beating() as beat:
        started = time.process_time()
        result = harness(validate_schema, settings=hostile).call(timeout=PATIENCE)

    assert time.process_time() - started < DEADLINE + 1.0
    assert result.success
    assert beat.longest <= HELD
    check(result)
    assert not {row[0] for row in result.artifacts[0].rows} & {"users", "secrets", "plain_content"}


@pytest.mark.parametrize("tool", [list_users, list_users_raw, list_groups])
@pytest.mark.parametrize(
    "name", ["users", "member", "gc", "typed", "history", "plain", "public_notes", "bomb", "terms"]
)
def test_accounts_come_out_of_no_other_table(
    hostile: Workspace, tool: ModuleType, name: str
) -> None:
    """Whatever the workspace names as its accounts, no credential and no view comes out."""
    named = AccountSettings(users=name, groups=name)

    workspace = Workspace(folder=hostile.place, tables_deny=("secrets",), accounts=named)
    double = harness(tool, settings=workspace)

    check(double.call({}, timeout=PATIENCE))
    guess, other = (double.call({"filter": text}) for text in (CANARY[:6], "nothing"))
    assert guess.success == other.success
    if guess.data is not None and other.data is not None:
        assert guess.data["total"] == other.data["total"] == 0


def test_the_listing_is_whole_and_quick(hostile: Workspace) -> None:
    """The list serves the good tables, warns of the bad ones and names nothing denied."""
    with beating() as beat:
        started = time.process_time()
        result = harness(list_tables, settings=hostile).call(timeout=PATIENCE)

    assert time.process_time() - started < DEADLINE + 1.0
    assert result.success
    assert beat.longest <= HELD
    listed = {row[0] for row in result.artifacts[0].rows}
    assert {"editable", "history", "member", "typed"} <= listed
    assert not listed & {
        "users", "secrets", "public_notes", "v2", "behind_gate", "behind_deny", "counted",
        "outside", "shadow", "extracted", "news", "plain_content",
    }  # fmt: skip
    check(result)


@pytest.mark.parametrize(
    "name",
    [
        "users", "secrets", "public_notes", "v2", "behind_gate", "behind_deny", "counted",
        "outside", "shadow", "extracted", "news", "plain_content", "sqlite_master", "absent",
    ],
)  # fmt: skip
def test_what_is_refused_sounds_like_what_is_absent(reader: Harness, name: str) -> None:
    """Denied tables, and views that read what they may not, are refused like absent ones."""
    result = reader.call({"table": name}, timeout=PATIENCE)

    assert result.failure is not None
    assert result.failure.code == "not_found"
    assert result.failure.message.startswith(f"No readable table '{name}'.")


@pytest.mark.usefixtures("hurried")
def test_what_never_ends_is_given_up(reader: Harness) -> None:
    """An endless view ends at its budget, one that cannot even be prepared at once."""
    endless, bomb = (reader.call({"table": name}, timeout=PATIENCE) for name in ("endless", "bomb"))

    assert "stopped at the time limit" in endless.content
    assert bomb.failure is not None
    assert bomb.failure.code == "unavailable"


def test_harmless_neighbours_are_served(reader: Harness) -> None:
    """What is sound in a hostile database is still read."""
    result = reader.call({"table": "member"}, timeout=PATIENCE)

    assert result.data is not None
    assert result.data["rows"] == [[1, "ada"]]


def test_a_trigger_strikes_no_other_table(hostile: Workspace, tmp_path: Path) -> None:
    """A writer refuses a table whose trigger would write elsewhere, naming the trigger."""
    settings = TableSettings(editable=("name",), history="editable_history")
    workspace = attrs.evolve(copied(hostile, tmp_path), tables={"editable": settings})
    before = hashlib.sha256((tmp_path / "app.db").read_bytes()).hexdigest()

    double = harness(
        update_record_metadata, settings=workspace, actor=Actor("ada", {"admin"}), approve=True
    )
    result = double.call({"table": "editable", "key": "1", "values": {"name": "after"}})

    assert result.failure is not None
    assert result.failure.code == "conflict"
    assert "strikes" in result.content
    assert hashlib.sha256((tmp_path / "app.db").read_bytes()).hexdigest() == before


COLUMNS = ["id", "name", "password", "label", "field", "new", "j", "secret_token", "x", "rowid"]
TABLES = ["member", "gc", "history", "typed", "plain", "users", "public_notes", "nest5"]


@settings(max_examples=50)
@given(
    table=st.sampled_from(TABLES),
    where=st.dictionaries(
        st.sampled_from(COLUMNS), st.sampled_from([CANARY, "password", 1, None]), max_size=2
    ),
    fields=st.none() | st.lists(st.sampled_from(COLUMNS), max_size=3),
)
def test_no_filter_is_an_oracle(
    reader: Harness, table: str, where: dict[str, Any], fields: list[str] | None
) -> None:
    """Whether a guess is right or wrong never changes the number of records in an answer."""
    wrong = {key: "no" + value if value == CANARY else value for key, value in where.items()}

    right = reader.call({"table": table, "where": where, "fields": fields}, timeout=PATIENCE)
    other = reader.call({"table": table, "where": wrong, "fields": fields}, timeout=PATIENCE)

    for result in (right, other):
        assert result.failure is None or result.failure.code in {*ALLOWED, "invalid_arguments"}
        if result.data is not None:
            assert CANARY not in str(result.data.value["rows"])
    assert right.success == other.success
    if right.data is not None and other.data is not None:
        assert right.data["total"] == other.data["total"]


def test_a_journal_left_behind_is_not_rolled_back(hostile: Workspace, tmp_path: Path) -> None:
    """A hot journal that names another file makes the database unavailable; no file is touched."""
    copied(hostile, tmp_path)
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    (tmp_path / "app.db-journal").write_bytes(hot_journal(victim))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    result = harness(list_tables, settings=Workspace(folder=tmp_path)).call(timeout=PATIENCE)

    assert result.failure is not None
    assert result.failure.code == "unavailable"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["a.db?mode=rwc&x=", "b#.db", "c%3Fmode=rwc.db", "d d.db", "ü.db"])
def test_a_file_name_switches_no_mode(tmp_path: Path, name: str) -> None:
    """Whatever a database file is called, it is opened as that file and for reading."""
    with closing(sqlite3.connect(tmp_path / name)) as connection:
        connection.execute("create table t (id integer primary key)")
        connection.execute("insert into t values (1)")
        connection.commit()
    before = sorted(path.name for path in tmp_path.iterdir())

    workspace = Workspace(folder=tmp_path, database=name)
    result = harness(read_records, settings=workspace).call({"table": "t"})

    assert result.content.startswith("t: 1 record,")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


ROLE = """
do $$ begin
  if not exists (select from pg_roles where rolname = 'reader') then
    create role reader login;
  end if;
end $$
"""
HOSTILE_POSTGRES = (
    ROLE,
    "create table marker (id int)",
    """create function strike() returns int language plpgsql volatile security definer as
    $$ begin insert into marker values (1); return 1; end $$""",
    "create table member (id int primary key, name text, password text)",
    f"insert into member values (1, 'ada', '{CANARY}')",
    "create view notes as select id, password as note, strike() as s from member",
    "create materialized view stored as select id, password as note from member",
    "create table parent (id int, body text)",
    "create table audit_log () inherits (parent)",
    f"insert into audit_log values (1, '{CANARY}')",
    """create table gc (id int primary key, api_key text,
    label text generated always as ('x' || api_key) stored)""",
    f"insert into gc (id, api_key) values (1, '{CANARY}')",
    "create table columns_only (id int primary key, open text, closed text)",
    f"insert into columns_only values (1, 'fine', '{CANARY}')",
    "create table hidden (id int)",
    "grant usage on schema public to reader",
    "grant select on member, notes, stored, parent, audit_log, gc to reader",
    "grant select (id, open) on columns_only to reader",
)


def test_a_hostile_postgres_gives_nothing_away(postgres: Postgres) -> None:
    """Views are never run, denied children and generated copies never shown, whatever is asked."""
    name = postgres.database(*HOSTILE_POSTGRES)
    workspace = Workspace(database=postgres.url(name, "reader"), trusted=True)

    for module in database_tools().values():
        with harness(module, settings=workspace) as double:
            for table in ["member", "notes", "stored", "parent", "audit_log", "gc", "columns_only",
                          "hidden", "pg_authid", "pg_catalog.pg_authid", "marker"]:  # fmt: skip
                ask_all(double, module, table)
    check(harness(validate_schema, settings=workspace).call(timeout=PATIENCE))
    for table in ["member", "notes", "stored", "columns_only", "audit_log", "pg_authid"]:
        named = attrs.evolve(workspace, accounts=AccountSettings(users=table))
        check(harness(list_users_raw, settings=named).call(timeout=PATIENCE))
    listed = harness(list_tables, settings=workspace).call(timeout=PATIENCE)

    check(listed)
    assert [row[0] for row in listed.artifacts[0].rows] == ["columns_only", "gc", "member"]
    assert postgres.execute("select count(*) from marker", database=name) == [(0,)]


def test_a_privileged_role_is_refused(postgres: Postgres) -> None:
    """A superuser, an owner and a role that may write are refused unless the operator insists."""
    name = postgres.database(
        ROLE,
        "drop role if exists writer",
        "create role writer login",
        "create table item (id int primary key)",
        "grant usage on schema public to writer",
        "grant select, update (id) on item to writer",
    )

    for role in ("postgres", "writer"):
        workspace = Workspace(database=postgres.url(name, role), trusted=True)
        result = harness(list_tables, settings=workspace).call()
        assert result.failure is not None
        assert result.failure.code == "unavailable"
        assert result.metadata["reason"] == "privileged_role"

    insisting = Workspace(
        database=postgres.url(name, "writer"), trusted=True, allow_privileged_role=True
    )
    assert harness(list_tables, settings=insisting).call().success


def test_postgres_is_given_up_at_the_deadline(postgres: Postgres) -> None:
    """A view that the operator allows but that never ends is left before the deadline."""
    name = postgres.database(
        ROLE,
        "create view endless as with recursive r(x) as (select 1 union all select x + 1 from r)"
        " select count(*) as n from r where x < 0",
        "grant usage on schema public to reader",
        "grant select on endless to reader",
    )
    workspace = Workspace(
        database=postgres.url(name, "reader"), trusted=True, tables_allow=("endless",)
    )

    with harness(read_records, settings=workspace) as double:
        for _ in range(3):
            started = time.process_time()
            result = double.call({"table": "endless"}, timeout=1.0)
            assert time.process_time() - started < 1.0
            # The machine may have stood still until nobody waited any more.
            if result.failure is None or result.failure.code != "timeout":
                break

    assert "none shown" in result.content
    assert "stopped at the time limit" in result.content
