"""Bodies over engines that others wrote: Dask, loky, the standard library's own pool."""

import asyncio
import gc
import http.client
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import loky
import psutil
import pytest
from dask import config as dask_config

from support import engine_tools
from support.dist_info import tools, write_dist
from support.tools import ADA, approved
from toolseam import ErrorCode, Host
from toolseam_plugins.executors import dask
from toolseam_plugins.executors._fence import PREFIX, BodyLostError

Make = Callable[[], Host]
LIMITS = {"threads": 2, "waiting": 0}
# A worker is killed while Dask connects to it: that leaves the socket to the collector of garbage.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed .*SSLSocket:ResourceWarning")


def over(executor: Executor) -> Host:
    """Return a host whose bodies all go over an executor that it was given."""
    settings = {"runs_in": {"*": "engine"}, "limits": LIMITS}
    return Host(tools=engine_tools.TOOLS, settings=settings, executors={"engine": executor})


def over_dask() -> Host:
    """Return a host whose bodies all go over Dask, started by the operator's word."""
    settings = {
        "runs_in": {"*": "engine"},
        "executors": {"engine": {"kind": "dask", "workers": 2, "threads": 2}},
        "limits": LIMITS,
    }
    return Host(tools=engine_tools.TOOLS, plugins=[dask], settings=settings)


def over_loky() -> Host:
    """Return a host over loky."""
    return over(loky.ProcessPoolExecutor(2))


