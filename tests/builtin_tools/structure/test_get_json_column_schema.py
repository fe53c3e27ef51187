from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam.guards import is_sensitive_name
from toolseam_builtin.structure import get_json_column_schema, validate_schema
from toolseam_builtin.structure._shape import Shape, is_name
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from toolseam import ToolResult

__all__ = ["postgres"]

CANARY = "CANARYc4n4ry7Q2w9Zx"


def shaped(folder: Path, *values: object, **arguments: Any) -> ToolResult:
    """Ask for the shape of a column that holds these values, texts as they are."""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    rows = ", ".join("('" + text.replace("'", "''") + "')" for text in texts)
    script = "create table item (id integer primary key, meta json, api_key text);"
    script += f"insert into item (meta) values {rows};"
    workspace = sqlite_workspace(folder, script)
    return ask(get_json_column_schema, workspace, **{"table": "item", "column": "meta"} | arguments)


def outline(result: ToolResult) -> list[str]:
    """Return the lines between the heading and what closes the answer."""
    return [line for line in result.content.splitlines() if line.lstrip().startswith("- ")]


def test_keys_types_and_presence_are_told(tmp_path: Path) -> None:
    """The most frequent keys come first, items and objects below them."""
    result = shaped(
        tmp_path,
        {"size": 1, "tags": ["a", None], "box": {"w": 1.5}},
        {"size": "large", "box": {"w": 2, "h": True}},
        {"size": 3},
    )

    assert result.content.splitlines() == [
        "item.meta: 3 JSON values in the first 3 rows.",
        "- meta: object",
        "  - size: integer 2, string 1, in all",
        "  - box: object, in 2 of 3",
        "    - w: integer 1, number 1, in all",
        "    - h: boolean, in 1 of 2",
        "  - tags: array, in 1 of 3",
        "    - [] (items): null 1, string 1, 2 found",
    ]
    (tree,) = result.artifacts
    assert [f"{'  ' * depth}- {text}" for depth, text in tree.nodes] == outline(result)
    assert result.data is not None
    assert result.data["rows"][4] == [["box", "h"], {"boolean": 1}, 1, 2]


def test_values_and_secrets_are_never_shown(tmp_path: Path) -> None:
    """No value is told, and what stands under a sensitive key is not even looked into."""
    result = shaped(
        tmp_path,
        {"note": CANARY, "api_key": {CANARY: 1}, "header": ["X-Auth-Token", {CANARY: 1}]},
        {"name": "password", "value": {CANARY: 1}},
    )

    assert CANARY not in everything(result)
    assert "  - api_key: sensitive, never looked into, in 1 of 2" in outline(result)
    assert "  - value: sensitive, never looked into, in 1 of 2" in outline(result)


@pytest.mark.parametrize(
    "key",
    [
        CANARY, "ada@museum.example", "2026-03-15", "42", "0f8fad5b-d9cd-469f-a165-70867728950e",
        "d41d8cd98f00b204e9800998ecf8427e", "sk-" + "a1B2" * 12, "Ada Lovelace", "", "a" * 65,
        "https://u:pw@host/x", "line\nbreak",
    ],
)  # fmt: skip
def test_keys_that_are_data_are_no_names(tmp_path: Path, key: str) -> None:
    """A key that is an address, a date, a number or a token counts as a value."""
    result = shaped(tmp_path, {key: {"seen": 1}})

    assert outline(result) == [
        "- meta: object",
        "  - * (keys that are values): object, 1 found",
        "    - seen: integer, in all",
    ]
    assert not key or key not in str(result.data)


@pytest.mark.parametrize("key", ["title", "og:title", "@type", "$ref", "x-robots", "größe", "h1"])
def test_ordinary_keys_are_names(key: str) -> None:
    """What programs call their fields is shown."""
    assert is_name(key)


