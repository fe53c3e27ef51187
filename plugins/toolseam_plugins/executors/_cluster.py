"""Dask started here or found at an address, as one `concurrent.futures.Executor`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import threading
from concurrent import futures
from concurrent.futures import Executor, Future
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

import distributed as _typed
from dask import config as dask_config

from toolseam_plugins.executors._fence import PREFIX, BodyLostError, Fence, allowed_failures, run
from toolseam_plugins.executors.dask import ExecutorError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolseam._settings_keys import ExecutorSettings

distributed: Any = _typed
"""Half of its functions have no annotations, which the strict checkers cannot read."""
_OURS: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,
    # As many calls wait in a worker as it works on, and no more: they are lost with it.
    "distributed.scheduler.worker-saturation": 2.0,
    # Looks at every thread a hundred times a second, for a dashboard that there is not.
    "distributed.worker.profile.enabled": False,
    # What its dashboard and its developers would read, looked up and kept in every process; and a
    # search for copies of results, of which there are none.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.low-level-log-length": 0,
    "distributed.diagnostics.nvml": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.preload": ["toolseam_plugins.executors._quiet"],
    # Its web servers cannot be kept from starting: they have no page, for anybody on the machine.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
_STARTING = threading.Lock()
"""Dask's configuration is the process's: one start changes it at a time, and puts it back."""
_CERTIFICATES = ("tls_ca_file", "tls_client_cert", "tls_client_key")
_CONNECT_S = 10.0
_END_S = 30.0
_PORT = 8786
_LOT_BYTES = 4_000_000
_PATIENCE_S = 0.02
"""How long a fetch is waited for, in seconds, until what has ended meanwhile has one of its own."""
_SLOW_S = 0.5
"""After so many seconds the answers of each worker are asked for by themselves."""


class DaskExecutor(Executor):
    """Hands bodies to a cluster, each once.

    `Client.get_executor()` makes a graph of each call, which costs its scheduler three times what
    a call costs that is handed over with those that were waiting beside it.

    Args:
        client: who is connected; it ends with the executor.
        cluster: what was started for it, and ends with it too.
    """

    def __init__(self, client: Any, cluster: Any = None) -> None:  # noqa: ANN401 - as above
        self._client = client
        self._cluster = cluster
        self._turn = threading.Lock()
        self._waiting: list[tuple[_Call, Future[Any]]] = []
        self._open: set[Future[Any]] = set()
        self._ended: list[_Ended] = []
        self._fetching = False
        self._fetches: set[asyncio.Future[None]] = set()
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        """Take one call, which is on its way as soon as the client's thread has a turn."""
        future: Future[Any] = Future()
        with self._turn:
            if self._closed or self._client.status != "running":
                raise RuntimeError("the executor is shut down, or its scheduler gone")
            self._open.add(future)
            self._waiting.append(((fn, args, kwargs), future))
            if len(self._waiting) == 1:
                self._client.loop.add_callback(self._send)
        future.add_done_callback(self._forget)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as in the base class
        """End the connection, and the cluster that was started here, whatever runs there."""
        with self._turn:
            self._closed = True
            left = list(self._open)
        if wait and not cancel_futures:
            futures.wait(left)
        _end(self._client, self._cluster)
        for future in left:
            _settle(future, error=BodyLostError())

    def _forget(self, future: Future[Any]) -> None:
        with self._turn:
            self._open.discard(future)

    def _send(self) -> None:
        """Hand over what waits, in lots of which Dask does not complain; in the client's thread."""
        with self._turn:
            taken, self._waiting = self._waiting, []
        taken = [each for each in taken if not each[1].cancelled()]
        if self._client.status != "running":  # it would forget them without a word
            for _, future in taken:
                _settle(future, error=BodyLostError())
            return
        lot: list[tuple[_Call, Future[Any]]] = []
        size = 0
        for call, future in taken:
            size += sum(len(each) for each in call[1] if isinstance(each, bytes))
            if lot and size > _LOT_BYTES:
                self._send_lot(lot)
                lot, size = [], 0
            lot.append((call, future))
        self._send_lot(lot)

    def _send_lot(self, lot: list[tuple[_Call, Future[Any]]]) -> None:
        if not lot:
            return
        calls = [call for call, _ in lot]
        # Equal calls are two calls, and a body that failed is not tried again. By such a key the
        # scheduler's fence knows what is ours.
        keys = [f"{PREFIX}{uuid4().hex}" for _ in lot]
        try:
            sent = self._client.map(run, calls, key=keys, pure=False, retries=0)
        except Exception as error:  # noqa: BLE001 - the scheduler is gone, and more
            for _, future in lot:
                _settle(future, error=error)
            return
        for there, (_, future) in zip(sent, lot, strict=True):
            self._client.loop.add_callback(self._follow, there, future)

    async def _follow(self, there: Any, future: Future[Any]) -> None:  # noqa: ANN401 - a Dask future
        """Hand on how a call ended; tell the scheduler when nobody waits for it any more."""

        def given_up(ended: Future[Any]) -> None:
            if ended.cancelled():
                self._client.loop.add_callback(self._client.cancel, [there], asynchronous=True)

        future.add_done_callback(given_up)
        await there._state.wait()  # noqa: SLF001 - nothing public waits without fetching
        if there.status != "finished":
            await self._hand_on(there, future)
            return
        self._ended.append((there, future))
        if not self._fetching:
            await self._fetch()

    async def _fetch(self) -> None:
        """Fetch what has ended, then what ended meanwhile: each fetch is a message to every worker.

        What is slow to come is not waited for: the others have a fetch of their own.
        """
        self._fetching = True
        try:
            while self._ended:
                lot, self._ended = self._ended, []
                fetch = asyncio.ensure_future(self._take(lot))
                self._fetches.add(fetch)
                fetch.add_done_callback(self._fetches.discard)
                await asyncio.wait({fetch}, timeout=_PATIENCE_S)
        finally:
            self._fetching = False

    async def _take(self, lot: list[_Ended]) -> None:
        """Fetch some answers; where one worker keeps the others waiting, those of each by itself.

        A client of Dask asks for five lots at once and no more, and joins what is asked for in one
        moment: a worker that has stopped would stop all of them. Its scheduler can be asked itself.
        """
        whole = asyncio.ensure_future(self._ask(lot))
        _, late = await asyncio.wait({whole}, timeout=_SLOW_S)
        if late:
            with contextlib.suppress(Exception):  # the scheduler is gone, of which `whole` is told
                workers = await self._client.scheduler.who_has(keys=_keys(lot))
                lots: dict[tuple[str, ...], list[_Ended]] = {}
                for each in lot:
                    lots.setdefault(tuple(workers.get(each[0].key, ())), []).append(each)
                if len(lots) > 1:
                    await asyncio.gather(*map(self._ask, lots.values()))
        await whole

    async def _ask(self, lot: list[_Ended]) -> None:
        """Ask for answers, and hand on what comes; one that was lost does not take others along."""
        said: dict[str, Any] = {}
        with contextlib.suppress(Exception, asyncio.CancelledError):  # the scheduler is gone, say
            said = await self._client.scheduler.gather(keys=_keys(lot))
        data, lost = said.get("data", {}), set(said.get("keys", ()))
        again: list[_Ended] = []
        alone: list[_Ended] = []
        for there, future in lot:
            if there.key in data:
                _settle(future, data[there.key])
            elif not future.done():
                (again if lost and there.key not in lost else alone).append((there, future))
        if again:
            await self._ask(again)
        await asyncio.gather(*(self._hand_on(*each) for each in alone))

    async def _hand_on(self, there: Any, future: Future[Any]) -> None:  # noqa: ANN401 - as above
        try:
            _settle(future, await self._client.gather(there, asynchronous=True))
        except asyncio.CancelledError:  # the scheduler forgot it, or is gone
            _settle(future, error=BodyLostError())
        except Exception as error:  # noqa: BLE001 - whatever it is, the body is lost
            _settle(future, error=error)