def over_pool() -> Host:
    """Return a host over the standard library's processes."""
    return over(ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")))


ENGINES = (over_dask, over_loky, over_pool)


def made(make: Make) -> Iterator[Host]:
    """Give a host, and end it with the engine it was given."""
    with make() as host:
        yield host
    for executor in host._runners._given.values():
        executor.shutdown()


@pytest.fixture(scope="module")
def over_one_dask() -> Iterator[Host]:
    """A host over Dask, which has started; its workers come back when they were killed."""
    for host in made(over_dask):
        assert host.call("fetch_rows", {"rows": 1}, actor=ADA, timeout=300).success
        yield host
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # see `pytestmark`
        gc.collect()


@pytest.fixture(scope="module", params=ENGINES)
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """A host over one of the engines, for calls that leave it whole."""
    if request.param is over_dask:
        yield request.getfixturevalue("over_one_dask")
    else:
        yield from made(request.param)


@pytest.fixture(params=ENGINES)
def mortal(request: pytest.FixtureRequest) -> Iterator[Host]:
    """A host over one of the engines, of which the test kills a worker."""
    if request.param is over_dask:
        yield request.getfixturevalue("over_one_dask")
    else:
        yield from made(request.param)


def kill_worker(file: Path) -> None:
    """Kill the process in which the last body began, as the system does when memory is out."""
    os.kill(engine_tools.wait_for(file)[-1], signal.SIGKILL)


def test_a_result_comes_back_whole(host: Host) -> None:
    """Text, table, data and metadata are what the tool gave, made in another process."""
    result = host.call("fetch_rows", {"rows": 300}, actor=ADA)

    assert result.content == "ä" * 300
    assert result.data == {"rows": 300}
    assert result.metadata["pid"] != os.getpid()
    (table,) = result.artifacts
    assert (table.label, table.columns, len(table.rows)) == ("rows", ["number", "letter"], 300)
    assert table.rows[299] == ["299", "é"]


def test_a_wrong_return_is_a_breach_after_one_execution(host: Host, tmp_path: Path) -> None:
    """What is no result ends the call, the tool is withdrawn, and its body began once."""
    file = tmp_path / "begun"
    session = host.session(actor=ADA)

    first = session.call("fetch_nothing", {"file": str(file)})
    second = session.call("fetch_nothing", {"file": str(file)})

    assert first.failure is not None
    assert first.failure.code is ErrorCode.CONTRACT_ERROR
    assert second.metadata["reason"] == "withdrawn"
    assert len(engine_tools.begun(file)) == 1


def test_what_a_body_raises_is_told_by_its_kind(
    host: Host, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller learns the type, the host's log the place; the secret in the text is masked."""
    result = host.call("fetch_fault", {"file": str(tmp_path / "begun")}, actor=ADA)

    assert result.failure is not None
    assert result.failure.code is ErrorCode.EXECUTION_ERROR
    assert result.failure.message == "fetch_fault raised RuntimeError."
    assert "fetch_fault" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_refusal_is_the_tools_own(host: Host) -> None:
    """A raised `ToolError` arrives with its message, code and metadata."""
    result = host.call("fetch_refusal", {"word": "table"}, actor=ADA)

    assert result.failure is not None
    assert result.failure.message == "No table here."
    assert result.metadata["word"] == "table"


def test_equal_calls_are_made_each(host: Host, tmp_path: Path) -> None:
    """No engine takes one answer for two calls because they look alike."""
    file = tmp_path / "begun"

    for _ in range(3):
        assert host.call("fetch_late", {"file": str(file), "seconds": 0}, actor=ADA).success

    assert len(engine_tools.begun(file)) == 3


def test_nothing_is_lent_over_an_executor(host: Host) -> None:
    """A secret does not travel: the body is told that there is no way back to the host."""
    result = host.call("fetch_secret", actor=ADA)

    assert result.failure is not None
    assert result.failure.code is ErrorCode.UNAVAILABLE
    assert result.metadata["reason"] == "runs_apart"


def test_a_deadline_frees_the_caller(host: Host, tmp_path: Path) -> None:
    """A body that takes too long is given up: `timeout`, and the next call is answered."""
    words = {"file": str(tmp_path / "begun"), "seconds": 1.5}

    result = host.call("fetch_late", words, actor=ADA, timeout=0.5)
    after = host.call("fetch_rows", {"rows": 1}, actor=ADA)

    assert result.failure is not None
    assert result.failure.code is ErrorCode.TIMEOUT
    assert after.success


def test_a_write_is_looked_at_there_and_made_once(host: Host, tmp_path: Path) -> None:
    """The preview runs apart too; the approved write is made once, and not a second time."""
    file = tmp_path / "begun"
    words = {"file": str(file), "seconds": 0}
    shown = host.preview("change_late", words, actor=ADA)
    approval = host.approve(shown, actor=ADA)

    first = host.call("change_late", words, actor=ADA, approval=approval)
    second = host.call("change_late", words, actor=ADA, approval=approval)

    assert shown.lines == ("it would change",)
    assert os.getpid() not in engine_tools.begun(engine_tools.looked_at(file))
    assert first.content == "changed"
    assert second.failure is not None
    assert second.failure.code is ErrorCode.CONFLICT
    assert len(engine_tools.begun(file)) == 1


def test_a_fan_out_takes_no_thread_of_the_host(host: Host, tmp_path: Path) -> None:
    """Twenty awaited calls wait for the engine at once, where the host has threads for two."""
    words = {"file": str(tmp_path / "begun"), "seconds": 0.02}
    before = threading.active_count()

    async def many() -> tuple[list[Any], int]:
        session = host.session(actor=ADA)
        tasks = [asyncio.create_task(session.acall("fetch_late", words)) for _ in range(20)]
        await asyncio.sleep(0)
        during = threading.active_count()
        return await asyncio.gather(*tasks), during

    results, during = asyncio.run(many())

    assert [result.content for result in results] == ["late"] * 20
    assert during <= before + 2


def test_large_arguments_go_together(host: Host) -> None:
    """Twelve calls of 600 KB at once are twelve answers, and no complaint of the engine."""
    words = {"text": "x" * 600_000}

    async def many() -> list[Any]:
        session = host.session(actor=ADA)
        return await asyncio.gather(*(session.acall("fetch_length", words) for _ in range(12)))

    assert [result.content for result in asyncio.run(many())] == ["600000"] * 12


def test_another_version_over_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A distribution that was upgraded under a running host is not run in its old place."""
    site, code = tmp_path / "site", "from support.engine_tools import fetch_rows as fetch_far"
    info = write_dist(site, "farpack", "1.0", tools(fetch_rows="farpack:fetch_far"))
    (site / "farpack.py").write_text(code)
    monkeypatch.syspath_prepend(str(site))
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    words = {"runs_in": {"*": "engine"}, "trust": ["farpack"]}
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with pool, Host.load(workspace, settings=words, executors={"engine": pool}) as host:
        assert host.tool("fetch_rows") is not None
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: farpack\nVersion: 2.0\n")
        info.rename(site / "farpack-2.0.dist-info")
        result = host.call("fetch_rows", {"rows": 1}, actor=ADA)

    assert result.metadata["reason"] == "other_version"
    assert result.metadata["detail"] == "farpack 1.0 is meant, 2.0 is there"


def test_a_read_whose_worker_dies_is_unavailable(mortal: Host, tmp_path: Path) -> None:
    """A killed worker ends the call, nothing is run again, also when workers are back."""
    file = tmp_path / "begun"
    killer = threading.Thread(target=kill_worker, args=(file,))
    killer.start()

    result = mortal.call("fetch_late", {"file": str(file), "seconds": 20}, actor=ADA)
    killer.join()

    assert result.failure is not None
    assert result.failure.code is ErrorCode.UNAVAILABLE
    assert result.metadata["reason"] == "worker_died"
    assert len(engine_tools.begun(file)) == 1


def test_a_write_whose_worker_dies_is_unknown(mortal: Host, tmp_path: Path) -> None:
    """Nobody knows what the write did: `execution_error`, effect unknown, and never again."""
    file = tmp_path / "begun"
    words = {"file": str(file), "seconds": 20}
    approval = approved(mortal, "change_late", words)
    killer = threading.Thread(target=kill_worker, args=(file,))
    killer.start()

    result = mortal.call("change_late", words, actor=ADA, approval=approval)
    killer.join()

    assert result.failure is not None
    assert result.failure.code is ErrorCode.EXECUTION_ERROR
    assert result.metadata["reason"] == "worker_died"
    assert mortal.steps[-1].effect == "unknown"
    assert len(engine_tools.begun(file)) == 1


@pytest.fixture
def cluster(over_one_dask: Host) -> Any:
    """The executor over Dask, which began with the first body that went there."""
    runner: Any = over_one_dask._runners._made["engine"]
    return runner._executor


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_result_that_was_lost_is_not_made_again(cluster: Any, tmp_path: Path) -> None:
    """A worker dies with a result that nobody has fetched, which Dask would compute again."""
    file = tmp_path / "begun"
    task = cluster._client.submit(engine_tools.leave_line, str(file), key=f"{PREFIX}lost")
    wait_until(task.done)

    os.kill(engine_tools.begun(file)[0], signal.SIGKILL)
    wait_until(lambda: task.status == "error")

    assert isinstance(task.exception(timeout=60), BodyLostError)
    assert len(engine_tools.begun(file)) == 1


def test_a_worker_comes_back_however_late(cluster: Any, tmp_path: Path) -> None:
    """Dask's own patience with those that died is over long before, and there are two again."""
    wait_until(lambda: len(cluster._cluster.scheduler.workers) == 2)
    with dask_config.set({"distributed.deploy.lost-worker-timeout": "10ms"}):
        before = set(cluster._cluster.scheduler.workers)
        cluster._client.submit(os._exit, 1)
        wait_until(lambda: len(before - set(cluster._cluster.scheduler.workers)) == 1)
        wait_until(lambda: len(cluster._cluster.scheduler.workers) == 2)


def held(cluster: Any, place: Path) -> tuple[Path, list[tuple[Any, Future[Any]]]]:
    """Make two workers hold an answer each that nobody has fetched; give what waits for them.

    A worker that has just come back may leave its task to the other: then both begin once more.
    """
    for attempt in range(50):
        wait_until(lambda: len(cluster._cluster.scheduler.workers) == 2)
        file = place.with_name(f"{place.name}{attempt}")
        found: list[tuple[Any, Future[Any]]] = []
        for at, address in enumerate(sorted(cluster._cluster.scheduler.workers)):
            key = f"{PREFIX}{file.name}-{at}"
            words = {"key": key, "workers": [address], "allow_other_workers": True}
            task = cluster._client.submit(engine_tools.leave_line, str(file), **words)
            wait_until(task.done)
            found.append((task, Future()))
        if len({*engine_tools.begun(file)}) == 2:
            return file, found
    raise AssertionError("one worker took all")


@pytest.mark.parametrize("way", ["one after the other", "in one lot"])
def test_a_worker_that_has_stopped_keeps_no_other_answer(
    cluster: Any, tmp_path: Path, way: str
) -> None:
    """It holds an answer and says nothing: others are fetched, and when it dies its own is lost."""
    file, [(slow, slowly), (task, answered)] = held(cluster, tmp_path / way.replace(" ", ""))
    worker = engine_tools.begun(file)[0]
    os.kill(worker, signal.SIGSTOP)
    try:
        add = cluster._client.loop.add_callback
        if way == "in one lot":
            add(cluster._take, [(slow, slowly), (task, answered)])
        else:
            for each in ((slow, slowly), (task, answered)):
                add(cluster._follow, *each)

        assert answered.result(60) is None
        assert not slowly.done()
    finally:
        os.kill(worker, signal.SIGKILL)
    with pytest.raises(BodyLostError):
        slowly.result(60)
    assert len(engine_tools.begun(file)) == 2


def test_one_lost_answer_of_a_lot_takes_no_other_along(cluster: Any, tmp_path: Path) -> None:
    """A worker dies as its answer is fetched with another's: that one comes, its own is lost."""
    file, [(lost, gone), (task, answered)] = held(cluster, tmp_path / "lost")

    os.kill(engine_tools.begun(file)[0], signal.SIGKILL)
    cluster._client.loop.add_callback(cluster._take, [(lost, gone), (task, answered)])

    assert answered.result(60) is None
    with pytest.raises(BodyLostError):
        gone.result(60)
    assert len(engine_tools.begun(file)) == 2


def test_a_large_answer_comes_with_small_ones(over_one_dask: Host) -> None:
    """While an answer of 20 MB is on its way, small calls are answered, and each gets its own."""

    async def many() -> list[Any]:
        session = over_one_dask.session(actor=ADA)
        large = session.acall("fetch_large", {"size": 20_000_000})
        small = (session.acall("fetch_rows", {"rows": rows}) for rows in range(20))
        return await asyncio.gather(large, *small)

    large, *small = asyncio.run(many())

    assert large.content.startswith("x" * 10_000)
    assert [result.content for result in small] == ["ä" * rows for rows in range(20)]


def test_nobody_else_on_the_machine_has_a_way_in(cluster: Any) -> None:
    """Every port is this machine's own and asks for a certificate; a browser sees no page."""
    here = psutil.Process()
    # psutil before 6.0 calls it by another name.
    asks = "net_connections" if hasattr(here, "net_connections") else "connections"
    ports = [
        (found.laddr.ip, found.laddr.port)
        for process in (here, *here.children(recursive=True))
        for found in getattr(process, asks)()
        if found.status == psutil.CONN_LISTEN
    ]
    pages = {web_page(place) for place in ports}

    assert {address for address, _ in ports} == {"127.0.0.1"}
    assert cluster._cluster.scheduler_address.startswith("tls://")
    assert 404 in pages
    assert pages <= {404, None}


def web_page(place: tuple[str, int]) -> int | None:
    """Return the status of what a browser would see there; None where no web server is."""
    connection = http.client.HTTPConnection(*place, timeout=5)
    try:
        connection.request("GET", "/info/main/workers.html")
        return connection.getresponse().status
    except (http.client.HTTPException, OSError):
        return None
    finally:
        connection.close()
