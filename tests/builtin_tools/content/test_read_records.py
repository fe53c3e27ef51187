import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.databases import ask, everything, sqlite_workspace
from toolseam import ToolResult
from toolseam_builtin.content import read_records
from toolseam_builtin.workspace import TableSettings

SHOP = """
create table "Album" (id integer primary key, artist text, title text, price numeric, note text);
insert into "Album" values
  (3, 'Ada', 'Tides', 9.5, null), (1, 'Bix', 'Dawn', 12, 'first'), (2, 'Ada', 'Reeds', 8.25, '');
"""


def rows(result: ToolResult) -> list[list[object]]:
    """Return the typed rows of a success."""
    assert result.data is not None, result.content
    found: list[list[object]] = result.data.value["rows"]
    return found


def test_text_table_and_data_say_the_same_in_key_order(tmp_path: Path) -> None:
    """One call gives the records in key order as text, as a table and typed."""
    result = ask(read_records, sqlite_workspace(tmp_path, SHOP), table="Album", limit=2)

    assert result.content.splitlines() == [
        "Album: 3 records, shown 1 to 2.",
        "- Album:1",
        "  title: Dawn",
        "  artist: Bix",
        "  price: 12",
        "  note: first",
        "- Album:2",
        "  title: Reeds",
        "  artist: Ada",
        "  price: 8.25",
        "  note: ",
        "More with offset=2.",
    ]
    (artifact,) = result.artifacts
    assert artifact.label == "Album records"
    assert artifact.columns == ["id", "title", "artist", "price", "note"]
    assert artifact.rows == [
        ["1", "Dawn", "Bix", "12", "first"],
        ["2", "Reeds", "Ada", "8.25", ""],
    ]
    assert result.data == {
        "table": "Album",
        "total": 3,
        "offset": 0,
        "next_offset": 2,
        "columns": ["id", "title", "artist", "price", "note"],
        "rows": [[1, "Dawn", "Bix", 12, "first"], [2, "Reeds", "Ada", 8.25, ""]],
    }


def test_every_cell_of_the_table_occurs_in_the_text(tmp_path: Path) -> None:
    """The artifact shows nothing that the text does not."""
    result = ask(read_records, sqlite_workspace(tmp_path, SHOP), table="Album")

    assert all(cell in result.content for row in result.artifacts[0].rows for cell in row)


def test_pages_join_without_gap_or_repetition(tmp_path: Path) -> None:
    """Following `next_offset` visits every record once."""
    workspace = sqlite_workspace(tmp_path, SHOP)
    offset: object = 0
    keys: list[object] = []

    while offset is not None:
        result = ask(read_records, workspace, table="album", limit=1, offset=offset)
        keys += [row[0] for row in rows(result)]
        assert result.data is not None
        offset = result.data["next_offset"]

    assert keys == [1, 2, 3]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"artist": "Ada"}, [2, 3]),
        ({"artist": "Ada", "PRICE": 9.5}, [3]),
        ({"note": None}, [3]),
        ({"id": "2"}, [2]),
        ({"artist": "Ad%"}, []),
    ],
)
def test_filters_are_equalities(
    tmp_path: Path, where: dict[str, object], expected: list[int]
) -> None:
    """Filters compare for equality, by column names of any case, and null finds empty cells."""
    result = ask(read_records, sqlite_workspace(tmp_path, SHOP), table="Album", where=where)

    assert [row[0] for row in rows(result)] == expected


def test_fields_choose_the_columns_and_the_rest_is_named(tmp_path: Path) -> None:
    """`fields` are shown in the asked order, and what is left out is said."""
    workspace = sqlite_workspace(tmp_path, SHOP)

    result = ask(read_records, workspace, table="Album", fields=["PRICE", "title"], limit=1)

    assert result.content.splitlines()[1:4] == ["- Album:1", "  price: 12", "  title: Dawn"]
    assert "artist, note" in result.content


def test_the_label_of_the_workspace_comes_first(tmp_path: Path) -> None:
    """The column that the workspace names as label leads the fields."""
    tables = {"album": TableSettings(label="note")}
    workspace = sqlite_workspace(tmp_path, SHOP, tables=tables)

    result = ask(read_records, workspace, table="Album", limit=1)

    assert result.content.splitlines()[2] == "  note: first"


