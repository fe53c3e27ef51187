"""Every content tool on the names, types and faults of P08 and P22 to P24."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam_builtin.content import (
    count_records,
    get_record_content,
    get_record_history,
    read_records,
    search_records,
)
from toolseam_builtin.workspace import Workspace

__all__ = ["postgres"]

ODDITIES = """
create table "order" (id integer primary key, "group" text, net numeric,
  gross numeric generated always as (net*1.2) virtual,
  tag text generated always as ('T'||id) stored);
insert into "order" (id, "group", net) values (1, 'alpha', 10);
create table seat (hall text, no integer, holder text, primary key (hall, no)) without rowid;
insert into seat values ('b', 1, 'xavier'), ('a', 2, 'yvonne');
create virtual table notes using fts5(title, body);
insert into notes values ('hello', 'world');
create table "a""b ' [c]" (id integer primary key, "x""y" text);
insert into "a""b ' [c]" values (1, 'quoted');
"""
SERVER = (
    "create role awkward login",
    "create table item (id int primary key, label text)",
    "insert into item values (1, 'public one')",
    "create schema depot",
    "create table depot.item (sku text, qty int, bin text, primary key (sku, bin))",
    "insert into depot.item values ('a', 1, 'depot one')",
    'create table "Stock" (id int, "unitPrice" numeric, "select" text)',
    "insert into \"Stock\" values (1, 9.50, 'queue')",
    'create schema "Back Office"',
    """create table "Back Office"."Ledger" (id int primary key, net int,
    total int generated always as (net * 2) stored)""",
    'insert into "Back Office"."Ledger" (id, net) values (1, 4)',
    """create table "Back Office"."Ledger_history" (id int primary key, ledger_id int,
    "column" text, "new" text)""",
    """insert into "Back Office"."Ledger_history" values (1, 1, 'net', '4')""",
    'create table "100%s" (id int primary key, "a%s" text)',
    "insert into \"100%s\" values (1, 'a 50% share')",
    'grant usage on schema public, depot, "Back Office" to awkward',
    'grant select on all tables in schema public, depot, "Back Office" to awkward',
)


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Workspace:
    """Two schemas and awkward names, for a role that may only read."""
    return Workspace(database=postgres.url(postgres.database(*SERVER), "awkward"), trusted=True)


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        (get_record_content, {"table": "order", "key": 1}, "  gross: 12\n  tag: T1"),
        (get_record_content, {"table": "seat", "key": "a,2"}, "holder: yvonne"),
        (get_record_content, {"table": "notes", "key": 1}, "notes:1 hello"),
        (get_record_content, {"table": "a\"b ' [c]", "key": 1}, 'x"y: quoted'),
        (count_records, {"table": "order", "group_by": "group"}, "- alpha: 1"),
        (count_records, {"table": "notes"}, "notes: 1 record."),
        (search_records, {"query": "alph"}, "- order:1"),
        (search_records, {"query": "yvon"}, "- seat:a,2"),
        (search_records, {"query": "worl", "table": "notes"}, "- notes:1 hello"),
        (search_records, {"query": "quot"}, "- a\"b ' [c]:1"),
    ],
)
def test_odd_sqlite_tables_are_read(
    tmp_path: Path, tool: object, arguments: dict[str, Any], expected: str
) -> None:
    """Reserved words, generated columns, tables without rowid and virtual ones are no exception."""
    result = ask(tool, sqlite_workspace(tmp_path, ODDITIES), **arguments)

    assert expected in result.content


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        (get_record_content, {"table": "item", "key": 1}, "label: public one"),
        (get_record_content, {"table": "depot.item", "key": "a,depot one"}, "qty: 1"),
        (get_record_content, {"table": "stock", "key": "(0,1)"}, "unitPrice: 9.50"),
        (get_record_content, {"table": "Back Office.Ledger", "key": 1}, "total: 8"),
        (get_record_content, {"table": "100%s", "key": 1}, "a%s: a 50% share"),
        (get_record_history, {"table": "ledger", "key": 1}, "(unknown): net: → 4"),
        (count_records, {"table": "Stock", "group_by": "unitPrice"}, "- 9.50: 1"),
        (count_records, {"table": "100%s", "group_by": "a%s"}, "- a 50% share: 1"),
        (search_records, {"query": "depot one"}, "- depot.item:a,depot one"),
        (search_records, {"query": "queue"}, "select: queue"),
        (search_records, {"query": "50%"}, "a%s: a 50% share"),
    ],
)
def test_names_of_postgresql_keep_their_case_and_schema(
    server: Workspace, tool: object, arguments: dict[str, Any], expected: str
) -> None:
    """Mixed case, reserved words, percent signs and several schemas are read as they are named."""
    result = ask(tool, server, **arguments)

    assert expected in result.content


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (read_records, {"where": {"number": "4000-TULIP-7741"}}),
        (count_records, {"where": {"number": "4000-TULIP-7741"}}),
        (count_records, {"group_by": "number"}),
        (search_records, {"query": "4000-TULIP-7741"}),
        (get_record_content, {"key": "4000-TULIP-7741"}),
        (get_record_history, {"key": "4000-TULIP-7741"}),
    ],
)
def test_no_text_of_the_driver_leaves(
    tmp_path: Path, tool: object, arguments: dict[str, Any]
) -> None:
    """A table that another connection drops is absent, and no value or statement shows."""
    workspace = sqlite_workspace(
        tmp_path, "create table card (id integer primary key, number text unique)"
    )
    with closing(sqlite3.connect(tmp_path / "app.db")) as other:
        other.execute("drop table card")

    gone = ask(tool, workspace, table="card", **arguments)

    assert gone.failure is not None
    assert gone.failure.code == "not_found"
    for word in ("TULIP", "SQL", "parameters", "sqlalche.me"):
        assert word not in everything(gone)


@pytest.mark.parametrize("tool", [read_records, count_records, get_record_content])
def test_injection_in_a_table_name_changes_nothing(server: Workspace, tool: object) -> None:
    """A name with SQL in it is the name of no table."""
    key = {"key": 1} if tool is get_record_content else {}

    refused = ask(tool, server, table="item; drop table item", **key)
    after = ask(count_records, server, table="item")

    assert refused.failure is not None
    assert refused.failure.code == "not_found"
    assert after.content == "item: 1 record."
