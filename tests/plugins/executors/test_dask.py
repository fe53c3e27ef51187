"""What is Dask's own: how it is started and found, what it must not do, and that it ends."""

import copy
import io
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import distributed as _typed
import psutil
import pytest
import trustme
from dask import config as _config

from support import engine_tools
from support.tools import ADA, approved
from toolseam import Host
from toolseam._settings_keys import ExecutorSettings
from toolseam_plugins.executors import _cluster, dask

distributed: Any = _typed
dask_config: Any = _config
TESTS = Path(__file__).parent.parent.parent
HOST = """
import sys, threading, time
from support import engine_tools
from toolseam import Actor, Host
from toolseam_plugins.executors import dask

if __name__ == "__main__":
    settings = {"runs_in": {"*": "dask"}, "executors": {"dask": {"workers": 1, "threads": 2}}}
    with Host(tools=engine_tools.TOOLS, plugins=[dask], settings=settings) as host:
        words = {"file": sys.argv[1], "seconds": 60}
        call = lambda: host.call("fetch_noise", words, actor=Actor.system)
        threading.Thread(target=call, daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()
    print("closed", flush=True)
"""
SCHEDULER = """
import sys, distributed

if __name__ == "__main__":
    words = {"processes": False, "protocol": "tcp://", "dashboard_address": ":0"}
    place = {"host": "127.0.0.1", "scheduler_port": int(sys.argv[1])}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, **place, **words) as cluster:
        scheduler = cluster.scheduler
        for question in sys.stdin:
            print(eval(question), flush=True)
"""


def settings(**keys: Any) -> ExecutorSettings:
    """Return what stands in `[executors.dask]`."""
    return ExecutorSettings(**keys)


def refused(**keys: Any) -> str:
    """Return what the operator is told who wants an engine that cannot be had."""
    with pytest.raises(dask.ExecutorError) as error:
        dask.toolseam_executor("dask", settings(**keys))
    return str(error.value)


def test_another_kind_is_anothers_matter() -> None:
    """The plugin makes no engine that the operator did not ask it for."""
    assert dask.toolseam_executor("farm", settings(kind="ray")) is None
    assert dask.toolseam_executor("dask", settings(kind="ray")) is None


@pytest.mark.parametrize(
    "address",
    ["tcp://farm.example:8786", "farm.example:8786", "192.0.2.7:8786", "ws://127.0.0.1:8786"],
)
def test_off_this_machine_is_encrypted(address: str) -> None:
    """Plain connections go to this machine only; nothing is tried."""
    assert refused(address=address) == "address: off this machine only tls://, on it tcp:// too"


def test_options_that_nobody_knows_are_refused() -> None:
    """A misspelt certificate is no missing one."""
    assert "not tls_ca" in refused(address="tls://farm.example:8786", options={"tls_ca": "x"})
    assert refused(options={"tls_ca_file": "x"}) == "[executors] options: with an `address` only"


def test_a_scheduler_that_is_away_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody answers, the call is `unavailable`, and no thread is left behind."""
    monkeypatch.setattr(_cluster, "_CONNECT_S", 0.3)
    words = {"runs_in": {"*": "dask"}, "executors": {"dask": {"address": "127.0.0.1:9"}}}
    before = threading.active_count()
    with Host(tools=engine_tools.TOOLS, plugins=[dask], settings=words) as host:
        result = host.call("fetch_rows", {"rows": 1}, actor=ADA)

    assert result.metadata["reason"] == "executor"
    assert "no scheduler" in str(result.metadata["detail"])
    assert threading.active_count() <= before


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence says how to install it."""
    monkeypatch.setitem(sys.modules, "distributed", None)

    assert refused() == "Dask is not installed here: pip install 'toolseam[dask]'"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An authority of the moment, and a certificate for all three sides."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    own = authority.issue_cert("127.0.0.1")
    files = {name: str(folder / name) for name in ("ca", "cert", "key")}
    authority.cert_pem.write_to_path(files["ca"])
    own.cert_chain_pems[0].write_to_path(files["cert"])
    own.private_key_pem.write_to_path(files["key"])
    return files


@pytest.fixture(scope="module")
def cluster(certificates: dict[str, str]) -> Iterator[Any]:
    """Somebody's cluster, with a worker in this process, at an address of this machine."""
    sides = ("client", "scheduler", "worker")
    files = {f"tls_{side}_{what}": certificates[what] for side in sides for what in ("cert", "key")}
    security = distributed.Security(
        require_encryption=True, tls_ca_file=certificates["ca"], **files
    )
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tls://", security=security, dashboard_address=":0"
    ) as made:
        yield made


def test_a_scheduler_that_begins_again_is_refused(
    cluster: Any, certificates: dict[str, str]
) -> None:
    """A cluster that runs a task again after a worker's death is none for bodies."""
    cluster.scheduler.allowed_failures = 3
    said = refused(address=cluster.scheduler_address, options=options(certificates))

    assert said.startswith("its scheduler begins a task again, 3 times; start it with DASK_")


def test_a_scheduler_elsewhere_is_used(cluster: Any, certificates: dict[str, str]) -> None:
    """Bodies go to an address over TLS; the cluster stays when the host ends, with its fence."""
    cluster.scheduler.allowed_failures = 0
    words = {"address": cluster.scheduler_address, "options": options(certificates)}
    every = {"runs_in": {"*": "farm"}, "executors": {"farm": {"kind": "dask", **words}}}
    for _ in range(2):
        with Host(tools=engine_tools.TOOLS, plugins=[dask], settings=every) as host:
            assert host.call("fetch_rows", {"rows": 2}, actor=ADA).data == {"rows": 2}

    assert cluster.scheduler.status == distributed.Status.running
    assert "toolseam-fence" in cluster.scheduler.plugins


