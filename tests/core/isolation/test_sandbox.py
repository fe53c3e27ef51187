"""The sandbox: what is seen in it, what is not, and what is said where it cannot be had."""

import functools
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.isolated import WAIT_S, answer, begun, lost, not_started, running, submitted
from toolseam._settings_keys import Grants
from toolseam.isolation import _sandbox
from toolseam.isolation._sandbox import level

MakePool = Callable[..., Any]


def in_sandbox(test: Callable[..., None]) -> Callable[..., None]:
    """Test inside the sandbox, or, on a machine that has none, that every call says why."""

    @functools.wraps(test)
    def either(make_pool: MakePool, **given: Any) -> None:
        if level().reached:
            test(make_pool=make_pool, **given)
        else:
            call = submitted(make_pool(Grants()), b"pid")
            assert not_started(call) == ("sandbox", level().text)

    return either


@in_sandbox
def test_a_body_runs_in_it(make_pool: MakePool) -> None:
    """A body is answered as in any worker, asks its host, and its worker is kept."""
    pool = make_pool(Grants())

    first, second = answer(pool, b"pid"), answer(pool, b"pid")
    large = answer(pool, b"echo " + bytes(1_000_000))
    asked = submitted(pool, b"asks x", ask=lambda question: question * 2).result(WAIT_S)

    assert first == second
    assert large == bytes(1_000_000)
    assert asked == b"the host said xx"


@in_sandbox
def test_the_project_and_its_packages_are_there(make_pool: MakePool) -> None:
    """What a body is imported from is seen: the core, the builtin tools, what they need."""
    pool = make_pool(Grants())

    for name in ("toolseam._body", "toolseam_builtin", "attrs", "sqlite3", "ssl"):
        assert answer(pool, b"imports " + name.encode()) == name.partition(".")[0].encode()


@in_sandbox
def test_files_of_the_host_are_not_there(make_pool: MakePool, tmp_path: Path) -> None:
    """Home folders, a workspace, other users and the system's settings are not seen."""
    (tmp_path / "secret").write_text("canary")
    pool = make_pool(Grants())

    hidden = [tmp_path / "secret", Path("/etc/passwd"), Path("/etc/shadow"), Path("/var/log")]
    told = {path: answer(pool, b"reads " + bytes(path)) for path in hidden}
    top = answer(pool, b"lists /").decode().split("\n")

    assert set(told.values()) == {b"FileNotFoundError"}
    assert answer(pool, b"lists /tmp") in (b"", *_first_below("/tmp"))
    assert answer(pool, b"lists " + bytes(Path.home())) in (
        b"FileNotFoundError",
        *_first_below(str(Path.home())),
    )
    assert not {"boot", "media", "mnt", "run", "srv", "sys", "var"} & set(top)


def _first_below(folder: str) -> Iterator[bytes]:
    """Give what stands in a folder only because something that is seen stands below it."""
    tests = str(Path(__file__).resolve().parents[2])
    below = {
        Path(path).relative_to(folder).parts[0]
        for path in [*_sandbox.seen(), tests]
        if path.startswith(folder + "/")
    }
    if below:
        yield "\n".join(sorted(below)).encode()


@in_sandbox
def test_nothing_of_it_can_be_written_but_its_own_tmp(make_pool: MakePool, tmp_path: Path) -> None:
    """The root, the devices and the packages are read-only; `/tmp` is its own, and has an end."""
    pool = make_pool(Grants(), file_mb=2)

    prefix = bytes(Path(_sandbox.__file__).parent)
    for folder in (b"/", b"/dev", b"/proc", b"/proc/sys", prefix):
        assert answer(pool, b"writes 1 " + folder).split()[0] in (
            b"OSError",
            b"PermissionError",
            b"FileNotFoundError",
        )
    assert answer(pool, b"writes 1 /tmp") == b"written"
    assert not Path("/tmp/written").exists()
    assert answer(pool, b"fills /tmp") == b"OSError 28"
    assert answer(pool, b"fills /dev/shm") == b"OSError 28"


