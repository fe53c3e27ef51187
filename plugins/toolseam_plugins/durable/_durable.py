"""What an application holds in its hand: runs are started here, and driven by workers anywhere."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import attrs
import orjson

from toolseam import ToolseamError
from toolseam.runs import RunError, RunStatus
from toolseam_plugins.audit._database import AuditError
from toolseam_plugins.audit._seal import Seal, Sealed
from toolseam_plugins.durable._fence import sealed_fence
from toolseam_plugins.durable._journal import DRIVING
from toolseam_plugins.durable._places import new_run_id, place_of, sealed
from toolseam_plugins.durable._records import (
    DurableError,
    Records,
    begin,
    change,
    connected,
    in_child,
    rows,
    take,
)
from toolseam_plugins.durable._retention import erase, purge, workflow_id
from toolseam_plugins.durable._store import HELD, WAITING, DurableStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Unpack

    import psycopg
    from dbos import DBOSClient, EnqueueOptions

    from toolseam import Actor, Host
    from toolseam.providers import Provider
    from toolseam.runs import Budget, Decision

    Connection = psycopg.Connection[Any]

T = TypeVar("T")
APPLICATION, VERSION, QUEUE, WORKFLOW = "toolseam", "1", "toolseam", "toolseam_run"
ENGINE_SCHEMA = "toolseam_dbos"
_PAUSE_S = 0.1
_MAKING = 0x7473646273  # the lock under which the engine's tables are made
_FIRST_KEY = "INSERT INTO key VALUES ('audit', %s) ON CONFLICT DO NOTHING"
_STATUS = "SELECT status, reason, outcome FROM run WHERE id = %s"
_STANDS = "SELECT status, part, asked, changed FROM run WHERE id = %s FOR UPDATE"
# Who has driven it so far drives it no more.
_QUEUED = "UPDATE run SET status = 'queued', part = %s, driver = '', changed = %s WHERE id = %s"


@attrs.frozen
class DurableRun:
    """A durable run as it stands.

    Args:
        id: the run.
        status: `queued`, `running`, `waiting_for_approval`, `held`, `completed`, `failed` or
            `cancelled`.
        reason: why it ended, None before.
        answer: the model's last words, empty unless it completed.
    """

    id: str
    status: str
    reason: str | None
    answer: str = attrs.field(default="", repr=False)


class DurableOptions(TypedDict, total=False):
    """How a durable run is asked: those of `RunOptions` that are plain JSON."""

    instructions: str
    mark: str
    max_rounds: int
    max_output_tokens: int
    options: Mapping[str, Any]
    stop_on_denial: bool


class Durable:
    """Runs that outlive the processes that drive them.

    Args:
        host: whose tools, settings and audit count; from now on its runs that wait or are held are
            found in the database too.
        database_url: of the PostgreSQL database, as `postgresql://…`; it holds two schemas of ours,
            in which all content is sealed with the audit's key.
        providers: whom a run may ask besides those that `host.provider` gives, by name.

    Raises `DurableError` where the extra is missing, the database cannot be reached, or its runs
    are sealed with another key.
    """

    def __init__(
        self, host: Host, database_url: str, *, providers: Mapping[str, Provider] | None = None
    ) -> None:
        for name in ("dbos", "psycopg", "cryptography"):
            if find_spec(name) is None:
                raise DurableError("Durable runs need the extra: pip install 'toolseam[durable]'")
        # The engine prints what it has to say unless somebody listens.
        logging.getLogger("dbos").addHandler(logging.NullHandler())
        self.host = host
        self.url = database_url
        self.seal = Seal(host.settings.audit.key_env)
        self.records = Records(database_url, _waits)
        self._hold_key()
        self._providers = dict(providers or {})
        self._turn = threading.Lock()
        self._client: DBOSClient | None = None
        self._parents: list[DBOSClient] = []
        self._closed = False
        in_child(self._begin_again)
        state = host._state  # noqa: SLF001 - a store before the host's own; no hook gives one later
        self.store = DurableStore(state.store, self.records, self.seal)
        state.store = self.store

    def start(
        self,
        provider: str | Sequence[str],
        question: str,
        *,
        actor: Actor | None = None,
        tools: Iterable[str] | None = None,
        zone: str | None = None,
        budget: Budget | None = None,
        **options: Unpack[DurableOptions],
    ) -> str:
        """Put a run into the queue and return its id.

        Args:
            provider: the name of whom to ask, or several, as in `session.run`.
            question: what the person asks.
            actor: who acts.
            tools: see `host.session`.
            zone: see `host.session`.
            budget: see `Budget`.
            options: see `DurableOptions`.

        Raises `DurableError` where the database cannot be reached, `TypeError` for options that
        are none or no plain JSON.
        """
        if unknown := sorted(options.keys() - DurableOptions.__annotations__.keys()):
            raise TypeError(f"a durable run takes no {', '.join(unknown)}")
        asked = {
            "providers": [provider] if isinstance(provider, str) else list(provider),
            "question": question,
            "actor": None if actor is None else [actor.name, sorted(actor.roles), actor.service],
            "tools": None if tools is None else sorted(tools),
            "zone": zone,
            "budget": None if budget is None else attrs.asdict(budget),
            "options": options,
        }
        run_id = new_run_id()
        text = sealed(self.seal, orjson.dumps(asked), run_id, "asked")
        self._enqueue(run_id, 0, text)
        fence = sealed_fence(self.seal, run_id, {})
        # It is in the queue by now: where this fails, whoever takes it up makes its row.
        with suppress(DurableError):
            self.records.ask(lambda connection: begin(connection, run_id, text, fence))
        return run_id

    def status(self, run_id: str) -> DurableRun:
        """Return how a run stands.

        Raises `RunError`: `not_found`, and `conflict` where its answer has been altered.
        """
        found = self.records.rows(_STATUS, run_id)
        if not found:
            raise _not_found()
        status, reason, outcome = found[0]
        said: dict[str, Any] = {}
        if outcome is not None:
            try:
                said = orjson.loads(self.seal.open(bytes(outcome), place_of(run_id, "outcome")))
            except Sealed:
                raise RunError("The answer of this run has been altered.", "conflict") from None
        return DurableRun(run_id, status, reason, said.get("answer", ""))

    def decide(self, run_id: str, decisions: Iterable[Decision]) -> DurableRun:
        """Keep what people say of a run that waits; with the last of it the run goes on.

        Raises `RunError` as `session.decide` does.
        """
        if self.host.session().decide(run_id, decisions):
            # Where it goes on by now, somebody else has seen that all is said.
            with suppress(RunError):
                self.resume(run_id)
        return self.status(run_id)

    def resume(self, run_id: str) -> None:
        """Put a run back into the queue that waited or was held, and of which all is said.

        Raises `RunError`: `not_found` where it neither waits nor is held, `conflict` while nobody
        has said what a held call did; `DurableError` where the database cannot be reached.
        """
        before = self.records.ask(lambda connection: _stands(connection, run_id))
        key = self.store.go_on(run_id) if before[0] == HELD else ""

        # Nothing is changed before the engine has it: who dies between two words loses no run. And
        # nobody else changes it meanwhile, nor drives it.
        def go_on(connection: Connection) -> None:
            status, part, asked, _ = stands = _stands(connection, run_id)
            if status not in {HELD, WAITING}:
                raise RunError("The run neither waits nor is held.", "not_found")
            if status == HELD and stands != before:
                raise RunError("The run goes on by now.", "conflict")
            if status == HELD:
                self._rewind(workflow_id(run_id, part), key)
            else:
                part += 1
                self._enqueue(run_id, part, asked)
            change(connection, _QUEUED, part, time.time(), run_id)

        self.records.ask(go_on)
        if before[0] == HELD:
            self.store.let_go(run_id)

    def cancel(self, run_id: str) -> None:
        """Stop a run: at once where it waits, else before its next step; an ended one stays so.

        Raises `RunError` `not_found`, `DurableError` where the database cannot be reached.
        """

        def stop(connection: Connection) -> None:
            _, part, *_ = _stands(connection, run_id)
            self.ask_engine(lambda engine: engine.cancel_workflow(workflow_id(run_id, part)))
            self.store.ended(connection, run_id, RunStatus.CANCELLED, "cancelled")

        self.records.ask(stop)

    def work(
        self, concurrency: int = 4, *, attempts: int = 25, until: threading.Event | None = None
    ) -> None:
        """Drive runs until `until` is set, or for ever; a process of its own should do this.

        Args:
            concurrency: how many runs at once each worker drives; the last one that started says.
            attempts: how often a run is taken up again before it is given up, since it may be what
                ends its workers.
            until: set it from another thread, or from a signal; the steps that are on their way
                then have ten seconds to come to an end, and others go on from there.
        """
        from toolseam_plugins.durable._worker import Worker

        Worker(self).work(concurrency, attempts, until)

    def purge(self, days: float | None = None) -> int:
        """Delete runs that ended longer ago, and return how many; workers do so by themselves.

        Those that were cancelled less than a minute ago stay: a worker may be at one of their
        steps.

        Args:
            days: before now; None is `[audit] retention_days`.

        Raises `DurableError` where the database cannot be reached.
        """
        while self.ask_engine(lambda engine: erase(self.records, engine, 0)):
            pass
        return purge(
            self.records, self.host.settings.audit.retention_days if days is None else days
        )

    def close(self) -> None:
        """Let go of the engine; the host closes what is left."""
        with self._turn:
            client, self._client, self._closed = self._client, None, True
        if client is not None:
            client.destroy()

    # -- inside --------------------------------------------------------------------------------

    def _hold_key(self) -> None:
        """See that the key is the one of these runs: with another one each would look altered."""
        place = place_of("", "key")
        try:
            self.records.change(_FIRST_KEY, self.seal.close(b"toolseam", place))
            ((kept,),) = self.records.rows("SELECT sealed FROM key")
            self.seal.open(bytes(kept), place)
        except (Sealed, AuditError):
            self.records.close()
            message = "The runs of this database are sealed with another key: see `audit.key_env`."
            raise DurableError(message) from None

    def providers(self, names: Iterable[str]) -> list[Provider]:
        """Return those of these names; raises `ProviderError`."""
        return [self._providers.get(name) or self.host.provider(name) for name in names]

    def _rewind(self, workflow: str, key: str) -> None:
        """Have the engine repeat a workflow from the step on that held its run."""
        from dbos import error

        steps = self.ask_engine(lambda engine: engine.list_workflow_steps(workflow))
        found = [step["function_id"] for step in steps if step["function_name"] == key]
        # Who died before the row said so has dropped them already.
        after = max((step["function_id"] for step in steps), default=0) + 1
        number = min(found, default=after)

        def rewind(engine: DBOSClient) -> None:
            try:
                engine.rewind_workflow(
                    workflow, start_step=number, application_version=VERSION, queue_name=QUEUE
                )
            except error.DBOSException:
                raise RunError("The run goes on by now.", "conflict") from None

        self.ask_engine(rewind)

    def _enqueue(self, run_id: str, part: int, text: str) -> None:
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": workflow_id(run_id, part),
            "app_version": VERSION,
        }

        def enqueue(engine: DBOSClient) -> None:
            engine.enqueue(options, run_id, part, text)

        self.ask_engine(enqueue)

    def ask_engine(self, work: Callable[[DBOSClient], T]) -> T:
        """Ask the engine's tables now; raises `DurableError` without a word of the driver's."""
        try:
            return work(self._engine())
        except ToolseamError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever drivers raise, it may hold content
            kind = type(error).__name__
        raise DurableError(f"the engine's tables did not answer ({kind})")

    def _engine(self) -> DBOSClient:
        with self._turn:
            if self._closed:
                raise DurableError("these durable runs have been closed")
            if self._client is None:
                self._client = engine_client(self.url)
            return self._client

    def _begin_again(self) -> None:
        """Leave the engine's connections to the parent, in the child of a fork."""
        self._turn = threading.Lock()
        if self._client is not None:
            # Kept, since to throw it away would be to close them.
            self._parents.append(self._client)
        self._client = None


