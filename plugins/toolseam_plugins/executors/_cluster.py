"""Dask started here or found at an address, as one `concurrent.futures.Executor`."""

from __future__ import annotations

import contextlib
import logging
from concurrent.futures import Executor, Future
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import distributed as _typed

from toolseam_plugins.executors._fence import PREFIX, Fence, allowed_failures
from toolseam_plugins.executors.dask import ExecutorError

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam._settings_keys import ExecutorSettings

distributed: Any = _typed
"""Half of its functions have no annotations, which the strict checkers cannot read."""
_CERTIFICATES = ("tls_ca_file", "tls_client_cert", "tls_client_key")
_CONNECT_S = 10.0
_END_S = 2.0


class DaskExecutor(Executor):
    """Hands bodies to a cluster, each once.

    Args:
        client: who is connected; it ends with the executor.
        cluster: what was started for it, and ends with it too.
    """

    def __init__(self, client: Any, cluster: Any = None) -> None:  # noqa: ANN401 - as above
        self._client = client
        self._cluster = cluster
        # Equal calls are two calls, and a body that failed is not tried again.
        self._bare: Executor = client.get_executor(pure=False, retries=0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        """Hand over one call under a key that the scheduler's fence knows."""
        return self._bare.submit(fn, *args, **kwargs, key=f"{PREFIX}{uuid4().hex}")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as in the base class
        """End the connection, and the cluster that was started here, whatever runs there."""
        self._bare.shutdown(wait and not cancel_futures)
        _end(self._client, self._cluster)


def started(settings: ExecutorSettings) -> DaskExecutor:
    """Start a scheduler and worker processes that nobody but this process can talk to."""
    if settings.options:
        raise ExecutorError("[executors] options: with an `address` only")
    cluster: Any = None
    client: Any = None
    try:
        cluster = distributed.LocalCluster(
            n_workers=settings.workers,
            threads_per_worker=settings.threads,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            # Certificates of the moment: other users of the machine can reach its ports.
            security=True,
            scheduler_kwargs={"allowed_failures": 0, "plugins": [Fence()]},
        )
        client = distributed.Client(cluster, set_as_default=False, timeout=_CONNECT_S)
        return DaskExecutor(client, cluster)
    except BaseException as error:
        _end(client, cluster)
        if not isinstance(error, Exception):
            raise
        message = f"Dask did not start on this machine ({type(error).__name__})"
        raise ExecutorError(message) from None


def connected(settings: ExecutorSettings) -> DaskExecutor:
    """Connect to the scheduler at the settings' address, and hold it to running nothing twice."""
    security = _security(settings)
    client: Any = None
    try:
        client = distributed.Client(
            settings.address, security=security, set_as_default=False, timeout=_CONNECT_S
        )
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


def _security(settings: ExecutorSettings) -> object:
    """Return what protects the connection; refuse one that is not protected, off this machine."""
    strangers = sorted(set(settings.options) - set(_CERTIFICATES))
    if strangers:
        raise ExecutorError(f"options are {', '.join(_CERTIFICATES)}, not {strangers[0]}")
    scheme, _, place = (settings.address or "").rpartition("://")
    if scheme == "tls":
        return distributed.Security(require_encryption=True, **settings.options)
    if scheme in {"", "tcp"} and _is_here(urlsplit(f"//{place}").hostname or ""):
        return distributed.Security(require_encryption=False)
    raise ExecutorError("address: off this machine only tls://, on it tcp:// too")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _end(client: Any, cluster: Any = None) -> None:  # noqa: ANN401 - as above
    """End what there is of both; that the other side is gone is no news."""
    with contextlib.suppress(Exception):
        if client is not None:
            client.close(timeout=_END_S)
    with contextlib.suppress(Exception):
        if cluster is not None:
            cluster.close(timeout=_END_S)
