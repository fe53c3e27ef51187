"""While a call runs: its progress on a terminal, and what the host's log says of it."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from typing import TYPE_CHECKING

from toolseam._steps import Live
from toolseam.cli._terminal import note, one_line

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam import Host, Step

_PATIENCE_S = 1.0
_CLEAR = "\r\x1b[K"


@contextlib.contextmanager
def progress(host: Host) -> Generator[None]:
    """Show on a terminal how far a call has come, once it has taken longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    started = time.monotonic()
    drawn = False

    def draw(what: Step | Live) -> None:
        nonlocal drawn
        if not isinstance(what, Live) or what.kind != "progress":
            return
        if time.monotonic() - started < _PATIENCE_S:
            return
        drawn = True
        sys.stderr.write(_CLEAR + _line(what))
        sys.stderr.flush()

    stop = host.listen(draw)
    try:
        yield
    finally:
        stop()
        if drawn:
            sys.stderr.write(_CLEAR)


def _line(what: Live) -> str:
    share = f"{what.done:g}" if what.total is None else f"{what.done:g} of {what.total:g}"
    return one_line(f"{what.tool}: {share} {what.text}".rstrip())


class Log(logging.Handler):
    """Writes the host's log to standard error, each record on the lines that it had."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record; what the log escaped to keep it on one line is unfolded and cleaned."""
        escaped = record.getMessage().encode("ascii", "backslashreplace")
        note(f"{record.levelname.lower()}: {escaped.decode('unicode_escape').rstrip()}")


@contextlib.contextmanager
def log(*, wanted: bool) -> Generator[None]:
    """Show the log of the framework while a call runs, if it is wanted."""
    logger, handler = logging.getLogger("toolseam"), Log()
    if not wanted:
        yield
        return
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
