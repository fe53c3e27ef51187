"""`list_packages`: the distributions that this interpreter would import."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, cast

import attrs

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam.guards import mask_secrets
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._page import Page, excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from importlib_metadata import Distribution, EntryPoint

_GROUP = "toolseam.tools"
_COLUMNS = ("name", "version", "summary", "tools", "shadowed")
_SUMMARY_CHARACTERS = 120


@attrs.frozen
class Arguments:
    """What `list_packages` is asked."""

    filter: Annotated[
        str | None,
        Arg("Only names and summaries that hold this, whatever the case.", max_length=200),
    ] = None


@attrs.frozen
class Package:
    """One distribution; `shadowed` are the versions of others by its name, later on the path."""

    name: str
    version: str
    summary: str
    tools: int
    shadowed: tuple[str, ...] = ()


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "list_packages",
        group="system",
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        parameters=Arguments,
        description=(
            "List the installed Python distributions with version and summary, how many tools"
            " each offers, and versions that another one on the import path hides."
        ),
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Look at the import path."""
    if arguments.filter is not None and not arguments.filter.strip():
        raise ToolError("The filter is blank.", ErrorCode.INVALID_ARGUMENTS)
    packages, unreadable = installed(import_module("importlib_metadata").distributions())
    answer = compose(packages, unreadable, arguments.filter)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def installed(distributions: Iterable[Distribution]) -> tuple[list[Package], int]:
    """Give one package a name, the first on the path, and how many could not be read.

    A distribution that is found again at the same place, through a link, is not a second one.
    """
    first: dict[str, Package] = {}
    places: dict[str, set[object]] = {}
    unreadable = 0
    for distribution in distributions:
        try:
            package = _package(distribution)
            place = _place(distribution)
        except Exception:  # noqa: BLE001 - metadata is anybody's; one bad folder hides no other
            unreadable += 1
            continue
        key = re.sub(r"[-_.]+", "-", package.name).lower()
        known = places.setdefault(key, set())
        if place in known:
            continue
        known.add(place)
        if key in first:
            shadowed = (*first[key].shadowed, package.version)
            first[key] = attrs.evolve(first[key], shadowed=shadowed)
        else:
            first[key] = package
    return [first[key] for key in sorted(first)], unreadable


def compose(packages: list[Package], unreadable: int, wanted: str | None) -> Answer:
    """Say the packages whose shown name or summary holds the filter, in order of their names."""
    folded = (wanted or "").casefold()
    chosen = [each for each in packages if folded in f"{each.name}\n{each.summary}".casefold()]
    page = Page()
    for each in chosen:
        tools = str(each.tools) if each.tools else ""
        cells = [each.name, each.version, each.summary, tools, ", ".join(each.shadowed)]
        line = f"- {each.name} {each.version}" + (f": {each.summary}" if each.summary else "")
        line += f" [tools: {tools}]" if tools else ""
        line += f" [shadowed: {cells[-1]}]" if each.shadowed else ""
        row = [each.name, each.version, each.summary, each.tools, list(each.shadowed)]
        if not page.take([line], cells, row):
            break
    count = len(page.lines)
    of = f" of {len(packages)}" if wanted is not None else ""
    matching = f" whose name or summary holds {wanted!r}" if wanted is not None else ""
    heading = f"{len(chosen)}{of} installed packages{matching}, {count} shown."
    notes = ["See the others with a narrower filter."] if count < len(chosen) else []
    twice = sum(bool(each.shadowed) for each in chosen)
    if twice:
        notes.append(f"{twice} installed more than once: the first on the import path counts.")
    if unreadable:
        notes.append(f"{unreadable} could not be read.")
    data: dict[str, object] = {
        "total": len(chosen),
        "unreadable": unreadable,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Installed packages", _COLUMNS, page.cells, fit=True)
    return Answer("\n".join([one_line(heading), *page.lines, *notes]), (table,), data)


def _package(distribution: Distribution) -> Package:
    """Read what is told of one distribution; what it says of itself is one masked line."""
    name, version = distribution.metadata["Name"], distribution.version
    if not name or not version:
        raise ValueError("no name or version")
    summary = mask_secrets(one_line(distribution.metadata.get("Summary") or ""))[0]
    try:
        points = cast("tuple[EntryPoint, ...]", distribution.entry_points)
        tools = sum(point.group == _GROUP for point in points)
    except (TypeError, ValueError):  # a malformed entry_points.txt offers nothing
        tools = 0
    return Package(
        one_line(name)[:200],
        one_line(version)[:100],
        excerpt(summary.strip(), _SUMMARY_CHARACTERS),
        tools,
    )


def _place(distribution: Distribution) -> object:
    """Give the folder that a distribution is in, links resolved, and its version there."""
    return os.path.realpath(str(distribution.locate_file(""))), distribution.version
