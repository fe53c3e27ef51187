"""From the frames of a traceback to the workspace's own source around them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import attrs

from toolseam import ToolError
from toolseam.guards import MASK, PathGuard, mask_source
from toolseam_builtin.code import PASSED_OVER
from toolseam_builtin.code._source import Source, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_builtin._logs._traceback import Frame, Raised
    from toolseam_builtin.workspace import Workspace

AROUND = 6
_TRIED = 40


@attrs.frozen
class Place:
    """Lines of the workspace's source round the lines of frames, which are `marked`.

    `changed` tells that one of these is not the line that ran.
    """

    file: str
    language: str
    marked: tuple[int, ...]
    first: int
    lines: tuple[str, ...]
    changed: bool

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1


def outline(raised: Raised) -> Iterator[tuple[int, str, Raised]]:
    """Give an exception, those before it in its chain and its members, each with its depth.

    Between depth and exception stands what it is to the one above: `cause`, `context`, `member`.
    """
    waiting: list[tuple[int, str, Raised]] = [(0, "", raised)]
    while waiting:
        depth, role, each = waiting.pop()
        yield depth, role, each
        below = [(depth + 1, "member", member) for member in each.members]
        if each.earlier is not None:
            below.insert(0, (depth + 1, each.relation or "", each.earlier))
        waiting += reversed(below)


def places(raised: Raised, workspace: Workspace, most: int) -> list[Place]:
    """Find the innermost frames in the workspace's own source, of each exception one at first."""
    guard = PathGuard(workspace.source_path)
    frames = [each.frames[::-1] for _, _, each in outline(raised)]
    deepest = max(map(len, frames))
    candidates = [each[n] for n in range(deepest) for each in frames if n < len(each)]
    found: dict[tuple[str, int], Place] = {}
    for frame in list(dict.fromkeys(candidates))[:_TRIED]:
        place = _place(frame, guard, workspace)
        if place is not None:
            found.setdefault((place.file, frame.line), place)
        if len(found) >= most:
            break
    joined: list[Place] = []
    for place in found.values():
        near = next((other for other in joined if _touch(place, other)), None)
        if near is None:
            joined.append(place)
        else:
            joined[joined.index(near)] = _joined(near, place)
    return joined


def _touch(one: Place, other: Place) -> bool:
    apart = one.first > other.last + 1 or other.first > one.last + 1
    return one.file == other.file and not apart


def _joined(one: Place, other: Place) -> Place:
    """Join two pieces of one file that overlap or meet."""
    upper, lower = sorted((one, other), key=lambda place: place.first)
    more = lower.lines[max(0, upper.last + 1 - lower.first) :]
    return attrs.evolve(
        upper,
        marked=tuple(sorted({*upper.marked, *lower.marked})),
        lines=upper.lines + more,
        changed=upper.changed or lower.changed,
    )


def _place(frame: Frame, guard: PathGuard, workspace: Workspace) -> Place | None:
    """Read the source round a frame, if the workspace has the file that it names."""
    parts = PurePosixPath(frame.file.replace("\\", "/")).parts
    if PASSED_OVER.intersection(parts) or not parts or frame.file.startswith("<"):
        return None
    exact = [workspace.place.joinpath(*parts).as_posix(), guard.root.joinpath(*parts).as_posix()]
    # Where it ran, the folder may have had another name: its end must fit, and the line itself.
    ends = ["/".join(parts[number:]) for number in range(1, len(parts))]
    for name in [*exact, *ends]:
        try:
            source = read_lines(guard, name)
        except ToolError:
            continue
        if source is None or frame.line > len(source.lines):
            continue
        same = _same(frame.source, source.lines[frame.line - 1])
        if same or name in exact:
            return _around(frame, source, changed=bool(frame.source) and not same)
    return None


def _same(printed: str, line: str) -> bool:
    """Tell whether a printed line is that of the source, as far as both may be shown."""
    return bool(printed) and (MASK in line or mask_source(printed) == line.strip())


def _around(frame: Frame, source: Source, *, changed: bool) -> Place:
    first = max(1, frame.line - AROUND)
    lines = source.lines[first - 1 : frame.line + AROUND]
    return Place(source.name, source.language, (frame.line,), first, lines, changed)
