from pathlib import Path

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam import ToolError
from toolseam_builtin._database import open_database
from toolseam_builtin.structure import get_record_tree
from toolseam_builtin.structure._forest import read_forest
from toolseam_builtin.workspace import TableSettings, Workspace

__all__ = ["postgres"]

PAGES = """
create table page (id integer primary key, title text, parent integer references page(id));
insert into page values (1, 'Home', null), (2, 'News', 1), (3, 'Shop', 1), (4, 'Old', 2),
  (5, 'Older', 4), (6, 'Oldest', 5), (7, 'Imprint', null);
"""


def test_the_outline_follows_parents_in_key_order(tmp_path: Path) -> None:
    """Records stand below their parents, in key order, down to the asked depth."""
    result = ask(get_record_tree, sqlite_workspace(tmp_path, PAGES), table="page")

    assert result.content.splitlines() == [
        "page: 7 records, shown 5 at depth 0, 1, 2.",
        "- page:1 Home",
        "  - page:2 News",
        "    - page:4 Old (+1 below)",
        "  - page:3 Shop",
        "- page:7 Imprint",
        "1 children lie deeper; `root` or a larger `depth` shows them.",
    ]
    (artifact,) = result.artifacts
    assert (artifact.type, artifact.label) == ("tree", "page tree")
    assert artifact.nodes[2:4] == [[2, "page:4 Old (+1 below)"], [1, "page:3 Shop"]]
    outline = [f"{'  ' * depth}- {text}" for depth, text in artifact.nodes]
    assert outline == result.content.splitlines()[1:-1]
    assert result.data is not None
    assert result.data["rows"][2] == [2, "4", "Old", "2"]


def test_a_root_shows_its_own_branch(tmp_path: Path) -> None:
    """With a root the outline begins there, and says who is above."""
    workspace = sqlite_workspace(tmp_path, PAGES)

    result = ask(get_record_tree, workspace, table="page", root="4", depth=5)

    assert result.content.splitlines() == [
        "page: 7 records, shown 3 from 4, whose parent is 2, at depth 0, 1, 2.",
        "- page:4 Old",
        "  - page:5 Older",
        "    - page:6 Oldest",
    ]
    assert result.data is not None
    assert result.data["complete"] is True


def test_cycles_and_orphans_are_reported(tmp_path: Path) -> None:
    """Records that no root reaches are shown once, with a warning each kind."""
    script = PAGES + (
        "insert into page values (8, 'Lost', 99), (10, 'Egg', 11), (11, 'Hen', 10),"
        " (12, 'Chick', 11), (13, 'Self', 13);"
    )

    result = ask(get_record_tree, sqlite_workspace(tmp_path, script), table="page", depth=5)

    assert result.metadata.value["warnings"] == [
        "cycle: 10 → 11 → 10",
        "cycle: 13 → 13",
        "1 orphans, their parent is gone: 8",
    ]
    assert "- page:8 Lost (parent 99 is gone)" in result.content
    assert result.data is not None
    keys = [row[1] for row in result.data["rows"]]
    assert sorted(map(int, keys)) == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13]


def test_at_most_two_hundred_records_are_shown(tmp_path: Path) -> None:
    """A large table is outlined as far as it goes, and the rest is counted."""
    script = PAGES + (
        "with recursive n(x) as (select 100 union all select x + 1 from n limit 500)"
        " insert into page select x, 'p', 3 from n;"
    )

    result = ask(get_record_tree, sqlite_workspace(tmp_path, script), table="page")

    assert len(result.artifacts[0].nodes) == 200
    assert "begin with a `root`" in result.content


LARGE = """
create table node (id integer primary key, name text, up integer references node(id));
create index node_up on node (up);
with recursive n(x) as (select 1 union all select x + 1 from n limit 30000)
  insert into node select x, 'n' || x, case when x > 2 then (x + 1) / 3 end from n;
insert into node select 40000 + value, 'wide', 30000 from (
  with recursive n(value) as (select 1 union all select value + 1 from n limit 1200)
  select value from n);
"""


def test_a_large_table_is_read_level_by_level(tmp_path: Path) -> None:
    """Every root and every branch of a large table can be outlined, wherever it lies."""
    workspace = sqlite_workspace(tmp_path, LARGE)

    whole = ask(get_record_tree, workspace, table="node", depth=2)
    branch = ask(get_record_tree, workspace, table="node", root="9000")
    wide = ask(get_record_tree, workspace, table="node", root="30000", depth=1)

    assert whole.content.splitlines()[:3] == [
        "node: 31,200 records, shown 7 at depth 0, 1.",
        "- node:1 n1",
        "  - node:3 n3 (+3 below)",
    ]
    assert branch.content.splitlines()[1:5] == [
        "- node:9000 n9000",
        "  - node:26999 n26999",
        "  - node:27000 n27000",
        "  - node:27001 n27001",
    ]
    assert "Warning: of more than 20,000 records, orphans and cycles are not looked for" in (
        branch.content
    )
    assert "more than 1,000 records lie on one level" in wide.content


def test_a_circle_in_a_large_table_comes_to_an_end(tmp_path: Path) -> None:
    """A record that is its own ancestor is read once, and shown once."""
    workspace = sqlite_workspace(tmp_path, LARGE + "update node set up = 29999 where id = 29999;")

    result = ask(get_record_tree, workspace, table="node", root="29999")

    assert result.content.splitlines()[1] == "- node:29999 n29999"
    assert len(result.artifacts[0].nodes) == 1


