"""Trees, key/value lists and code: their shapes, and what does not fit them (contract §1, §7)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tools import plugin
from toolseam import ArtifactType, Host, ToolArtifact, ToolResult
from toolseam._artifacts import encoded_list, fault_of, stored
from toolseam._shapes import CODE_SHAPE, KEY_VALUE_SHAPE, TEXT_SHAPE, TREE_SHAPE
from toolseam._tables import ARTIFACT_BYTES, TOO_LARGE
from toolseam._text import clean

words = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from('\r\n\x00\x7f"\\\u202e€😀'))
)


class Loud:
    """A value whose text cannot be made."""

    def __str__(self) -> str:
        """Raise, with a text that nobody may see."""
        raise RuntimeError("canary-4711")


def given_wrong(value: Any) -> Any:
    """Hand over what no type checker would let pass."""
    return value


def fault(artifact: ToolArtifact) -> str | None:
    """Say why a lone artifact cannot be shown."""
    return fault_of((artifact,), ARTIFACT_BYTES)


def again(artifact: ToolArtifact) -> ToolArtifact:
    """Read an artifact back from the text that every sink writes."""
    (read,) = json.loads(encoded_list((artifact,)))
    return stored(read["type"], read["label"], read["data"])


def test_a_tree_reads_in_place() -> None:
    """Depth and text of each node are those that were given."""
    tree = ToolArtifact.tree("pages", [(0, "home"), (1, "visit"), (2, "tram"), (0, "start")])

    assert (tree.type, tree.label, fault(tree)) == (ArtifactType.TREE, "pages", None)
    assert tree.nodes == [[0, "home"], [1, "visit"], [2, "tram"], [0, "start"]]
    assert tree.data == {"nodes": tree.nodes}


def test_key_value_reads_in_place() -> None:
    """A mapping and pairs give the same items, formatted as the cells of a table are."""
    items = ToolArtifact.key_value("status", {"uptime": 7, "zone": None})

    assert (items.type, fault(items)) == (ArtifactType.KEY_VALUE, None)
    assert items.items == [["uptime", "7"], ["zone", ""]]
    assert ToolArtifact.key_value("status", [("uptime", 7), ("zone", "")]).items == items.items


def test_code_reads_in_place() -> None:
    """Lines, their numbers, language and marks are those that were given."""
    code = ToolArtifact.code("a.py", ["x = 1", "y"], first_line=41, language="python", marked=[42])

    assert (code.type, fault(code), code.lines) == (ArtifactType.CODE, None, ["x = 1", "y"])
    assert code.data == {
        "language": "python",
        "first_line": 41,
        "lines": ["x = 1", "y"],
        "marked": [42],
    }


@pytest.mark.parametrize(
    ("artifact", "said"),
    [
        (lambda: ToolArtifact.tree("t", [(1, "x")]), TREE_SHAPE),
        (lambda: ToolArtifact.tree("t", [(0, "x"), (2, "y")]), TREE_SHAPE),
        (lambda: ToolArtifact.tree("t", [(0, "x"), (-1, "y")]), TREE_SHAPE),
        (lambda: ToolArtifact.tree("t", [(False, "x")]), TREE_SHAPE),
        (lambda: ToolArtifact.tree("t", given_wrong([(0, "x", "y")])), TREE_SHAPE),
        (lambda: ToolArtifact.tree("t", given_wrong([0])), TREE_SHAPE),
        (lambda: ToolArtifact.tree("t", given_wrong("no")), TREE_SHAPE),
        (lambda: ToolArtifact.tree("t", [(0, Loud())]), "a cell raised RuntimeError"),
        (lambda: ToolArtifact.tree("t", [(0, "x" * 50_001)]), TOO_LARGE),
        (lambda: ToolArtifact.tree("t", ((0, "") for _ in range(10**9))), TOO_LARGE),
        (lambda: ToolArtifact("tree", "t", {"nodes": [[0, 7]]}), TREE_SHAPE),
        (lambda: ToolArtifact("tree", "t", {"nodes": [[0, "x"]], "more": 1}), TREE_SHAPE),
        (lambda: ToolArtifact.key_value("k", given_wrong([("a",)])), KEY_VALUE_SHAPE),
        (lambda: ToolArtifact.key_value("k", given_wrong(["ab"])), KEY_VALUE_SHAPE),
        (lambda: ToolArtifact.key_value("k", {"a": Loud()}), "a cell raised RuntimeError"),
        (lambda: ToolArtifact.key_value("k", {"a": "x" * 50_001}), TOO_LARGE),
        (lambda: ToolArtifact("key_value", "k", {"items": {"a": "b"}}), KEY_VALUE_SHAPE),
        (lambda: ToolArtifact("key_value", "k", {"items": [["a", None]]}), KEY_VALUE_SHAPE),
        (lambda: ToolArtifact.code("c", ["a\nb"]), CODE_SHAPE),
        (lambda: ToolArtifact.code("c", ["a\rb"]), CODE_SHAPE),
        (lambda: ToolArtifact.code("c", "text"), CODE_SHAPE),
        (lambda: ToolArtifact.code("c", given_wrong([7])), CODE_SHAPE),
        (lambda: ToolArtifact.code("c", ["a"], first_line=0), CODE_SHAPE),
        (lambda: ToolArtifact.code("c", ["a"], marked=[2]), CODE_SHAPE),
        (lambda: ToolArtifact.code("c", ["x" * 50_001]), TOO_LARGE),
        (lambda: ToolArtifact.code("c", [""] * 60_000), TOO_LARGE),
        (lambda: ToolArtifact("code", "c", {"lines": ["a"]}), CODE_SHAPE),
        (lambda: ToolArtifact("text", "x", {"text": None}), TEXT_SHAPE),
    ],
)
def test_what_does_not_fit_its_shape_is_remembered(
    artifact: Callable[[], ToolArtifact], said: str
) -> None:
    """Nothing raises where it is built; what is wrong is said in words of ours (§7)."""
    assert fault(artifact()) == said


def test_a_shape_has_no_other_shapes_members() -> None:
    """Asking a tree for items or lines is an AttributeError, and a faulty one for its nodes."""
    tree = ToolArtifact.tree("t", [(0, "x")])

    assert hasattr(tree, "nodes")
    assert not any(hasattr(tree, name) for name in ("items", "lines", "rows", "text"))
    assert not hasattr(ToolArtifact.tree("t", [(3, "x")]), "nodes")


@given(st.lists(st.tuples(st.integers(0, 3), words), max_size=30))
def test_any_tree_is_cleaned_and_read_back(steps: list[tuple[int, str]]) -> None:
    """An outline of any texts is clean, strict JSON, and the same after a store."""
    nodes: list[tuple[int, str]] = []
    for wanted, text in steps:
        nodes.append((min(wanted, nodes[-1][0] + 1) if nodes else 0, text))

    tree = ToolArtifact.tree("t", nodes)

    assert fault(tree) is None
    assert tree.nodes == [[depth, clean(text)] for depth, text in nodes]
    assert again(tree).data == tree.data


@given(st.lists(st.tuples(words, words), max_size=30))
def test_any_items_are_cleaned_and_read_back(items: list[tuple[str, str]]) -> None:
    """Items of any texts are clean, strict JSON, and the same after a store."""
    made = ToolArtifact.key_value("k", items)

    assert made.items == [[clean(key), clean(value)] for key, value in items]
    assert again(made).data == made.data


@given(st.lists(words, max_size=20), st.integers(1, 10**6))
def test_any_code_is_cleaned_or_refused(lines: list[str], first: int) -> None:
    """Lines of any text are kept clean, unless one of them would be two lines."""
    made = ToolArtifact.code("c", lines, first_line=first, marked=range(first, first + len(lines)))
    cleaned = [clean(line) for line in lines]

    if any("\n" in line for line in cleaned):
        assert fault(made) == CODE_SHAPE
    else:
        assert made.lines == cleaned
        assert again(made).data == made.data


@pytest.mark.parametrize(
    "faulty", [[(5, "x")], "no", [(0, Loud())]], ids=["depth", "no list", "raises"]
)
def test_a_faulty_tree_leaves_the_content(faulty: Any) -> None:
    """The seam replaces the whole list by one text, and the call is a success (§7)."""
    tool = plugin(lambda arguments: ToolResult.text("fine", ToolArtifact.tree("t", faulty)))

    with Host(tools=[tool]) as host:
        result = host.call("probe", {})

    assert (result.content, [artifact.label for artifact in result.artifacts]) == (
        "fine",
        ["Artifacts omitted"],
    )
