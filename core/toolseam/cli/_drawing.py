"""How each shape of artifact looks as text."""

from __future__ import annotations

from toolseam.cli._table import table
from toolseam.cli._terminal import Shown, joined, one_line, safe

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from toolseam import ToolArtifact

_INDENT = "  "


def drawn(artifact: ToolArtifact, width: int | None) -> Shown:
    """Return an artifact as lines without the last newline; of an unknown type its JSON.

    Args:
        artifact: a sound one.
        width: columns of the terminal; None lets a table be as wide as its cells.
    """
    from toolseam import ArtifactType

    kind = artifact.type
    if kind is ArtifactType.TABLE:
        return table(artifact.columns, artifact.rows, width=width)
    if kind is ArtifactType.KEY_VALUE:
        return table(("key", "value"), artifact.items, width=width)
    if kind is ArtifactType.TREE:
        lines = (f"{_INDENT * depth}- {one_line(text)}" for depth, text in artifact.nodes)
        return joined("\n".join(lines))
    if kind is ArtifactType.CODE:
        return _code(artifact)
    if kind is ArtifactType.TEXT:
        return Shown(safe(artifact.text))
    import json

    return Shown(safe(json.dumps(artifact.data.value, indent=2)))


def _code(artifact: ToolArtifact) -> Shown:
    """Number the lines, with a sign before those that the excerpt is about."""
    data = artifact.data.value
    first, marked = data["first_line"], frozenset(data["marked"])
    digits = len(str(first + len(artifact.lines)))
    return joined(
        "\n".join(
            f"{'>' if number in marked else ' '} {number:>{digits}} | {one_line(line)}"
            for number, line in enumerate(artifact.lines, first)
        )
    )
