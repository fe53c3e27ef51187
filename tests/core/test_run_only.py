"""The container that no serialiser opens (contract §1)."""

import copy
import pickle
from collections import abc
from typing import Any

import attrs
import pytest

from toolseam import RunOnly, ToolArtifact, ToolResult

CANARY = "canary-4711"


def held(value: Any) -> RunOnly[Any]:
    """Hold a JSON value the only way there is: as the data of a result."""
    data = ToolResult.text("ok", data=value).data
    assert data is not None
    return data


@pytest.fixture
def table() -> RunOnly[Any]:
    """Hold an object with a list and a text."""
    return held({"rows": [1, 2, 3], "name": CANARY})


def test_it_reads_like_what_it_holds(table: RunOnly[Any]) -> None:
    """Item access, iteration, length, membership and truth are those of the plain value."""
    assert table["rows"][1] == 2
    assert list(table) == ["rows", "name"]
    assert len(table) == 2
    assert "name" in table
    assert "other" not in table
    assert table
    assert list(held([4, 5])) == [4, 5]
    assert held([4, 5])[-1] == 5


@pytest.mark.parametrize("value", [{}, [], "", 0, False])
def test_an_empty_value_is_false(value: object) -> None:
    """Truth is the plain value's."""
    assert not held(value)
    assert held(value) is not None


def test_missing_members_raise_as_usual(table: RunOnly[Any]) -> None:
    """A wrong key or index raises what a dict or list raises."""
    with pytest.raises(KeyError):
        table["none"]
    with pytest.raises(IndexError):
        held([])[0]


@pytest.mark.parametrize("value", [{"a": [1, {"b": None}]}, [1, "x"], "text", 5, 1.5, True])
def test_it_equals_plain_json(value: object) -> None:
    """A held value compares equal to the plain one, to a second holder and to nothing else."""
    assert held(value) == value
    assert value == held(value)
    assert held(value) == held(value)
    assert held(value) != [value]


def test_the_order_of_keys_makes_no_difference() -> None:
    """Objects are equal by their members, as in JSON."""
    assert held({"a": 1, "b": 2}) == held({"b": 2, "a": 1})
    assert held({"a": 1, "b": 2}) == {"b": 2, "a": 1}


def test_a_tuple_equals_the_list_that_it_became() -> None:
    """Tuples are lists in JSON, and compare so."""
    assert held((1, 2)) == (1, 2)
    assert held((1, 2)) == [1, 2]


def test_the_value_is_a_fresh_copy(table: RunOnly[Any]) -> None:
    """Changing what was read changes nothing that is held."""
    table.value["rows"].append(4)
    table["rows"].append(4)

    assert table["rows"] == [1, 2, 3]


def test_it_is_decoupled_from_what_was_given() -> None:
    """Changing what was given changes nothing that is held."""
    given = {"rows": [1]}
    data = held(given)
    given["rows"].append(2)

    assert data == {"rows": [1]}


@pytest.mark.parametrize(
    "kind", [list, tuple, dict, str, abc.Sequence, abc.Mapping, abc.Set, abc.Hashable]
)
def test_it_is_no_collection(table: RunOnly[Any], kind: type) -> None:
    """No serialiser that asks for a collection type is answered."""
    assert not isinstance(table, kind)


def test_it_is_no_attrs_class_and_has_no_dict(table: RunOnly[Any]) -> None:
    """Neither `attrs.asdict` nor `vars` finds anything to open."""
    assert not attrs.has(type(table))
    with pytest.raises(TypeError):
        vars(table)


@pytest.mark.parametrize("value", [{"k": CANARY}, [CANARY], CANARY, {CANARY: 1}])
def test_its_text_shows_the_shape_only(value: object) -> None:
    """`str`, `repr` and formatting tell kind and length, no byte of the value."""
    data = held(value)

    for text in (str(data), repr(data), f"{data}", f"{data!r:>60}", f"{data:>60}"):
        assert "RunOnly" in text
        assert CANARY not in text


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({"a": 1}, "<RunOnly object of 1>"),
        ([1, 2], "<RunOnly list of 2>"),
        ("abc", "<RunOnly text of 3 characters>"),
        (17, "<RunOnly int>"),
    ],
)
def test_the_shape_is_kind_and_length(value: object, shape: str) -> None:
    """The shape is enough to debug by."""
    assert repr(held(value)) == shape


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_is_not_pickled(table: RunOnly[Any], protocol: int) -> None:
    """Every protocol of pickle is refused, and the message names the way that works."""
    with pytest.raises(TypeError, match="encode_result"):
        pickle.dumps(table, protocol)


def test_reduce_is_refused(table: RunOnly[Any]) -> None:
    """Whoever asks for a reduced form directly is refused too."""
    for ask in (table.__reduce__, table.__getstate__):
        with pytest.raises(TypeError, match="encode_result"):
            ask()
    with pytest.raises(TypeError, match="encode_result"):
        table.__reduce_ex__(4)


def test_copies_are_the_object_itself(table: RunOnly[Any]) -> None:
    """An immutable value needs no copy."""
    assert copy.copy(table) is table
    assert copy.deepcopy(table) is table


def test_it_is_immutable(table: RunOnly[Any]) -> None:
    """Nothing can be set, deleted or added."""
    for name in ("_peek", "value", "other"):
        with pytest.raises(AttributeError):
            setattr(table, name, 1)
    with pytest.raises(AttributeError):
        del table._peek


def test_it_is_unhashable(table: RunOnly[Any]) -> None:
    """Like the lists and dicts that it stands for."""
    with pytest.raises(TypeError):
        hash(table)


def test_it_is_final_and_made_by_nobody_else() -> None:
    """Neither a subclass nor an instance can be made outside of the core."""
    with pytest.raises(TypeError, match="final"):
        type("Mine", (RunOnly,), {})
    with pytest.raises(TypeError, match="never by hand"):
        RunOnly()


def test_it_holds_artifacts_as_a_list() -> None:
    """The artifacts of a result read like a list of them."""
    artifact = ToolArtifact.text("log", "line")
    artifacts = ToolResult.text("ok", artifact).artifacts

    assert artifacts == [artifact]
    assert artifacts == (artifact,)
    assert list(artifacts) == [artifact]
    assert artifacts[0] is artifact
    assert len(artifacts) == 1
    assert artifact in artifacts
    assert repr(artifacts) == "<RunOnly list of 1>"
    assert not ToolResult.text("ok").artifacts
