"""The sandbox: bubblewrap around a worker, which sees Python, its packages and what is granted."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from toolseam._body import NotStarted
from toolseam._settings_keys import Grants, ProcessLimits
from toolseam._text import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MIB = 1024 * 1024
_PROBE_S = 30.0
_OURS = ("toolseam", "toolseam_builtin", "toolseam_plugins")
_SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share/zoneinfo")
_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
_LIBRARIES = ("/lib", "/lib32", "/lib64")
_LOADER = ("/etc/ld.so.cache", "/etc/localtime")
_NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust"),
    *("/etc/ca-certificates", "/usr/share/ca-certificates"),
)


@attrs.frozen
class Level:
    """Whether a place for bodies can be reached on this machine.

    Args:
        reached: whether bodies can run there.
        text: one line: what it is, or why it cannot be had.
    """

    reached: bool
    text: str


def processes() -> Level:
    """Say whether bodies can run in worker processes; there is nothing to try."""
    if sys.platform != "linux":
        return Level(reached=False, text="worker processes need Linux")
    return Level(reached=True, text="bounds memory, processor time and files; hides nothing")


def level() -> Level:
    """Say whether bodies can run in a sandbox, or why not; what it tried is not tried again."""
    try:
        return _tried()
    except (OSError, subprocess.TimeoutExpired, NotStarted) as error:  # it may pass
        return Level(reached=False, text=f"it could not be tried ({type(error).__name__})")


@cache
def _tried() -> Level:
    if sys.platform != "linux":
        return Level(reached=False, text="bubblewrap needs Linux")
    program = _bubblewrap()
    if program is None:
        return Level(reached=False, text="bubblewrap (`bwrap`) is not installed")
    named = _run([program, "--version"])
    tried = _run(within(Grants(), ProcessLimits(), [sys.executable, "-I", "-S", "-c", ""]))
    name = short(named.stdout.strip() or "bubblewrap", 60)
    if tried.returncode != 0:
        said = short(tried.stderr.strip().partition("\n")[0], 200)
        text = f"{name} cannot: {said or f'exit code {tried.returncode}'}"
        return Level(reached=False, text=text)
    return Level(reached=True, text=f"{name}, no network, no files but Python's and those granted")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=_PROBE_S,
        env={"LANG": "C"},
        encoding="utf-8",
        errors="replace",
    )


def _bubblewrap() -> str | None:
    from shutil import which

    found = which("bwrap")
    return None if found is None else str(Path(found).absolute())


def within(grants: Grants, limits: ProcessLimits, command: Sequence[str]) -> list[str]:
    """Return the command that runs another one in the sandbox; raises `NotStarted`.

    Its environment is to be given by whoever starts it: an argument would be seen by all.
    """
    program = _bubblewrap()
    if program is None:
        raise NotStarted("sandbox", "bubblewrap (`bwrap`) is not installed")
    size = str(max(1, limits.file_mb) * _MIB)  # 0 would be no bound
    network = ["--share-net"] if grants.network else []
    return [
        *(program, "--unshare-all", *network, "--die-with-parent", "--new-session"),
        *("--cap-drop", "ALL", "--hostname", "sandbox"),
        *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
        *("--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp"),  # noqa: S108
        *_binds(grants),
        *("--remount-ro", "/", "--chdir", "/tmp", "--", *command),  # noqa: S108
    ]


def _binds(grants: Grants) -> Iterator[str]:
    """Give the binds, that of a folder before those of what is inside it."""
    shown = [*seen(), *(_NETWORK if grants.network else ())]
    binds = {path: ("--ro-bind", path) for path in shown if Path(path).exists()}
    for path in _LIBRARIES:
        if Path(path).is_symlink():
            yield from ("--symlink", str(Path(path).readlink()), path)
        elif Path(path).exists():
            binds[path] = "--ro-bind", path
    for paths, how in ((grants.read, "--ro-bind"), (grants.write, "--bind")):
        binds |= {path: (how, _granted(path)) for path in paths}
    for path in sorted(binds, key=lambda each: (each.count("/"), each)):
        how, source = binds[path]
        above = next((each for each in map(str, Path(path).parents) if each in binds), None)
        if above is None or source != path or binds[above] != (how, above):
            yield from (how, source, path)


def _granted(path: str) -> str:
    """Return what stands under a granted path; it is shown under just that path."""
    if os.path.normpath(path) != path or not path.startswith("/"):
        raise NotStarted("sandbox", f"the granted path {short(path, 200)} is no plain absolute one")
    try:
        return str(Path(path).resolve(strict=True))
    except (OSError, RuntimeError):
        raise NotStarted("sandbox", f"the granted path {short(path, 200)} is not there") from None


@cache
def _own_packages() -> tuple[str, ...]:
    found: list[str] = []
    for name in _OURS:
        spec = find_spec(name)
        found += [] if spec is None else spec.submodule_search_locations or ()
    return tuple(found)


def seen() -> list[str]:
    """Return the paths that each sandbox shows, to be read: Python, its packages, this project.

    Of a folder of sources, say that of an editable installation, nothing is shown but our own
    packages: beside others' sources lies what is nobody's business.
    """
    prefixes = dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix))
    paths = sysconfig.get_paths()
    return [
        *(_SYSTEM + _LOADER),
        *(f"{prefix}/{part}" for prefix in prefixes for part in _PARTS),
        *(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")),
        *(path for path in sys.path if Path(path).name in {"site-packages", "dist-packages"}),
        *_own_packages(),
    ]
