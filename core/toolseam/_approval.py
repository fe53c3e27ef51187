"""Approval of one call: bound to exactly this call, and used up by it (policy-and-runs)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from toolseam._errors import publish
from toolseam._jsontext import decode
from toolseam._text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam._binding import BoundTool
    from toolseam._context import Actor

LINES = 20
CHARACTERS = 500


@attrs.frozen
class Preview:
    """What an approver sees of one call, and the digest that he approves.

    `arguments` are complete and out of the plugin's reach, `lines` are what the tool says it
    would do: at most 20 of 500 characters, cuts counted. A preview that `failed` or was cut
    cannot be approved in bulk or by a rule. `owner` is the name of who would act.
    """

    tool: str
    arguments: dict[str, Any]
    lines: tuple[str, ...]
    failed: bool
    cut: bool
    run_id: str
    position: int
    digest: str
    round: int = 0
    owner: str | None = None


@attrs.frozen
class Approval:
    """A person's word for one call: made by `host.approve`, used up by the call (§5)."""

    digest: str
    actor: Actor
    run_id: str
    position: int
    round: int = 0


publish(globals(), "Approval")


def preview_lines(text: str) -> tuple[tuple[str, ...], bool]:
    """Return a preview's lines as they are shown, and whether anything was cut."""
    given = text.splitlines() or [""]
    cut = False
    shown: list[str] = []
    for line in given[:LINES]:
        # Within a line cleaning keeps the length.
        plain = clean(line[:CHARACTERS])
        if len(line) > CHARACTERS:
            plain += f" [{len(line) - CHARACTERS} characters more]"
            cut = True
        shown.append(plain)
    if len(given) > LINES:
        shown[-1] += f" [{len(given) - LINES} lines more]"
        cut = True
    return tuple(shown), cut


def digest(
    tool: BoundTool,
    arguments: bytes,
    lines: Sequence[str],
    *,
    run_id: str,
    owner: Actor | None,
    round_number: int = 0,
    position: int = 0,
) -> str:
    """Return SHA-256 over everything that an approval is for, in hexadecimal digits."""
    facts = {
        "run": run_id,
        "round": round_number,
        "position": position,
        "tool": tool.name,
        "distribution": tool.distribution,
        "version": tool.version,
        "spec": tool.spec.digest,
        "owner": None if owner is None else [owner.name, sorted(owner.roles), owner.service],
        "arguments": decode(arguments),
        "preview": list(lines),
    }
    import hashlib  # with OpenSSL, and only approvals ask for it

    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()


class Used:
    """The approvals that a call has used up; a second use is `conflict`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digests: set[str] = set()

    def take(self, approval: Approval) -> bool:
        """Use an approval up; False if somebody has."""
        with self._lock:
            if approval.digest in self._digests:
                return False
            self._digests.add(approval.digest)
            return True
