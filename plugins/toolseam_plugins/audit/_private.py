"""Files for their owner alone, looked at before anything trusts them."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from toolseam_plugins.audit._database import AuditError

if TYPE_CHECKING:
    from pathlib import Path

MODE = 0o600
_OTHERS = 0o077


def beginning(file: Path, count: int) -> bytes:
    """Return the first bytes of a regular file that is this user's own and nobody else's.

    Raises `AuditError` for anything else, a link included.
    """
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise AuditError(f"{file}: cannot be read ({type(error).__name__})") from None
    try:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise AuditError(f"{file}: is not this user's own file")
        if found.st_mode & _OTHERS:
            raise AuditError(f"{file}: must be for its owner alone, and others may use it")
        return os.read(number, count)
    finally:
        os.close(number)


def make_empty(file: Path) -> int:
    """Make a file of its owner's alone, whatever the umask; return its descriptor."""
    number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, MODE)
    os.fchmod(number, MODE)
    return number