def test_many_distinct_keys_are_a_map(tmp_path: Path) -> None:
    """More than fifty keys in one place are values, whether in one object or over many."""
    one = {f"word{chr(97 + n % 26)}{chr(97 + n // 26)}": n for n in range(51)}
    many = [{"by": {key: {"hits": 1}}} for key in one]

    first = shaped(tmp_path, one)
    (tmp_path / "app.db").unlink()
    second = shaped(tmp_path, *many)

    assert first.content.splitlines()[-1].startswith("* stands for keys that are no names")
    assert outline(first) == ["- meta: object", "  - * (keys that are values): integer, 51 found"]
    assert outline(second)[2:] == [
        "    - * (keys that are values): object, 51 found",
        "      - hits: integer, in all",
    ]
    assert "word" not in everything(first) + everything(second)


def test_what_lies_below_a_map_is_put_together(tmp_path: Path) -> None:
    """Keys, items and further maps below the keys of a map become one shape."""
    names = [f"k{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(51)]
    value = {
        name: {"tags": [1, "a"], "on": {"2026-03-15": True}, f"own{name}": 1, "same": None}
        for name in names
    }

    result = shaped(tmp_path, value)

    assert outline(result) == [
        "- meta: object",
        "  - * (keys that are values): object, 51 found",
        "    - * (keys that are values): array 51, integer 51, null 51, object 51, 204 found",
        "      - * (keys that are values): boolean, 51 found",
        "      - [] (items): integer 51, string 51, 102 found",
    ]


def test_long_names_far_down_fill_the_answer(tmp_path: Path) -> None:
    """A shape that does not fit is cut between places, and the answer says how to go on."""
    value: object = 1
    for letter in "ghijklmnopqrstuvwxyz" * 3:
        value = {letter * 60: value}

    result = shaped(tmp_path, value)

    assert len(outline(result)) < 61
    assert "Not all keys are shown; `path`" in result.content


def test_cells_without_json_are_counted_and_left_aside(tmp_path: Path) -> None:
    """Nulls, other text, bytes, and what is too long or too deep are said and do not count."""
    script = "create table item (id integer primary key, meta json);"
    script += """insert into item (meta) values (null), ('hello'), (x'00'), ('{"a": '),"""
    script += f"""('{json.dumps("x" * 70_000)}'), ('{"[" * 70}{"]" * 70}'), ('\ufeff{{"a": 1}}');"""
    workspace = sqlite_workspace(tmp_path, script)

    result = ask(get_json_column_schema, workspace, table="item", column="meta")

    assert result.content.startswith(
        "item.meta: 1 JSON value in the first 7 rows; left aside: 1 empty, 1 longer than 65,536"
        " characters, 1 nested more than 64 deep, 2 no JSON, 1 no text."
    )
    assert outline(result) == ["- meta: object", "  - a: integer, in all"]


def test_empty_cells_do_not_use_up_the_sample(tmp_path: Path) -> None:
    """The sample counts values, and the answer says through how many rows it went."""
    script = "create table item (id integer primary key, meta json);"
    script += "with recursive n(x) as (select 1 union all select x + 1 from n limit 900)"
    script += """ insert into item select x, iif(x % 3, null, '{"a": 1}') from n;"""
    workspace = sqlite_workspace(tmp_path, script)

    result = ask(get_json_column_schema, workspace, table="item", column="meta", sample=50)

    assert "50 JSON values in the first 150 rows; left aside: 100 empty." in result.content


def test_a_column_without_values_says_so(tmp_path: Path) -> None:
    """Nothing to find is a success that says what was looked at."""
    workspace = sqlite_workspace(tmp_path, "create table item (id integer primary key, meta json);")

    result = ask(get_json_column_schema, workspace, table="item", column="meta")

    assert result.success
    assert "0 JSON values in the first 0 rows." in result.content


def test_a_large_shape_is_cut_by_levels_and_reached_by_path(tmp_path: Path) -> None:
    """Two hundred places are shown at most, whole levels of them; a path shows the rest."""
    names = [f"{letter}{more}" for letter in "abcdefg" for more in "hijklmn"]
    value = {name: {other: [{"end": 1}] for other in names} for name in names}

    whole = shaped(tmp_path, value)
    (tmp_path / "app.db").unlink()
    part = shaped(tmp_path, value, path=["ah", "ai"])

    assert len(outline(whole)) == 50
    assert "  - ah: object, in all (+49 below)" in outline(whole)
    assert "Not all keys are shown; `path`" in whole.content
    assert outline(part) == [
        "- ai: array, in all",
        "  - [] (items): object, 1 found",
        "    - end: integer, in all",
    ]


def test_an_absent_path_is_not_found(tmp_path: Path) -> None:
    """A path that no value has is refused without repeating it."""
    result = shaped(tmp_path, {"a": 1}, path=["a", "b"])

    assert result.failure is not None
    assert result.failure.code == "not_found"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"table": "absent"}, "not_found"),
        ({"column": "absent"}, "invalid_arguments"),
        ({"column": "api_key"}, "permission_denied"),
        ({"sample": 0}, "invalid_arguments"),
        ({"sample": 1001}, "invalid_arguments"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(
    tmp_path: Path, arguments: dict[str, Any], code: str
) -> None:
    """Absent and sensitive columns, absent tables and samples out of range are refused."""
    result = shaped(tmp_path, {"a": 1}, **arguments)

    assert result.failure is not None
    assert result.failure.code == code


def test_values_of_a_field_that_another_cell_names_stay_shut(tmp_path: Path) -> None:
    """What a history row holds of a sensitive field is not looked into."""
    script = "create table h (id integer primary key, field text, new text);"
    script += """insert into h (field, new) values ('password', '{"hunter": 1}'),
      ('style', '{"color": 1}');"""

    result = ask(
        get_json_column_schema, sqlite_workspace(tmp_path, script), table="h", column="new"
    )

    assert outline(result) == ["- new: object", "  - color: integer, in all"]
    assert "1 masked, as other cells name a secret" in result.content


@pytest.mark.parametrize("tool", [get_json_column_schema, validate_schema])
def test_structure_is_diagnostics_until_tables_are_listed(tool: ModuleType) -> None:
    """Keys and names are as delicate as the rows, as long as the operator has listed no table."""
    spec = tool.tool_spec()

    assert Workspace().data_class_of(spec) == "system_diagnostics"
    assert Workspace(tables_allow=("*",)).data_class_of(spec) == "internal_configuration"


WORDS = st.sampled_from(["a", "bc", "password", "api_key", "42", "x@y.org", "Größe"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(CANARY),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(VALUES, min_size=1, max_size=6))
def test_a_shape_counts_every_value_once(values: list[object]) -> None:
    """Whatever is taken, each place counts its values, and names only names."""
    shape = Shape()
    for value in values:
        shape.take(value)

    assert shape.seen == len(values)
    pending = [shape]
    while pending:
        place = pending.pop()
        assert all(is_name(key) for key in place.keys)
        for key, below in place.keys.items():
            assert 0 < below.seen <= place.types["object"]
            assert not is_sensitive_name(key) or list(below.types) == ["withheld"]
        pending += [below for _, below in place.below()]


def test_postgres_json_is_read_too(postgres: Postgres) -> None:
    """Columns of the types json and jsonb have the same shape."""
    name = postgres.database(
        "drop role if exists shaper",
        "create role shaper login",
        "create table item (id int primary key, meta jsonb, raw json)",
        """insert into item select n, '{"size": 1.5, "tags": ["a"]}', '{"api_key": "x"}'
        from generate_series(1, 450) n""",
        "grant select on item to shaper",
    )
    workspace = Workspace(database=postgres.url(name, "shaper"), trusted=True)

    meta = ask(get_json_column_schema, workspace, table="item", column="meta", sample=450)
    raw = ask(get_json_column_schema, workspace, table="item", column="raw")

    assert outline(meta) == [
        "- meta: object",
        "  - size: number, in all",
        "  - tags: array, in all",
        "    - [] (items): string, 450 found",
    ]
    assert "450 JSON values in the first 450 rows." in meta.content
    assert outline(raw)[1] == "  - api_key: sensitive, never looked into, in all"
