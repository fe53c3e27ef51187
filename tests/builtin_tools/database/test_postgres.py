from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.databases import ask
from support.postgres import Postgres, postgres
from toolseam_builtin.content import read_records
from toolseam_builtin.structure import get_record_tree, get_table_schema, list_tables
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam import ToolResult

__all__ = ["postgres"]

SHOP = (
    "create role teller login",
    """create table item (id int primary key, label text, at timestamptz, doc jsonb, pic bytea,
    place point, tags text[], ok boolean)""",
    """insert into item values (1, 'x', '2024-02-29 10:00+00', '{"theme": 1}', 'abc', point(1,2),
    '{a,b}', true), (2, 'y', 'infinity', null, null, null, null, null)""",
    "create schema depot",
    "create table depot.item (sku text, qty int check (qty > 0), bin text, primary key (sku, bin))",
    "insert into depot.item values ('a', 1, 'b')",
    'create table "Stock" (id int, "unitPrice" numeric, "select" text)',
    "insert into \"Stock\" values (1, 9.50, 'q')",
    'create table "order" (id int)',
    'create schema "Back Office"',
    """create table "Back Office"."Ledger" (id int primary key, net int,
    total int generated always as (net * 2) stored)""",
    'insert into "Back Office"."Ledger" (id, net) values (1, 4)',
    "create table page (id int primary key, title text, up int references page)",
    "insert into page values (1, 'a', null), (2, 'b', 1)",
    "create view titles as select title from page",
    "create table event (id int, day date) partition by range (day)",
    "create table event_24 partition of event for values from ('2024-01-01') to ('2025-01-01')",
    "insert into event values (1, '2024-05-01')",
    'create table "100%s" (id int primary key, "a%s" text)',
    "insert into \"100%s\" values (1, '50%')",
    "comment on table page is 'a tree of pages'",
    "analyze page",
    'grant usage on schema public, depot, "Back Office" to teller',
    'grant select on all tables in schema public, depot, "Back Office" to teller',
)


@pytest.fixture(scope="module")
def shop(postgres: Postgres) -> Workspace:
    """A database with two schemas and awkward names, for a role that may only read."""
    return Workspace(database=postgres.url(postgres.database(*SHOP), "teller"), trusted=True)


def rows(result: ToolResult) -> list[list[object]]:
    """Return the typed rows of a success."""
    assert result.data is not None, result.content
    found: list[list[object]] = result.data.value["rows"]
    return found


def test_the_listing_keeps_schemas_apart(shop: Workspace) -> None:
    """Tables of other schemas carry their schema, views need the operator's word."""
    result = ask(list_tables, shop)

    assert [row[0] for row in rows(result)] == [
        "100%s", "Stock", "event", "item", "order", "page", "Back Office.Ledger", "depot.item",
    ]  # fmt: skip
    assert "- page: table, 2 rows, a tree of pages" in result.content
    assert [row[0] for row in rows(ask(list_tables, shop, schema="DEPOT"))] == ["depot.item"]


def test_a_plain_name_means_the_default_schema(shop: Workspace) -> None:
    """Two tables of one name never merge their columns."""
    public = ask(get_table_schema, shop, table="item")
    depot = ask(get_table_schema, shop, table="depot.item")

    assert "sku" not in public.content
    assert depot.content.splitlines() == [
        "depot.item: table, 3 columns.",
        "- sku: text, primary key",
        "- qty: integer",
        "- bin: text, primary key",
        "- primary key: sku, bin",
        "- check item_qty_check: (qty > 0)",
    ]
    assert rows(ask(read_records, shop, table="depot.item")) == [["a", "b", 1]]


@pytest.mark.parametrize(
    ("name", "title", "expected"),
    [
        ("Stock", "Stock", [[1, "9.50", "q"]]),
        ("stock", "Stock", [[1, "9.50", "q"]]),
        ("order", "order", []),
        ("Back Office.Ledger", "Back Office.Ledger", [[1, 4, 8]]),
        ("ledger", "Back Office.Ledger", [[1, 4, 8]]),
        ("100%s", "100%s", [[1, "50%"]]),
        ("event", "event", [[1, "2024-05-01"]]),
        ("event_24", "event_24", [[1, "2024-05-01"]]),
    ],
)
def test_awkward_names_are_read(
    shop: Workspace, name: str, title: str, expected: list[list[object]]
) -> None:
    """Mixed case, reserved words and spaces are names, and numbers keep their scale."""
    result = ask(read_records, shop, table=name)

    assert result.content.startswith(f"{title}: ")
    assert [row[-len(wanted) :] for row, wanted in zip(rows(result), expected, strict=True)] == (
        expected
    )


