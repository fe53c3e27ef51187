"""Adapters that are wrong in one way each; the key names the check that they break."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from plugins.conformance.leaks import LEAKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import Session


def message(name: str, text: str, **more: Any) -> str:
    """Return what somebody's model would be sent."""
    return json.dumps({"role": "tool", "name": name, "content": text, **more})


def honest(session: Session) -> str:
    """Call each tool and send the wire text."""
    return "\n".join(message(s.name, session.call_wire(s.name)[0]) for s in session.tools())


async def ahonest(session: Session) -> bytes:
    """Do the same as an async adapter that records bytes."""
    sent = [message(s.name, (await session.acall_wire(s.name))[0]) for s in session.tools()]
    return "\n".join(sent).encode()


def leaking(place: str) -> Callable[[Session], str]:
    """Return an adapter that sends one planted place beside each text."""

    def drive(session: Session) -> str:
        sent = []
        for spec in session.tools():
            text, step = session.call_wire(spec.name)
            sent.append(message(spec.name, text, _meta={"more": LEAKS[place](session, step)}))
        return "\n".join(sent)

    return drive


def _raising(session: Session) -> str:
    for spec in session.tools():
        _, step = session.call_wire(spec.name)
        step.result.unwrap()
    return ""


def _skipping(session: Session) -> str:
    first, *rest = session.tools()
    del first
    return "\n".join(message(s.name, session.call_wire(s.name)[0]) for s in rest)


def _unmasked(session: Session) -> str:
    return "\n".join(message(s.name, session.call(s.name).content) for s in session.tools())


def _silent(session: Session) -> str:
    for spec in session.tools():
        session.call_wire(spec.name)
    return "[]"


ADAPTERS: dict[str, Callable[[Session], str]] = {
    "adapter-runs": _raising,
    "adapter-calls-every-tool": _skipping,
    "adapter-sends-wire-text": _unmasked,
    "adapter-tells-every-answer": _silent,
    "adapter-keeps-run-only": leaking("artifact_table"),
    "adapter-keeps-exceptions": leaking("exception"),
    "adapter-keeps-secrets": leaking("environment"),
}
