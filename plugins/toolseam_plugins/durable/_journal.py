"""The journal of one durable run: its steps are the engine's, and sealed; its fence is ours."""

from __future__ import annotations

import base64
import uuid
from typing import TYPE_CHECKING, Any, cast

from toolseam_plugins.audit._seal import Place, Seal, Sealed
from toolseam_plugins.durable._records import change, rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import psycopg

    from toolseam._journal import Fate
    from toolseam_plugins.durable._records import Records

_INTEND = """
INSERT INTO intent (run_id, key, attempt, at)
VALUES (%s, %s, %s, extract(epoch FROM clock_timestamp())) ON CONFLICT DO NOTHING
"""
_FATE = "SELECT attempt, verdict FROM intent WHERE run_id = %s AND key = %s"


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


class EngineJournal:
    """One run while this process drives it: a `Journal`.

    `gone` says that another process drives it by now; this one must tell nobody of an end.
    `altered` says that something that was sealed did not open.
    """

    def __init__(self, run_id: str, records: Records, seal: Seal) -> None:
        self.run_id = run_id
        self.gone = False
        self.altered = False
        self._records = records
        self._seal = seal
        self._attempt = uuid.uuid4().hex

    async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what the engine has recorded under a key, or make it, and have it recorded."""
        from dbos import DBOS
        from dbos import error as engine

        async def step() -> str:
            try:
                text = await make()
            except Sealed:
                self.altered = True
                raise RuntimeError(Sealed.__name__) from None
            except Exception as error:  # noqa: BLE001 - the engine would record its words
                raise RuntimeError(type(error).__name__) from None
            return sealed(self._seal, text, self.run_id, key)

        try:
            # Nothing is tried again by itself.
            said = await DBOS.run_step_async({"name": key, "retries_allowed": False}, step)
        except engine.DBOSWorkflowConflictIDError:
            self.gone = True
            raise
        return opened(self._seal, said, self.run_id, key)

    def fate(self, key: str) -> Fate:
        """Tell what is known of a write whose intent another attempt has stored."""
        found = self._records.wait(lambda connection: rows(connection, _FATE, self.run_id, key))
        for attempt, verdict in found:
            if attempt != self._attempt:
                return cast("Fate", verdict or "unknown")
        return "none"

    def intend(self, key: str) -> bool:
        """Store a write's intent; False where another attempt has.

        Raises `DurableError` where it cannot be stored.
        """

        def store(connection: psycopg.Connection[Any]) -> bool:
            change(connection, _INTEND, self.run_id, key, self._attempt)
            # A connection that broke may have stored it, and this is the second try.
            ((attempt, _),) = rows(connection, _FATE, self.run_id, key)
            return bool(attempt == self._attempt)

        return self._records.ask(store)
