"""Runs that wait: what people see of a call, and their word on it, one call at a time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from toolseam import ToolseamError, Zone
from toolseam.guards import read_json_object
from toolseam.providers import ProviderError
from toolseam.runs import Decision, RunError
from toolseam_plugins.inspector._gate import Refused
from toolseam_plugins.inspector._json import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import Actor, Host
    from toolseam.runs import PendingCall, WaitingRun

PART = 65_536
_STATUS = {
    "not_found": 404,
    "conflict": 409,
    "permission_denied": 403,
    "invalid_arguments": 400,
    "unavailable": 503,
}


class Deciding:
    """What waits in a host, and what the person at the page says of it.

    Args:
        host: where runs wait.
        actor: the person.
        told: takes what nobody waits for: that a run, all decided, waits again.
    """

    def __init__(self, host: Host, actor: Actor, told: Callable[[dict[str, object]], None]) -> None:
        self._host = host
        self._actor = actor
        self._told = told
        self._tasks: set[asyncio.Task[object]] = set()

    def close(self) -> None:
        """Stop the runs that go on here, from any thread: each ends as cancelled."""
        for task in tuple(self._tasks):
            with suppress(RuntimeError):  # its loop has closed, and stopped it before
                task.get_loop().call_soon_threadsafe(task.cancel)

    # -- looking ----------------------------------------------------------------------------------

    def all(self) -> dict[str, Any]:
        """Return the runs that wait, who has waited longest first."""
        return {"runs": [_line(each) for each in self._host.waiting_runs()]}

    def one(self, run_id: str) -> dict[str, Any]:
        """Return one of them with its calls; raises `Refused`."""
        waiting = self._waiting(run_id)
        return {
            **_head(waiting),
            "goes_on": "here" if all(e is not None for e in waiting.endpoints) else "elsewhere",
            "pending": [
                pending_json(each, decided=each.position in waiting.decided)
                for each in waiting.pending
            ],
        }

    def part(self, run_id: str, position: int, start: int) -> dict[str, Any]:
        """Return the arguments of a call that waits, from a character on; raises `Refused`."""
        whole = text(_pending(self._waiting(run_id), position).arguments)
        end = start + PART
        more = end if end < len(whole) else None
        return {"text": whole[start:end], "from": start, "next": more, "size": len(whole)}

    def revised(self, run_id: str, position: int, arguments: str | None) -> dict[str, Any]:
        """Return a call as it would be now, maybe with other arguments; raises `Refused`."""
        waiting = self._waiting(run_id)
        shown = _pending(waiting, position)
        if arguments is not None:
            self._refuse_stranger(shown.tool)
        try:
            now = self._host.session().revised(run_id, shown, _object(arguments))
        except RunError as error:
            raise _refused(error, 422) from None
        decided = position in waiting.decided
        changed = now.digest != shown.digest
        return {"pending": pending_json(now, decided=decided), "changed": changed}

    # -- deciding ---------------------------------------------------------------------------------

    async def decide(self, run_id: str, decision: Decision) -> dict[str, Any]:
        """Keep what the person says of one call; when all are decided, go on with the run.

        Raises `Refused` where it cannot be said, or has been said.
        """
        try:
            waiting = await asyncio.to_thread(self._waiting, run_id)
            # Made before anybody decides: what cannot go on is not decided.
            providers = self._host.providers_of(waiting)
            session = self._host.session()
            over = await asyncio.to_thread(session.decide, run_id, [decision])
        except RunError as error:
            raise _refused(error) from None
        except ProviderError as error:
            raise Refused(503, "unavailable", str(error)) from None
        asked = {each.position for each in waiting.pending if each.needs_approval}
        left = len(asked - waiting.decided - {decision.position})
        if not over:
            return {"left": left, "goes_on": "waits"}
        if not providers:
            return {"left": 0, "goes_on": "elsewhere"}
        task = asyncio.create_task(go_on(self._host, run_id, providers, self._told))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return {"left": 0, "goes_on": "here"}

    def decision(self, said: dict[str, Any]) -> Decision:
        """Read a person's word from what the page sends; raises `Refused`."""
        position, verdict = said.get("position"), said.get("verdict")
        digest, reason = said.get("digest"), said.get("reason", "")
        sound = type(position) is int and isinstance(reason, str)
        if not sound or not (digest is None or isinstance(digest, str)):
            raise Refused(400, "invalid_arguments", "Expected position, verdict and digest.")
        edited = _object(said.get("arguments_json")) if verdict == "edit" else None
        if verdict == "edit" and edited is None:
            raise Refused(400, "invalid_arguments", "An edit needs arguments_json.")
        if verdict not in {"approve", "deny", "edit"}:
            raise Refused(400, "invalid_arguments", "Expected approve, deny or edit.")
        return Decision(cast("int", position), verdict, self._actor, digest, reason, edited)

    def _refuse_stranger(self, name: str) -> None:
        """Raise `Refused` unless the person may make a call: its preview runs for arguments of his.

        The call itself is its owner's, and what that would do is for all to see who decide.
        """
        tool = self._host.tool(name)
        allowed = (
            tool is not None and self._host.decide(tool, actor=self._actor, zone=Zone.LOCAL).allowed
        )
        if self._actor.service or not allowed:
            raise Refused(403, "permission_denied", f"{self._actor.name} may not edit {name}.")

    def _waiting(self, run_id: str) -> WaitingRun:
        found = next((each for each in self._host.waiting_runs() if each.id == run_id), None)
        if found is None:
            raise Refused(404, "not_found", "No run of this id waits here.")
        return found


