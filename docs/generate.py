"""Write what the docs take from the code: the tables of settings keys.

`python docs/generate.py` rewrites the pages, `--check` says whether they are current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from toolseam import Arg
from toolseam._settings_keys import OperatorSettings, WorkspaceSettings
from toolseam_builtin.workspace import Workspace

PAGE = Path(__file__).parent / "reference" / "settings.md"
MARK = "<!-- from here on: docs/generate.py -->\n"
UNIONS = (Union, UnionType)


def kind(hint: Any) -> str:  # noqa: ANN401 - any annotation
    """Say in TOML's words what a key takes."""
    origin, members = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return kind(members[0])
    if origin in UNIONS:
        return " or ".join(kind(member) for member in members if member is not NoneType)
    if origin is Literal:
        return " or ".join(f"`{member}`" for member in members)
    if origin in {tuple, list}:
        return f"list of {kind(members[0])}s"
    if origin in {dict, Mapping}:
        return f"table: name → {kind(members[1])}"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return " or ".join(f"`{member}`" for member in hint)
    words = {str: "text", bool: "true or false", int: "whole number", float: "number"}
    return words.get(hint, "any value")


def default(field: attrs.Attribute[Any]) -> str:
    """Say what holds where a key is absent."""
    value = field.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"{value:,g}"
    return f"`{value}`" if isinstance(value, str) and value else "none"


def inner_class(hint: Any) -> type | None:  # noqa: ANN401 - any annotation
    """Find the attrs class whose keys stand below a key."""
    if isinstance(hint, type) and attrs.has(hint):
        return hint
    return next((found for each in get_args(hint) if (found := inner_class(each))), None)


def is_named(hint: Any) -> bool:  # noqa: ANN401 - any annotation
    """Tell whether a table has names of the operator's choice between it and its keys."""
    origin = get_origin(hint)
    return is_named(get_args(hint)[0]) if origin is Annotated else origin in {dict, Mapping}


def rows(cls: Any, prefix: str, *, operator: bool = False) -> Iterator[list[str]]:  # noqa: ANN401
    """Give one row for each key of an attrs class, and for those of the classes below it.

    A key that is not described is a fact that the host sets. Where `operator` is wanted, only the
    keys that are his alone, else only the others.
    """
    hints = get_type_hints(cls, include_extras=True)
    for field in attrs.fields(cls):
        hint, notes = hints[field.name], field.metadata
        if bool(notes.get("operator")) is not operator:
            continue
        described = [each.description for each in get_args(hint) if isinstance(each, Arg)]
        text = notes.get("text") or next(iter(described), "")
        key = prefix + field.name
        below = inner_class(hint)
        if below is not None:
            yield from rows(below, f"{key}.<name>." if is_named(hint) else f"{key}.")
            continue
        if not text:
            continue
        bounds = f", {notes['ge']:,} to {notes['le']:,}" if "ge" in notes else ""
        yield [f"`{key}`", kind(hint) + bounds, default(field), text]


def table(cells: Iterator[list[str]]) -> str:
    """Draw rows of keys as a Markdown table."""
    lines = [["key", "takes", "if absent", "what it says"], ["---"] * 4, *cells]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def page() -> str:
    """Make the page: what stands above the mark, and the tables."""
    above = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    return f"""{above}{MARK}
## The operator's file

{table(rows(OperatorSettings, ""))}

## The workspace file

The same words mean the same; each can only narrow.

{table(rows(WorkspaceSettings, ""))}

### `[workspace]`

What is here, for the builtin tools. Paths are relative to the folder.

{table(rows(Workspace, "workspace."))}

The operator may say any of these too, in `[plugins.toolseam]` of his file, and then his word holds;
some he alone may say:

{table(rows(Workspace, "plugins.toolseam.", operator=True))}
"""


def main() -> int:
    """Rewrite the page, or with `--check` compare it."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