@in_sandbox
def test_what_is_granted_is_there(make_pool: MakePool, tmp_path: Path) -> None:
    """A granted path is seen where it stands, exactly it, and changed only where that is said."""
    for name in ("read", "write", "neither"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    read, write, neither = (tmp_path / name for name in ("read", "write", "neither"))
    pool = make_pool(Grants(read=(str(read),), write=(str(write),)))

    assert answer(pool, b"reads " + bytes(read / "file")) == b"read"
    assert answer(pool, b"reads " + bytes(write / "file")) == b"write"
    assert answer(pool, b"reads " + bytes(neither / "file")) == b"FileNotFoundError"
    assert answer(pool, b"writes 1 " + bytes(read)) == b"OSError 30"
    assert answer(pool, b"writes 1 " + bytes(write)) == b"written"
    assert (write / "written").stat().st_size == 1024 * 1024


@in_sandbox
def test_a_part_of_what_may_be_written_may_be_for_reading(
    make_pool: MakePool, tmp_path: Path
) -> None:
    """Of two grants the one that names the deeper folder holds there."""
    deep = tmp_path / "write" / "read" / "write"
    deep.mkdir(parents=True)
    top = str(tmp_path / "write")
    pool = make_pool(Grants(read=(f"{top}/read",), write=(top, str(deep))))

    said = [answer(pool, b"writes 1 " + bytes(each)) for each in (tmp_path / "write", deep)]

    assert said == [b"written", b"written"]
    assert answer(pool, b"writes 1 " + bytes(tmp_path / "write" / "read")) == b"OSError 30"


@in_sandbox
def test_a_grant_that_is_not_there_is_refused(make_pool: MakePool, tmp_path: Path) -> None:
    """Nothing runs with less than was granted, and what is granted is written plainly."""
    for path, why in (
        (f"{tmp_path}/missing", "is not there"),
        (f"{tmp_path}/../missing", "is no plain absolute one"),
    ):
        pool = make_pool(Grants(write=(path,)))
        reason, detail = not_started(submitted(pool, b"pid"))

        assert reason == "sandbox"
        assert detail == f"the granted path {path} {why}"


@in_sandbox
def test_a_granted_link_is_what_it_leads_to(make_pool: MakePool, tmp_path: Path) -> None:
    """A path through a link shows what stands there, under the path that was granted."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("seen")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    pool = make_pool(Grants(read=(str(tmp_path / "link"),)))

    assert answer(pool, b"reads " + bytes(tmp_path / "link" / "file")) == b"seen"
    assert answer(pool, b"reads " + bytes(tmp_path / "real" / "file")) == b"FileNotFoundError"


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine where somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@in_sandbox
def test_there_is_no_network(make_pool: MakePool, port: int) -> None:
    """What listens on this machine is not reached, unless the operator grants the network."""
    alone, granted = make_pool(Grants()), make_pool(Grants(network=True))

    assert answer(alone, b"connects %d" % port) == b"ConnectionRefusedError"
    assert answer(granted, b"connects %d" % port) == b"connected"


@in_sandbox
def test_processes_with_other_grants_are_counted_too(make_pool: MakePool, mark: str) -> None:
    """One count is for all: an idle process ends to make place for one with other grants."""
    one = make_pool(Grants(), workers=1)
    other = attrs.evolve(one, grants=attrs.evolve(one.grants, network=True))

    assert answer(one, b"imports attrs") == b"attrs"
    before = set(running(mark))
    for pool in (other, one.pool):
        assert answer(pool, b"imports attrs") == b"attrs"
        assert not before & set(running(mark))
        before = set(running(mark))
    assert len(before) == 2  # the supervisor and the worker, without a sandbox


@in_sandbox
def test_a_process_serves_the_same_grants_only(make_pool: MakePool, tmp_path: Path) -> None:
    """Of one distribution too: what is let in for one tool is not there for another one."""
    (tmp_path / "file").write_text("granted")
    bare = make_pool(Grants(), workers=1)
    granted = attrs.evolve(
        bare, grants=attrs.evolve(bare.grants, read=(str(tmp_path), *bare.grants.read))
    )
    request = b"reads " + bytes(tmp_path / "file")

    said = [answer(pool, request) for pool in (granted, bare, granted)]

    assert said == [b"granted", b"FileNotFoundError", b"granted"]


@in_sandbox
def test_no_other_process_is_seen(make_pool: MakePool) -> None:
    """A body sees its own process and the first one of its sandbox."""
    pool = make_pool(Grants())

    seen = [each for each in answer(pool, b"lists /proc").split(b"\n") if each.isdigit()]

    assert seen == [b"1", b"2"]


@in_sandbox
def test_the_environment_is_its_own(make_pool: MakePool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home of a body is its `/tmp`; no secret of the host is in its variables."""
    monkeypatch.setenv("ACME_TOKEN", "canary")
    pool = make_pool(Grants())

    seen = eval(answer(pool, b"environment"))  # noqa: S307 - of our own body

    assert seen["HOME"] == "/tmp"
    assert set(seen) <= {"PATH", "HOME", "LANG", "LC_CTYPE", "PWD", "TOOLSEAM_TEST_MARK"}


@in_sandbox
def test_a_worker_in_it_that_fails_ends_its_own_call_only(make_pool: MakePool) -> None:
    """A body that dies, babbles or spins is one typed loss, and the next call is answered."""
    pool = make_pool(Grants(), cpu_s=1)

    assert lost(submitted(pool, b"exits 3")) == ("worker_died", "exit code 3")
    assert lost(submitted(pool, b"kills"))[0] == "worker_died"
    assert lost(submitted(pool, b"garbage"))[0] == "worker_protocol"
    assert lost(submitted(pool, b"closes 0"))[0] == "worker_protocol"
    assert lost(submitted(pool, b"spins"))[0] == "cpu_limit"
    assert answer(pool, b"echo next") == b"next"


@in_sandbox
def test_memory_has_an_end_in_it(make_pool: MakePool) -> None:
    """The limits of a worker hold in the sandbox too."""
    pool = make_pool(Grants(), memory_mb=128)

    assert int(answer(pool, b"allocates")) < 16


@pytest.mark.parametrize("body", [b"forks", b"daemonises"])
@in_sandbox
def test_what_a_tool_leaves_in_it_is_killed(make_pool: MakePool, mark: str, body: bytes) -> None:
    """The call's own answer counts, and its sandbox is not used again."""
    pool = make_pool(Grants())

    said = answer(pool, body)
    kept = set(running(mark))
    answer(pool, b"pid")

    assert said in (b"parent", b"left one")
    assert not kept & set(running(mark))


@in_sandbox
def test_a_tool_in_it_that_keeps_forking_is_killed(make_pool: MakePool, mark: str) -> None:
    """Giving up a call ends its sandbox and all that is in it."""
    pool = make_pool(Grants())
    call = begun(pool, b"keeps_forking")

    call.cancel()

    assert lost(call)[0] == "cancelled"
    assert running(mark) == []


@pytest.fixture
def fresh_level() -> Iterator[None]:
    """What was found out of this machine is forgotten before and after."""
    _sandbox._tried.cache_clear()
    yield
    _sandbox._tried.cache_clear()


@pytest.mark.usefixtures("fresh_level")
def test_a_machine_without_it_is_told(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where bubblewrap is missing no body runs with less around it: the call never began."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert level().reached is False
    assert "not installed" in level().text
    assert not_started(submitted(make_pool(Grants()), b"pid")) == ("sandbox", level().text)


@pytest.mark.usefixtures("fresh_level")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('echo "bwrap: No permissions to create new namespace" >&2; exit 1', "No permissions"),
        ("exit 3", "exit code 3"),
    ],
)
def test_a_machine_that_refuses_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, said: str
) -> None:
    """Where the kernel refuses, bubblewrap's own word says why."""
    program = tmp_path / "bwrap"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.9 && exit\n{script}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert level().reached is False
    assert level().text.startswith("bubblewrap 0.9 cannot")
    assert said in level().text


@pytest.mark.usefixtures("fresh_level")
def test_a_program_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What cannot be started is no sandbox either."""
    program = tmp_path / "bwrap"
    program.write_text("no program\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert level().reached is False
    assert "OSError" in level().text


@pytest.mark.usefixtures("fresh_level")
def test_what_could_not_be_tried_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A hiccup of the machine disables no sandbox for good; what was answered holds."""
    program = tmp_path / "bwrap"
    program.write_text("no program\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "could not be tried" in level().text

    program.write_text("#!/bin/sh\necho bubblewrap 0.9\n")
    assert level().reached is True

    program.unlink()
    assert level().reached is True


def test_no_folder_is_shown_whole_that_is_not_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the paths that Python imports from, those of somebody's sources are not shown."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path.home()), str(Path.cwd()), "/", "/tmp"])

    seen = {Path(path) for path in _sandbox.seen()}

    above = {Path("/"), Path("/etc"), Path("/var"), Path("/tmp"), Path("/usr"), Path("/home")}
    above |= {Path.home(), *Path.home().parents, Path.cwd(), *Path.cwd().parents}
    assert not seen & above
