"""Artifacts: encoded once, bounded as a list, never cut inside (contract §1, §7)."""

import copy
import enum
import json
import math
import pickle
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from itertools import count
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ArtifactType, ToolArtifact
from toolseam._artifacts import encoded_list, fault_of, marker, stored
from toolseam._run_only import peek
from toolseam._tables import ARTIFACT_BYTES
from toolseam._text import clean

words = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from('\r\n\x00\x7f"\\\u202e€😀'))
)
cells = st.one_of(st.none(), words, st.integers(), st.floats(), st.booleans(), st.decimals())


class Colour(str, enum.Enum):  # noqa: UP042 - its text differs from its storage
    """An enum whose members are texts too."""

    RED = "red"


class Name(str):
    """A text of a subclass, as SQL libraries name columns."""

    __slots__ = ()

    def __str__(self) -> str:
        """Raise, as a broken plugin's class might."""
        raise RuntimeError("asked")

    replace = isascii = isprintable = __str__  # type: ignore[assignment]


class Loud:
    """A cell whose text cannot be made."""

    def __str__(self) -> str:
        """Raise, with a text that nobody may see."""
        raise RuntimeError("canary-4711")


class Row:
    """A row that is neither list nor tuple, as database drivers have them."""

    def __init__(self, *cells: object) -> None:
        self._cells = cells

    def __iter__(self) -> Iterator[object]:
        """Give the cells."""
        return iter(self._cells)


def fault(artifact: ToolArtifact) -> str | None:
    """Say why a lone artifact cannot be shown."""
    return fault_of((artifact,), ARTIFACT_BYTES)


def as_json(*artifacts: ToolArtifact) -> Any:
    """Read the list as a sink would."""
    return json.loads(encoded_list(artifacts))


def test_a_table_reads_in_place() -> None:
    """Type, label, columns, rows and data are those that were given."""
    table = ToolArtifact.table("stock", ["name", "qty"], [["bolt", "7"], ("nut", "9")])

    assert table.type is ArtifactType.TABLE
    assert table.label == "stock"
    assert table.columns == ["name", "qty"]
    assert table.rows == [["bolt", "7"], ["nut", "9"]]
    assert table.data == {"columns": ["name", "qty"], "rows": [["bolt", "7"], ["nut", "9"]]}
    assert fault(table) is None


def test_a_text_reads_in_place() -> None:
    """The same name makes a text on the class and reads it on an instance."""
    text = ToolArtifact.text("log", "line 1\nline 2")

    assert text.type is ArtifactType.TEXT
    assert text.text == "line 1\nline 2"
    assert text.data == {"text": "line 1\nline 2"}


def test_the_types_are_rendering_shapes() -> None:
    """Five shapes, and each is its own text."""
    assert [*map(str, ArtifactType)] == ["table", "text", "tree", "key_value", "code"]


def test_a_shape_has_no_other_shapes_members() -> None:
    """Asking a text for rows is an AttributeError, so `hasattr` tells the truth."""
    text, table = ToolArtifact.text("log", "x"), ToolArtifact.table("t", ["a"], [["1"]])

    assert not hasattr(text, "rows")
    assert not hasattr(text, "columns")
    assert not hasattr(table, "text")
    assert not hasattr(ToolArtifact.table("t", ["a"], [[1, 2]]), "rows")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        (True, "True"),
        (7, "7"),
        (1.5, "1.5"),
        (math.nan, "nan"),
        (Decimal("19.90"), "19.90"),
        (date(2025, 3, 9), "2025-03-09"),
        (ArtifactType.TABLE, "table"),
        (Colour.RED, "red"),
        (Name("7"), "7"),
        (b"\x00", "b'\\x00'"),
        ([1], "[1]"),
        ("", ""),
    ],
)
def test_a_cell_becomes_text(cell: object, text: str) -> None:
    """`None` is empty, everything else what `str` says, NaN included."""
    table = ToolArtifact.table("t", ["a", "b"], [[cell, "x"], ["y", cell]])

    assert table.rows == [[text, "x"], ["y", text]]
    assert ToolArtifact.table("t", ["a"], [[cell]]).rows == [[text]]
    assert fault(table) is None


def test_a_text_of_a_subclass_is_its_characters() -> None:
    """A name is taken as it is stored, whatever class a library gives it and whatever is beside."""
    table = ToolArtifact.table("t", [Name("qty\r")], [[Name("7\x00")]])

    assert (table.columns, table.rows) == (["qty\n"], [["7␀"]])


