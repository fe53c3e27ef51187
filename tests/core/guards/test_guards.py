import pytest

from toolseam import guards


def test_guards_are_imported_by_name_only() -> None:
    """A name that is no guard raises AttributeError, and `dir` lists the guards."""
    missing = "no_such_guard"

    with pytest.raises(AttributeError, match=missing):
        getattr(guards, missing)
    assert dir(guards) == sorted(guards.__all__)