async def go_on(
    host: Host,
    run_id: str,
    providers: tuple[Any, ...],
    told: Callable[[dict[str, object]], None],
) -> None:
    """Resume a run; how it ends is told to whoever listens to runs.

    Args:
        host: where it waits.
        run_id: the run.
        providers: those that are asked, in order.
        told: takes why it could not go on: it waits for new decisions, or somebody was faster.
    """
    try:
        await host.session().aresume(run_id, (), providers)
    except RunError as error:
        told({"kind": "undecided", "run": run_id, "code": error.code, "message": str(error)})


def _head(waiting: WaitingRun) -> dict[str, Any]:
    return {
        "run": waiting.id,
        "owner": None if waiting.owner is None else waiting.owner.name,
        "since": waiting.since.timestamp(),
        "providers": list(waiting.providers),
    }


def _line(waiting: WaitingRun) -> dict[str, Any]:
    asked = [each for each in waiting.pending if each.needs_approval]
    return {
        **_head(waiting),
        "asked": len(asked),
        "decided": len(waiting.decided),
        "tools": [each.tool for each in asked],
    }


def pending_json(pending: PendingCall, *, decided: bool) -> dict[str, Any]:
    """Return a call that waits, with the first part of its arguments."""
    arguments = text(pending.arguments)
    return {
        "position": pending.position,
        "call_id": pending.call_id,
        "tool": pending.tool,
        "arguments_json": arguments[:PART],
        "arguments_next": PART if len(arguments) > PART else None,
        "arguments_size": len(arguments),
        "needs_approval": pending.needs_approval,
        "decided": decided,
        "lines": list(pending.lines),
        "failed": pending.failed,
        "cut": pending.cut,
        "digest": pending.digest,
        "refused": pending.refused,
    }


def _pending(waiting: WaitingRun, position: int) -> PendingCall:
    found = next((each for each in waiting.pending if each.position == position), None)
    if found is None:
        raise Refused(404, "not_found", "No call waits at this position.")
    return found


def _object(said: Any) -> dict[str, Any] | None:  # noqa: ANN401 - what the page sent
    """Return the object that a JSON text holds, None for no text; raises `Refused`."""
    if said is None:
        return None
    try:
        # As strict as the seam, and with every digit: orjson is neither.
        return read_json_object(said)
    except (ToolseamError, TypeError):
        message = "arguments_json: expected one strict JSON object."
        raise Refused(400, "invalid_arguments", message) from None


def _refused(error: RunError, status: int | None = None) -> Refused:
    return Refused(status or _STATUS.get(error.code, 422), error.code, str(error))
