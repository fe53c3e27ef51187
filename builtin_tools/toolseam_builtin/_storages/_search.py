"""Looking for files by their names, and by what rows call and describe them."""

from __future__ import annotations

import unicodedata
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import FileLook
from toolseam_builtin import _database as db
from toolseam_builtin._storages._columns import FileColumns, FileRow, ShownRow, file_tables
from toolseam_builtin._storages._missing import ALL_ROWS
from toolseam_builtin._storages._model import Clock
from toolseam_builtin._storages._names import all_shown_as_stored, shown_name
from toolseam_builtin._storages._open import Storages
from toolseam_builtin._storages._references import parse, spellings
from toolseam_builtin._storages._stock import Stock

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

_EVERY = 64
_BATCH = 500
_DESCRIBING = 0.2
"""The seconds that are kept for naming the rows of the files that were found."""


class Place(NamedTuple):
    """A file by storage and stored name; what no storage was seen to have is sorted last."""

    unseen: bool
    storage: str
    name: str


@attrs.frozen
class Hit:
    """One file that was found: what stands there, or how it is refused, and a row that names it."""

    place: Place
    look: FileLook | None
    refusal: ErrorCode | None
    row: ShownRow | None


@attrs.define
class Found:
    """Places of files that match; `stopped` names what was not looked at to its end."""

    places: set[Place] = attrs.field(factory=set[Place])
    sources: list[FileColumns] = attrs.field(factory=list[FileColumns])
    stopped: list[str] = attrs.field(factory=list[str])
    warnings: list[str] = attrs.field(factory=list[str])


@attrs.frozen
class Search:
    """One search: the storages, what was seen of them, the query, when to stop."""

    storages: Storages
    stock: Stock
    clock: Clock
    query: str
    storage: str | None = None

    def names(self, found: Found) -> None:
        """Add files whose name, as it is shown, holds the query; with a slash, whose path does."""
        for storage, files in self.stock.files.items():
            if self.storage in {None, storage}:
                stored = iter(files.values())
                while batch := list(islice(stored, _BATCH)):
                    if self.clock.over():
                        found.stopped.append(f"names in {db.one_line(storage)}")
                        break
                    places = [Place(unseen=False, storage=storage, name=name) for name in batch]
                    found.places.update(self._matching(places))

    def _matching(self, places: list[Place]) -> list[Place]:
        wanted = folded(self.query)
        hits = [place for place in places if wanted in folded(self._part(place.name))]
        if not hits or all_shown_as_stored([place.name for place in hits]):
            return hits
        return [place for place in hits if wanted in folded(shown_name(self._part(place.name)))]

    def _part(self, name: str) -> str:
        return name if "/" in self.query else name[name.rfind("/") + 1 :]

    def rows(self, database: db.Database, workspace: Workspace, found: Found) -> None:
        """Add files of rows whose file name, title or alternative text holds the query."""
        found.sources, warnings = file_tables(database, workspace)
        found.warnings += warnings
        reading = Clock(self.clock.end - _DESCRIBING, self.clock.cancelled)
        for number, source in enumerate(found.sources):
            left = reading.left(len(found.sources) - number)
            if reading.over() or not self._table(database, source, found, left):
                found.stopped.append(db.one_line(source.table.title))

    def hits(self, database: db.Database | None, found: Found, limit: int) -> list[Hit]:
        """Return the first places with what is known of them."""
        places = nsmallest(limit, found.places)
        rows = {} if database is None else self._describing(database, found, places)
        return [self._hit(place, rows.get(place)) for place in places]

    def _table(
        self, database: db.Database, source: FileColumns, found: Found, seconds: float
    ) -> bool:
        seen, complete = 0, True

        def known(text: str) -> bool:
            place = self.stock.plainly(text)
            return place is not None and Place(False, *place) in found.places

        def take(cells: tuple[db.Cell, ...]) -> bool:
            nonlocal seen, complete
            seen += 1
            if not source.all_paths(cells, known):
                self._row(source.row(cells), found)
            complete = seen % _EVERY > 0 or not self.clock.over()
            return complete

        # No engine knows that two Unicode forms of é are one.
        forms = {unicodedata.normalize(form, self.query) for form in ("NFC", "NFD")}
        return all(
            database.scan(
                source.query(ALL_ROWS, contains=db.Contains(form, source.searched())),
                take,
                seconds / len(forms),
            )
            and complete
            for form in sorted(forms)
        )

    def _row(self, row: FileRow, found: Found) -> None:
        described: bool | None = None
        for _, text in row.paths():
            place = self._place(text)
            if place is None or place in found.places:
                continue
            if described is None:
                described = self._describes(row)
            if described or self._matching([place]):
                found.places.add(place)

    def _place(self, text: str) -> Place | None:
        reference = parse(text, self.storages.names)
        if reference is None:
            return None
        seen = self.stock.find(reference)
        storage, name = seen or (reference.storage or "", reference.path)
        wanted = self.storage in {None, storage} or not (seen or reference.storage)
        return Place(seen is None, storage, name) if wanted else None

    def _describes(self, row: FileRow) -> bool:
        wanted = folded(self.query)
        # Most rows do not hold it even unmasked, and masking costs more than looking.
        if not any(wanted in folded(text) for text in row.texts()):
            return False
        shown = row.shown()
        return any(wanted in folded(text or "") for text in (shown.label, shown.alternative_text))

    def _describing(
        self, database: db.Database, found: Found, places: list[Place]
    ) -> dict[Place, ShownRow]:
        """Find a row for each of a few places, the first by table and key."""
        rows: dict[Place, ShownRow] = {}
        texts = tuple(dict.fromkeys(text for place in places for text in self._spelled(place)))
        for number, source in enumerate(found.sources):
            left = self.clock.left(len(found.sources) - number)
            if left <= 0 or not texts:
                break

            def take(cells: tuple[db.Cell, ...], source: FileColumns = source) -> bool:
                row = source.row(cells)
                for _, text in row.paths():
                    place = self._place(text)
                    if place is not None and place in places and place not in rows:
                        rows[place] = row.shown()
                return len(rows) < len(places)

            among = db.Among(texts, source.columns)
            database.scan(source.query(ALL_ROWS, among=among), take, left)
        return rows

    def _spelled(self, place: Place) -> tuple[str, ...]:
        names = self.storages.names
        chosen = [place.storage] if place.storage else names
        return tuple(text for name in chosen for text in spellings(name, place.name, names))

    def _hit(self, place: Place, row: ShownRow | None) -> Hit:
        refusal: ErrorCode | None = None
        for storage in self.storages.opened:
            if place.storage in {"", storage.name} and not self.clock.over():
                try:
                    look = storage.look(place.name)
                except ToolError as failure:
                    refusal = failure.code if refusal in {None, ErrorCode.NOT_FOUND} else refusal
                else:
                    return Hit(Place(False, storage.name, look.name), look, None, row)
        return Hit(place, None, refusal, row)


def folded(text: str) -> str:
    """Return a text in the form in which it is compared, whatever its case and Unicode form."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
