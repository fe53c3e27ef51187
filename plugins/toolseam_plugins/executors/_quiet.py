"""What a worker process started here does first: it lets go of the host's input and output.

It has inherited both. A host on standard streams speaks its protocol there, and a body that
prints, or reads what it was not asked for, would spoil it.
"""

from __future__ import annotations

import os
import sys

_IN, _OUT, _ERR = 0, 1, 2


def dask_setup(worker: object) -> None:  # noqa: ARG001 - Dask's word, and what it gives
    """Have nothing to read, and print to where complaints go."""
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, _IN)
    try:
        os.dup2(_ERR, _OUT)
    except OSError:  # the host has closed it
        os.dup2(nothing, _OUT)
    os.close(nothing)
