"""What the store asks of a database, and how one may fail; SQLite and PostgreSQL each do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from toolseam import ToolseamError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


NOTHING = (
    "Nothing is stored here yet. The plugin `audit` stores what happens once your own settings file"
    ' says: trust = ["audit"]'
)


class AuditError(ToolseamError):
    """The audit store cannot be used as it is; the text says what is wrong, and where."""


class Unreachable(Exception):
    """The database did not do it now: it is busy, full, gone; no text of a driver is kept.

    A `broken` connection is of no use any more.
    """

    def __init__(self, kind: str, *, broken: bool = False) -> None:
        super().__init__(kind)
        self.broken = broken


class Doubled(Exception):
    """A row of this key is there already."""


class Database(Protocol):
    """One connection, for one thread at a time. Statements have `?` where values go.

    A statement by itself is a transaction of its own. `place` is what people may be told,
    `writer` the name that lives as long as this process, empty for who only looks.
    """

    place: str
    writer: str

    def is_sound(self) -> bool:
        """Tell whether the connection can still be used, before anything is asked of it."""
        ...

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query; raises `Unreachable`."""
        ...

    def change(self, statement: str, *values: object) -> int:
        """Change rows and return how many; raises `Unreachable` and `Doubled`."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Do several things or none, on the disk when it is over, whatever happens then."""
        ...

    def durable(self) -> AbstractContextManager[None]:
        """Have the one statement inside on the disk when it is over."""
        ...

    def is_alive(self, writer: str) -> bool:
        """Tell whether the process of a store that wrote under this name still runs."""
        ...

    def compact(self) -> None:
        """Leave nothing of what was deleted in a file."""
        ...

    def rest(self) -> None:
        """Have no file open until somebody asks again; the writer's name lives on."""
        ...

    def abandon(self) -> None:
        """Let go of it in the child of a fork."""
        ...

    def close(self) -> None:
        """End."""
        ...