def test_every_type_has_a_cell(shop: Workspace) -> None:
    """Cells come as the server writes them; what Python cannot hold is shown as stored."""
    result = ask(read_records, shop, table="item")

    assert rows(result) == [
        [1, "x", "2024-02-29T10:00:00+00:00", '{"theme": 1}', {"bytes": 3}, "(1,2)", "{a,b}", True],
        [2, "y", "infinity", None, None, None, None, None],
    ]
    assert result.metadata["warnings"] == ["item.at: no time, shown as stored (1 values)"]


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ({"id": 2}, [2]),
        ({"ok": True}, [1]),
        ({"ok": None}, [2]),
        ({"label": "x' or 'a' = 'a"}, []),
        ({"at": "2024-02-29 11:00+01"}, [1]),
        ({"doc": '{"theme":1}'}, [1]),
    ],
)
def test_filters_are_read_as_their_column_reads(
    shop: Workspace, where: dict[str, object], keys: list[int]
) -> None:
    """A filter's text is a value of its column's type, never a part of the statement."""
    assert [row[0] for row in rows(ask(read_records, shop, table="item", where=where))] == keys


@pytest.mark.parametrize(
    "where", [{"id": "abc"}, {"label": "\0"}, {"place": "x"}, {"place": "(1,2)"}]
)
def test_a_filter_that_does_not_fit_is_refused(shop: Workspace, where: dict[str, object]) -> None:
    """What the server cannot compare is a fault of the arguments, in our words."""
    result = ask(read_records, shop, table="item", where=where)

    assert result.failure is not None
    assert result.failure.code == "invalid_arguments"
    assert result.failure.message == "A filter of item does not fit its column."


@pytest.mark.parametrize(
    "name", ["item; drop table item", "titles", "nothing.item", "depot.nothing"]
)
def test_absent_names_are_not_found(shop: Workspace, name: str) -> None:
    """A name is a name whatever it holds; views that nobody allowed are absent."""
    result = ask(read_records, shop, table=name)

    assert result.failure is not None
    assert result.failure.code == "not_found"
    assert ask(read_records, shop, table="item").success


def test_a_view_is_read_where_the_operator_names_it(shop: Workspace) -> None:
    """A view that is allowed by name is read in a stable order."""
    workspace = Workspace(database=shop.database, trusted=True, tables_allow=("titles",))

    assert rows(ask(read_records, workspace, table="titles")) == [["a"], ["b"]]


def test_the_tree_works_as_on_sqlite(shop: Workspace) -> None:
    """The same tool outlines a table of either engine."""
    result = ask(get_record_tree, shop, table="page")

    assert result.content.splitlines()[1:] == ["- page:1 a", "  - page:2 b"]


def test_what_refers_to_a_sensitive_column_is_sensitive(postgres: Postgres) -> None:
    """A foreign key holds the value itself, over however many tables; circles come to an end."""
    name = postgres.database(
        "drop role if exists guest",
        "create role guest login",
        "create table vault (session_token text primary key)",
        "create table visit (id int primary key, door text unique references vault)",
        "create table trace (id int primary key, door text references visit(door), note text)",
        "insert into vault values ('sesame')",
        "insert into visit values (1, 'sesame')",
        "insert into trace values (1, 'sesame', 'in')",
        "create table ring (id int primary key, next int references ring)",
        "insert into ring values (1, 1)",
        "grant select on visit, trace, ring to guest",
    )
    workspace = Workspace(database=postgres.url(name, "guest"), trusted=True)

    for table in ("visit", "trace"):
        assert "Never shown: door." in ask(read_records, workspace, table=table).content
    assert rows(ask(read_records, workspace, table="trace")) == [[1, "in"]]
    assert rows(ask(read_records, workspace, table="ring")) == [[1, 1]]


def test_rows_without_a_key_come_as_they_are_stored(postgres: Postgres) -> None:
    """No index and no sorting changes their order, with a filter as without."""
    database = postgres.database(
        "create role filer login",
        "create table note (word text, n int, even bool)",
        "insert into note select 'w' || i, -i, i % 2 = 0 from generate_series(1, 3000) i",
        "create index on note (even, n)",
        "grant select on all tables in schema public to filer",
        "analyze",
    )
    workspace = Workspace(database=postgres.url(database, "filer"), trusted=True)

    first = ask(read_records, workspace, table="note", limit=2)
    even = ask(read_records, workspace, table="note", where={"even": True}, limit=2)

    assert [row[1:3] for row in rows(first)] == [["w1", -1], ["w2", -2]]
    assert [row[1:3] for row in rows(even)] == [["w2", -2], ["w4", -4]]
