"""`browse_folder`: what is in one folder of a storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin._storages import View

_PAGE = 100
_COLUMNS = ("name", "kind", "type", "bytes")


@asked
class Arguments:
    """What `browse_folder` is asked."""

    folder: Annotated[str, Arg("A folder of the storage; / is its root.", max_length=1000)] = "/"
    storage: Annotated[
        str | None, Arg("The storage's name; the first one by default.", max_length=200)
    ] = None
    offset: Annotated[int, Arg("How many entries to pass over.", ge=0, le=10_000_000)] = 0


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "browse_folder",
        "files",
        Arguments,
        "List a folder of a file storage, folders first, with types and sizes, 100 entries a page."
        " Hidden files, keys, credential files and links are left out and counted.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """List the folder."""
    from toolseam_builtin import _storages as st  # no matter of a listing

    with st.open_storages(context.settings) as storages:
        storage, path = storages.choose(arguments.folder, arguments.storage)
        view = st.look_into(storage, path, arguments.offset, _PAGE)
    answer = compose(view)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(view: View) -> db.Answer:
    """Say one page of the folder as text, tree and data, in one pass."""
    from toolseam_builtin import _storages as st

    folder, page = view.folder, db.Page()
    for name in folder.folders[view.offset : view.offset + _PAGE]:
        shown = st.shown_name(name)
        if not page.take([f"- {shown}/"], [f"{shown}/"], [shown, "folder", None, None]):
            break
    else:
        for name, look in view.looks.items():
            kind = st.mime_type(name)
            size = "size unknown" if look is None else st.size_text(look.size)
            shown = st.shown_name(name)
            text = f"{shown} ({kind}, {size})"
            row = [shown, "file", kind, None if look is None else look.size]
            if not page.take([f"- {text}"], [text], row):
                break
    total = len(folder.folders) + len(folder.files)
    following = view.offset + len(page.lines)
    within = "" if folder.name == "." else st.shown_name(folder.name)
    place = f"{db.one_line(view.storage)}:/{within}"
    notes = [db.more_with(f"offset={following}")] if page.lines and following < total else []
    if folder.left_out:
        notes.append(
            f"Left out: {folder.left_out:,} (hidden, links, keys, credentials or no plain files)."
        )
    data: dict[str, object] = {
        "storage": view.storage,
        "folder": within or ".",
        "folders": len(folder.folders),
        "files": len(folder.files),
        "left_out": folder.left_out,
        "next_offset": following if page.lines and following < total else None,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    tree = ToolArtifact.tree(place, [(0, place), *((1, cells[0]) for cells in page.cells)])
    lines = [_heading(view, place, len(page.lines)), *page.lines, *notes]
    return db.Answer("\n".join(lines), (tree,), data)


def _heading(view: View, place: str, count: int) -> str:
    folders, files = len(view.folder.folders), len(view.folder.files)
    if not folders and not files:
        return f"{place} is empty."
    numbers = [
        f"{number:,} {word}{'' if number == 1 else 's'}"
        for number, word in ((folders, "folder"), (files, "file"))
        if number
    ]
    return f"{place} holds {' and '.join(numbers)}, {db.shown_range(view.offset, count)}."