def test_an_empty_answer_says_what_was_looked_at(tmp_path: Path) -> None:
    """No match is a success that names table and filter."""
    workspace = sqlite_workspace(tmp_path, SHOP)

    result = ask(read_records, workspace, table="Album", where={"artist": "Nobody"})

    assert result.success
    assert result.content.splitlines()[0] == (
        "Album: 0 records where artist = 'Nobody', none shown."
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"table": "Album", "limit": 0}, "invalid_arguments"),
        ({"table": "Album", "limit": 51}, "invalid_arguments"),
        ({"table": "Album", "offset": 10_001}, "invalid_arguments"),
        ({"table": "Album", "where": {"artist": ["Ada"]}}, "invalid_arguments"),
        ({"table": "Album", "where": {"artist": {"a": 1}}}, "invalid_arguments"),
        ({"table": "Album", "where": {"nothing": 1}}, "invalid_arguments"),
        ({"table": "Album", "fields": ["nothing"]}, "invalid_arguments"),
        ({"table": "Album", "where": {"id": 2**70}}, "invalid_arguments"),
        ({"table": "Albums"}, "not_found"),
        ({"table": 'Album"; drop table "Album'}, "not_found"),
    ],
)
def test_refusals_have_their_codes(tmp_path: Path, arguments: dict[str, object], code: str) -> None:
    """What cannot be asked is refused with its code, and nothing is clamped."""
    result = ask(read_records, sqlite_workspace(tmp_path, SHOP), **arguments)

    assert result.failure is not None
    assert result.failure.code == code


def test_more_than_five_filters_break_the_schema(tmp_path: Path) -> None:
    """The limit is said in the schema, where a model sees it, and five are taken."""
    columns = [f"c{n}" for n in range(6)]
    script = f"create table wide (id integer primary key, {', '.join(columns)});"
    workspace = sqlite_workspace(tmp_path, script)

    five = ask(read_records, workspace, table="wide", where=dict.fromkeys(columns[:5], 1))
    six = ask(read_records, workspace, table="wide", where=dict.fromkeys(columns, 1))

    assert five.success
    assert six.failure is not None
    assert six.failure.code == "invalid_arguments"
    assert six.metadata["rule"] == "maxProperties"


def test_absent_and_denied_tables_sound_alike(tmp_path: Path) -> None:
    """The refusal does not tell whether a denied table exists."""
    script = SHOP + "create table ledger(id integer primary key);"
    workspace = sqlite_workspace(tmp_path, script, tables_deny=("ledger", "phantom"))

    denied = ask(read_records, workspace, table="ledger")
    absent = ask(read_records, workspace, table="phantom")

    assert denied.failure is not None
    assert absent.failure is not None
    assert denied.failure.code == absent.failure.code == "not_found"
    assert denied.content.replace("ledger", "phantom") == absent.content


ACCOUNTS = """
create table member (id integer primary key, name text, api_key text, settings text);
insert into member values (1, 'Ada', 'sesame', '{"theme": "dark", "api_key": "sesame"}');
"""


def test_sensitive_columns_are_named_and_never_read(tmp_path: Path) -> None:
    """A sensitive column is named as hidden; its value and that of a sensitive JSON key is not."""
    result = ask(read_records, sqlite_workspace(tmp_path, ACCOUNTS), table="member")

    assert "Never shown: api_key." in result.content
    assert '"theme": "dark"' in result.content
    assert "sesame" not in everything(result)


@pytest.mark.parametrize(
    "arguments",
    [
        {"where": {"api_key": "sesame"}},
        {"where": {"api_key": None}},
        {"fields": ["api_key"]},
        {"where": {"settings": '{"theme": "dark", "api_key": "sesame"}'}},
        {"where": {"name": "see https://app:sesame@host/"}},
    ],
)
def test_nothing_hidden_can_be_asked_for(tmp_path: Path, arguments: dict[str, object]) -> None:
    """Filtering by what is not shown is refused, right guess or wrong."""
    result = ask(read_records, sqlite_workspace(tmp_path, ACCOUNTS), table="member", **arguments)

    assert result.failure is not None
    assert result.failure.code == "permission_denied"