def _waits() -> bool:
    """Tell whether a run is driven here, and leave it to the engine where its worker stops."""
    journal = DRIVING.get()
    if journal is not None and journal.stopping():
        raise journal.lost("the worker stops")
    return journal is not None


def _stands(connection: Connection, run_id: str) -> tuple[Any, ...]:
    """Return how a run stands, of which nobody else changes anything in this transaction."""
    found = rows(connection, _STANDS, run_id)
    if not found:
        raise _not_found()
    return found[0]


def _not_found() -> RunError:
    return RunError("There is no durable run of this id.", "not_found")


def engine_client(url: str) -> DBOSClient:
    """Connect to the engine's tables, made where they are not; raises `DurableError`."""
    from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer

    with connected(url) as turn:
        # Never waited for in the server: the engine makes an index that waits for all who do.
        while not take(turn, _MAKING):
            time.sleep(_PAUSE_S)
        try:
            DBOS.migrate(url, schema=ENGINE_SCHEMA)
            return DBOSClient(
                system_database_url=url,
                dbos_system_schema=ENGINE_SCHEMA,
                serializer=DBOSPortableJSONSerializer(),
                application_name=APPLICATION,
                retry_connection_errors=False,
            )
        except Exception as error:  # noqa: BLE001 - of a driver's words nothing is kept
            kind = type(error).__name__
    raise DurableError(f"the engine's tables cannot be reached ({kind})")
