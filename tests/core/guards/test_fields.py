import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam.guards import MASK, mask_fields, mask_secrets

NAMES = st.sampled_from(["api_key", "password", "X-Auth-Token", "region", "monkey", "name"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=10,
)


def shapes(text: str) -> str:
    """Mask a string by its shape."""
    return mask_secrets(text)[0]


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"region": "eu", "api_key": "k-9"}, {"region": "eu", "api_key": MASK}),
        ({"a": [{"password": {"x": 1}}]}, {"a": [{"password": MASK}]}),
        ([["X-Auth-Token", "k-9"]], [["X-Auth-Token", MASK]]),
        ([{"name": "password", "value": "k-9"}], [{"name": "password", "value": MASK}]),
        ({"url": "x://a:b@c"}, {"url": f"x://{MASK}@c"}),
        ({"auths": {"r.test": {"auth": "YWRhOms5"}}}, {"auths": {"r.test": {"auth": MASK}}}),
        ({"auth": "required", "_auth": {"auth": ""}}, {"auth": "required", "_auth": {"auth": ""}}),
        ({"monkey": "ape", "n": 1.5}, {"monkey": "ape", "n": 1.5}),
    ],
)
def test_values_are_masked_by_key_and_strings_by_shape(value: object, masked: object) -> None:
    """A value under a sensitive key is replaced whole, whatever it is; others are judged."""
    assert mask_fields(value, shapes) == masked


@given(VALUES)
def test_the_value_is_copied_and_masking_is_idempotent(value: object) -> None:
    """What was given stays as it was, and masking the answer again changes nothing."""
    before = json.dumps(value)

    once = mask_fields(value, shapes)

    assert json.dumps(value) == before
    assert mask_fields(once, shapes) == once


def test_nesting_is_bounded() -> None:
    """A value nested more than 64 deep is refused instead of walked."""
    value: object = "x"
    for _ in range(66):
        value = [value]

    with pytest.raises(RecursionError):
        mask_fields(value, shapes)
