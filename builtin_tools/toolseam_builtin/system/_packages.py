"""The distributions on the import path: one a name, and what each says of itself."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, cast

import attrs

from toolseam.guards import mask_secrets
from toolseam_builtin._page import excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from importlib_metadata import Distribution, EntryPoint

_GROUP = "toolseam.tools"
_SUMMARY_CHARACTERS = 120


@attrs.frozen
class Package:
    """One distribution; `shadowed` are the versions of others by its name, later on the path."""

    name: str
    version: str
    summary: str
    tools: int
    shadowed: tuple[str, ...] = ()


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