@given(
    st.lists(st.lists(cells, min_size=3, max_size=3), max_size=8),
    st.lists(words, min_size=3, max_size=3),
)
def test_any_cells_make_a_table_of_clean_text(rows: list[list[Any]], heads: list[str]) -> None:
    """A table is what plain formatting and cleaning would make of it, whatever the cells."""
    table = ToolArtifact.table("t", heads, rows)
    expected = [["" if cell is None else clean(str(cell)) for cell in row] for row in rows]

    assert table.rows == expected
    assert table.columns == [clean(head) for head in heads]
    assert as_json(table) == [
        {
            "type": "table",
            "label": "t",
            "data": {"columns": table.columns, "rows": expected},
        }
    ]


@pytest.mark.parametrize(("raw", "shown"), [("\x7f", "␡"), ("\x00", "␀"), ("\r", "\n")])
@pytest.mark.parametrize("place", ["cell", "column", "text"])
def test_one_control_in_a_plain_artifact_is_found(raw: str, shown: str, place: str) -> None:
    """A single character to clean is cleaned wherever it stands."""
    if place == "text":
        assert ToolArtifact.text("l", f"a{raw}").text == f"a{shown}"
        return
    head, cell = (f"a{raw}", "x") if place == "column" else ("x", f"a{raw}")
    table = ToolArtifact.table("t", [head], [[cell]])

    assert f"a{shown}" in (*table.columns, *table.rows[0])


def test_every_kind_of_character_is_shown_clean_in_a_table() -> None:
    """A cell of any one character reads as the cleaner shows it, beside plain neighbours."""
    # Of the planes that hold ideographs, nothing yet or what is private, every sixteenth block.
    whole = [*range(0x20000), *range(0xE0000, 0xF0000)]
    firsts = sorted(
        {*whole[::256], *range(0, 0x110000, 0x1000), *range(0x1FF00, 0x110000, 0x10000)}
    )
    for block in ([chr(first + i) for i in range(256)] for first in firsts):
        shown = list(map(clean, block))
        assert ToolArtifact.table("t", ["a", "b"], zip(block, block, strict=True)).rows == [
            [character, character] for character in shown
        ]
        if shown == block:
            continue
        for character, wanted in zip(block, shown, strict=True):
            assert ToolArtifact.table("t", ["é"], [[f"für{character}"]]).rows == [[f"für{wanted}"]]


def test_lone_surrogates_in_cells_and_columns_are_replaced() -> None:
    """P02: what came from a file name leaves as U+FFFD."""
    table = ToolArtifact.table("caf\udce9", ["\ud800"], [["caf\udce9.txt"]])

    assert (table.label, table.columns, table.rows) == (
        "caf\ufffd",
        ["\ufffd"],
        [["caf\ufffd.txt"]],
    )


def test_columns_and_rows_may_be_any_iterables() -> None:
    """Generators, driver rows and ranges are read once, from the start."""
    rows = (Row(n, str(n)) for n in range(3))
    table = ToolArtifact.table("t", (name for name in ("a", "b")), rows)

    assert table.rows == [["0", "0"], ["1", "1"], ["2", "2"]]
    assert ToolArtifact.table("t", ["a"], (iter([n]) for n in range(2))).rows == [["0"], ["1"]]


def test_a_table_without_rows_is_a_table() -> None:
    """No rows is an answer, not a fault."""
    table = ToolArtifact.table("t", ["a", "b"], [])

    assert (table.columns, table.rows, fault(table)) == (["a", "b"], [], None)
    assert ToolArtifact.table("t", [], []).rows == []


def bad(value: Any) -> Any:
    """Hand over a value that the type checker would refuse."""
    return value