def test_values_of_sensitive_fields_in_history_rows_are_masked(tmp_path: Path) -> None:
    """Where a row names a sensitive field, its values are masked and cannot be filtered by."""
    script = """
    create table change (id integer primary key, field text, old text, new text);
    insert into change values (1, 'password', 'a1', 'sesame'), (2, 'title', 'Dawn', 'Dusk');
    """
    workspace = sqlite_workspace(tmp_path, script)

    shown = ask(read_records, workspace, table="change", fields=["new"])
    guessed = ask(read_records, workspace, table="change", where={"new": "sesame"})

    assert rows(shown) == [[1, "[masked]"], [2, "Dusk"]]
    assert guessed.failure is not None
    assert guessed.failure.code == "permission_denied"


def test_no_value_can_forge_a_line(tmp_path: Path) -> None:
    """Line breaks in a cell show as a sign, so that a value is never taken for a record."""
    script = SHOP + "update \"Album\" set note = 'x' || char(10) || '- Album:99' where id = 1;"

    result = ask(read_records, sqlite_workspace(tmp_path, script), table="Album", limit=1)

    assert "  note: x↵- Album:99" in result.content.splitlines()
    assert "- Album:99" not in result.content.splitlines()


def test_long_text_says_its_length(tmp_path: Path) -> None:
    """A long cell is cut in sight, with the number of its characters."""
    script = SHOP + "update \"Album\" set note = replace(hex(zeroblob(500)), '00', 'ab');"

    result = ask(read_records, sqlite_workspace(tmp_path, script), table="Album")

    assert "… [1,000 characters in all]" in result.content


def test_a_full_answer_stops_between_records(tmp_path: Path) -> None:
    """An answer that is full ends with a whole record and says where to go on."""
    columns = ", ".join(f"c{n} text" for n in range(30))
    values = ", ".join("replace(hex(zeroblob(150)), '00', 'ĕŕ')" for _ in range(30))
    script = f"create table wide (id integer primary key, {columns});" + "".join(
        f"insert into wide values ({n}, {values});" for n in range(1, 11)
    )
    fields = [f"c{n}" for n in range(30)]
    workspace = sqlite_workspace(tmp_path, script)

    result = ask(read_records, workspace, table="wide", fields=fields)

    shown = len(rows(result))
    assert 0 < shown < 10
    assert len(result.artifacts[0].rows) == shown
    assert f"More with offset={shown}." in result.content
    assert "[truncated" not in result.content


def test_paging_ends_where_the_offset_does(tmp_path: Path) -> None:
    """Past the greatest offset no page is offered that would be refused; a filter leads on."""
    script = (
        "create table hit (id integer primary key);"
        " with recursive n(x) as (select 1 union all select x + 1 from n limit 10100)"
        " insert into hit select x from n;"
    )
    workspace = sqlite_workspace(tmp_path, script)

    last = ask(read_records, workspace, table="hit", offset=9_990, limit=10)
    past = ask(read_records, workspace, table="hit", offset=10_000, limit=10)
    empty = ask(read_records, workspace, table="hit", offset=9_000, where={"id": 1})

    assert last.content.endswith("More with offset=10000.")
    assert past.content.endswith("More with a narrower `where`; paging ends at offset 10,000.")
    assert past.data is not None
    assert past.data["next_offset"] is None
    assert empty.content == "hit: 1 record where id = 1, none shown; offset 9,000 is past the end."


DATES = """
create table ev (id integer primary key, d date, ts timestamp, pic blob);
insert into ev values (1, '2024-02-29', '2024-02-29 10:00:00', x'89504e470d0a1a0a'),
  (2, '0000-00-00', '0000-00-00 00:00:00', null), (3, '', 'yesterday', 'not-a-blob'),
  (4, 20240229, 1709200000, zeroblob(2000000));
"""


