"""The time zone of the machine, by the name that rules for summer time need."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import attrs

_FOLDER = "zoneinfo"
_LINK = Path("/etc/localtime")


@attrs.frozen
class LocalZone:
    """The zone that local times are in; `named` is False where only today's offset is known."""

    zone: tzinfo
    name: str
    named: bool


def local_zone() -> LocalZone:
    """Return the zone of this process: what `TZ` says, else what the machine is set to."""
    asked = os.environ.get("TZ")
    for name in (asked.removeprefix(":"),) if asked is not None else _of_the_machine():
        zone = named_zone(name)
        if zone is not None:
            return LocalZone(zone, name, named=True)
    now = datetime.now().astimezone()
    return LocalZone(now.tzinfo or UTC, now.tzname() or "UTC", named=False)


def named_zone(name: str) -> tzinfo | None:
    """Return the zone of this name, None if the zone database has none."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # unknown, a folder, no name at all
        return None


def _of_the_machine() -> tuple[str, ...]:
    place = os.path.realpath(_LINK)
    _, found, name = place.rpartition(f"/{_FOLDER}/")
    return (name,) if found else ()
