import time
from pathlib import Path

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam import ToolResult
from toolseam_builtin.content import get_record_content
from toolseam_builtin.workspace import Workspace

__all__ = ["postgres"]

SHOP = """
create table page (id integer primary key, parent integer references page (id), title text,
  body text, seen timestamp, api_key text);
insert into page values (1, null, 'Home', '<p>Ships &#38 <b>peo</b>ple<br>of old</p>',
  '2024-02-29 10:00:00', 'sesame'), (2, 1, 'Visit', null, null, 'sesame');
create table block (id integer primary key, page integer references page (id), title text,
  content text);
insert into block values (12, 1, 'Second', 'plain'), (11, 1, 'First', '<i>sla</i>nted'),
  (13, 2, 'Other', 'x');
create table hit (page integer references page (id), at text, field text, old text);
insert into hit values (1, 'noon', 'password', 'sesame'), (1, 'night', 'title', 'Dawn');
create table seat (hall text, no integer, holder text, primary key (hall, no));
insert into seat values ('a', 1, 'Ada')
"""


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Workspace:
    """The same site on a server, for a role that may only read."""
    grants = ("create role reader login", "grant select on all tables in schema public to reader")
    database = postgres.database(*SHOP.split(";"), *grants)
    return Workspace(database=postgres.url(database, "reader"), trusted=True)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """The site on either engine."""
    if request.param == "SQLite":
        return sqlite_workspace(tmp_path, SHOP)
    found: Workspace = request.getfixturevalue("server")
    return found


def groups(result: ToolResult) -> list[tuple[str, int | None, list[str]]]:
    """Return table, number and keys of each group of children."""
    assert result.data is not None, result.content
    return [
        (group["table"], group["total"], [row[0] for row in group["rows"]])
        for group in result.data.value["children"]
    ]


def test_a_record_and_its_children_in_all_forms(site: Workspace) -> None:
    """Fields without markup, then children by table in key order; no secret in any form."""
    result = ask(get_record_content, site, table="page", key=1)

    lines = result.content.splitlines()
    assert lines[:6] == [
        "page:1 Home",
        "  id: 1",
        "  parent: null",
        "  title: Home",
        "  body: Ships & people of old (markup left out)",
        "  seen: 2024-02-29T10:00:00",
    ]
    assert lines[6:11] == [
        "Never shown: api_key.",
        "block by page: 2 records.",
        "- block:11 First · slanted (markup left out)",
        "- block:12 Second · plain",
        "hit by page: 2 records.",
    ]
    assert lines[11].endswith("at: noon · field: password · old: [masked]")
    assert lines[13:] == ["page by parent: 1 record.", "- page:2 Visit"]
    items, children = result.artifacts
    assert items.data["items"][3] == ["body", "Ships & people of old (markup left out)"]
    assert children.rows[0] == ["block", "11", "page", "First · slanted (markup left out)"]
    assert result.data["fields"][0] == ["id", 1]
    assert "sesame" not in everything(result)


def test_every_cell_of_the_artifacts_occurs_in_the_text(site: Workspace) -> None:
    """The artifacts show nothing that the text does not."""
    result = ask(get_record_content, site, table="page", key=1)
    items, children = result.artifacts

    assert all(cell in result.content for row in children.rows for cell in row)
    assert all(part in result.content for item in items.data["items"] for part in item)


def test_children_may_be_left_out(site: Workspace) -> None:
    """Without `children` the record stands alone."""
    result = ask(get_record_content, site, table="page", key=1, children=False)

    assert "block" not in result.content
    assert "children" not in everything(result)


@pytest.mark.parametrize(("key", "field"), [("a,1", "Ada"), ("a,2", None)])
def test_a_key_of_two_columns(site: Workspace, key: str, field: str | None) -> None:
    """The values of a longer key have commas between them, as in every answer."""
    result = ask(get_record_content, site, table="seat", key=key)

    if field is None:
        assert result.failure is not None
        assert result.failure.code == "not_found"
    else:
        assert f"holder: {field}" in result.content


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"table": "page", "key": 3}, "not_found"),
        ({"table": "page", "key": "x"}, "not_found"),
        ({"table": "page", "key": "1 or 1=1"}, "not_found"),
        ({"table": "pagoda", "key": 1}, "not_found"),
        ({"table": "seat", "key": "a"}, "invalid_arguments"),
        ({"table": "page"}, "invalid_arguments"),
        ({"table": "page", "key": None}, "invalid_arguments"),
    ],
)
def test_refusals_have_their_codes(
    site: Workspace, arguments: dict[str, object], code: str
) -> None:
    """What has no record, or no such key, is refused with its code."""
    result = ask(get_record_content, site, **arguments)

    assert result.failure is not None
    assert result.failure.code == code


def test_more_children_than_are_shown_are_counted(tmp_path: Path) -> None:
    """At most 100 children are shown in all, and of each table how many there are."""
    script = (
        SHOP
        + ";"
        + "".join(f"insert into block values ({n}, 1, 't', null);" for n in range(100, 220))
    )

    result = ask(get_record_content, sqlite_workspace(tmp_path, script), table="page", key=1)

    assert [(table, total, len(keys)) for table, total, keys in groups(result)] == [
        ("block", 122, 100), ("hit", 2, 0), ("page", 1, 0),
    ]  # fmt: skip
    assert "block by page: 122 records, 100 shown." in result.content
    assert "More by read_records of block where page = 1, offset=100." in result.content


