"""An exception out of the logs as it is told: masked, in order, with nothing cut in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ToolArtifact
from toolseam_builtin._logs._records import Record
from toolseam_builtin._logs._shown import (
    cut_lines,
    mask_log,
    searching,
    shown_path,
    shown_source,
    shown_text,
    shown_word,
)
from toolseam_builtin._logs._traceback import Raised, has_traceback, read_traceback
from toolseam_builtin._page import Page, excerpt, one_line
from toolseam_builtin.code._frames import Place, outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolseam_builtin._logs._traceback import Frame
    from toolseam_builtin.workspace import Workspace

_MESSAGE_CHARACTERS = 6_000
_LINE_CHARACTERS = 400
_NODE_CHARACTERS = 200
_NODES = 60
_FRAMES_EACH = 25
_FRAME_BYTES = 12_000
_FRAME_COLUMNS = ("exception", "file", "line", "function", "source")


@attrs.frozen
class Exceptions:
    """The exception asked for, if there are so many: its record, what was logged with it.

    `total` counts the exceptions in all records that were read.
    """

    total: int
    record: Record | None = None
    logged: list[str] = attrs.field(factory=list[str])
    raised: Raised | None = None


@attrs.define
class Told:
    """An answer as it grows: lines of text, artifacts of the same cells, data."""

    lines: list[str] = attrs.field(factory=list[str])
    artifacts: list[ToolArtifact] = attrs.field(factory=list[ToolArtifact])
    data: dict[str, object] = attrs.field(factory=dict[str, object])


def find_exceptions(records: Iterable[Record], index: int, search: str | None) -> Exceptions:
    """Count the records that hold a traceback, and read the one asked for."""
    holds = searching(search)
    total = 0
    wanted: Record | None = None
    for record in records:
        if has_traceback(record.text) and (holds is None or holds(record)):
            wanted = record if total == index else wanted
            total += 1
    if wanted is not None and wanted.fields is not None:
        # What is secret in an object shows by its keys, which its text does not have any more.
        wanted = attrs.evolve(wanted, text=shown_text(wanted), fields=None)
    found = None if wanted is None else read_traceback(wanted.text)
    return Exceptions(total, wanted, *found) if found else Exceptions(total)


def tell(found: Exceptions, places: list[Place], workspace: Workspace) -> Told:
    """Tell one exception: what was logged, type and message, chain and members, frames, source."""
    told = Told()
    if found.record is None or found.raised is None:
        return told
    _tell_head(told, found.record, found.logged, found.raised)
    exceptions = list(outline(found.raised))
    _tell_outline(told, exceptions, found.raised.chain[-1], workspace)
    _tell_frames(told, [raised for _, _, raised in exceptions], workspace)
    _tell_source(told, places)
    return told


def _tell_head(told: Told, record: Record, logged: list[str], raised: Raised) -> None:
    """Say when, by whom and where it was logged, then type and message in all their lines."""
    message, left_out = _message(raised)
    items = [
        ("time", shown_word(record.head.when)),
        ("logger", shown_source(record)),
        ("file", one_line(record.file)),
        ("record", "\n".join(_shown_lines("\n".join(logged)))),
        ("type", _type(raised)),
        ("message", "\n".join(message)),
    ]
    items = [(name, text) for name, text in items if text]
    for name, text in items:
        first, *more = text.split("\n")
        told.lines += [f"{name}: {first}", *(f"    {line}" for line in more)]
    told.artifacts.append(ToolArtifact.key_value("Exception", items))
    told.data.update(
        time=record.head.iso,
        level=record.head.level,
        logger=shown_source(record) or None,
        file=record.file,
        type=_type(raised),
        message=message,
        message_lines_left_out=left_out,
    )


def _tell_outline(
    told: Told, exceptions: list[tuple[int, str, Raised]], root: Raised, workspace: Workspace
) -> None:
    """Outline the chain and the members of groups, with the place that each was raised at."""
    nodes: list[tuple[int, str]] = []
    for depth, role, raised in exceptions[:_NODES]:
        said = _type(raised)
        message = _message(raised)[0]
        said += f": {excerpt(message[0], _NODE_CHARACTERS)}" if message else ""
        if raised.frames:
            last = raised.frames[-1]
            said += f" at {_path(last.file, workspace)}:{last.line}"
        said += f" ({raised.left_out})" if raised.left_out else ""
        said += " (root cause)" if raised is root and depth else ""
        nodes.append((depth, f"{role}: {said}" if role else said))
    told.data["exceptions"] = [
        {
            "depth": depth,
            "role": role or None,
            "type": _type(raised),
            "message": _message(raised)[0],
        }
        for depth, role, raised in exceptions[:_NODES]
    ]
    if len(exceptions) > 1:
        told.lines.append("Raised from (cause), while handling (context), members of groups:")
        told.lines += [f"{'  ' * depth}- {text}" for depth, text in nodes]
        told.artifacts.append(ToolArtifact.tree("Chain and members", nodes))
    if len(exceptions) > _NODES:
        told.lines.append(f"{len(exceptions) - _NODES:,} more exceptions are left out.")


def _tell_frames(told: Told, exceptions: list[Raised], workspace: Workspace) -> None:
    """List the frames of each exception, the innermost first: a cut loses the outer ones."""
    page = Page(budget=_FRAME_BYTES)
    named: Raised | None = None
    for raised, frame in _inner_frames(exceptions):
        heading = [] if raised is named else [f"Frames of {_type(raised)}, the innermost first:"]
        named = raised
        again = f" [{frame.repeated:,} times more]" if frame.repeated else ""
        source = excerpt(shown_word(frame.source), _NODE_CHARACTERS) + again
        place = _path(frame.file, workspace)
        name = shown_word(frame.name)
        line = f"  {place}:{frame.line}"
        line += f" in {name}" if name else ""
        line += f" | {source}" if source else ""
        cells = [_type(raised), place, str(frame.line), name, source]
        row = [_type(raised), place, frame.line, name or None, source or None]
        if not page.take([*heading, line], cells, row):
            break
    told.lines += page.lines
    total = sum(len(raised.frames) for raised in exceptions)
    if len(page.cells) < total:
        told.lines.append(f"{total - len(page.cells):,} outer frames are left out: see fetch_logs.")
    told.data["frames"] = {"total": total, "columns": list(_FRAME_COLUMNS), "rows": page.rows}
    if page.cells:
        told.artifacts.append(ToolArtifact.table("Frames", _FRAME_COLUMNS, page.cells, fit=True))


def _inner_frames(exceptions: list[Raised]) -> Iterator[tuple[Raised, Frame]]:
    """Give the innermost frames of each exception, with it."""
    for raised in exceptions:
        for frame in raised.frames[: -_FRAMES_EACH - 1 : -1]:
            yield raised, frame


def _tell_source(told: Told, places: list[Place]) -> None:
    """Show the source round frames, with a sign before the lines that were running."""
    for place in places:
        lines = [excerpt(one_line(line), _LINE_CHARACTERS) for line in place.lines]
        width = len(str(place.first + len(lines)))
        file = shown_word(place.file)
        told.lines.append(f"{file}, lines {place.first} to {place.first + len(lines) - 1}:")
        told.lines += [
            f"{'>' if number in place.marked else ' '} {number:>{width}} | {line}"
            for number, line in enumerate(lines, place.first)
        ]
        if place.changed:
            told.lines.append("This source has changed since: a marked line is not what ran.")
        code = ToolArtifact.code(
            file, lines, first_line=place.first, language=place.language, marked=place.marked
        )
        told.artifacts.append(code)
    told.data["places"] = [
        {
            "file": shown_word(place.file),
            "first_line": place.first,
            "marked": [*place.marked],
            "changed": place.changed,
        }
        for place in places
    ]


def _type(raised: Raised) -> str:
    return shown_word(raised.type) or "(the traceback is cut off)"


def _message(raised: Raised) -> tuple[list[str], int]:
    lines, left_out = cut_lines(mask_log("\n".join(raised.message)), _MESSAGE_CHARACTERS)
    return [excerpt(one_line(line), _LINE_CHARACTERS) for line in lines], left_out


def _shown_lines(text: str) -> list[str]:
    """Mask a text and cut its lines."""
    lines, _ = cut_lines(mask_log(text), _MESSAGE_CHARACTERS // 4)
    return [excerpt(one_line(line), _LINE_CHARACTERS) for line in lines]


def _path(path: str, workspace: Workspace) -> str:
    return shown_word(shown_path(path, workspace.place))