_Call: TypeAlias = "tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]"
_Ended: TypeAlias = "tuple[Any, Future[Any]]"


def _keys(lot: list[_Ended]) -> list[str]:
    return [there.key for there, _ in lot]


def _settle(future: Future[Any], value: object = None, error: Exception | None = None) -> None:
    # Who gave the call up was first, or the end of the executor.
    with contextlib.suppress(futures.InvalidStateError):
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


class _Client(distributed.Client):  # type: ignore[misc]
    """One that knows one scheduler: when that is gone, so is the client.

    Dask's own connects again, and whoever answers at the address then may begin a task twice, and
    knows no fence. What it had under way it would forget in any case.
    """

    async def _start(self, **words: Any) -> Any:  # noqa: ANN401 - as the base class does
        """Connect; and look up no more what workers there are, which nobody asks."""
        begun: Any = await distributed.Client._start(self, **words)  # noqa: SLF001 - its own
        self._periodic_callbacks["scheduler-info"].stop()
        return begun

    async def _reconnect(self) -> None:
        """Give up what is under way, and end; who asks next starts at the beginning."""
        self.scheduler_comm = None
        await self._close()


class _Silence(logging.Filter):
    """Keeps off standard error what the threads of one cluster log, and nothing else's of Dask.

    Dask's own `silence_logs` takes every other cluster of the process along, and leaves the level
    of the one that ended last.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads: set[int | None] = set()
        over = logging.getLogger("distributed").handlers
        self._over: list[logging.Handler] = [
            each for each in over if isinstance(each, logging.StreamHandler)
        ]
        for each in self._over:
            each.addFilter(self)

    async def here(self) -> None:
        """Say nothing more of what is logged in this thread."""
        self._threads.add(threading.get_ident())

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is another's; what a scheduler says of garbage, any thread says."""
        ours = record.thread in self._threads or record.name == "distributed.gc"
        return not ours or record.levelno >= logging.CRITICAL

    def end(self) -> None:
        """Let everything through again."""
        for each in self._over:
            each.removeFilter(self)


