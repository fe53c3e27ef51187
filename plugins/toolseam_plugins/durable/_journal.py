"""The journal of one durable run: its steps are the engine's, and sealed; its fence is ours."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
import uuid
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import orjson

from toolseam_plugins.audit._seal import Place, Seal, Sealed
from toolseam_plugins.durable._records import change, rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import psycopg

    from toolseam._held import Verdict
    from toolseam._journal import Fate
    from toolseam_plugins.durable._records import Records

LOGGER = logging.getLogger("toolseam.durable")
# No write is begun by who drives the run no more, or after somebody has stopped it.
_INTEND = """
INSERT INTO intent (run_id, key, attempt, at)
SELECT id, %s, driver, extract(epoch FROM clock_timestamp()) FROM run
WHERE id = %s AND driver = %s AND status = 'running' FOR SHARE ON CONFLICT DO NOTHING
"""
_FATE = "SELECT attempt, told FROM intent WHERE run_id = %s AND key = %s"
# A part that has waited or was held, and is repeated, is not driven again.
_DRIVEN = """
UPDATE run SET status = 'running', part = %s, driver = %s, changed = %s
WHERE id = %s AND status NOT IN ('completed', 'failed', 'cancelled')
AND (part < %s OR part = %s AND status IN ('queued', 'running'))
"""
_BROKEN = "!"
"""What a step begins with that raised: no base64 does."""


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


class Lost(BaseException):
    """This process drives the run no more, or cannot tell: nothing more is said or kept of it."""


def told_text(seal: Seal, run_id: str, key: str, verdict: Verdict, said_by: str) -> bytes:
    """Seal what a person says of a held call, for the place of this call."""
    text = orjson.dumps([verdict, said_by])
    return seal.close(text, place_of(run_id, f"told {key}"))


def told_of(seal: Seal, run_id: str, key: str, kept: bytes) -> tuple[Verdict, str]:
    """Return what a person has said, and who; raises `Sealed`."""
    verdict, said_by = orjson.loads(seal.open(bytes(kept), place_of(run_id, f"told {key}")))
    return verdict, said_by


class EngineJournal:
    """One run while this process drives it: a `Journal`.

    `attempt` names this drive in the tables: each is another one. `gone` says that another process
    drives the run by now, or that the engine takes it up again; this one must tell nobody of an
    end. `altered` says that something that was sealed did not open.

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
        self._records = records
        self._seal = seal
        self._stopping = stopping

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

        if self.gone or self._stopping():
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
            return opened(self._seal, said, self.run_id, key)
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

    def lost(self, why: str) -> Lost:
        """Be no more who drives the run, and return what says so."""
        if not self.gone:
            LOGGER.warning("the run %s is left to the engine: %s", self.run_id, why)
        self.gone = True
        return Lost()

    def fate(self, key: str) -> Fate:
        """Tell what is known of a write whose intent another attempt has stored."""
        found = self._records.wait(lambda connection: rows(connection, _FATE, self.run_id, key))
        for attempt, told in found:
            if attempt != self.attempt:
                if told is None:
                    return "unknown"
                return told_of(self._seal, self.run_id, key, told)[0]
        return "none"

    def intend(self, key: str) -> bool:
        """Store a write's intent; False where another attempt has, or drives the run by now.

        Raises `DurableError` where it cannot be stored.
        """

        def store(connection: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
            change(connection, _INTEND, key, self.run_id, self.attempt)
            # A connection that broke may have stored it, and this is the second try.
            return rows(connection, _FATE, self.run_id, key)

        found = self._records.ask(store)
        if not found:
            self.lost("another process drives it, or it was stopped")
        return any(attempt == self.attempt for attempt, _ in found)


DRIVING: ContextVar[EngineJournal | None] = ContextVar("toolseam_driving", default=None)
"""The run that is driven here: threads and tasks that are begun for it have it too."""


def driving(run_id: str) -> EngineJournal | None:
    """Return the journal of this run, if it is what is driven here."""
    journal = DRIVING.get()
    return journal if journal is not None and journal.run_id == run_id else None