def test_long_texts_are_excerpts(tmp_path: Path) -> None:
    """Of a long text 200 characters are shown, with their number in all."""
    script = f"{SHOP}; update page set body = '<p>{'long ' * 100}</p>' where id = 1"

    result = ask(get_record_content, sqlite_workspace(tmp_path, script), table="page", key=1)

    assert "… [499 characters in all] (markup left out)" in result.content


def test_taking_markup_out_joins_no_secret(tmp_path: Path) -> None:
    """A secret that markup kept apart is masked in the text without it."""
    script = f"{SHOP}; update page set body = 'https://app:ses<b>ame</b>@host/' where id = 1"

    result = ask(get_record_content, sqlite_workspace(tmp_path, script), table="page", key=1)

    assert "sesame" not in everything(result)
    assert "https://[masked]@host/" in result.content


DATES = """
create table ev (id integer primary key, d date, ts timestamp, pic blob);
insert into ev values (2, '0000-00-00', '0000-00-00 00:00:00', null),
  (4, 20240229, 1709200000, zeroblob(2000000));
create table odd (id, shape GEOMETRY, anything, primary key (id)) without rowid;
insert into odd values (7, 'POINT', 2), ('x', 'LINE', 3);
"""


def test_one_bad_date_spoils_nothing(tmp_path: Path) -> None:
    """Bad dates come as stored with a warning, bytes as their length."""
    result = ask(get_record_content, sqlite_workspace(tmp_path, DATES), table="ev", key=4)

    assert result.data["fields"] == [
        ["id", 4], ["d", 20240229], ["ts", 1709200000], ["pic", {"bytes": 2_000_000}],
    ]  # fmt: skip
    assert result.metadata["warnings"] == [
        "ev.d: no date, shown as stored", "ev.ts: no time, shown as stored",
    ]  # fmt: skip


@pytest.mark.parametrize(("key", "shape"), [(7, "POINT"), ("7", "POINT"), ("x", "LINE")])
def test_a_key_without_a_type_is_found(tmp_path: Path, key: str | int, shape: str) -> None:
    """Where a column has no type, a number is found by its digits."""
    result = ask(get_record_content, sqlite_workspace(tmp_path, DATES), table="odd", key=key)

    assert f"shape: {shape}" in result.content


def test_a_wide_record_fits(tmp_path: Path) -> None:
    """Fields that do not fit are named, and no answer is cut."""
    columns = ", ".join(f"c{n} text default '{'ä' * 190}'" for n in range(200))
    script = (
        f"create table wide (id integer primary key, {columns}); insert into wide(id) values (1);"
    )

    result = ask(get_record_content, sqlite_workspace(tmp_path, script), table="wide", key=1)

    assert "Further columns, by read_records with `fields`: " in result.content
    assert len(result.content.encode()) < 50_000
    assert "[truncated" not in result.content


def test_a_denied_table_of_children_stays_unnamed(tmp_path: Path) -> None:
    """Records of a table that the gate hides are neither shown nor counted."""
    workspace = sqlite_workspace(tmp_path, SHOP, tables_deny=("block",))

    result = ask(get_record_content, workspace, table="page", key=1)

    assert "block" not in everything(result)


def test_markup_without_end_takes_no_time(tmp_path: Path) -> None:
    """A text made of beginnings of tags is read in a moment."""
    script = f"{SHOP}; update page set body = '{'<a' * 8000}' where id = 1"
    workspace = sqlite_workspace(tmp_path, script)
    started = time.process_time()

    result = ask(get_record_content, workspace, table="page", key=1)

    assert result.success
    assert time.process_time() - started < 1


def test_a_long_label_says_its_own_length(tmp_path: Path) -> None:
    """What is cut of a label is counted from the text, not from what another cut left of it."""
    script = """
    create table page (id integer primary key, title text);
    insert into page values (1, replace(hex(zeroblob(150000)), '00', 'xy'));
    """

    result = ask(get_record_content, sqlite_workspace(tmp_path, script), table="page", key=1)

    assert result.content.count("… [300,000 characters in all]") == 2


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        ("name text, held text unique", "https://ada:CANARY77@db.example/site"),
        ("name text, value text unique", "CANARY77"),
    ],
)
def test_how_to_read_on_tells_no_secret(tmp_path: Path, columns: str, value: str) -> None:
    """What a record is referred to by is masked there as it is in its own field."""
    script = f"""
    create table options (id integer primary key, {columns});
    insert into options values (1, 'smtp_password', '{value}');
    create table uses (id integer primary key, option text references options ({
        columns.split()[2]
    }));
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 120)
      insert into uses select i, '{value}' from n
    """
    workspace = sqlite_workspace(tmp_path, script)

    result = ask(get_record_content, workspace, table="options", key=1)

    assert result.success, result.content
    assert "smtp_password" in result.content
    assert "More by read_records of uses" in result.content or "held" not in columns
    assert "CANARY" not in everything(result)
