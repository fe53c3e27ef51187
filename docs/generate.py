"""Write what the docs take from the code: the tables of settings keys, and the checks.

`python docs/generate.py` rewrites the pages, `--check` says whether they are current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from toolseam import Arg
from toolseam._settings_keys import OperatorSettings, WorkspaceSettings
from toolseam._settings_structure import Variables
from toolseam_builtin.workspace import Workspace
from toolseam_plugins.conformance import ADAPTER_CHECKS, HOST_CHECKS, TOOL_CHECKS, Check

REFERENCE = Path(__file__).parent / "reference"
MARK = "<!-- from here on: docs/generate.py -->\n"
UNIONS = (Union, UnionType)
CLAUSES = {
    "§1": "values",
    "§2": "the-hooks",
    "§3": "toolspec",
    "§4": "arguments",
    "§5": "the-seam",
    "§6": "one-renderer",
    "§7": "bounds",
    "§8": "three-statuses-that-stay-apart",
}
"""Where a clause stands on the page of the contract."""


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
    words = {
        str: "text",
        bool: "true or false",
        int: "whole number",
        float: "number",
        Variables: "list of texts, or table: name → text",
    }
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


def settings() -> str:
    """Make the tables of settings keys."""
    return f"""
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


def clause(text: str) -> str:
    """Let each clause that is named lead to where it stands."""
    return re.sub(r"§\d", lambda found: f"[{found[0]}](contract.md#{CLAUSES[found[0]]})", text)


def level(check: Check[Any]) -> str:
    """Say what a check asks, and what it asks of the builtins if that is more."""
    more = check.builtin_level
    return check.level if more in {None, check.level} else f"{check.level} (builtins {more})"


def overview(checks: Iterable[Check[Any]]) -> str:
    """Draw the checks as a table."""
    lines = [
        "| check | level | clause | what is true of a subject that passes |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| [`{check.slug}`](#{check.slug}) | {level(check)} | {clause(check.clause)} "
        f"| {check.title} |"
        for check in checks
    ]
    return "\n".join(lines)


def section(check: Check[Any]) -> str:
    """Write what one check is for and how to mend what it finds."""
    return f"""### `{check.slug}`

{level(check)}, {clause(check.clause)}, since contract {check.since}. {check.title}

Why
: {check.why}

How to mend it
: {check.mend}
"""


def conformance() -> str:
    """Make the lists of checks: of tools, hosts and adapters."""
    parts = []
    lists: tuple[tuple[str, tuple[Check[Any], ...]], ...] = (
        ("Checks of a tool", TOOL_CHECKS),
        ("Checks of a host", HOST_CHECKS),
        ("Checks of an adapter", ADAPTER_CHECKS),
    )
    for heading, checks in lists:
        details = "\n".join(section(check) for check in checks)
        parts.append(f"\n## {heading}\n\n{len(checks)} checks.\n\n{overview(checks)}\n\n{details}")
    return "".join(parts)


PAGES: dict[str, Callable[[], str]] = {"settings.md": settings, "conformance.md": conformance}
"""What is written below the mark of each page."""


def main() -> int:
    """Rewrite the pages, or with `--check` name those that are not current."""
    stale = []
    for name, make in PAGES.items():
        path = REFERENCE / name
        text = path.read_text(encoding="utf-8")
        wanted = text.split(MARK)[0] + MARK + make()
        if text == wanted:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.write_text(wanted, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.stderr.write(f"not current: {', '.join(stale)}; run docs/generate.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
