"""The journal of one durable run: its steps are the engine's, and sealed; its fence is ours."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from toolseam_plugins.audit._seal import Sealed
from toolseam_plugins.durable._fence import Begun, fence_of, sealed_fence
from toolseam_plugins.durable._places import opened, sealed
from toolseam_plugins.durable._records import change, rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import psycopg

    from toolseam._journal import Fate
    from toolseam.runs import Run
    from toolseam_plugins.audit._seal import Seal
    from toolseam_plugins.durable._fence import Fence
    from toolseam_plugins.durable._records import Records

LOGGER = logging.getLogger("toolseam.durable")
# No write is begun by who drives the run no more, or after somebody has stopped it.
_MINE = "SELECT fence FROM run WHERE id = %s AND driver = %s AND status = 'running' FOR UPDATE"
_INTEND = "UPDATE run SET fence = %s WHERE id = %s"
_FENCE = """
SELECT fence, status IN ('completed', 'failed', 'cancelled') FROM run WHERE id = %s
"""
# A part that has waited or was held, and is repeated, is not driven again.
_DRIVEN = """
UPDATE run SET status = 'running', part = %s, driver = %s, changed = %s
WHERE id = %s AND status NOT IN ('completed', 'failed', 'cancelled')
AND (part < %s OR part = %s AND status IN ('queued', 'running'))
"""
_CANCELLED = "SELECT 1 FROM run WHERE id = %s AND driver = %s AND status = 'cancelled'"
_BROKEN = "!"
"""What a step begins with that raised: no base64 does."""


class Lost(BaseException):
    """This process drives the run no more, or cannot tell: nothing more is said or kept of it."""


class EngineJournal:
    """One run while this process drives it: a `Journal`.

    `attempt` names this drive in the tables: each is another one. `gone` says that another process
    drives the run by now, or that the engine takes it up again; this one must tell nobody of an
    end. `altered` says that something that was sealed did not open. `ended` is how the loop has
    ended the run, None before.

    Args:
        run_id: the run.
        records: the tables of durable runs.
        seal: for what is kept.
        stopping: tells whether the worker stops: nothing is begun then.
    """

    def __init__(
        self, run_id: str, records: Records, seal: Seal, stopping: Callable[[], bool]
    ) -> None:
        self.run_id = run_id
        self.attempt = uuid.uuid4().hex
        self.gone = False
        self.altered = False
        self.ended: Run | None = None
        self._records = records
        self._seal = seal
        self.stopping = stopping

    def take(self, part: int) -> bool:
        """Be who drives the run from now on; False where this part of it is over."""
        values = part, self.attempt, time.time(), self.run_id, part, part
        return bool(self._records.change(_DRIVEN, *values))

    async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what the engine has recorded under a key, or make it, and have it recorded.

        Raises `RuntimeError` for what raised, now or before; `Lost` where the engine failed.
        """
        from dbos import DBOS
        from dbos import error as engine

        async def step() -> str:
            return await self._made(key, make)

        if self.gone or self.stopping():
            raise self.lost("the worker stops")
        try:
            # Nothing is tried again by itself.
            said = await DBOS.run_step_async({"name": key, "retries_allowed": False}, step)
        except (engine.DBOSWorkflowCancelledError, asyncio.CancelledError):
            raise
        except (engine.DBOSUnexpectedStepError, engine.DBOSStepNondeterminismError):
            raise RuntimeError("the run came by another place than before") from None
        except BaseException as fault:  # noqa: BLE001 - not the run's, whatever it is
            kind = type(fault).__name__
        else:
            if str(said).startswith(_BROKEN):
                self.altered = self.altered or said == f"{_BROKEN}{Sealed.__name__}"
                raise RuntimeError(said[1:])
            try:
                return opened(self._seal, said, self.run_id, key)
            except Sealed:
                self.altered = True
                raise
        # Once its step is over the engine takes a run that was cancelled for another's.
        if not self.stopping() and await asyncio.to_thread(self._is_cancelled):
            raise engine.DBOSWorkflowCancelledError(self.run_id)
        raise self.lost(kind)

    async def _made(self, key: str, make: Callable[[], Awaitable[bytes]]) -> str:
        try:
            text = await make()
        except (Lost, asyncio.CancelledError):
            raise
        except BaseException as error:  # noqa: BLE001 - the engine would record its words
            return f"{_BROKEN}{type(error).__name__}"
        if self.gone:
            raise Lost
        return sealed(self._seal, text, self.run_id, key)

    def _is_cancelled(self) -> bool:
        values = self.run_id, self.attempt
        return bool(self._records.wait(lambda connection: rows(connection, _CANCELLED, *values)))

    def lost(self, why: str) -> Lost:
        """Be no more who drives the run, and return what says so."""
        if not self.gone:
            LOGGER.warning("the run %s is left to the engine: %s", self.run_id, why)
        self.gone = True
        return Lost()

    def fence(self) -> Fence:
        """Return the writes that were begun; raises `Sealed` where they have been altered."""
        found = self._records.wait(lambda connection: rows(connection, _FENCE, self.run_id))
        kept, ended = found[0] if found else (None, False)
        # It is erased with the end; of an ended run no write is begun.
        return {} if ended else fence_of(self._seal, self.run_id, kept)

    def fate(self, key: str) -> Fate:
        """Tell what is known of a write whose intent another attempt has stored."""
        begun = self.fence().get(key)
        if begun is None or begun.attempt == self.attempt:
            return "none"
        return "unknown" if begun.told is None else begun.told[0]

    def intend(self, key: str) -> bool:
        """Store a write's intent; False where another attempt has, or drives the run by now.

        Raises `DurableError` where it cannot be stored, `Sealed` where others have been altered.
        """

        def store(connection: psycopg.Connection[Any]) -> str | None:
            for (kept,) in rows(connection, _MINE, self.run_id, self.attempt):
                fence = fence_of(self._seal, self.run_id, kept)
                # A connection that broke may have stored it, and this is the second try.
                if key not in fence:
                    fence[key] = Begun(self.attempt)
                    text = sealed_fence(self._seal, self.run_id, fence)
                    change(connection, _INTEND, text, self.run_id)
                return fence[key].attempt
            return None

        attempt = self._records.ask(store)
        if attempt is None:
            self.lost("another process drives it, or it was stopped")
        return attempt == self.attempt


DRIVING: ContextVar[EngineJournal | None] = ContextVar("toolseam_driving", default=None)
"""The run that is driven here: threads and tasks that are begun for it have it too."""


def driving(run_id: str) -> EngineJournal | None:
    """Return the journal of this run, if it is what is driven here."""
    journal = DRIVING.get()
    return journal if journal is not None and journal.run_id == run_id else None
