from pathlib import Path

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam.testing import harness
from toolseam_builtin.content import _counting, count_records
from toolseam_builtin.workspace import Workspace

__all__ = ["postgres"]

SHOP = """
create table album (id integer primary key, artist text, year integer, api_key text);
insert into album values (1, 'Ada', 1999, 'k'), (2, 'Ada', 2001, 'l'), (3, 'Bix', 1999, 'm'),
  (4, null, 1999, 'n'), (5, '', 2001, 'o');
"""


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Workspace:
    """The same shop on a server, for a role that may only read."""
    grants = ("create role counter login", "grant select on all tables in schema public to counter")
    statements = [part for part in SHOP.split(";") if part.strip()]
    return Workspace(
        database=postgres.url(postgres.database(*statements, *grants), "counter"), trusted=True
    )


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """The shop on either engine."""
    if request.param == "SQLite":
        return sqlite_workspace(tmp_path, SHOP)
    found: Workspace = request.getfixturevalue("server")
    return found


@pytest.mark.parametrize(
    ("where", "words", "total"),
    [
        (None, "album: 5 records.", 5),
        ({"year": 1999}, "album: 3 records where year = 1999.", 3),
        (
            {"year": 1999, "ARTIST": "Ada"},
            "album: 1 record where year = 1999 and artist = 'Ada'.",
            1,
        ),
        ({"artist": None}, "album: 1 record where artist = null.", 1),
        ({"artist": "%"}, "album: 0 records where artist = '%'.", 0),
    ],
)
def test_matching_records_are_counted(
    shop: Workspace, where: dict[str, object] | None, words: str, total: int
) -> None:
    """The number of records that fulfil every equality is said and typed."""
    result = ask(count_records, shop, table="album", where=where)

    assert result.content == words
    assert result.data == {"table": "album", "total": total}


def test_values_are_counted_apart(shop: Workspace) -> None:
    """Groups come with the most frequent first, null and the empty text apart."""
    result = ask(count_records, shop, table="album", group_by="Artist")

    assert result.content.splitlines() == [
        "album: 5 records, 4 values of artist, 4 shown.",
        "- Ada: 2",
        *sorted(["- null: 1", "- (empty): 1", "- Bix: 1"], key=result.content.find),
    ]
    assert sorted(result.artifacts[0].rows) == [
        ["(empty)", "1"], ["Ada", "2"], ["Bix", "1"], ["null", "1"],
    ]  # fmt: skip
    assert result.data["rows"][0] == ["Ada", 2]


def test_groups_of_a_filter(shop: Workspace) -> None:
    """Filter and grouping go together."""
    result = ask(count_records, shop, table="album", where={"artist": "Ada"}, group_by="year")

    assert result.data["rows"] == [[1999, 1], [2001, 1]]


def test_the_rest_is_said(tmp_path: Path) -> None:
    """Beyond 50 groups, how many values and records are left is said."""
    script = (
        SHOP
        + "create table hit (id integer primary key, page integer);"
        + "".join(f"insert into hit (page) values ({page}), ({page});" for page in range(60))
    )

    result = ask(count_records, sqlite_workspace(tmp_path, script), table="hit", group_by="page")

    assert len(result.artifacts[0].rows) == 50
    assert result.content.splitlines()[-1] == "- 10 further values: 20 (narrow them with `where`)"
    assert (result.data["values"], result.data["rest"]) == (60, 20)


def test_more_values_than_are_read_are_a_rest(tmp_path: Path) -> None:
    """Where a column has too many values to tell apart, that is said."""
    script = """
    create table hit (id integer primary key, page integer);
    with recursive n(x) as (select 1 union all select x + 1 from n where x < 10050)
    insert into hit (page) select x from n;
    """

    result = ask(count_records, sqlite_workspace(tmp_path, script), table="hit", group_by="page")

    assert result.content.splitlines()[0] == (
        "hit: 10,050 records, more than 10,000 values of page, 50 shown."
    )
    assert result.data["rest"] == 10_000


def test_grouping_sees_only_what_is_shown(tmp_path: Path) -> None:
    """Values that differ only behind the mask are one group, whatever they are."""
    script = """
    create table hook (id integer primary key, url text, doc text);
    insert into hook values
      (1, 'https://app:sesame1@host/', '{"password": "sesame1"}'),
      (2, 'https://app:sesame2@host/', '{"password": "sesame2"}'), (3, 'https://host/', null);
    """
    workspace = sqlite_workspace(tmp_path, script)

    urls = ask(count_records, workspace, table="hook", group_by="url")
    docs = ask(count_records, workspace, table="hook", group_by="doc")

    assert urls.data["rows"] == [["https://[masked]@host/", 2], ["https://host/", 1]]
    assert docs.data["rows"] == [['{"password": "[masked]"}', 2], [None, 1]]
    assert "sesame" not in everything(urls) + everything(docs)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"table": "albums"}, "not_found"),
        ({"table": "album", "group_by": "nothing"}, "invalid_arguments"),
        ({"table": "album", "group_by": "api_key"}, "permission_denied"),
        ({"table": "album", "where": {"api_key": "k"}}, "permission_denied"),
        ({"table": "album", "where": {"nothing": 1}}, "invalid_arguments"),
        ({"table": "album", "where": {"id": 2**70}}, "invalid_arguments"),
    ],
)
def test_refusals_have_their_codes(
    shop: Workspace, arguments: dict[str, object], code: str
) -> None:
    """What cannot be counted is refused with its code."""
    result = ask(count_records, shop, **arguments)

    assert result.failure is not None
    assert result.failure.code == code


def test_paired_columns_make_no_groups(tmp_path: Path) -> None:
    """What a history row says of a sensitive field is not grouped by."""
    script = "create table change (id integer primary key, field text, old text, new text);"

    result = ask(count_records, sqlite_workspace(tmp_path, script), table="change", group_by="new")

    assert result.failure is not None
    assert result.failure.code == "permission_denied"


def test_what_takes_too_long_names_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A count that does not end is stopped, and says by what."""
    script = """
    create view endless as with recursive r(x) as (select 1 union all select x + 1 from r)
      select x from r where x < 0;
    """
    monkeypatch.setattr(_counting, "SECONDS", 0.1)
    with harness(count_records, settings=sqlite_workspace(tmp_path, script)) as double:
        result = double.call({"table": "endless"})

    assert result.failure is not None
    assert result.failure.code == "timeout"
    assert "stopped at the time limit" in result.content