@pytest.mark.parametrize(
    ("artifact", "said"),
    [
        (lambda: ToolArtifact.table("t", ["a", "b"], [["1", "2"], ["3"]]), "as many cells"),
        (lambda: ToolArtifact.table("t", ["a"], [["1", "2"]]), "as many cells"),
        (lambda: ToolArtifact.table("t", ["a"], [Row("1", "2")]), "as many cells"),
        (lambda: ToolArtifact.table("t", [], [["1"]]), "as many cells"),
        (lambda: ToolArtifact.table("t", ["a"], [[Loud()]]), "raised RuntimeError"),
        (lambda: ToolArtifact.table("t", ["a"], [[10**10_000]]), "raised ValueError"),
        (lambda: ToolArtifact.table("t", bad([1]), [["x"]]), "headings text"),
        (lambda: ToolArtifact.table("t", bad(None), []), "columns and rows"),
        (lambda: ToolArtifact.table("t", ["a"], bad(None)), "columns and rows"),
        (lambda: ToolArtifact.table("t", ["a"], bad([1])), "a row of the table is no list"),
        (lambda: ToolArtifact.table("t", ["a"], [{"a": 1}]), "a row of the table is no list"),
        (lambda: ToolArtifact.table("t", ["a", "b"], ["12"]), "a row of the table is no list"),
        (lambda: ToolArtifact.table("t", ["a"], bad([b"1"])), "a row of the table is no list"),
        (lambda: ToolArtifact.table("t", "ab", [["1", "2"]]), "columns and rows"),
        (lambda: ToolArtifact.table(bad(5), ["a"], [["x"]]), "label is no text"),
        (lambda: ToolArtifact.table(bad(5), ["a"], [["x"]], fit=True), "label is no text"),
        (lambda: ToolArtifact.text("t", bad(None)), "text artifact holds exactly"),
        (lambda: ToolArtifact.text(bad(None), "x"), "label is no text"),
        (lambda: ToolArtifact("chart", "t", {"text": "x"}), "'chart' is no artifact type"),
        (lambda: ToolArtifact(bad([]), "t", {"text": "x"}), "is no artifact type"),
        (lambda: ToolArtifact("text", "t", {"text": "x", "more": 1}), "holds exactly"),
        (lambda: ToolArtifact("text", "t", bad(["text"])), "holds exactly"),
        (lambda: ToolArtifact("table", "t", {"columns": ["a"]}), "holds exactly"),
        (lambda: ToolArtifact("table", "t", {"columns": "ab", "rows": []}), "holds exactly"),
        (lambda: ToolArtifact("table", "t", bad({1: [], "rows": []})), "holds exactly"),
        (lambda: ToolArtifact("table", "t", {"columns": ["a"], "rows": [[1]]}), "no text"),
        (lambda: ToolArtifact("table", "t", {"columns": ["a"], "rows": [[["x"]]]}), "no text"),
        (lambda: ToolArtifact("table", "t", {"columns": [None], "rows": []}), "no text"),
        (lambda: ToolArtifact("table", "t", {"columns": ["a"], "rows": ["x"]}), "no list"),
        (lambda: ToolArtifact("table", "t", {"columns": ["a"], "rows": [[]]}), "as many cells"),
    ],
)
def test_what_does_not_fit_its_shape_is_remembered(artifact: Any, said: str) -> None:
    """A wrong artifact does not raise when it is built; it knows why it cannot be shown."""
    built = artifact()

    assert said in str(fault(built))
    assert "canary" not in str(fault(built))
    assert built.data == None  # noqa: E711 - a RunOnly that holds null


def test_errors_of_the_source_of_rows_are_not_swallowed() -> None:
    """A database that fails while it is read is the tool's failure, not an omitted table."""

    def rows() -> Iterator[list[str]]:
        yield ["1"]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        ToolArtifact.table("t", ["a"], rows())


def test_by_hand_and_by_factory_are_equal() -> None:
    """The constructor takes exactly what the factories make."""
    data = {"columns": ["a\x00"], "rows": [("1",), ["2"]]}

    assert ToolArtifact("table", "t", data) == ToolArtifact.table("t", ["a\x00"], [[1], [2]])
    assert ToolArtifact("text", "t", {"text": "x\r\n"}) == ToolArtifact.text("t", "x\n")
    assert ToolArtifact.text("t", "x") != ToolArtifact.text("u", "x")


def test_an_artifact_is_decoupled_from_what_was_given_and_read() -> None:
    """Neither the author's list nor the reader's copy changes it."""
    rows = [["1"]]
    table = ToolArtifact.table("t", ["a"], rows)
    rows[0][0] = "changed"
    table.rows[0][0] = "changed"

    assert table.rows == [["1"]]


def test_an_artifact_is_immutable_and_final() -> None:
    """Nothing can be set, subclassed or pickled; copies are the object itself."""
    text = ToolArtifact.text("log", "x")

    for name in ("type", "data", "_label", "_fault", "other"):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(text, name, None)
    with pytest.raises(TypeError, match="final"):
        type("Mine", (ToolArtifact,), {})
    with pytest.raises(TypeError, match="encode_result"):
        pickle.dumps(text)
    assert copy.copy(text) is text
    assert copy.deepcopy([text])[0] is text


