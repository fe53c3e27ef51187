from pathlib import Path

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam_builtin.content import get_record_history
from toolseam_builtin.workspace import TableSettings, Workspace

__all__ = ["postgres"]

SHOP = """
create table pages (id integer primary key, title text, slug text, password text);
insert into pages values (7, 'Dusk', 'dusk', 'x'), (8, 'New', 'new', 'x');
create table pages_history (id integer primary key, page_id integer,
  field text, old text, new text, changed_by text, changed_at text);
insert into pages_history values
  (1, 7, 'title', null, 'Dawn', 'ada', '2026-01-01T10:00:00+00:00'),
  (2, 7, 'slug', '', 'dusk', 'bob', '2026-01-03T10:00:00+00:00'),
  (3, 7, 'title', 'Dawn', 'Dusk', 'ada', '2026-01-02T10:00:00+00:00'),
  (4, 7, 'password', 'sesame1', 'sesame2', 'eve', '2026-01-04T10:00:00+00:00'),
  (5, 99, 'title', 'Gone', null, null, null);
create table article (id integer primary key, title text, body text);
insert into article values (1, 'c', 'two');
create table article_version (id integer, revision integer, title text, body text, author text,
  primary key (id, revision));
insert into article_version values (1, 1, 'a', 'one', 'ada'), (1, 2, 'b', 'one', 'bob'),
  (1, 3, 'c', 'two', 'eve'), (2, 1, 'other', 'x', 'ada');
create table plain (id integer primary key, title text);
insert into plain values (1, 'a')
"""


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Workspace:
    """The same site on a server, for a role that may only read."""
    grants = ("create role past login", "grant select on all tables in schema public to past")
    database = postgres.database(*SHOP.split(";"), *grants)
    return Workspace(database=postgres.url(database, "past"), trusted=True)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """The site on either engine."""
    if request.param == "SQLite":
        return sqlite_workspace(tmp_path, SHOP)
    found: Workspace = request.getfixturevalue("server")
    return found


def test_changes_come_newest_first_in_three_forms(site: Workspace) -> None:
    """Text, table and data say who changed what and when, but no value of a sensitive field."""
    result = ask(get_record_history, site, table="pages", key=7)

    assert result.content.splitlines() == [
        "pages:7: 4 changes, newest first (from pages_history).",
        "- 2026-01-04T10:00:00+00:00 by eve: password: [masked] → [masked]",
        "- 2026-01-03T10:00:00+00:00 by bob: slug: (empty) → dusk",
        "- 2026-01-02T10:00:00+00:00 by ada: title: Dawn → Dusk",
        "- 2026-01-01T10:00:00+00:00 by ada: title: (unset) → Dawn",
    ]
    assert result.artifacts[0].rows == result.data["rows"]
    assert result.data["rows"][1] == ["2026-01-03T10:00:00+00:00", "bob", "slug", "(empty)", "dusk"]
    assert "sesame" not in everything(result)


def test_the_field_is_filtered_before_the_limit(site: Workspace) -> None:
    """`field` looks at all changes of the record, not at the newest of them."""
    result = ask(get_record_history, site, table="pages", key="7", field="TITLE", limit=1)

    assert result.content.splitlines()[:2] == [
        "pages:7: 1 change of title (from pages_history).",
        "- 2026-01-02T10:00:00+00:00 by ada: title: Dawn → Dusk",
    ]
    assert "Older changes exist" in result.content
    assert result.data["more"] is True


def test_versions_are_compared_with_the_one_before(site: Workspace) -> None:
    """Where rows are versions, each differing field is a change, down to the first version."""
    result = ask(get_record_history, site, table="article", key=1)

    assert [row[1:] for row in result.data["rows"]] == [
        ["eve", "title", "b", "c"],
        ["eve", "body", "one", "two"],
        ["bob", "title", "a", "b"],
        ["ada", "(first version)", "", ""],
    ]
    assert result.data["more"] is False