class _Nanny(distributed.Nanny):  # type: ignore[misc]
    """One whose worker process logs nothing; what it logs itself is the cluster's."""

    def __init__(self, *args: Any, **words: Any) -> None:  # noqa: ANN401 - as the base class does
        distributed.Nanny.__init__(self, *args, **words)
        self.silence_logs = logging.CRITICAL


class _Cluster(distributed.LocalCluster):  # type: ignore[misc]
    """One whose workers come back however long that takes.

    Dask gives up for good a worker that is not there fifteen seconds after one had died: on a busy
    machine, or where it died a second time, the cluster would shrink until nobody is left.
    """

    def __init__(self, **words: Any) -> None:  # noqa: ANN401 - as the base class does
        self.silence = _Silence()
        try:
            words |= {"worker_class": _Nanny, "silence_logs": False}
            distributed.LocalCluster.__init__(self, **words)
        except BaseException:
            self.silence.end()
            raise

    async def _start(self) -> None:
        await self.silence.here()
        await distributed.LocalCluster._start(self)  # noqa: SLF001 - its own

    def _update_worker_status(self, op: str, msg: object) -> None:
        """Know who is there, and leave it to the nannies to start the others."""
        super(distributed.SpecCluster, self)._update_worker_status(op, msg)


def started(settings: ExecutorSettings) -> DaskExecutor:
    """Start a scheduler and worker processes that nobody but this process can talk to."""
    if settings.options:
        raise ExecutorError("[executors] options: with an `address` only")
    cluster: Any = None
    client: Any = None
    try:
        with _STARTING, dask_config.set(_OURS):
            cluster = _Cluster(
                n_workers=settings.workers,
                threads_per_worker=settings.threads,
                processes=True,
                host="127.0.0.1",
                # Certificates of the moment: other users of the machine can reach its ports.
                security=True,
                scheduler_kwargs={
                    "plugins": [Fence()],
                    "dashboard": False,
                    "dashboard_address": "127.0.0.1:0",
                    # For the workers; and for the client, which lives in the same process.
                    "protocol": ["tls://", "inproc://"],
                    "host": ["127.0.0.1", None],
                    "port": [0, None],
                },
            )
        near = cluster.scheduler.listeners[1].contact_address
        client = _client(near, cluster.security)
        client.sync(cluster.silence.here)
        return DaskExecutor(client, cluster)
    except BaseException as error:
        _end(client, cluster)
        if not isinstance(error, Exception):
            raise
        message = f"Dask did not start on this machine ({type(error).__name__})"
        raise ExecutorError(message) from None


