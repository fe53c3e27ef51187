"""Knowing which files there are: one walk through the storages, as far as the time allows."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._storages._model import Clock
from toolseam_builtin._storages._references import plain

if TYPE_CHECKING:
    from toolseam import ToolContext
    from toolseam_builtin._storages._open import Storages
    from toolseam_builtin._storages._references import Reference

SECONDS = 1.4
"""What one tool spends on looking, in all."""

_WALKING = 0.5
_EVERY = 256


@attrs.frozen
class Stock:
    """The files of each storage, the stored name by the plain one.

    `unseen` names the storages that were not walked whole, and why.
    """

    files: dict[str, dict[str, str]]
    unseen: dict[str, str]

    def plainly(self, text: str) -> tuple[str, str] | None:
        """Return storage and stored name of the file that has this very text as its plain name.

        What most cells hold; cheaper than to take a text for a reference, and never more.
        """
        if ":" in text:
            return None
        for storage, files in self.files.items():
            name = files.get(text)
            if name is not None:
                return storage, name
        return None

    def find(self, reference: Reference) -> tuple[str, str] | None:
        """Return storage and stored name of the file that a reference points to, if it was seen."""
        for storage, files in self.files.items():
            if reference.storage in {None, storage} and reference.path in files:
                return storage, files[reference.path]
        return None


def clock_of(context: ToolContext, seconds: float = SECONDS) -> Clock:
    """Return when a call has to stop looking: after so many seconds, or before its deadline."""
    end = time.monotonic() + seconds
    margin = 0.4  # for saying what was found
    return Clock(min(end, (context.deadline or math.inf) - margin), context.cancelled)


def take_stock(storages: Storages, clock: Clock) -> Stock:
    """Walk the storages, for half of the time that is left at most."""
    share = (clock.end - time.monotonic()) * _WALKING
    walking = Clock(time.monotonic() + share, clock.cancelled)
    files: dict[str, dict[str, str]] = {}
    unseen: dict[str, str] = {}
    for storage in storages.opened:
        seen = files.setdefault(storage.name, {})
        try:
            for number, name in enumerate(storage.walk()):
                if number % _EVERY == 0 and walking.over():
                    unseen[storage.name] = f"the time limit, after {number:,} files"
                    break
                seen[plain(name)] = name
        except ToolError as failure:
            if failure.code is not ErrorCode.UNAVAILABLE:
                raise
            unseen[storage.name] = failure.message
    return Stock(files, unseen)
