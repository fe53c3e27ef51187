"""The database on which these runs are kept."""

import itertools

import pytest

from support.postgres import Postgres, postgres
from toolseam_plugins.durable._durable import engine_client

__all__ = ["postgres"]

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def template(postgres: Postgres) -> str:
    """A database with the engine's tables, which take seconds to make."""
    name = postgres.database()
    engine_client(postgres.url(name)).destroy()
    return name


@pytest.fixture
def url(postgres: Postgres, template: str) -> str:
    """A database of its own."""
    name = f"durable_{next(_NUMBERS)}"
    postgres.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return postgres.url(name)