def connected(settings: ExecutorSettings) -> DaskExecutor:
    """Connect to the scheduler at the settings' address, and hold it to running nothing twice."""
    address = settings.address or ""
    security = _security(address, settings.options)
    client: Any = None
    try:
        _knock(address)
        client = _client(address, security)
        failures = client.run_on_scheduler(allowed_failures)
        if failures == 0:
            client.register_plugin(Fence())
            return DaskExecutor(client)
    except BaseException as error:
        _end(client)
        if not isinstance(error, Exception):
            raise
        message = f"no scheduler of toolseam's tasks answers there ({type(error).__name__})"
        raise ExecutorError(message) from None
    _end(client)
    raise ExecutorError(
        f"its scheduler begins a task again, {failures} times; start it with"
        " DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0"
    )


def _security(address: str, options: Mapping[str, Any]) -> object:
    """Return what protects the connection; refuse one that is not protected, off this machine."""
    strangers = sorted(set(options) - set(_CERTIFICATES))
    if strangers:
        raise ExecutorError(f"options are {', '.join(_CERTIFICATES)}, not {strangers[0]}")
    scheme = address.rpartition("://")[0]
    if scheme == "tls":
        return distributed.Security(require_encryption=True, **options)
    if scheme in {"", "tcp"} and _is_here(_place(address)[0]):
        return distributed.Security(require_encryption=False)
    raise ExecutorError("address: off this machine only tls://, on it tcp:// too")


def _place(address: str) -> tuple[str, int]:
    parts = urlsplit(f"//{address.rpartition('://')[2]}")
    return parts.hostname or "", parts.port or _PORT


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _knock(address: str) -> None:
    """Find out whether anybody is there: a client of Dask that finds nobody leaves much behind."""
    with socket.create_connection(_place(address), timeout=_CONNECT_S):
        pass


def _client(where: object, security: object = None) -> Any:  # noqa: ANN401 - as above
    """Connect; the thread of a client that cannot goes on, unless it is told."""
    client: Any = _Client.__new__(_Client)
    try:
        client.__init__(where, security=security, set_as_default=False, timeout=_CONNECT_S)
    except BaseException:
        with contextlib.suppress(Exception):
            client._loop_runner.stop()  # noqa: SLF001 - nothing public does
        raise
    return client


def _end(client: Any, cluster: Any = None) -> None:  # noqa: ANN401 - as above
    """End what there is of both; that the other side is gone is no news."""
    if client is not None:
        with contextlib.suppress(Exception):
            client.close(timeout=_END_S)
        with contextlib.suppress(Exception):  # the thread of one that has closed by itself
            client._loop_runner.stop()  # noqa: SLF001 - as above
    if cluster is None:
        return
    try:
        cluster.close(timeout=_END_S)
    except Exception:  # noqa: BLE001 - a worker that was just being started, on a busy machine
        for nanny in list(cluster.workers.values()):
            with contextlib.suppress(OSError, TypeError):
                os.kill(nanny.pid, signal.SIGKILL)
    finally:
        cluster.silence.end()
