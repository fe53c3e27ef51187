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
    from zoneinfo import ZoneInfo

    asked = os.environ.get("TZ")
    for name in (asked.removeprefix(":"),) if asked is not None else _of_the_machine():
        try:
            return LocalZone(ZoneInfo(name), name, named=True)
        except (KeyError, OSError, ValueError):  # unknown, a folder, no name at all
            continue
    now = datetime.now().astimezone()
    return LocalZone(now.tzinfo or UTC, now.tzname() or "UTC", named=False)


def _of_the_machine() -> tuple[str, ...]:
    place = os.path.realpath(_LINK)
    _, found, name = place.rpartition(f"/{_FOLDER}/")
    return (name,) if found else ()
