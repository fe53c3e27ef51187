import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.databases import ask, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam_builtin._database import Column, holds_text
from toolseam_builtin._database._text_search import like_pattern
from toolseam_builtin.content import _searching, search_records

__all__ = ["postgres"]

LETTERS = st.text(st.sampled_from("aAbB%_\\'\" .äÄßK😀\n"), max_size=8)


@given(before=LETTERS, text=LETTERS.filter(bool), after=LETTERS)
@example(before="", text="%" * 100, after="")
@example(before="", text="ä" * 100, after="")
def test_sqlite_proposes_whatever_holds_the_text(before: str, text: str, after: str) -> None:
    """A cell that holds the text in whatever case is always proposed, however long the text is."""
    pattern = like_pattern(text, 100)
    other = text.swapcase()
    cell = f"{before}{other if len(other) == len(text) else text}{after}"

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
        found = connection.execute("select ? like ? escape '\\'", (cell, pattern)).fetchone()

    assert found == (1,)


def test_postgresql_proposes_whatever_holds_the_text(postgres: Postgres) -> None:
    """The server, whose folding is its own, proposes the same."""
    texts = ["AB_10", "50%", "\\", "it's", "ÄRGER", "ß", "😀", 'a"b']
    pairs = [
        [part.replace("'", "''") for part in (text, like_pattern(text.lower()))] for text in texts
    ]

    proposed = postgres.execute(
        " union all ".join(
            f"select 'x' || '{text}' || 'y' ilike '{pattern}'" for text, pattern in pairs
        )
    )

    assert proposed == [(True,)] * len(texts)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("TEXT", True), ("varchar(20)", True), ("unknown", True), ("json", True), ("jsonb", True),
        ("text[]", True), ("mood", True), ("uuid", True), ("interval", True), ("CLOB", True),
        ("INTEGER", False), ("bigint", False), ("numeric(10,2)", False), ("REAL", False),
        ("double precision", False), ("BLOB", False), ("bytea", False), ("boolean", False),
        ("date", False), ("timestamp with time zone", False), ("DATETIME", False),
    ],
)  # fmt: skip
def test_text_is_told_by_the_type(declared: str, expected: bool) -> None:
    """Columns of numbers, times and bytes are not looked into, those of any other type are."""
    assert holds_text(Column("a", declared)) is expected


def test_a_flood_of_masked_proposals_ends_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every row is proposed and none is a hit, the budget holds all the same."""
    script = """
    create table log (id integer primary key, doc text);
    with recursive n(x) as (select 1 union all select x + 1 from n where x < 200)
    insert into log select x, '{"password": "needle", "b": ['
      || replace(hex(zeroblob(20000)), '0', '"a",') || '0]}' from n;
    """
    workspace = sqlite_workspace(tmp_path, script)
    monkeypatch.setattr(_searching, "_SECONDS", 0.3)
    started = time.process_time()

    result = ask(search_records, workspace, query="needle")

    assert time.process_time() - started < 2
    assert result.data["rows"] == []
    assert result.data["stopped"] == ["log"]