def options(certificates: dict[str, str]) -> dict[str, str]:
    """Return what the operator says of certificates."""
    named = {"ca_file": "ca", "client_cert": "cert", "client_key": "key"}
    return {f"tls_{name}": certificates[what] for name, what in named.items()}


@pytest.fixture
def heard() -> Iterator[logging.StreamHandler[io.StringIO]]:
    """What Dask writes to the standard error of a program, as Dask arranges it where none does."""
    ear = logging.StreamHandler(io.StringIO())
    logging.getLogger("distributed").addHandler(ear)
    yield ear
    logging.getLogger("distributed").removeHandler(ear)


def test_two_starts_leave_the_program_its_dask(heard: logging.StreamHandler[io.StringIO]) -> None:
    """Two starts at once have our settings each, and the program its own, and its own log."""
    before = copy.deepcopy(dask_config.config)
    small = settings(workers=1, threads=1)
    with ThreadPoolExecutor(2) as pool:
        starts = [pool.submit(_cluster.started, small)]
        while dask_config.config == before and not starts[0].done():
            time.sleep(0.001)
        starts.append(pool.submit(_cluster.started, small))
        both: list[Any] = [start.result(200) for start in starts]
    after = copy.deepcopy(dask_config.config)
    failures = {each._cluster.scheduler.allowed_failures for each in both}
    timers = [each._client._periodic_callbacks["scheduler-info"] for each in both]
    looking = [timer.is_running() for timer in timers]
    log("the program's")
    for each in both:
        for side in (both[-1]._cluster, both[-1]._client):
            side.sync(log_there, "a cluster's")
        each.shutdown()
    log("the program's")

    assert after == before
    assert (failures, looking) == ({0}, [False, False])
    assert heard.stream.getvalue() == "the program's\n" * 2
    assert (heard.level, heard.filters) == (logging.NOTSET, [])


def log(words: str) -> None:
    """Complain as Dask does, in this thread."""
    logging.getLogger("distributed.scheduler").warning(words)


async def log_there(words: str) -> None:
    """Complain as Dask does, in the thread of its loop."""
    log(words)


@contextmanager
def scheduler(failures: int, port: int = 0) -> Generator["subprocess.Popen[str]"]:
    """Run a scheduler and a worker in a process that answers questions, and ends by itself."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER, str(port)],
        env=os.environ
        | {
            "PYTHONPATH": str(TESTS),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": f"{failures}",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    end = threading.Timer(240, process.kill)
    end.start()
    with process:
        try:
            yield process
        finally:
            process.kill()
            end.cancel()
            end.join()


def ask(process: "subprocess.Popen[str]", question: str) -> str:
    """Return what such a process says of its `scheduler`."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{question}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def test_a_scheduler_that_comes_back_is_judged_anew(tmp_path: Path) -> None:
    """Whoever answers at the address after a restart gets no body before it holds to the rules."""
    file = tmp_path / "begun"
    before = threading.active_count()
    with scheduler(0) as first:
        port = int(ask(first, "scheduler.port"))
        words = {"kind": "dask", "address": f"127.0.0.1:{port}"}
        every = {"runs_in": {"*": "farm"}, "executors": {"farm": words}}
        with Host(tools=engine_tools.TOOLS, plugins=[dask], settings=every) as host:
            late = {"file": str(file), "seconds": 60}
            approval = approved(host, "change_late", late)
            killer = threading.Thread(target=kill_scheduler, args=(first, file))
            killer.start()
            lost = host.call("change_late", late, actor=ADA, approval=approval)
            killer.join()
            runner: Any = host._runners._made["farm"]
            with scheduler(3, port) as second:
                ask(second, "scheduler.port")
                while runner._executor._client.status not in {"closed", "running"}:
                    time.sleep(0.01)
                gone, refused = (host.call("fetch_rows", {"rows": 2}, actor=ADA) for _ in range(2))
                ask(second, "setattr(scheduler, 'allowed_failures', 0)")
                host._runners._away.clear()
                rows = host.call("fetch_rows", {"rows": 2}, actor=ADA)
                fenced = ask(second, "'toolseam-fence' in scheduler.plugins")

    assert (lost.metadata["reason"], gone.metadata["reason"]) == ("worker_died", "executor")
    assert "begins a task again, 3 times" in str(refused.metadata["detail"])
    assert rows.data == {"rows": 2}
    assert fenced == "True"
    assert len(engine_tools.begun(file)) == 1
    assert threading.active_count() <= before


def kill_scheduler(process: "subprocess.Popen[str]", file: Path) -> None:
    """Kill it in the middle of a body."""
    engine_tools.wait_for(file, seconds=120)
    process.kill()


@pytest.mark.parametrize("killed", [True, False])
def test_nothing_is_left_running(tmp_path: Path, killed: bool) -> None:
    """A body is in the middle of something: when the host closes or is killed, its process ends.

    The host's own input and output are no body's to read and to print to.
    """
    file = tmp_path / "begun"
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, file],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    engine_tools.wait_for(file, seconds=150)
    children = psutil.Process(host.pid).children(recursive=True)
    if killed:
        host.kill()

    said, complaints = host.communicate("", timeout=120)
    _, alive = psutil.wait_procs(children, timeout=30)

    assert alive == []
    assert said == ("ready\n" if killed else "ready\nclosed\n")
    # Of a killed one its interpreter says what it did not end itself.
    assert killed or complaints == "noise\nmore noise\n"
