"""The fence of a run: which writes were begun, by whom, and what people say of them.

It is one sealed value a run: no single write can be taken from it, added or moved unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import orjson

from toolseam_plugins.audit._seal import Sealed
from toolseam_plugins.durable._places import place_of

if TYPE_CHECKING:
    from toolseam._held import Verdict  # noqa: TC004 - nobody resolves it
    from toolseam_plugins.audit._seal import Seal

Fence = dict[str, "Begun"]
"""The writes by their keys."""


@attrs.frozen
class Begun:
    """A write whose intent is stored.

    Args:
        attempt: who began it.
        told: what a person says of it, and who; None before.
    """

    attempt: str
    told: tuple[Verdict, str] | None = None


def sealed_fence(seal: Seal, run_id: str, fence: Fence) -> bytes:
    """Seal a fence for its run."""
    text = orjson.dumps({key: [each.attempt, each.told] for key, each in fence.items()})
    return seal.close(text, place_of(run_id, "fence"))


def fence_of(seal: Seal, run_id: str, kept: bytes | None) -> Fence:
    """Open a fence; raises `Sealed` for what is none of this run."""
    if kept is None:
        raise Sealed
    found = orjson.loads(seal.open(bytes(kept), place_of(run_id, "fence")))
    return {key: Begun(who, told and (told[0], told[1])) for key, (who, told) in found.items()}
