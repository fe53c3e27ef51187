import base64
import json

from hypothesis import given
from hypothesis import strategies as st

from toolseam.testing import Canary, canary


def test_two_canaries_differ() -> None:
    """Each is random, and easy to find by its word."""
    one, other = canary("token"), canary("token")

    assert one.text.startswith("token-")
    assert one != other


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_a_canary_is_found_in_every_form(before: bytes, after: bytes) -> None:
    """Plain, JSON-escaped, in hexadecimal digits and in base64 at any offset."""
    found = Canary('kan"arie-9f8e7d6c5b4a')
    raw = before + found.text.encode() + after

    for form in (raw, base64.b64encode(raw), raw.hex().encode()):
        assert found.is_in(form)
    assert found.is_in(json.dumps({"k": found.text}))


@given(st.binary(max_size=200))
def test_nothing_else_is_taken_for_it(data: bytes) -> None:
    """Random bytes hold no canary, in no form."""
    found = canary()

    assert not found.is_in(data, base64.b64encode(data), data.hex())


def test_several_outputs_are_searched() -> None:
    """One of them is enough, also a text with a lone surrogate."""
    found = canary()

    assert found.is_in("clean", b"clean", f"\ud800 {found.text}")
    assert not found.is_in("clean", "\ud800")
