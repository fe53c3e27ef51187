import sqlite3
from contextlib import closing, suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam_builtin._database._ddl import mentions_sensitive, read_table, tokens
from toolseam_builtin._database._expansion import LIMIT, expansion


def test_expressions_and_conditions_are_read() -> None:
    """Comments, quotes and nested parentheses do not mislead the reader."""
    text = """create table "a (b" ( -- x as (1)
      [id] integer primary key, /* , y as (2) */
      "n,et" numeric default (1 + (2)) check ("n,et" > (0)),
      `gross` numeric generated always as ((net) * 1.2) virtual,
      tag text as ('as (x)' || id) stored,
      constraint big check (tag <> ')'), primary key (id), foreign key (id) references b (id))"""

    found = read_table(text)

    assert found.generated == {"gross": "(net) * 1.2", "tag": "'as (x)' || id"}
    assert found.checks == ((None, '"n,et" > (0)'), ("big", "tag <> ')'"))


@pytest.mark.parametrize(
    "columns",
    [
        "s text as (password || ''), \"s\"\"x\" text as ('x')",
        "s text as (password || ''), `s``x` text as ('x')",
        "'s' text as (password || ''), s\u00a0x text as ('x')",
        "\"s\" text as (password || ''), 's''x' text as ('x')",
        "s text as (password || ''), s$x text as ('x')",
        "s text as (password || ''), \u017f text as ('x')",
        "s text as (/* ) as ('x') */ password || ''), t text as ('x')",
        "s text -- as ('x')\n as (password || ''), t text as ('x')",
        "s text default ' as (''x'')' check (s <> ' as (') , t text as ('x')",
        's text as ("pass""word" || password), t text as (\'x\')',
        "s text as (\"api\"\"key\" || ''), t text as ('x')",
    ],
)
def test_no_spelling_lends_a_column_another_expression(columns: str) -> None:
    """However columns are quoted, one that is made of a secret is never judged by another."""
    text = f'create table t (password text, "pass""word" text, "api""key" text, {columns})'
    with closing(sqlite3.connect(":memory:")) as connection:
        with suppress(sqlite3.OperationalError):
            # What SQLite itself refuses can mislead nobody.
            connection.execute(text)
        found = connection.execute("select name from pragma_table_xinfo('t') where hidden > 1")
        generated = [name for (name,) in found]

    expressions = read_table(text).generated

    assert expressions.get("s") is None or mentions_sensitive(str(expressions["s"]))
    assert len(expressions) <= len(generated) or not generated


@given(st.text(alphabet="ab \"'`[](),;-/*\n", max_size=200))
def test_any_text_is_read_to_its_end(text: str) -> None:
    """The tokenizer loses nothing but spaces and comments, and never fails."""
    found = tokens(text)
    read_table(text)

    assert all(text[token.start : token.end] == token.text for token in found)
    assert all(one.end <= after.start for one, after in pairwise(found))


def test_views_that_double_are_counted_not_prepared() -> None:
    """Forty views, each of which names the one before twice, exceed the limit at once."""
    views = {
        f"v{n}": f"create view v{n} as select a from v{n - 1} x, v{n - 1} y" for n in range(1, 40)
    }
    views["v0"] = "create view v0 as select a from t"

    assert expansion("v0", views) == 1
    assert expansion("v3", views) == 1 + 2 * (1 + 2 * (1 + 2))
    assert expansion("v39", views) == LIMIT + 1


@pytest.mark.parametrize("order", [1, -1])
def test_common_tables_that_double_are_counted(order: int) -> None:
    """Definitions inside one view count wherever they stand, earlier or later."""
    parts = [f"c{n} as (select 1 x from c{n + 1} p, c{n + 1} q)" for n in range(30)][::order]
    text = f"create view v as with {', '.join([*parts, 'c30 as (select 1 x)'])} select x from c0"

    assert expansion("v", {"v": text}) == LIMIT + 1


def test_recursion_and_cycles_come_to_an_end() -> None:
    """A recursive definition counts once, views in a circle exceed the limit."""
    text = (
        "create view v as with recursive r(x) as (select 1 union select x from r) select x from r"
    )
    circle = {"a": "create view a as select * from b", "b": "create view b as select * from a"}

    assert expansion("v", {"v": text}) < 10
    assert expansion("a", circle) == LIMIT + 1


@given(st.lists(st.sampled_from(["t", "v0", "v1", "c"]), min_size=1, max_size=4))
def test_what_is_within_the_limit_is_quick_to_prepare(parts: list[str]) -> None:
    """SQLite prepares within moments what the estimate lets pass."""
    sources = ", ".join(f"{part} as s{n}" for n, part in enumerate(parts))
    views = {
        "v0": "create view v0 as select a from t",
        "v1": "create view v1 as select x.a from v0 x, v0 y",
        "v2": f"create view v2 as with c as (select a from v1) select s0.a from {sources}",
    }
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table t (a)")
        for text in views.values():
            connection.execute(text)

        assert expansion("v2", views) <= LIMIT
        connection.execute("explain select a from v2").close()