def test_versions_are_filtered_by_field(site: Workspace) -> None:
    """Versions between which the field stayed are passed over."""
    result = ask(get_record_history, site, table="article", key=1, field="body", limit=1)

    assert [row[1:] for row in result.data["rows"]] == [["eve", "body", "one", "two"]]
    assert result.data["more"] is True


def test_a_record_without_changes_is_a_success(site: Workspace) -> None:
    """The empty answer says which history was looked at."""
    result = ask(get_record_history, site, table="pages", key=8)

    assert result.content == "pages:8: no change (from pages_history)."


def test_the_history_of_a_deleted_record_is_there(site: Workspace) -> None:
    """A record that is gone is found by what was changed of it."""
    result = ask(get_record_history, site, table="pages", key=99)

    assert "at an unknown time by (unknown): title: Gone → (unset)" in result.content


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"table": "pages", "key": 1}, "not_found"),
        ({"table": "pages", "key": "x"}, "not_found"),
        ({"table": "pagoda", "key": 1}, "not_found"),
        ({"table": "pages", "key": 7, "field": "colour"}, "invalid_arguments"),
        ({"table": "article", "key": 1, "field": "colour"}, "invalid_arguments"),
        ({"table": "pages", "key": 7, "limit": 21}, "invalid_arguments"),
        ({"table": "plain", "key": 1}, "unavailable"),
    ],
)
def test_refusals_have_their_codes(
    site: Workspace, arguments: dict[str, object], code: str
) -> None:
    """What has no history, no record or no such field is refused with its code."""
    result = ask(get_record_history, site, **arguments)

    assert result.failure is not None
    assert result.failure.code == code


def test_a_history_for_several_tables_is_asked_for_one(tmp_path: Path) -> None:
    """Rows about a record of another table with the same key do not show."""
    script = """
    create table film (id integer primary key, title text);
    insert into film values (1, 'a');
    create table changes (id integer primary key, table_name text, record_id integer,
      column_name text, new_value text, who text);
    insert into changes values (1, 'film', 1, 'title', 'a', 'ada'), (2, 'book', 1, 'x', 'y', 'bob');
    """
    workspace = sqlite_workspace(
        tmp_path, script, tables={"film": TableSettings(history="changes")}
    )

    result = ask(get_record_history, workspace, table="film", key=1)

    assert result.data["rows"] == [["", "ada", "title", "", "a"]]


def test_long_values_show_where_they_differ(tmp_path: Path) -> None:
    """Of two long texts the part round their first difference is shown."""
    old, new = ("a " * 300 + word for word in ("before the end", "behind the end"))
    script = f"{SHOP}; insert into pages_history values (6, 8, 'body', '{old}', '{new}', 'ada', '')"

    result = ask(get_record_history, sqlite_workspace(tmp_path, script), table="pages", key=8)

    (_, _, _, shown_old, shown_new) = result.data["rows"][0]
    assert "before" in shown_old
    assert "behind" in shown_new
    assert len(shown_old) < 160


def test_json_in_a_history_is_masked_by_its_keys(tmp_path: Path) -> None:
    """A value under a sensitive key of a JSON text does not show in old or new."""
    doc = '{"theme": "dark", "api_key": "sesame"}'
    script = f"{SHOP}; insert into pages_history values (6, 8, 'doc', null, '{doc}', 'ada', '')"

    result = ask(get_record_history, sqlite_workspace(tmp_path, script), table="pages", key=8)

    assert '"theme": "dark"' in result.content
    assert "sesame" not in everything(result)


def test_fields_that_refer_to_a_secret_are_masked(tmp_path: Path) -> None:
    """A harmless name does not show what the record's own column hides."""
    script = """
    create table vault (token text primary key);
    create table door (id integer primary key, opener text references vault (token));
    insert into door values (1, 'sesame');
    create table door_history (id integer primary key, door_id integer, field text, new text);
    insert into door_history values (1, 1, 'opener', 'sesame');
    """

    result = ask(get_record_history, sqlite_workspace(tmp_path, script), table="door", key=1)

    assert result.data["rows"] == [["", "", "opener", "", "[masked]"]]