def test_its_text_shows_type_and_size_only() -> None:
    """No byte of label, cells or text stands in the repr."""
    table = ToolArtifact.table("canary-1", ["canary-2"], [["canary-3"]])

    assert repr(table) == "<ToolArtifact table 46 bytes>"
    assert str(table) == repr(table)
    assert repr(ToolArtifact.table("t", ["a"], [[1, 2]])) == "<ToolArtifact table faulty>"


def test_a_label_is_one_clean_line() -> None:
    """A label is cut to 200 characters, without line breaks or controls."""
    assert ToolArtifact.text("a\r\nb\x1b", "").label == "a␊b␛"
    assert len(ToolArtifact.text("x" * 5_000_000, "").label) == 200


def test_the_list_is_the_one_encoding() -> None:
    """The kept bytes of each artifact stand in the list as they are."""
    one, two = ToolArtifact.text("l", "x"), ToolArtifact.table("t", ["a"], [["€"]])

    assert encoded_list(()) == b"[]"
    assert encoded_list((one, two)).decode() == (
        '[{"type":"text","label":"l","data":{"text":"x"}},'
        '{"type":"table","label":"t","data":{"columns":["a"],"rows":[["€"]]}}]'
    )


@pytest.mark.parametrize("off", [-1, 0, 1, 2])
@pytest.mark.parametrize("many", [1, 2, 5])
def test_the_budget_of_a_list_is_exact(many: int, off: int) -> None:
    """A list of exactly the limit is kept, one byte more is a fault that tells the size."""
    small = tuple(ToolArtifact.text(f"n{n}", "x€") for n in range(many - 1))
    room = ARTIFACT_BYTES - len(encoded_list((*small, ToolArtifact.text("l", ""))))
    artifacts = (*small, ToolArtifact.text("l", "x" * (room + off)))

    assert len(encoded_list(artifacts)) == ARTIFACT_BYTES + off
    told = fault_of(artifacts, ARTIFACT_BYTES)
    assert told == (
        None if off <= 0 else f"{ARTIFACT_BYTES + off} bytes of artifacts, at most 50000 are kept"
    )


def test_one_bad_artifact_is_the_fault_of_the_list() -> None:
    """The whole list is judged; the first fault names it."""
    good, wrong = ToolArtifact.text("l", "x"), ToolArtifact.table("t", ["a"], [[1, 2]])

    assert fault_of((good, wrong), ARTIFACT_BYTES) == fault(wrong)
    assert fault_of((good, good), ARTIFACT_BYTES) is None
    assert fault_of((), ARTIFACT_BYTES) is None


def test_a_lower_budget_is_kept() -> None:
    """Settings may lower the budget."""
    assert fault_of((ToolArtifact.text("l", "x" * 100),), 100) is not None


def test_the_marker_is_one_text_with_its_fixed_label() -> None:
    """What stands in for a list says which fault it had."""
    instead = marker("a cell of the table is no text")

    assert instead.type is ArtifactType.TEXT
    assert instead.label == "Artifacts omitted"
    assert "a cell of the table is no text" in instead.text
    assert fault(instead) is None


def test_a_text_larger_than_the_budget_is_a_fault() -> None:
    """A text that fits in characters but not in bytes is left out as well."""
    assert "larger than 50000 bytes" in str(fault(ToolArtifact.text("l", "x" * 5_000_000)))
    assert "larger than 50000 bytes" in str(fault(ToolArtifact.text("l", "€" * 20_000)))


@pytest.mark.parametrize("rows", [20_000, 60_000])
def test_a_large_table_is_a_fault_without_fit(rows: int) -> None:
    """Never a cut inside a structure that nobody asked for."""
    table = ToolArtifact.table("t", ["n", "text"], [[n, f"text {n}"] for n in range(rows)])

    assert "larger than 50000 bytes" in str(fault(table))


@pytest.mark.parametrize("rows", [[["x"]] * 20_000, [["x" * 30_000]] * 2, [["€" * 20_000]]])
def test_a_large_table_by_hand_is_a_fault(rows: list[list[str]]) -> None:
    """Many rows, many characters and many bytes are judged as the factory judges them."""
    by_hand = ToolArtifact("table", "t", {"columns": ["a"], "rows": rows})

    assert "larger than 50000 bytes" in str(fault(by_hand))


