"""How durable runs are named, and where something sealed of one stands."""

from __future__ import annotations

import base64
import uuid
from typing import TYPE_CHECKING, cast

from toolseam_plugins.audit._seal import Place, Sealed

if TYPE_CHECKING:
    from toolseam_plugins.audit._seal import Seal

_MARK = "q"  # no hexadecimal digit, as every other run's id begins with


def new_run_id() -> str:
    """Return the id of a durable run."""
    return f"{_MARK}{uuid.uuid4().hex}"


def is_durable(run_id: str) -> bool:
    """Tell from its id whether a run is durable, without asking any database."""
    return run_id.startswith(_MARK)


def place_of(run_id: str, column: str) -> Place:
    """Return where something sealed of a durable run stands."""
    return Place(run_id, f"durable {column}", None)


def sealed(seal: Seal, text: bytes, run_id: str, column: str) -> str:
    """Seal a text for one place of one run, as text that the engine's JSON takes."""
    made = seal.close(text, place_of(run_id, column))
    return base64.b64encode(made).decode("ascii")


def opened(seal: Seal, text: object, run_id: str, column: str) -> bytes:
    """Open it; raises `Sealed` for what is none of it, or stood elsewhere."""
    try:
        made = base64.b64decode(cast("str", text), validate=True)
    except (TypeError, ValueError):
        raise Sealed from None
    return seal.open(made, place_of(run_id, column))
