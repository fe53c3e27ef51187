"""A worker: a process that drives runs out of the queue, and takes up those of workers that died.

That it lives, others learn from an advisory lock of its own connection, which the server drops with
it. The engine hands a run to one worker at a time; whoever lost one stops at its next step.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson

from toolseam import Actor
from toolseam.providers import ProviderError
from toolseam.runs import Budget, RunError, RunStatus
from toolseam_plugins.audit._postgres import abandon, lock_of
from toolseam_plugins.audit._seal import Sealed
from toolseam_plugins.durable._durable import (
    APPLICATION,
    ENGINE_SCHEMA,
    QUEUE,
    VERSION,
    WORKFLOW,
)
from toolseam_plugins.durable._fence import sealed_fence
from toolseam_plugins.durable._journal import DRIVING, EngineJournal, Lost
from toolseam_plugins.durable._places import is_durable, opened, place_of
from toolseam_plugins.durable._records import (
    DurableError,
    begin,
    change,
    connected,
    end,
    in_child,
    rows,
    take,
)
from toolseam_plugins.durable._retention import STILL_S, erase, purge, workflow_id
from toolseam_plugins.durable._store import ALTERED, HELD, WAITING

if TYPE_CHECKING:
    import psycopg
    from dbos import DBOS, DBOSClient, WorkflowStatus

    from toolseam.runs import Run
    from toolseam_plugins.durable._durable import Durable

LOGGER = logging.getLogger("toolseam.durable")
_LOOK_S = 0.5
"""How often a worker looks for runs of workers that are gone."""
_DRAIN_S = 10
"""How long a worker that is stopped waits for the runs that it drives."""
_LEFT_LOOKS = 6
"""How many looks find a run that somebody should go on with, until this worker sees to it."""
_STANDS = """
UPDATE run SET status = %s, changed = %s
WHERE id = %s AND driver = %s AND status NOT IN ('completed', 'failed', 'cancelled')
"""
_MINE = " AND driver = %s"
_KNOWN = "SELECT status FROM run WHERE id = %s"
_STILL = """
SELECT id, part FROM run WHERE status IN ('queued', 'running') AND changed < %s LIMIT 1000
"""
_AS_SEEN = " AND part = %s AND status IN ('queued', 'running') AND changed < %s"
_OVER = """
SELECT id, status, reason FROM run
WHERE id = ANY(%s) AND status IN ('completed', 'failed', 'cancelled')
"""
_DECIDED = """
SELECT run_id, array_agg(position) FROM decision JOIN run ON run.id = run_id
WHERE status = %s GROUP BY run_id LIMIT 1000
"""
_PURGE_S = 3_600.0
"""How often a worker looks for runs that are older than they are kept."""


class Worker:
    """Drives runs of one `Durable` in this process; there is one engine a process.

    Args:
        durable: whose runs.
    """

    def __init__(self, durable: Durable) -> None:
        self._durable = durable
        self._name = uuid.uuid4().hex[:16]
        self._life: psycopg.Connection[Any] | None = None
        self._engine: DBOS | None = None
        self._ends = threading.Event()
        self._left: dict[str, int] = {}
        self._looks = 0
        self._purged = float("-inf")
        self._parents: list[psycopg.Connection[Any]] = []
        in_child(self._begin_again)

    def work(self, concurrency: int, attempts: int, until: threading.Event | None) -> None:
        """Drive runs until `until` is set."""
        from dbos import DBOS, DBOSPortableJSONSerializer

        self._durable.ask_engine(lambda _: None)  # the tables are there from now on
        try:
            self._life = self._alive()
            self._engine = DBOS(
                config={
                    "name": APPLICATION,
                    "system_database_url": self._durable.url,
                    "dbos_system_schema": ENGINE_SCHEMA,
                    "executor_id": self._name,
                    "application_version": VERSION,
                    "serializer": DBOSPortableJSONSerializer(),
                    "sys_db_pool_size": concurrency + 2,
                    "run_migrations": False,
                    "enable_otlp": False,
                }
            )
            DBOS.workflow(name=WORKFLOW, max_recovery_attempts=attempts)(self._part())
            DBOS.launch()
            DBOS.register_queue(
                QUEUE,
                worker_concurrency=concurrency,
                polling_interval_sec=0.1,
                on_conflict="always_update",
            )
            stop = until or threading.Event()
            while not stop.wait(_LOOK_S):
                self._look_after_others()
        finally:
            # What is driven here ends before its next step, and nothing is said of it.
            self._ends.set()
            self._wait_no_more()
            DBOS.destroy(workflow_completion_timeout_sec=_DRAIN_S, destroy_registry=True)
            self._let_go()

    def _wait_no_more(self) -> None:
        """Have the engine's threads end where the database is away, for which they would wait."""
        engine = None if self._engine is None else self._engine._sys_db_field  # noqa: SLF001
        if engine is not None:
            engine._retry_connection_errors = False  # noqa: SLF001 - it is asked at each fault

    def _part(self) -> Any:  # noqa: ANN401 - what the engine calls
        def toolseam_run(run_id: str, part: int, asked: str) -> str:
            return self._drive(run_id, part, asked)

        return toolseam_run

    # -- one run -------------------------------------------------------------------------------

    def _drive(self, run_id: str, part: int, asked: str) -> str:
        """Take a run as far as it goes and return how it stands; nothing of it is said."""
        records, seal = self._durable.records, self._durable.seal
        journal = EngineJournal(run_id, records, seal, self._ends.is_set)
        token = DRIVING.set(journal)
        try:
            return self._taken(journal, part, asked)
        finally:
            DRIVING.reset(token)

    def _taken(self, journal: EngineJournal, part: int, asked: str) -> str:
        from dbos import error as engine

        records, seal, run_id = self._durable.records, self._durable.seal, journal.run_id
        if not records.wait(lambda connection: rows(connection, _KNOWN, run_id)):
            # A fence that somebody took away with its row does not come back as an empty one.
            fence = b"" if self._was_driven(run_id, part) else sealed_fence(seal, run_id, {})
            records.wait(lambda connection: begin(connection, run_id, asked, fence))
        if not journal.take(part):
            return self._stands(run_id)
        try:
            return self._driven(journal, part, asked)
        except engine.DBOSWorkflowCancelledError:
            self._stand(journal, "cancelled", "cancelled")
            raise
        except Lost:
            # The engine still has it as one that is on its way, here or elsewhere.
            raise
        except BaseException as error:  # noqa: BLE001 - nobody else would take it up
            LOGGER.error("the run %s was stopped by %s", run_id, type(error).__name__)  # noqa: TRY400
            return self._stand(journal, "cancelled", "cancelled")

    def _was_driven(self, run_id: str, part: int) -> bool:
        """Tell whether the engine has recorded anything of a run: then somebody had its row."""
        durable = self._durable

        def recorded(engine: DBOSClient) -> bool:
            return bool(engine.list_workflow_steps(run_id, load_output=False))

        return part > 0 or durable.records.wait(lambda _: durable.ask_engine(recorded))

    def _driven(self, journal: EngineJournal, part: int, asked: str) -> str:
        run_id = journal.run_id
        try:
            run = self._run(journal, part, asked)
            if journal.gone:
                raise Lost  # noqa: TRY301 - as the journal itself does
            return self._ended(journal, run)
        except RunError as error:
            LOGGER.warning("the run %s cannot go on now: %s", run_id, error.code)
            return self._stand(journal, WAITING)
        except ProviderError as error:
            LOGGER.warning("the run %s has no provider here: %s", run_id, error.fault.value)
            return self._stand(journal, "failed", "provider_failed")
        except DurableError:
            raise journal.lost("the database does not answer") from None
        except Sealed:
            LOGGER.warning("what was sealed of the run %s does not open", run_id)
            return self._stand(journal, "failed", ALTERED)
        except Exception as error:  # noqa: BLE001 - the engine would store its words
            if journal.altered:
                LOGGER.warning("what was kept of the run %s has been altered", run_id)
                return self._stand(journal, "failed", ALTERED)
            if journal.stopping():
                # The engine's threads are gone, and who asks them for anything is refused.
                raise journal.lost("the worker stops") from None
            LOGGER.error("the run %s ended with %s", run_id, type(error).__name__)  # noqa: TRY400
            return self._stand(journal, "failed", "contract_error")

    def _run(self, journal: EngineJournal, part: int, asked: str) -> Run:
        durable, run_id = self._durable, journal.run_id
        journal.fence()  # it opens, or nothing of the run is done
        words = orjson.loads(opened(durable.seal, asked, run_id, "asked"))
        providers = durable.providers(words["providers"])
        if part:
            durable.store.begin(run_id, {})  # which is told again who drives it
            session = durable.host.session()
            return session.resume(run_id, [], providers, journal=journal)
        actor = words["actor"]
        session = durable.host.session(
            actor=None if actor is None else Actor(actor[0], frozenset(actor[1]), actor[2]),
            tools=words["tools"],
            zone=words["zone"],
        )
        budget = words["budget"]
        return session.run(
            providers,
            words["question"],
            budget=None if budget is None else Budget(**budget),
            journal=journal,
            **words["options"],
        )

    def _ended(self, journal: EngineJournal, run: Run) -> str:
        reason = None if run.reason is None else run.reason.value
        return self._stand(journal, run.status.value, reason, {"answer": run.answer})

    def _stands(self, run_id: str) -> str:
        found = self._durable.records.wait(lambda connection: rows(connection, _KNOWN, run_id))
        return str(found[0][0]) if found else ""

    def _stand(
        self,
        journal: EngineJournal,
        status: str,
        reason: str | None = None,
        said: dict[str, str] | None = None,
    ) -> str:
        """Say how a run stands that is driven here; what it `said` only where the loop ended it."""
        run_id, mine = journal.run_id, journal.attempt
        kept = None
        if said is not None:
            place = place_of(run_id, "outcome")
            kept = self._durable.seal.close(orjson.dumps(said), place)

        def store(connection: psycopg.Connection[Any]) -> bool:
            if status in {WAITING, HELD}:
                made = bool(change(connection, _STANDS, status, time.time(), run_id, mine))
            else:
                made = end(connection, run_id, status, reason, mine, where=_MINE, outcome=kept)
            if made and said is None:
                # Before it is committed: who dies in between says it again.
                self._durable.store.stands(run_id, RunStatus(status), reason)
            self._durable.store.tell_end(connection, journal)
            return made

        if self._durable.records.wait(store):
            return status
        # Somebody else has gone on with it, or stopped it.
        return self._stands(run_id)

    # -- the others ----------------------------------------------------------------------------

    def _alive(self) -> psycopg.Connection[Any]:
        """Hold the lock by which others learn that this worker lives."""
        life = connected(self._durable.url)
        life.execute(b"SELECT pg_advisory_lock(%s)", (lock_of(self._name),))
        return life

    def _look_after_others(self) -> None:
        """Put runs of workers that are gone back into the queue."""
        self._live_on()
        try:
            found = self._listed(status="PENDING", app_version=VERSION)
            self._put_back([each for each in found if each.executor_id == self._name])
            others = {str(each.executor_id) for each in found} - {self._name}
            gone = {each for each in others if not self._lives(each)}
            for each in found:
                if each.executor_id in gone:
                    self._enqueue(each.workflow_id, str(each.executor_id))
            self._give_up()
            self._looks += 1
            if self._looks % _LEFT_LOOKS == 0:
                self._go_on()
                self._tidy()
        except Exception as fault:  # noqa: BLE001 - a worker outlives what fails here
            LOGGER.warning("others could not be looked after: %s", type(fault).__name__)

    def _listed(self, **which: Any) -> list[WorkflowStatus]:  # noqa: ANN401 - the engine's own
        """Ask which workflows there are, over connections by which nobody waits."""
        return self._durable.ask_engine(
            lambda engine: engine.list_workflows(load_input=False, load_output=False, **which)
        )

    def _enqueue(self, workflow: str, executor: str) -> None:
        """Put a run back into the queue, if it is still this worker's: so it is done once."""
        from dbos._utils import INTERNAL_QUEUE_NAME

        whose = workflow, [executor], INTERNAL_QUEUE_NAME
        self._durable.ask_engine(
            lambda engine: engine._sys_db.reenqueue_for_recovery(*whose)  # noqa: SLF001 - as it does
        )

    def _put_back(self, own: list[WorkflowStatus]) -> None:
        """Put runs back into the queue that the engine has given to this worker, and it lost."""
        engine = self._engine
        if engine is None:
            return
        active = set(engine._active_workflows_set.activeList())  # noqa: SLF001 - nobody else knows
        left = {each.workflow_id for each in own} - active
        self._left = {each: self._left.get(each, 0) + 1 for each in left}
        for each, looks in self._left.items():
            if looks >= _LEFT_LOOKS:
                self._enqueue(each, self._name)

    def _give_up(self) -> None:
        """End the runs that the engine takes up no more."""
        before = time.time() - STILL_S
        still = self._durable.records.rows(_STILL, before)
        names = {workflow_id(run_id, part): (run_id, part) for run_id, part in still}
        if not names:
            return
        over = ["MAX_RECOVERY_ATTEMPTS_EXCEEDED", "ERROR", "CANCELLED"]
        ended = self._listed(workflow_ids=list(names), status=over)
        for each in ended:
            # Who cancelled it may have died before he said so.
            self._end(*names[each.workflow_id], before, stopped=each.status == "CANCELLED")

    def _end(self, run_id: str, part: int, before: float, *, stopped: bool) -> None:
        """End a run that still stands as it was seen."""
        how = (RunStatus.CANCELLED, "cancelled") if stopped else (RunStatus.FAILED, "given_up")
        ended = self._durable.store.ended
        self._durable.records.ask(
            lambda connection: ended(connection, run_id, *how, part, before, where=_AS_SEEN)
        )

    def _go_on(self) -> None:
        """Put runs into the queue that wait no more: who decided last may not have been able to."""
        durable = self._durable
        session = durable.host.session()
        for run_id, decided in durable.records.rows(_DECIDED, WAITING):
            with suppress(RunError):
                asked = {call.position for call in session.waiting(run_id) if call.needs_approval}
                if asked <= set(decided):
                    durable.resume(run_id)

    def _tidy(self) -> None:
        """Erase what runs that have ended need no more, and delete those that are too old."""
        durable = self._durable
        durable.ask_engine(lambda engine: erase(durable.records, engine, STILL_S))
        if time.monotonic() - self._purged > _PURGE_S:
            self._purged = time.monotonic()
            purge(durable.records, durable.host.settings.audit.retention_days)
        self._forget()

    def _forget(self) -> None:
        """Have the host's store hear of the ends, said elsewhere, of runs that it holds."""
        store = self._durable.store.inner
        held = [run.id for run in store.held_runs() if is_durable(run.id)]
        for run_id, status, reason in self._durable.records.rows(_OVER, held):
            store.stands(run_id, RunStatus(status), reason)

    def _lives(self, name: str) -> bool:
        """Tell whether a worker's lock is held."""
        life = self._life
        if life is None:
            return True
        try:
            key = lock_of(name)
        except ValueError:  # no name of ours
            return False
        if not take(life, key):
            return True
        life.execute(b"SELECT pg_advisory_unlock(%s)", (key,))
        return False

    def _let_go(self) -> None:
        life, self._life = self._life, None
        if life is not None:
            life.close()

    def _begin_again(self) -> None:
        """Have no child of a fork hold the lock when this worker is gone."""
        if self._life is not None:
            abandon(self._life)
            # Kept, since to throw it away would be to close it.
            self._parents.append(self._life)
        self._life = None

    def _live_on(self) -> None:
        """Have the lock, over a new connection where the last one broke: others see none."""
        import psycopg

        with suppress(psycopg.Error, DurableError):
            if self._life is not None:
                try:
                    self._life.execute(b"SELECT 1")
                except psycopg.Error:
                    self._let_go()
                    LOGGER.warning("the life line of this worker broke")
            if self._life is None:
                self._life = self._alive()
