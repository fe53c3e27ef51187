"""Reading what one file is: its head, its checksum, the rows that describe it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import FileLook, mask_secrets
from toolseam_builtin import _database as db
from toolseam_builtin._page import one_line
from toolseam_builtin._storages._columns import FileColumns, ShownRow, file_tables
from toolseam_builtin._storages._images import HEAD_BYTES, Image, read_image
from toolseam_builtin._storages._names import shown_name
from toolseam_builtin._storages._references import plain, spellings, split

if TYPE_CHECKING:
    from toolseam_builtin._storages._model import Clock
    from toolseam_builtin._storages._open import Storages
    from toolseam_builtin.workspace import Workspace

CHECKSUM_BYTES = 256_000_000
"""The largest file whose checksum is computed, if the time suffices too."""

_PIECE = 1_000_000


@attrs.frozen
class FileFacts:
    """One file: where it is, what stands there, its checksum if all was read, its image."""

    storage: str
    look: FileLook
    checksum: str | None
    read: int
    image: Image | None

    @property
    def shown(self) -> str:
        """The file as an answer names it, and as other tools take it."""
        return f"{one_line(self.storage)}:{shown_name(self.look.name)}"


@attrs.frozen
class Target:
    """A file that rows are asked for: its name in an answer, and how rows may spell it."""

    file: str
    there: bool
    texts: tuple[str, ...]


def read_facts(storages: Storages, file: str, clock: Clock) -> FileFacts:
    """Read what a file is.

    Raises `ToolError` as `Storages.locate` does, and where the file may not be opened.
    """
    storage, look = storages.locate(file)
    digest = hashlib.sha256()
    read = 0
    with storage.open(look.name) as (opened, stream):
        head = stream.read(HEAD_BYTES)
        piece = head
        while piece:
            digest.update(piece)
            read += len(piece)
            if clock.over() or read >= CHECKSUM_BYTES:
                break
            piece = stream.read(_PIECE)
    checksum = digest.hexdigest() if not piece or read >= opened.size else None
    return FileFacts(storage.name, opened, checksum, read, read_image(head))


def find_target(storages: Storages, file: str) -> Target:
    """Find the file that rows are asked for; one that is gone is still spelled in rows.

    Raises `ToolError` as `Storages.locate` does, save `not_found`.
    """
    named, path = split(file, storages.names)
    spelled = [(name, plain(path)) for name in ([named] if named else storages.names)]
    try:
        storage, look = storages.locate(file)
    except ToolError as failure:
        if failure.code is not ErrorCode.NOT_FOUND or not plain(path):
            raise
        return Target(shown_name(file), there=False, texts=_texts(storages, spelled))
    spelled = [(storage.name, plain(path)), (storage.name, look.name)]
    shown = f"{one_line(storage.name)}:{shown_name(look.name)}"
    return Target(shown, there=True, texts=_texts(storages, spelled))


def describing_rows(
    database: db.Database, workspace: Workspace, texts: tuple[str, ...], clock: Clock, limit: int
) -> tuple[list[ShownRow], list[str]]:
    """Return the first rows of the file tables that hold one of the texts, and warnings."""
    sources, warnings = file_tables(database, workspace)
    found: list[ShownRow] = []
    late: list[str] = []
    for number, source in enumerate(sources):
        left = clock.left(len(sources) - number)

        def take(cells: tuple[db.Cell, ...], source: FileColumns = source) -> bool:
            found.append(source.row(cells).shown())
            return len(found) <= limit

        among = db.Among(texts, source.columns)
        if left <= 0 or not database.scan(source.query(limit + 1, among=among), take, left):
            late.append(source.table.title)
    if late:
        warnings.append(f"not read to their end, for lack of time: {db.listed(late)}")
    if len(found) > limit:
        warnings.append(f"more than {limit} rows point to the file; get_file_references has them")
    return found[:limit], warnings


def _texts(storages: Storages, spelled: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return how rows may spell a file; what would be masked is never compared with a cell."""
    names = storages.names
    texts = dict.fromkeys(text for pair in spelled for text in spellings(*pair, names))
    return tuple(text for text in texts if mask_secrets(text)[1] == 0)
