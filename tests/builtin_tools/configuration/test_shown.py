import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ErrorCode, ToolError
from toolseam.guards import MASK, is_sensitive_name
from toolseam_builtin._config._model import Written, dotted
from toolseam_builtin._config._paths import find, steps_of
from toolseam_builtin._config._shown import flat, overview, told

CANARY = "Qz7Canary"
NAMES = st.sampled_from(["a", "b.c", "d e", "0", 'q"x', "é", "name", "value", "key"])
SENSITIVE = st.sampled_from(["password", "api_key", "smtpPass", "x.token", "DSN"])
PLAIN = st.integers(0, 9) | st.booleans() | st.none() | st.sampled_from(["", "text", "x\ny"])
trees: st.SearchStrategy[Any] = st.recursive(
    PLAIN | st.builds(dict),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
secret: st.SearchStrategy[Any] = st.recursive(
    st.just(CANARY),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2)
        | st.dictionaries(NAMES, inner, min_size=1, max_size=2)
    ),
    max_leaves=4,
)
holders = (
    st.builds(lambda key, value: {key: value}, SENSITIVE, secret)
    | st.builds(lambda key, value: {"name": key, "value": value}, SENSITIVE, secret)
    | st.builds(lambda key, value: [key, value], SENSITIVE, secret)
    | st.builds(lambda user: f"https://{user}:{CANARY}@host/x", st.just("bob"))
)
poisoned: st.SearchStrategy[Any] = st.recursive(
    holders,
    lambda inner: (
        st.tuples(trees, inner).map(list)
        | st.builds(lambda key, value, tree: {"z": tree, key: value}, NAMES, inner, trees)
    ),
    max_leaves=4,
)


@given(poisoned)
def test_no_secret_is_shown_wherever_it_lies(value: Any) -> None:
    """Below a sensitive key, as a named value or pair, or in an address: masked in every form."""
    shown = [(leaf.name, *leaf.told()) for leaf in (*flat(value), *overview(value))]

    assert CANARY not in json.dumps(shown)


@given(trees)
def test_every_leaf_is_shown_and_found_by_its_path(value: Any) -> None:
    """All values are leaves in their order, and the path of each leads back to it."""
    leaves = list(flat(value))

    for leaf in leaves:
        gone, found, hidden = find(value, steps_of(leaf.name), "x")
        assert (gone, found, hidden) == (leaf.path, leaf.value, leaf.hidden)
    assert len({leaf.name for leaf in leaves}) == len(leaves)


@given(
    st.lists(
        st.text(min_size=1, max_size=12).filter(lambda key: not is_sensitive_name(key)),
        min_size=1,
        max_size=4,
    )
)
def test_paths_are_written_as_they_are_read(keys: list[str]) -> None:
    """A dotted path gives its keys back, whatever signs are in them."""
    assert [str(step) for step in steps_of(dotted(keys))] == keys


@given(st.text('a.0["]\\ ', max_size=12))
def test_any_path_is_answered(path: str) -> None:
    """A path is followed, or refused as not found or as no path."""
    try:
        find({"a": [1, {"b": 2}]}, steps_of(path), "x")
    except ToolError as refusal:
        code = refusal.code
    else:
        code = ErrorCode.NOT_FOUND
    assert code in {ErrorCode.NOT_FOUND, ErrorCode.INVALID_ARGUMENTS}


@given(
    SENSITIVE, secret, st.lists(st.sampled_from(["a", "0", CANARY, "name"]), min_size=1, max_size=2)
)
def test_below_a_mask_all_paths_are_alike(key: str, value: Any, below: list[str]) -> None:
    """A path below a masked key gets one and the same refusal, whether or not it leads anywhere."""
    said = []
    for steps in (below, ["nothing"]):
        with pytest.raises(ToolError) as caught:
            find({key: value}, [key, *steps], "x")
        said.append((caught.value.code, caught.value.message))

    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("value", "text", "typed"),
    [
        ("a\nb", '"a↵b"', "a↵b"),
        ("true", '"true"', "true"),
        (True, "true", True),
        (None, "null", None),
        (1.5, "1.5", 1.5),
        (2**70, str(2**70), str(2**70)),
        ({}, "{}", {}),
        ([], "[]", []),
        (Written("1.10", 1.1), "1.10", 1.1),
        ("host=db password=Aster9", f'"host=db password={MASK}"', f"host=db password={MASK}"),
        ('{"api_key": "Aster9"}', f'"{{\\"api_key\\": \\"{MASK}\\"}}"', f'{{"api_key": "{MASK}"}}'),
        ("é" * 600, '"' + "é" * 500 + '"… [600 characters in all]', "é" * 500 + "…"),
    ],
)
def test_values_are_shown_as_what_they_are(value: object, text: str, typed: object) -> None:
    """Text is quoted, in one line, masked by shape and cut with its length; the rest is as JSON."""
    assert told(value) == (text, typed)


def test_a_cut_hides_no_shape() -> None:
    """A secret that begins before the cut and ends behind it is masked all the same."""
    key = "ghp_" + "A1b2C3d4E5f6" * 3

    assert key[:10] not in told("x " * 245 + key)[0]


def test_emptiness_is_shown_below_a_sensitive_key() -> None:
    """That nothing is set is no secret."""
    leaves = flat({"password": "", "token": None, "dsn": 0, "salt": {}})

    assert [leaf.told()[0] for leaf in leaves] == ['""', "null", MASK, MASK]
