"""Types of arguments that tests of schemas and of instances share."""

import enum
from typing import NewType

import attrs

Table = NewType("Table", str)


class Order(enum.Enum):
    """How rows are sorted."""

    UP = "up"
    DOWN = "down"


@attrs.frozen
class Range:
    """A nested class with a private field and a default."""

    _first: int
    last: int | None = None
