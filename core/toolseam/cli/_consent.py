"""Asking the person at the keyboard whether a write may run: for exactly this call."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from toolseam.cli._terminal import note

if TYPE_CHECKING:
    from toolseam import Actor, Approval, Host, Session
    from toolseam._approval import Preview
    from toolseam._runs import PendingCall

DIGITS = 8


def ask(
    host: Host,
    session: Session,
    actor: Actor,
    name: str,
    arguments: str | bytes | dict[str, Any] | None,
) -> Approval | None:
    """Show the preview of a call and return the approval of `actor`, or None without one.

    It needs a terminal on standard input and standard error; the person types the first eight
    characters of the digest. A call that would be refused anyway is not asked about.
    """
    from toolseam import ToolError

    if not asks_here():
        return None
    try:
        preview = session.preview(name, arguments)
    except ToolError:
        return None
    for line in told(preview):
        note(line)
    if not is_typed(preview.digest):
        note("Not approved.")
        return None
    return host.approve(preview, actor=actor)


def asks_here() -> bool:
    """Tell whether a person can be asked: standard input and standard error are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def is_typed(digest: str) -> bool:
    """Ask for the first characters of a digest, and tell whether they were typed."""
    sys.stderr.write(f"\nType the first {DIGITS} characters of the digest to approve: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == digest[:DIGITS]


def told(preview: Preview | PendingCall) -> list[str]:
    """List, line by line, what an approver has to see."""
    return [*shown(preview), "", f"Digest {preview.digest}"]


def shown(preview: Preview | PendingCall) -> list[str]:
    """List what a call would do, without what it is approved by."""
    arguments = json.dumps(preview.arguments, ensure_ascii=False, indent=2)
    lines = [f"{preview.tool} wants to change something.", "", "Arguments"]
    lines += [f"  {line}" for line in arguments.splitlines()]
    lines += ["", "What it says it would do"]
    lines += [f"  {line}" for line in preview.lines]
    if preview.failed:
        lines += ["", "There is no preview: decide by the arguments alone."]
    if preview.cut:
        lines += ["", "The preview is longer than what is shown."]
    return lines