def test_one_bad_date_spoils_nothing(tmp_path: Path) -> None:
    """Good dates are ISO text, bad ones come as stored with a warning, bytes as their length."""
    result = ask(read_records, sqlite_workspace(tmp_path, DATES), table="ev")

    assert rows(result) == [
        [1, "2024-02-29", "2024-02-29T10:00:00", {"bytes": 8}],
        [2, "0000-00-00", "0000-00-00 00:00:00", None],
        [3, "", "yesterday", "not-a-blob"],
        [4, 20240229, 1709200000, {"bytes": 2_000_000}],
    ]
    assert "(2,000,000 bytes)" in result.content
    assert "b'" not in result.content
    assert "�" not in result.content
    warnings = result.metadata.value["warnings"]
    assert warnings == [
        "ev.d: no date, shown as stored (3 values)",
        "ev.ts: no time, shown as stored (3 values)",
    ]
    assert all(warning in result.content for warning in warnings)


ODDITIES = """
create table "order" (id integer primary key, "group" text, net numeric,
  gross numeric generated always as (net*1.2) virtual,
  tag text generated always as ('T'||id) stored);
insert into "order" (id, "group", net) values (1, 'a', 10);
create table seat (hall text, no integer, holder text, primary key (hall, no)) without rowid;
insert into seat values ('b', 1, 'x'), ('a', 2, 'y'), ('a', 1, 'z');
create virtual table notes using fts5(title, body);
insert into notes values ('hello', 'world');
create table odd (id integer primary key, shape GEOMETRY, anything);
insert into odd values (1, 'POINT', 2), (2, null, 'x');
create table loose (a text, rowid text, b text);
insert into loose values ('x', 'taken', 'y'), ('x', 'taken', 'y');
"""


def test_reserved_names_and_generated_columns_are_read(tmp_path: Path) -> None:
    """A table and columns with reserved names read like any other."""
    result = ask(read_records, sqlite_workspace(tmp_path, ODDITIES), table="order")

    assert rows(result) == [[1, "a", 10, 12.0, "T1"]]


def test_a_table_without_rowid_pages_by_its_key(tmp_path: Path) -> None:
    """The primary key orders and names rows, also where it has two columns."""
    workspace = sqlite_workspace(tmp_path, ODDITIES)

    result = ask(read_records, workspace, table="seat", limit=2)

    assert rows(result) == [["a", 1, "z"], ["a", 2, "y"]]
    assert "- seat:a,1" in result.content


def test_full_text_tables_and_untyped_columns_are_read(tmp_path: Path) -> None:
    """Virtual tables, unknown types and tables without a key do not fail."""
    workspace = sqlite_workspace(tmp_path, ODDITIES)

    assert rows(ask(read_records, workspace, table="notes")) == [[1, "hello", "world"]]
    assert rows(ask(read_records, workspace, table="odd")) == [[1, "POINT", 2], [2, None, "x"]]
    loose = ask(read_records, workspace, table="loose")
    assert rows(loose) == [[1, "x", "taken", "y"], [2, "x", "taken", "y"]]


@pytest.mark.parametrize("helper", ["data", "idx", "content", "docsize", "config"])
def test_the_helpers_of_full_text_tables_do_not_exist(tmp_path: Path, helper: str) -> None:
    """The tables behind a virtual table are never read."""
    result = ask(read_records, sqlite_workspace(tmp_path, ODDITIES), table=f"notes_{helper}")

    assert result.failure is not None
    assert result.failure.code == "not_found"


def test_no_text_of_the_driver_leaves(tmp_path: Path) -> None:
    """A table that is dropped between two calls is absent, and no value or statement shows."""
    workspace = sqlite_workspace(
        tmp_path,
        "create table card (id integer primary key, number text unique);"
        "insert into card (number) values ('4000-TULIP-7741');",
    )
    found = ask(read_records, workspace, table="card", where={"number": "4000-TULIP-7741"})
    with closing(sqlite3.connect(tmp_path / "app.db")) as other:
        other.execute("drop table card")

    gone = ask(read_records, workspace, table="card", where={"number": "4000-TULIP-7741"})

    assert len(rows(found)) == 1
    assert gone.failure is not None
    assert gone.failure.code == "not_found"
    for word in ("TULIP", "SQL", "parameters", "sqlalche.me"):
        assert word not in everything(gone)
