"""What it costs that a body runs elsewhere: a warm process, a sandbox, and Dask's fan-out."""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from benchmarks.bars import Effort, Measured
from benchmarks.far import echo_text, nap, same, take_nap
from benchmarks.timing import extra, interleave, repeated
from toolseam import Actor, Host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

    from benchmarks.timing import Rounds

_SIZES = {"small": 1_000, "large": 990_000}
_PLACES = ("process", "sandbox")
_WORKERS, _THREADS = 4, 4
_NAP_S = 0.05
_ADA = Actor("ada")


def measure(effort: Effort) -> Iterator[Measured]:
    """Compare calls of one tool in three places; then share naps out over 16 threads of Dask."""
    hosts = {place: Host(tools=[echo_text], settings=_to(place)) for place in ("inline", *_PLACES)}
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    for size, count in _SIZES.items():
        text = "x" * count
        there = {place: _reached(host, text) for place, host in hosts.items()}
        calls = {place: call for place, call in there.items() if not isinstance(call, str)}
        calls["bare"] = _bare(pool, text.encode())
        spent = interleave(
            {place: repeated(call) for place, call in calls.items()},
            rounds=effort.rounds,
            span_ms=4 * effort.span_ms,
        )
        bare = f"a bare `ProcessPoolExecutor` {_over(spent['bare'], spent['inline']):.3g} ms"
        for place in _PLACES:
            said = there[place]
            if isinstance(said, str):
                yield Measured(f"apart.{place}_{size}", None, said)
            else:
                beside = (
                    f"of the host's processor {extra(spent[place], spent['inline']) / 1e6:.3g} ms"
                )
                over = _over(spent[place], spent["inline"])
                yield Measured(f"apart.{place}_{size}", over, f"{beside}; {bare}")
    pool.shutdown()
    for host in hosts.values():
        host.close()
    yield _fan_out(effort)


def _to(place: str) -> dict[str, object]:
    return {"runs_in": {"*": place}}


def _reached(host: Host, text: str) -> Callable[[], object] | str:
    """Return what makes a call there, or why none can be made."""
    given = {"text": text}
    first = host.call("echo_text", given, actor=_ADA)
    if first.failure is not None:
        return first.failure.message
    return lambda: host.call("echo_text", given, actor=_ADA)


def _bare(pool: Executor, text: bytes) -> Callable[[], object]:
    return lambda: pool.submit(same, text).result()


def _over(there: Rounds, here: Rounds) -> float:
    """Return the median of the same-round differences by the wall, in milliseconds."""
    return median(a.wall - b.wall for a, b in zip(there, here, strict=True)) / 1e6


def _fan_out(effort: Effort) -> Measured:
    key = "apart.fan_out"
    if find_spec("distributed") is None:
        return Measured(key, None, "needs toolseam[dask]")
    from toolseam_plugins.executors import dask

    engine = {"kind": "dask", "workers": _WORKERS, "threads": _THREADS}
    settings = {**_to("farm"), "executors": {"farm": engine}}
    ideal = effort.calls_apart * _NAP_S / (_WORKERS * _THREADS)

    async def whole(host: Host) -> float:
        session = host.session(actor=_ADA)
        begun = perf_counter()
        naps = (session.acall("take_nap", {"seconds": _NAP_S}) for _ in range(effort.calls_apart))
        results = await asyncio.gather(*naps)
        assert all(result.success for result in results)
        return ideal / (perf_counter() - begun)

    with Host(tools=[take_nap], plugins=[dask], settings=settings) as host:
        host.call("take_nap", {"seconds": 0}, actor=_ADA)
        spent = process_time()
        shares = [asyncio.run(whole(host)) for _ in range(3)]
        spent = (process_time() - spent) / (3 * effort.calls_apart)
    bare = _bare_share(effort, ideal)
    beside = (
        f"the best of three, the median {median(shares):.3g}; {spent * 1e3:.3g} ms of the host's"
        f" processor a call; bare `get_executor()` {bare:.3g}, the best of two"
    )
    return Measured(key, max(shares), beside)


def _bare_share(effort: Effort, ideal: float) -> float:
    """Return the share that Dask's own executor reaches without us, the best of two."""
    from concurrent.futures import wait

    import distributed as typed

    distributed: Any = typed
    cluster = distributed.LocalCluster(
        n_workers=_WORKERS, threads_per_worker=_THREADS, dashboard_address="127.0.0.1:0"
    )
    shares: list[float] = []
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        bare = client.get_executor(pure=False, retries=0)
        wait([bare.submit(nap, 0.0)])
        for _ in range(2):
            begun = perf_counter()
            wait([bare.submit(nap, _NAP_S) for _ in range(effort.calls_apart)])
            shares.append(ideal / (perf_counter() - begun))
    return max(shares)