def test_rows_are_read_no_further_than_the_budget() -> None:
    """An endless source of rows, cells or columns ends at the budget."""
    endless_rows = ToolArtifact.table("t", ["a"], ([n] for n in count()))
    endless_cells = ToolArtifact.table("t", ["a"], [(n for n in count())])
    endless_columns = ToolArtifact.table("t", (str(n) for n in count()), [])

    for table in (endless_rows, endless_cells, endless_columns):
        assert fault(table) is not None


@pytest.mark.parametrize("given", [list, iter])
def test_fit_drops_rows_from_the_end_and_says_so(given: Any) -> None:
    """With `fit` as many rows as fit are kept from the start; the label tells how many."""
    rows = [[str(n), f"text {n}€\n"] for n in range(10_000)]
    table = ToolArtifact.table("log", ["n", "text"], given(rows), fit=True)
    kept = len(table.rows)

    assert table.label == f"log (first {kept} of 10000 rows)"
    assert table.rows == rows[:kept]
    assert fault(table) is None
    assert 49_900 < len(encoded_list((table,))) <= ARTIFACT_BYTES


def test_fit_leaves_alone_what_fits() -> None:
    """A table that fits keeps every row and its own label."""
    table = ToolArtifact.table("log", ["n"], [[n] for n in range(100)], fit=True)

    assert (table.label, len(table.rows), fault(table)) == ("log", 100, None)


@given(st.integers(0, 50), st.sampled_from(["x", "€", '"', "\x00"]))
def test_a_fitted_table_fits_a_list_of_its_own(off: int, character: str) -> None:
    """Whatever stands at the edge, the fitted table is within the budget and as long as can be."""
    rows = [[character * 50] for _ in range((ARTIFACT_BYTES - 60) // 52)] + [["x" * (40 + off)]] * 3
    table = ToolArtifact.table("log" * 90, ["a"], rows, fit=True)

    assert fault(table) is None
    assert len(table.label) <= 200
    if len(table.rows) < len(rows):
        assert table.label.endswith(f"(first {len(table.rows)} of {len(rows)} rows)")
        following = rows[len(table.rows)]
        more = ToolArtifact.table(table.label, ["a"], [*table.rows, following])
        assert fault(more) is not None


@pytest.mark.parametrize("label", ["t", 'a "quoted" label €'])
def test_fit_drops_nothing_of_a_list_of_exactly_the_budget(label: str) -> None:
    """The last byte is used before the last row is dropped."""
    empty = ToolArtifact.table(label, ["a"], [["x"], [""]])
    room = ARTIFACT_BYTES - len(encoded_list((empty,)))

    fits = ToolArtifact.table(label, ["a"], [["x"], ["y" * room]], fit=True)
    larger = ToolArtifact.table(label, ["a"], [["x"], ["y" * (room + 1)]], fit=True)

    assert len(encoded_list((fits,))) == ARTIFACT_BYTES
    assert fits.label == label
    assert larger.label == f"{label} (first 1 of 2 rows)"


def test_fit_of_a_first_row_that_is_too_large_keeps_none() -> None:
    """The columns are shown even if not one row fits."""
    table = ToolArtifact.table("log", ["a"], [["x" * 60_000], ["y"]], fit=True)

    assert (table.columns, table.rows) == (["a"], [])
    assert table.label == "log (first 0 of 2 rows)"
    assert fault(ToolArtifact.table("log", ["x" * 49_995], [["y"]], fit=True)) is not None


@pytest.mark.parametrize("text", ["x" * 49_000, "\x00" * 16_000, "😀" * 12_000])
def test_one_long_text_in_every_cell_costs_no_more_than_its_refusal(text: str) -> None:
    """Ten thousand references to one text are counted before they are joined."""
    table = ToolArtifact.table("t", ["a"], [[text]] * 9_000)

    assert "larger than 50000 bytes" in str(fault(table))
    assert len(ToolArtifact.table("t", ["a"], [[text]] * 9_000, fit=True).rows) == 1


def test_a_stored_artifact_of_a_newer_version_keeps_its_data() -> None:
    """An unknown type read back from a store falls back to its JSON."""
    later = stored("diff", "t", {"nodes": [1, {"a": None}]})

    assert (later.type, later.label, fault(later)) == ("diff", "t", None)
    assert later.data == {"nodes": [1, {"a": None}]}
    assert json.loads(peek(later.data)) == {"nodes": [1, {"a": None}]}
    assert stored("text", "t", {"text": "x"}) == ToolArtifact.text("t", "x")
