"""The stores that these tests run on."""

from collections.abc import Iterator

import pytest

from support.audit import Kept, kept_stores
from support.postgres import postgres

__all__ = ["postgres"]


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    """A store on SQLite, and one on PostgreSQL."""
    yield from kept_stores(request)


@pytest.fixture
def file_kept() -> Kept:
    """A store on SQLite."""
    return Kept(None)