def test_a_label_that_is_too_large_is_no_absent_record(tmp_path: Path) -> None:
    """What cannot be read in a large table is unavailable, as it is everywhere."""
    script = LARGE + "update node set name = hex(zeroblob(5000000)) where id = 9000;"

    result = ask(get_record_tree, sqlite_workspace(tmp_path, script), table="node", root="9000")

    assert result.failure is not None
    assert result.failure.code == "unavailable"


def test_a_key_may_be_a_number(tmp_path: Path) -> None:
    """The root is a key as every tool takes it, a number too."""
    workspace = sqlite_workspace(tmp_path, LARGE)

    assert (
        ask(get_record_tree, workspace, table="node", root=9000).content
        == ask(get_record_tree, workspace, table="node", root="9000").content
    )


def test_what_was_read_when_time_ran_out_is_kept(tmp_path: Path) -> None:
    """A reading that is cut gives a beginning and says so; a root beyond it is no absent one."""
    workspace = sqlite_workspace(
        tmp_path,
        "create table node (id integer primary key, name text, up references node);"
        " with recursive n(x) as (select 1 union all select x + 1 from n limit 20000)"
        " insert into node select x, 'n' || x, null from n;",
    )

    with open_database(workspace) as database:
        table = database.table("node")
        forest = read_forest(database, table, TableSettings(), None, 2, seconds=0.01)
        with pytest.raises(ToolError) as refused:
            read_forest(database, table, TableSettings(), "20000", 2, seconds=0.01)
    answer = get_record_tree.compose(forest, None, 2)

    assert 0 < len(forest.nodes) < 20_000
    (warning,) = answer.warnings
    assert warning.startswith("reading node was stopped at the time limit, so there may be more")
    assert warning.endswith("orphans and cycles are not looked for")
    assert refused.value.code == "timeout"


def test_a_root_that_is_not_reached_in_time_is_no_absent_one(tmp_path: Path) -> None:
    """Where looking for the root takes too long, that is said, and not that it is absent."""
    workspace = sqlite_workspace(tmp_path, LARGE)

    with open_database(workspace) as database:
        table = database.table("node")
        with pytest.raises(ToolError) as refused:
            read_forest(database, table, TableSettings(), "9000", 2, seconds=0.0)

    assert refused.value.code == "timeout"


@pytest.mark.parametrize("root", ["99999", "x", "", "9000 "])
def test_an_absent_root_of_a_large_table_is_not_found(tmp_path: Path, root: str) -> None:
    """What is the key of no record is refused in the same words as in a small table."""
    result = ask(get_record_tree, sqlite_workspace(tmp_path, LARGE), table="node", root=root)

    assert result.failure is not None
    assert result.failure.code == "not_found"


def test_a_large_postgres_table_is_read_level_by_level(postgres: Postgres) -> None:
    """PostgreSQL compares keys by their own type, and refuses none that does not fit it."""
    name = postgres.database(
        "drop role if exists climber",
        "create role climber login",
        "create table node (id int primary key, name text, up int references node)",
        """insert into node select n, 'n' || n, case when n > 1 then n / 3 + 1 end
        from generate_series(1, 25000) n""",
        "grant select on node to climber",
    )
    workspace = Workspace(database=postgres.url(name, "climber"), trusted=True)

    branch = ask(get_record_tree, workspace, table="node", root="8000")
    wrong = ask(get_record_tree, workspace, table="node", root="x")

    assert branch.content.splitlines()[1:] == [
        "- node:8000 n8000",
        "  - node:23997 n23997",
        "  - node:23998 n23998",
        "  - node:23999 n23999",
        "Warning: of more than 20,000 records, orphans and cycles are not looked for",
    ]
    assert wrong.failure is not None
    assert wrong.failure.code == "not_found"


def test_the_workspace_may_name_the_parent(tmp_path: Path) -> None:
    """Without a foreign key the workspace's setting tells which column it is."""
    script = "create table topic (id integer primary key, name text, up integer);"
    script += "insert into topic values (1, 'a', null), (2, 'b', 1);"
    workspace = sqlite_workspace(tmp_path, script, tables={"topic": TableSettings(parent="up")})

    result = ask(get_record_tree, workspace, table="topic")

    assert result.content.splitlines()[1:] == ["- topic:1 a", "  - topic:2 b"]


def test_a_table_without_parents_names_the_setting(tmp_path: Path) -> None:
    """What is not configured is unavailable, and the refusal says where to configure it."""
    result = ask(get_record_tree, sqlite_workspace(tmp_path, "create table t (id);"), table="t")

    assert result.failure is not None
    assert result.failure.code == "unavailable"
    assert "[workspace.tables.t]" in result.content


def test_a_sensitive_parent_column_is_no_reference(tmp_path: Path) -> None:
    """A reference through a sensitive column is not followed."""
    script = "create table t (id integer primary key, parent_token text references t(id));"
    script += "insert into t values (1, 'sesame');"

    result = ask(get_record_tree, sqlite_workspace(tmp_path, script), table="t")

    assert result.failure is not None
    assert result.failure.code == "unavailable"
    assert "sesame" not in everything(result)


def test_an_absent_root_is_not_found(tmp_path: Path) -> None:
    """A key that no record has is refused by name."""
    result = ask(get_record_tree, sqlite_workspace(tmp_path, PAGES), table="page", root="99")

    assert result.failure is not None
    assert result.failure.code == "not_found"


def test_depth_is_bounded_by_the_schema(tmp_path: Path) -> None:
    """More than five levels cannot be asked for."""
    result = ask(get_record_tree, sqlite_workspace(tmp_path, PAGES), table="page", depth=6)

    assert result.failure is not None
    assert result.failure.code == "invalid_arguments"
