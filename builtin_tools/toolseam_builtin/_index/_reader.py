"""The built index, open for reading and for nothing else."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._index._build import APPLICATION, VERSION
from toolseam_builtin._index._place import FILE, index_folder

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from toolseam_builtin._index._words import Wanted
    from toolseam_builtin.workspace import Workspace

_MARKS = ("application_id", "user_version")
_OPERATIONS = 2_000
_BEST = 1_000
_FUNCTIONS = frozenset({"bm25", "count", "match", "substr"})
_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_MATCHING = (
    "FROM words JOIN passage ON passage.id = words.rowid JOIN source ON source.id = passage.source"
    " WHERE words MATCH ? AND source.place IN ({places})"
)


@attrs.frozen
class Stored:
    """One source as the index holds it, without its text."""

    id: int
    place: int
    source_id: str
    key: str
    title: str
    mark: str
    cut: bool


@attrs.frozen
class Hit:
    """The best passage of one source, and how well it fits; more is better."""

    source: Stored
    heading: str
    text: str
    score: float


@attrs.frozen
class About:
    """What the index says of itself: its workspace, the settings, and when it was built."""

    folder: str
    settings: str
    built: float


class Index:
    """Answers from one index file; every method raises `ToolError` `timeout` at the deadline."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def about(self) -> About:
        """Return what the index says of itself."""
        return About(*self._rows("SELECT folder, settings, built FROM about")[0])

    def places(self) -> list[dict[str, Any]]:
        """Return what was built from each folder and column, as it was counted."""
        columns = ("id", "kind", "name", "sources", "passages", "cut", "passed_over", "complete")
        rows = self._rows(f"SELECT {', '.join(columns)} FROM place ORDER BY id")  # noqa: S608
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def marks(self, place: int) -> dict[str, str]:
        """Return the mark of each source of a place, by its key."""
        return dict(self._rows("SELECT key, mark FROM source WHERE place = ?", place))

    def search(self, wanted: Wanted, places: Sequence[int]) -> tuple[list[Hit], bool]:
        """Return the best passage of each source: those with all of the words come first.

        Args:
            wanted: the words.
            places: where to look.

        Returns:
            Sources of the thousand best passages with all of the words, and behind them those of
            the thousand best with any; and whether there was time for both.
        """
        found: dict[int, Hit] = {}
        for expression in dict.fromkeys((wanted.every(), wanted.some())):
            try:
                rows = self._matching(expression, places)
            except ToolError as failure:
                if failure.code is ErrorCode.TIMEOUT and found:
                    return list(found.values()), False
                raise
            for row in rows:
                source = Stored(*row[:7])
                found.setdefault(source.id, Hit(source, row[7], row[8], -row[9]))
        return list(found.values()), True

    def count(self, wanted: Wanted, places: Sequence[int]) -> int:
        """Return how many sources have any of the words."""
        statement = f"SELECT count(DISTINCT source.id) {_among(places)}"
        return int(self._rows(statement, wanted.some(), *places)[0][0])

    def source(self, source_id: str) -> tuple[Stored, str] | None:
        """Return one source with its text, None if there is none of this id."""
        rows = self._rows(
            "SELECT id, place, source_id, key, title, mark, cut, text FROM source"
            " WHERE source_id = ?",
            source_id,
        )
        return (Stored(*rows[0][:7]), rows[0][7]) if rows else None

    def _matching(self, expression: str, places: Sequence[int]) -> list[tuple[Any, ...]]:
        statement = (
            "SELECT source.id, place, source_id, key, source.title, mark, cut, passage.heading,"
            " substr(text, start + 1, stop - start), bm25(words, 4.0, 2.0, 1.0) AS score"
            f" {_among(places)} ORDER BY score, source_id, start LIMIT {_BEST}"
        )
        return self._rows(statement, expression, *places)

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            late = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT
            raise _late() if late else _damaged() from None


@contextmanager
def open_index(workspace: Workspace, end: float) -> Generator[Index]:
    """Open the index of a workspace for reading.

    Args:
        workspace: whose it is.
        end: a moment of the monotonic clock, at which questions to it are stopped.

    Raises `ToolError` `unavailable` if it was not built, is not this user's, or is damaged.
    """
    path = index_folder(workspace) / FILE
    _judge(path)
    with ExitStack() as opened:
        try:
            # as_uri() escapes what a name could use to switch the mode.
            connection = sqlite3.connect(
                f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=1.0
            )
            opened.callback(connection.close)
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]
        except sqlite3.Error:
            raise _damaged() from None
        connection.set_authorizer(_authorize)
        connection.set_progress_handler(lambda: int(time.monotonic() > end), _OPERATIONS)
        index = Index(connection)
        if marks != [APPLICATION, VERSION] or index.about().folder != str(workspace.place):
            raise _damaged()
        yield index


def _judge(path: Path) -> None:
    """Refuse what is no index of this user's own."""
    try:
        found = os.lstat(path)
    except OSError:
        raise ToolError(
            "There is no full-text index of this workspace; build it with `toolseam index build`.",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "no_index"},
        ) from None
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        raise _damaged()


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    """Allow reading, the functions that are used, and what FTS5 asks of its own tables."""
    allowed = action in _READS or (
        (action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and first == "data_version")
        # Connecting a virtual table declares its columns by a statement that is never run.
        or (action == sqlite3.SQLITE_UPDATE and first in {"sqlite_master", "sqlite_schema"})
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _among(places: Sequence[int]) -> str:
    return _MATCHING.format(places=", ".join("?" * len(places)))


def _late() -> ToolError:
    return ToolError(
        "The index did not answer within the time limit; ask with rarer words.", ErrorCode.TIMEOUT
    )


def _damaged() -> ToolError:
    return ToolError(
        "The full-text index cannot be used; build it anew with `toolseam index build`.",
        ErrorCode.UNAVAILABLE,
        metadata={"reason": "no_index"},
    )
